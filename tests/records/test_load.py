"""Every kind of record file: valid ones are read whole, and nothing that is in one raises."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sites import base_files

from policyd import records
from policyd.core.errors import Fault
from policyd.core.rows import MAX_RECORD_BYTES, Kind, Parsed, Record
from policyd.records import load
from policyd.records.fields import MAX_FAULTS, Enough, Faults

BASE = base_files("a" * 40)
KINDS = {
    "tests/ledger/flake_ledger.json": Record.FLAKES,
    "oracle/quarantine.yaml": Record.QUARANTINE,
    "fixtures/freezes.json": Record.FREEZES,
    "fixtures/leases/data.yaml": Record.LEASES,
    "oracle/receipts/expected.json": Record.RECEIPTS,
}
TABLE = """\
version: 1
defaults: &own {entry: "app:total", generator: prices, compare: exact}
relations:
  - <<: *own
    id: R1
    relation: the total does not depend on the order
    transform: shuffled
    status: blocking
  - {<<: *own, id: R2, relation: x 2, transform: doubled, status: policy, owner: a,
     expires: 2026-12-01, class: scale, leases: [prices], rounding: up, quantum: 0.5}
"""
VALID = [(KINDS[path], path, BASE[path].encode()) for path in KINDS] + [
    (Record.RELATIONS, "oracle/relations/t.yaml", TABLE.encode()),
    (Record.RELATIONS, "oracle/relations/f.py", b'"""x"""\ndef prices(draw):\n    return [1]\n')]


@pytest.mark.parametrize(("record", "path", "data"), VALID)
def test_the_records_of_a_new_site_have_no_faults(record, path, data):
    parsed = load(record, path, data)
    assert parsed.faults == ()
    assert parsed != Parsed()


def test_a_row_says_where_it_stands_and_when_it_ends():
    row, = load(Record.FLAKES, "f.json", BASE["tests/ledger/flake_ledger.json"].encode()).rows
    today = datetime.now(UTC).date()
    assert (row.kind, row.path, row.line, row.id) == (Kind.FLAKE, "f.json", 4, "app.rates")
    assert (row.subject, row.owner, row.runs) == ("tests/test_rates.py::test_rates", "alice", 3)
    assert row.last == row.first + timedelta(days=7) >= today


def test_seeds_hold_no_rows():
    assert load(Record.SEEDS, "s", b"\xff{") == Parsed()


@pytest.mark.parametrize("record", [one for one in Record if one is not Record.SEEDS])
def test_a_file_over_the_bound_is_not_read(record):
    fault, = load(record, "f", b" " * (MAX_RECORD_BYTES + 1)).faults
    assert str(fault) == "f:1:1: larger than 8,388,608 bytes"
    assert load(record, "f", b" " * MAX_RECORD_BYTES).faults[0].message == "the file is empty"


@pytest.mark.parametrize("error", [MemoryError, RecursionError, TypeError])
def test_whatever_goes_wrong_is_a_fault_of_the_file(monkeypatch, error):
    def read(*_):
        raise error

    monkeypatch.setitem(records._LOADERS, Record.FLAKES, (read, read))
    assert [str(fault) for fault in load(Record.FLAKES, "f", b"{}").faults] == [
        f"f:1:1: cannot be read: {error.__name__}"]


@pytest.mark.parametrize("text", [
    '{"schema": "flake_ledger.v1", "entries": [' + "{},\n" * 20_000 + "{}]}",
    "{" + '"a": 1,\n' * 20_000 + '"b": 1}'])
def test_more_faults_than_anybody_reads_end_the_look_at_a_file(text):
    found = load(Record.FLAKES, "f", text.encode()).faults
    assert len(found) == 1_000
    assert found[-1].message == "more is wrong than is told, and not all was looked at"
    assert "more is wrong" not in found[-2].message


def test_a_fault_too_many_ends_the_work_at_once():
    faults = Faults()
    for line in range(MAX_FAULTS):
        faults.append(Fault("f", line + 1, 1, "x"))
    with pytest.raises(Enough):
        faults.append(Fault("f", 1, 1, "x"))


_YAML = (Record.QUARANTINE, Record.LEASES, Record.RELATIONS)


def _is_inside(line: int, column: int, data: bytes, record: Record) -> bool:
    ends = r"\r\n|[\n\r\x85\u2028\u2029]" if record in _YAML else r"\r\n|[\n\r]"
    lines = re.split(ends, data.decode("utf-8", "replace"))
    return 1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 1


def _hold(record: Record, path: str, data: bytes) -> None:
    parsed = load(record, path, data)
    for fault in parsed.faults:
        assert fault.source == path
        assert fault.message.isprintable()
        assert _is_inside(fault.line, fault.column, data, record), (fault, data)
    for row in (*parsed.rows, *parsed.leases, *parsed.relations, *parsed.receipts):
        assert row.path == path
        assert _is_inside(row.line, 1, data, record)
    for row in parsed.rows:
        assert row.last is not None or row.kind is Kind.QUARANTINE
        assert row.owner.strip()
        assert row.subject.isprintable()


@given(st.sampled_from(Record), st.binary(max_size=80), st.sampled_from(["f", "f.py"]))
def test_any_bytes_end_in_rows_or_in_faults(record, data, path):
    _hold(record, path, data)


_PIECES = st.sampled_from([
    b"", b"{", b"}", b"[", b"]", b":", b",", b'"', b"'", b"-", b"\n", b"  ", b"\xff", b"\xc2\x85",
    b"\xef\xbb\xbf", b"\\ud800", b"NaN", b"null", b"~", b"0", b"1e999", b"&a ", b"*a", b"<<: *own",
    b"!!str ", b"%", b"#", b"\x1b", b"2026-02-30", b"true", b"a.py", b"::", b"\\u3044",
    b"- *own\n"])


@given(st.sampled_from(VALID), st.lists(st.tuples(
    st.integers(0, 500), st.integers(0, 12), _PIECES), min_size=1, max_size=4))
def test_a_changed_file_ends_in_rows_or_in_faults(valid, changes):
    record, path, data = valid
    for at, gone, piece in changes:
        at %= len(data) + 1
        data = data[:at] + piece + data[at + gone:]
    _hold(record, path, data)
