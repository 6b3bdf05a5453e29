"""The flake ledger: one table of a document and what is wrong in it."""

from __future__ import annotations

from datetime import date

import pytest
from reading import changed, faults, read

from policyd.core.rows import DatedRow, Kind, Record

LEDGER = """\
{"schema": "flake_ledger.v1",
 "entries": [
  {"id": "rates",
   "nodeid": "tests/test_a.py::test_rates",
   "reason": "clock skew",
   "first_seen": "2026-11-20",
   "expires_on": "2026-12-01",
   "owner": "alice",
   "max_runs": 3},
  {"id": "retry",
   "nodeid": "tests/test_a.py::test_retry[a::b]",
   "reason": "clock\\n skew",
   "first_seen": "2026-11-20",
   "expires_on": "2026-11-20",
   "owner": "bob",
   "max_runs": 1}]}
"""
EXACT = "name one test, such as tests/test_a.py::test_b"


def test_a_ledger_is_read_whole():
    assert read(Record.FLAKES, LEDGER).rows == (
        DatedRow(Kind.FLAKE, "f", 3, "rates", "tests/test_a.py::test_rates", "alice",
                 "clock skew", date(2026, 11, 20), date(2026, 12, 1), 3),
        DatedRow(Kind.FLAKE, "f", 10, "retry", "tests/test_a.py::test_retry[a::b]", "bob",
                 "clock skew", date(2026, 11, 20), date(2026, 11, 20), 1))
    assert faults(Record.FLAKES, LEDGER) == []


def test_a_ledger_may_be_empty():
    assert faults(Record.FLAKES, '{"schema": "flake_ledger.v1", "entries": []}') == []


@pytest.mark.parametrize(("old", "new", "fault"), [
    ('"flake_ledger.v1"', '"flake_ledger.v2"',
     "1:12: expected one of flake_ledger.v1; found 'flake_ledger.v2'; did you mean "
     "'flake_ledger.v1'?"),
    ('{"schema": "flake_ledger.v1",', "{", "1:1: missing key 'schema'"),
    ('"entries"', '"rows": 1, "entries"',
     "2:2: unknown key 'rows'; known: schema, entries"),
    ('"clock skew"', '" \\t"', "5:14: ' \\t' says nothing"),
    ('"clock skew"', '"..."', "5:14: '...' says nothing"),
    ('"clock skew"', "7", "5:14: expected text, found 7; quote it"),
    ('"rates"', '"  "', "3:10: '  ' says nothing"),
    ('"rates"', '"ra\\u001btes"',
     "3:10: 'ra\\x1btes' is not one line of characters that can be seen, without white space "
     "around it"),
    ('"alice"', '""', "8:13: '' says nothing"),
    ('"alice"', "null", "8:13: expected text, found nothing; quote it"),
    ('   "owner": "alice",\n', "", "3:3: missing key 'owner'"),
    ('"max_runs": 3', '"max_runs": 0', "9:16: 0 is less than 1"),
    ('"max_runs": 3', '"max_runs": true', "9:16: expected a whole number, found true"),
    ('"max_runs": 3', '"max_runs": 1.0', "9:16: expected a whole number, found 1.0"),
    ('"max_runs": 3', '"max_runs": "3"', "9:16: expected a whole number, found '3'"),
    ('"max_runs": 3', '"max_runs": NaN',
     "9:16: the number 'NaN' is not finite or too long"),
    ('"2026-12-01"', '"2026-11-19"',
     "7:18: expires_on 2026-11-19 is before first_seen 2026-11-20"),
    ('"id": "retry"', '"id": "rates"', "10:4: id 'rates' again; the row in line 3 has it"),
    ('"max_runs": 1}', '"max_runs": 1, "skip": true}',
     "16:19: unknown key 'skip'; known: id, nodeid, reason, first_seen, expires_on, owner, "
     "max_runs"),
    ('"max_runs": 1}', '"max_runs": 1, "max_run": 1}',
     "16:19: unknown key 'max_run'; did you mean 'max_runs'?"),
    ("tests/test_a.py::test_rates", "oracle/relations/x.py::test_mr",
     "4:14: 'oracle/relations/x.py::test_mr' is a relation; relations never stand here, only in "
     "the freezes"),
    ("tests/test_a.py::test_rates", "./Oracle//x/../relation\u200bs/x.py::t",
     "4:14: './Oracle//x/../relation\\u200bs/x.py::t': a path has / between its folders and no "
     "character that cannot be seen"),
    ("tests/test_a.py::test_rates", "./Oracle//x/../relations/x.py::t",
     "4:14: './Oracle//x/../relations/x.py::t' is a relation; relations never stand here, only "
     "in the freezes"),
])
def test_a_fault_stands_where_it_is_mended(old, new, fault):
    assert faults(Record.FLAKES, changed(LEDGER, old, new)) == [fault]


def test_an_id_has_a_length_that_can_be_shown():
    long = "x" * 4_097
    assert [fault[:20] for fault in faults(Record.FLAKES, changed(LEDGER, '"rates"', f'"{long}"'))
            ] == ["3:10: 'xxxxxxxxxxxxx"]
    nodeid = changed(LEDGER, "test_rates", f"test[{long}]")
    assert faults(Record.FLAKES, nodeid)[0].endswith("is longer than 4096 characters")


