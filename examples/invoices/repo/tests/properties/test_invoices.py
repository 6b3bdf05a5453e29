"""What holds of every recorded invoice, whatever the parser is made of."""

import importlib
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "oracle" / "receipts"
RECEIPTS = {path.name: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(FOLDER.glob("*.json"))}


@pytest.fixture(params=RECEIPTS.values(), ids=RECEIPTS)
def recorded(request):
    """What a receipt constrains, and what its entry point makes of its input."""
    module, _, name = request.param["entry_point"].partition(":")
    function = getattr(importlib.import_module(module), name)
    return request.param["constraints"], function(**request.param["input"])


def test_there_are_receipts():
    assert RECEIPTS


def test_the_total_is_the_sum_of_the_lines(recorded):
    _, found = recorded
    assert found["total"] == sum(line["net"] for line in found["lines"])
    assert all(line["net"] == line["qty"] * line["price"] for line in found["lines"])


def test_nothing_is_added_or_left_out(recorded):
    constraints, found = recorded
    assert len(found["lines"]) == constraints["lines"]


def test_the_currency_is_that_of_the_invoice(recorded):
    constraints, found = recorded
    assert found["currency"] == constraints["currency"]


def test_what_must_be_rejected_is_and_nothing_else(recorded):
    constraints, found = recorded
    assert found["rejected"] is constraints["must_reject"]
    assert found["rejected"] or found["total"] >= 0
