"""Leases: one table of a document and what is wrong in it."""

from __future__ import annotations

from datetime import date

import pytest
from reading import changed, faults, read

from policyd.core.rows import DatedRow, Kind, Lease, Record

HASH = "6bcafd01945dc420fd0f312e4f067c61cdc021d9fc09b66f123b9db4cd3b807a"
LEASE = f"""\
id: prices
path: fixtures/data/prices.csv
sha256: {HASH}
expires: 2026-12-01
owner: alice
allowed_relations: [R1, R2]
quantum: 0.010
notes: |
  synthetic
  prices
"""
NO_PATH = "is no path inside the repository; it begins at the root and has no . or .. in it"
TWO = "version: 1\nleases:\n" + "".join(
    "  - " + LEASE.replace("\n", "\n    ").rstrip().replace("prices", name) + "\n"
    for name in ("prices", "rates"))


def test_a_lease_is_read_whole():
    parsed = read(Record.LEASES, LEASE)
    assert parsed.faults == ()
    assert parsed.rows == (DatedRow(
        Kind.LEASE, "f", 1, "prices", "fixtures/data/prices.csv", "alice", "synthetic prices",
        last=date(2026, 12, 1)),)
    assert parsed.leases == (Lease(
        "prices", "f", 1, "fixtures/data/prices.csv", HASH, ("R1", "R2"), "0.010"),)


def test_a_file_may_hold_several_leases():
    parsed = read(Record.LEASES, TWO)
    assert parsed.faults == ()
    assert [(lease.id, lease.line) for lease in parsed.leases] == [("prices", 3), ("rates", 13)]


def test_a_file_of_several_leases_says_what_is_wrong_between_them():
    same = TWO.replace("rates", "prices")
    assert faults(Record.LEASES, same) == [
        "13:5: id 'prices' again; the row in line 3 has it",
        "14:5: path 'fixtures/data/prices.csv' again; the row in line 3 has it"]
    assert faults(Record.LEASES, "version: 1\n") == ["1:1: missing key 'leases'"]
    assert faults(Record.LEASES, "leases: x\nversion: 1\n") == ["1:9: expected a list of rows"]
    assert faults(Record.LEASES, TWO + "more: 1\n") == [
        "23:1: unknown key 'more'; known: version, leases, defaults"]


@pytest.mark.parametrize("written", [
    "1" * 64, "0" * 63 + "1", "1" * 32 + "e" + "1" * 31, "0123456789" * 6 + "0e99",
    "1" * 10 + "e" + "0" * 53, HASH.upper(), f"'{HASH}'", f'"{"7" * 64}"'])
def test_a_hash_is_its_digits_with_and_without_quotes(written):
    parsed = read(Record.LEASES, changed(LEASE, HASH, written))
    assert parsed.faults == ()
    assert parsed.leases[0].sha256 == written.strip("'\"").lower()


@pytest.mark.parametrize("written", [
    "0123456", "1234567", "9509425349e4", "1" * 63, "1" * 65, "1" * 40, HASH + "00", "g" * 64,
    "0x" + "1" * 62, "'" + HASH[:-1] + " '", "3.5"])
def test_what_is_no_hash_is_told_as_written(written):
    """C138."""
    fault, = faults(Record.LEASES, changed(LEASE, HASH, written))
    assert fault.startswith(f"3:9: '{written.strip(chr(39))[:57]}")
    assert fault.endswith("is no SHA-256: 64 hexadecimal digits")


@pytest.mark.parametrize(("written", "quantum"), [
    ("0.010", "0.010"), ("1", "1"), ("1e-2", "1e-2"), ("0.01 EUR", "0.01 EUR"), ("'0.5'", "0.5"),
    ("~", None)])
def test_a_quantum_is_kept_as_written(written, quantum):
    text = changed(LEASE, "quantum: 0.010", f"quantum: {written}")
    assert read(Record.LEASES, text).leases[0].quantum == quantum


@pytest.mark.parametrize("written", ["0", "-0.01", "'nan'", "0.0", "'-1'"])
def test_a_quantum_is_above_nothing(written):
    plain = written.strip("'")
    assert faults(Record.LEASES, changed(LEASE, "0.010", written)) == [
        f"7:10: '{plain}' is no quantum, such as 0.01"]


@pytest.mark.parametrize(("old", "new", "fault"), [
    ("id: prices\n", "", "1:1: missing key 'id'"),
    ("id: prices", "id: 0123456", "1:5: expected text, found 0123456; quote it"),
    ("id: prices", "id: 9509425349e4", "1:5: expected text, found 9509425349e4; quote it"),
    ("id: prices", "id: on", None),
    ("fixtures/data/prices.csv", "../prices.csv",
     "2:7: '../prices.csv' " + NO_PATH),
    ("fixtures/data/prices.csv", "/prices.csv",
     "2:7: '/prices.csv' " + NO_PATH),
    ("fixtures/data/prices.csv", "a/./b",
     "2:7: 'a/./b' " + NO_PATH),
    ("fixtures/data/prices.csv", "a//b",
     "2:7: 'a//b' " + NO_PATH),
    ("fixtures/data/prices.csv", r"a\b",
     r"2:7: 'a\\b' " + NO_PATH),
    ("fixtures/data/prices.csv", "''",
     "2:7: '' " + NO_PATH),
    (f"sha256: {HASH}", "sha256:", "3:8: expected text, found nothing"),
    (f"sha256: {HASH}", "sha256: true", "3:9: expected text, found true; quote it"),
    (f"sha256: {HASH}", "sha256: .inf", "3:9: the number '.inf' is not finite or too long"),
    ("expires: 2026-12-01\n", "", "1:1: missing key 'expires'"),
    ("2026-12-01", "2026-12-32", "4:10: expected a date written YYYY-MM-DD, found '2026-12-32'"),
    ("owner: alice", "owner: ''", "5:8: '' says nothing"),
    ("[R1, R2]", "[]", "6:20: a lease names the relations that may read its corpus"),
    ("[R1, R2]", "R1", "6:20: expected a list, found 'R1'"),
    ("[R1, R2]", "[R1, 2]", "6:25: expected text, found 2; quote it"),
    ("[R1, R2]", "[R1, '']", "6:25: '' says nothing"),
    ("notes:", "note:", "8:1: unknown key 'note'; did you mean 'notes'?"),
])
def test_a_fault_stands_where_it_is_mended(old, new, fault):
    """C138: its third id is text to YAML 1.1 alone; by the core schema (DESIGN) it is a number."""
    assert faults(Record.LEASES, changed(LEASE, old, new)) == ([fault] if fault else [])


@pytest.mark.parametrize("text", ["- 1\n", "x\n", "[]\n"])
def test_what_is_no_lease_is_a_fault(text):
    assert [fault.split(",")[0] for fault in faults(Record.LEASES, text)] == [
        "1:1: expected a mapping"]