@pytest.mark.parametrize(("text", "fault"), [
    ("", "1:1: the file is empty"),
    ("[]", "1:1: expected a mapping, found a list"),
    ('{"schema": "flake_ledger.v1", "entries": {}}', "1:42: expected a list of rows"),
    ('{"schema": "flake_ledger.v1", "entries": null}', "1:42: expected a list of rows"),
    ('{"schema": "flake_ledger.v1", "entries": [3]}', "1:43: expected a mapping, found 3"),
    ('{"schema": "flake_ledger.v1", "entries": []}}', "1:45: text after the end of the value"),
])
def test_what_is_no_ledger_is_a_fault(text, fault):
    assert faults(Record.FLAKES, text) == [fault]


@pytest.mark.parametrize("nodeid", ["tests", "tests/test_a.py", "tests/", "tests/test_a.py::",
                                    "tests/*::test_a"])
def test_a_row_names_one_test_and_not_what_is_below_a_file_or_folder(nodeid):
    """C122."""
    fault, = faults(Record.FLAKES, changed(LEDGER, "tests/test_a.py::test_rates", nodeid))
    assert fault.startswith("4:14: ")
    assert EXACT in fault


@pytest.mark.parametrize("other", [
    "tests/test_a.py::test_rates", "./tests//x/../test_a.py::test_rates",
    r"tests/test_a.py::test_\\u0072ates"])
def test_two_rows_for_one_test_are_a_fault_and_never_the_later_date(other):
    """C126."""
    text = changed(LEDGER, "tests/test_a.py::test_retry[a::b]", other)
    assert faults(Record.FLAKES, text) == [
        "11:4: nodeid 'tests/test_a.py::test_rates' again; the row in line 3 has it"]


def test_an_escaped_id_and_its_character_are_one_test():
    """C124."""
    text = changed(changed(LEDGER, "test_rates", "test_い"), "test_retry[a::b]", r"test_\\u3044")
    assert faults(Record.FLAKES, text) == [
        "11:4: nodeid 'tests/test_a.py::test_い' again; the row in line 3 has it"]


@pytest.mark.parametrize(("line", "fault"), [
    ("", "3:3: missing key 'expires_on'"),
    ('   "expires_on": null,\n', "7:18: expected a date written YYYY-MM-DD, found nothing"),
    ('   "expires_on": "",\n', "7:18: expected a date written YYYY-MM-DD, found ''"),
])
def test_a_row_without_a_last_day_is_a_fault(line, fault):
    """C127."""
    assert faults(Record.FLAKES, changed(LEDGER, '   "expires_on": "2026-12-01",\n', line)) == [
        fault]


ALMOST = ["2026-9-1", "20260901", "2026", "12:34:56", "2026-12-01T00:00:00+0200", "2026-13-45",
          "2026-02-30", "2027-02-29", "soon", "never", "2026-12-01 ", "2026-12-01T00:00:00Z",
          "٢٠٢٦-12-01", "0000-12-01", "2026-11-01T01:30 America/New_York",
          "2026-11-01T01:30:00-05:00"]


@pytest.mark.parametrize("text", ALMOST)
def test_what_is_almost_a_date_is_none(text):
    """C135, C150, C153. C153 would take an instant with an offset; a last day is a day here."""
    assert faults(Record.FLAKES, changed(LEDGER, "2026-12-01", text)) == [
        f"7:18: expected a date written YYYY-MM-DD, found {text!r}"]


def test_a_number_is_no_date():
    text = changed(LEDGER, '"2026-12-01"', "20261201")
    assert faults(Record.FLAKES, text) == [
        "7:18: expected a date written YYYY-MM-DD, found 20261201"]


def test_a_leap_day_is_a_day():
    row = read(Record.FLAKES, changed(LEDGER, "2026-12-01", "2028-02-29")).rows[0]
    assert row.last == date(2028, 2, 29)


def test_a_key_that_stands_twice_is_a_fault_and_never_the_later_one():
    """C142."""
    text = changed(LEDGER, '"2026-12-01"', '"2026-12-01",\n   "expires_on": "2027-01-01"')
    assert faults(Record.FLAKES, text) == [
        "8:4: duplicate key 'expires_on'; it stands in line 7 already"]
    assert read(Record.FLAKES, text).rows[0].last == date(2026, 12, 1)


def test_a_byte_order_mark_is_a_fault_and_hides_no_other():
    """C144."""
    text = "\ufeff" + changed(LEDGER, '"alice"', '""')
    assert faults(Record.FLAKES, text) == [
        "1:1: a byte order mark; save the file without it", "8:13: '' says nothing"]


def test_every_fault_of_a_file_is_told_at_once_in_order():
    text = (LEDGER.replace("flake_ledger.v1", "v1").replace('"alice"', '" "')
            .replace('"max_runs": 3', '"max_runs": -1').replace("2026-12-01", "2026-11-01")
            .replace('"id": "retry"', '"id": "rates"').replace("::test_retry[a::b]", "")
            .replace('"owner": "bob"', '"boss": "bob", "boss": Infinity'))
    assert [fault.split(": ")[0] for fault in faults(Record.FLAKES, text)] == [
        "1:12", "7:18", "8:13", "9:16", "10:3", "10:4", "11:14", "15:4", "15:19", "15:27"]


def test_a_row_with_a_fault_is_left_out_and_the_others_are_read():
    text = changed(LEDGER, '"alice"', '""')
    assert [row.id for row in read(Record.FLAKES, text).rows] == ["retry"]
