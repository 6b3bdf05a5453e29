"""What a record file says goes to JSON and back, whatever it is."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.core.errors import Fault
from policyd.core.parsedjson import from_plain, to_plain
from policyd.core.rows import DatedRow, Kind, Lease, Parsed, Receipt, Relation

TEXT = st.text(st.characters(codec=None), max_size=8)
"""With lone surrogates: paths are any bytes."""
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
LINE = st.integers(1, 10_000)
ROWS = st.builds(DatedRow, st.sampled_from(Kind), TEXT, LINE, TEXT, TEXT, TEXT, TEXT,
                 st.none() | st.dates(), st.none() | st.dates(), st.none() | st.integers(0, 99))
LEASES = st.builds(Lease, TEXT, TEXT, LINE, TEXT, TEXT, TEXTS, st.none() | TEXT)
RELATIONS = st.builds(Relation, TEXT, TEXT, LINE, TEXT, st.booleans(), TEXTS, TEXTS, st.booleans())
RECEIPTS = st.builds(Receipt, TEXT, LINE, TEXT, LINE, TEXT, st.none() | TEXT)
FAULTS = st.builds(Fault, TEXT, LINE, LINE, TEXT)


def some(strategy):
    return st.lists(strategy, max_size=3).map(tuple)


PARSED = st.builds(Parsed, some(ROWS), some(LEASES), some(RELATIONS), some(RECEIPTS), TEXTS,
                   some(FAULTS))


@given(PARSED)
def test_it_comes_back_as_it_was(parsed):
    assert from_plain(json.loads(json.dumps(to_plain(parsed)))) == parsed


ROW = DatedRow(Kind.FLAKE, "a.json", 3, "x", "t.py::t", "mei", "slow", date(2026, 1, 2),
               date(2026, 2, 28), 3)


@pytest.mark.parametrize("raw", [
    {}, [], None, 7, "x", {"rows": []}, {**to_plain(Parsed()), "rows": [7]},
    {**to_plain(Parsed()), "rows": [[]]}, {**to_plain(Parsed()), "rows": None},
    {**to_plain(Parsed()), "rows": [["flak", *to_plain(Parsed(rows=(ROW,)))["rows"][0][1:]]]},
    {**to_plain(Parsed()), "rows": [[*to_plain(Parsed(rows=(ROW,)))["rows"][0][:-2], "soon", 1]]},
    {**to_plain(Parsed()), "rows": [[*to_plain(Parsed(rows=(ROW,)))["rows"][0][:-2], 20260101, 1]]},
    {**to_plain(Parsed()), "leases": [["a"]]}, {**to_plain(Parsed()), "relations": [[1, 2]]},
    {**to_plain(Parsed()), "receipts": [1]}, {**to_plain(Parsed()), "faults": [["a"]]},
    {**to_plain(Parsed()), "functions": None}])
def test_what_is_no_such_thing_is_told(raw):
    with pytest.raises((ValueError, TypeError, KeyError)):
        from_plain(raw)
