"""Freezes: one table of a document and what is wrong in it."""

from __future__ import annotations

from datetime import date

import pytest
from reading import changed, faults, read

from policyd.core.rows import DatedRow, Kind, Record

FREEZES = """\
[
 {"relation_id": "R1", "expires": "2026-12-01",
  "reruns": 5, "pass_needed": 4,
  "reason": "parallel sum", "owner": "alice"},
 {"relation_id": "R2", "expires": "2026-12-01", "since": "2026-11-25",
  "reruns": 9, "pass_needed": 9,
  "reason": "parallel  mean", "owner": "bob"}]
"""
NO_SKIP = ("a freeze skips nothing: the same pair runs again, `reruns` times, and passes "
           "`pass_needed` times")


def test_freezes_are_read_whole_with_or_without_their_schema():
    rows = (DatedRow(Kind.FREEZE, "f", 2, "R1", "R1", "alice", "parallel sum",
                     last=date(2026, 12, 1)),
            DatedRow(Kind.FREEZE, "f", 5, "R2", "R2", "bob", "parallel mean", date(2026, 11, 25),
                     date(2026, 12, 1)))
    whole = f'{{"schema": "freezes.v1", "freezes": {FREEZES}}}'
    for text in (FREEZES, whole):
        assert faults(Record.FREEZES, text) == []
        assert [row for row in read(Record.FREEZES, text).rows if row.line > 1][-1] == rows[1]
    assert read(Record.FREEZES, FREEZES).rows == rows


@pytest.mark.parametrize("text", ["[]", '{"schema": "freezes.v1", "freezes": []}'])
def test_there_may_be_no_freezes(text):
    assert faults(Record.FREEZES, text) == []


@pytest.mark.parametrize(("old", "new", "fault"), [
    ('"reruns": 5', '"reruns": 4', "3:13: 4 is less than 5"),
    ('"reruns": 5', '"reruns": 5.0', "3:13: expected a whole number, found 5.0"),
    ('"pass_needed": 4', '"pass_needed": 0', "3:31: 0 is less than 1"),
    ('"pass_needed": 4', '"pass_needed": -1', "3:31: -1 is less than 1"),
    ('"pass_needed": 4', '"pass_needed": 6', "3:31: 6 passes of 5 runs cannot be had"),
    ('"parallel sum"', '"\\n"', "4:13: '\\n' says nothing"),
    (', "owner": "alice"', "", "2:2: missing key 'owner'"),
    ('"R1", "expires": "2026-12-01"', '"R1"', "2:2: missing key 'expires'"),
    ('"R1", "expires": "2026-12-01"', '"R1", "expires": "2026-02-30"',
     "2:35: expected a date written YYYY-MM-DD, found '2026-02-30'"),
    ('"R1", "expires": "2026-12-01"', '"R1", "expires": null',
     "2:35: expected a date written YYYY-MM-DD, found nothing"),
    ("2026-11-25", "2026-12-02", "5:35: expires 2026-12-01 is before since 2026-12-02"),
    ('"R2"', '"R1"', "5:3: relation_id 'R1' again; the row in line 2 has it"),
    ('"R1"', '""', "2:18: '' says nothing"),
    ('"R1"', "1", "2:18: expected text, found 1; quote it"),
    ('"owner": "alice"', '"owner": "alice", "skip": true', f"4:47: {NO_SKIP}"),
    ('"owner": "alice"', '"owner": "alice", "skipped": 1', f"4:47: {NO_SKIP}"),
    ('"owner": "alice"', '"owner": "alice", "seed": 1',
     "4:47: unknown key 'seed'; known: relation_id, expires, reruns, pass_needed, reason, owner, "
     "since"),
    ('"owner": "alice"}', '"owner": "alice"}, 7',
     "4:48: expected a mapping, found 7"),
])
def test_a_fault_stands_where_it_is_mended(old, new, fault):
    assert faults(Record.FREEZES, changed(FREEZES, old, new)) == [fault]


def test_what_is_no_list_of_freezes_says_so():
    assert faults(Record.FREEZES, "{}") == [
        "1:1: missing key 'schema'", "1:1: missing key 'freezes'"]
    assert faults(Record.FREEZES, '"R1"') == ["1:1: expected a mapping, found 'R1'"]


@pytest.mark.parametrize("day", ["2026-11-01T01:30 America/New_York", "2026-11-01T01:30:00-05:00"])
def test_a_freeze_ends_with_a_day_and_not_at_an_instant(day):
    """C153, whose second form would be an exact instant; a last day is a day, inclusive."""
    text = changed(FREEZES, '"R1", "expires": "2026-12-01"', f'"R1", "expires": "{day}"')
    assert faults(Record.FREEZES, text) == [
        f"2:35: expected a date written YYYY-MM-DD, found '{day}'"]


def test_a_byte_order_mark_is_a_fault():
    """C144."""
    assert faults(Record.FREEZES, "\ufeff[]") == [
        "1:1: a byte order mark; save the file without it"]
