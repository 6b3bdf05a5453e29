"""One invoice that everybody can check by hand."""

from decimal import Decimal

import pytest
from billing.parse import parse, render

SMALL = "invoice 7\ncurrency EUR\nline 2 x 1.50 pens\ntotal 3.00\n"


def test_a_small_invoice():
    found = parse(SMALL)
    assert (found["number"], found["currency"]) == ("7", "EUR")
    assert found["total"] == Decimal("3.00")
    assert not found["rejected"]


def test_it_is_written_as_it_was_read():
    assert render(parse(SMALL)) == SMALL


@pytest.mark.parametrize("text", ["", "invoice 7\n", "invoice 7\ncurrency EUR\ntotal 3\n"])
def test_what_is_no_invoice_is_refused(text):
    with pytest.raises(ValueError, match="form"):
        parse(text)
