"""A few orders that everybody can check by hand."""

from decimal import Decimal

import pytest
from orders import store
from orders.aggregate import by_sku, weight

TEA = {"order": "1", "rev": "1", "sku": "tea", "qty": "2", "price": "3.50", "kg": "0.1"}
MORE = {**TEA, "order": "2", "qty": "1", "price": "4.10"}


def test_lines_of_an_article_are_summed():
    assert by_sku([TEA, MORE]) == {"tea": {
        "lines": 2, "qty": 3, "revenue": Decimal("11.10"), "mean": Decimal("3.7000")}}


def test_what_lines_weigh():
    assert weight([TEA, MORE]) == pytest.approx(0.3)


def test_an_order_that_was_called_off_does_not_stand():
    store.reset()
    store.ingest([TEA, MORE, {**TEA, "rev": "2", "qty": "0"}])
    assert list(store.projection()) == ["2"]
