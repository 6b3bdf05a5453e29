"""Every kind of record file: valid ones are read whole, and nothing that is in one raises."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sites import base_files

from policyd.core.rows import Kind, Record
from policyd.records import load

BASELINE = "a" * 40
BASE = base_files(BASELINE)
KINDS = {
    "tests/ledger/flake_ledger.json": Record.FLAKES,
    "oracle/quarantine.yaml": Record.QUARANTINE,
    "fixtures/freezes.json": Record.FREEZES,
    "fixtures/leases/data.yaml": Record.LEASES,
    "oracle/receipts/expected.json": Record.RECEIPTS,
}


@pytest.mark.parametrize("path", KINDS)
def test_the_records_of_a_new_site_have_no_faults(path):
    parsed = load(KINDS[path], path, BASE[path].encode())
    assert parsed.faults == ()
    assert parsed.rows or parsed.receipts


def test_a_row_says_where_it_stands_and_when_it_ends():
    row, = load(Record.FLAKES, "f.json", BASE["tests/ledger/flake_ledger.json"].encode()).rows
    today = datetime.now(UTC).date()
    assert (row.kind, row.path, row.line, row.id) == (Kind.FLAKE, "f.json", 4, "app.rates")
    assert (row.subject, row.owner, row.runs) == ("tests/test_rates.py::test_rates", "alice", 3)
    assert row.last == row.first + timedelta(days=7) >= today
