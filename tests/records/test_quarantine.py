"""The quarantine: one table of a document and what is wrong in it."""

from __future__ import annotations

import resource
import time
from datetime import date

import pytest
from reading import changed, faults, read

from policyd.core.rows import DatedRow, Kind, Record

QUARANTINE = """\
version: 1
rules:
  - nodeid: tests/test_a.py::test_b
    status: frozen
    reason: upstream answers 429
    owner: alice
    expires_on: 2026-12-01
    since: 2026-11-20
  - nodeid: ./tests/test_a.py::test_c
    status: open
    reason: "seen once in \\
      a thousand runs"
    owner: bob
"""


def test_a_quarantine_is_read_whole_and_an_open_row_is_never_due():
    """MISSION 11. C127 wants an expiry in each row; an open row skips nothing and needs none."""
    assert faults(Record.QUARANTINE, QUARANTINE) == []
    assert read(Record.QUARANTINE, QUARANTINE).rows == (
        DatedRow(Kind.QUARANTINE, "f", 3, "tests/test_a.py::test_b", "tests/test_a.py::test_b",
                 "alice", "upstream answers 429", date(2026, 11, 20), date(2026, 12, 1)),
        DatedRow(Kind.QUARANTINE, "f", 9, "./tests/test_a.py::test_c", "tests/test_a.py::test_c",
                 "bob", "seen once in a thousand runs"))


@pytest.mark.parametrize("text", ["version: 1\nrules: []\n", '{"version": 1, "rules": []}'])
def test_a_quarantine_may_be_empty(text):
    assert faults(Record.QUARANTINE, text) == []


@pytest.mark.parametrize(("old", "new", "fault"), [
    ("version: 1", "version: 2", "1:10: expected one of 1; found 2"),
    ("version: 1\n", "", "1:1: missing key 'version'"),
    ("rules:", "rules: []\nrule:", "3:1: unknown key 'rule'; did you mean 'rules'?"),
    ("status: frozen", "status: skipped",
     "4:13: expected one of open, frozen; found 'skipped'"),
    ("status: frozen", "status: Frozen",
     "4:13: expected one of open, frozen; found 'Frozen'; did you mean 'frozen'?"),
    ("upstream answers 429", "upstream 429",  None),
    ("upstream answers 429", "upstream 42",
     "5:13: a reason has 12 characters and more; 'upstream 42' has 11"),
    ("upstream answers 429", "'a                    b'",
     "5:13: a reason has 12 characters and more; 'a b' has 3"),
    ("upstream answers 429", "'????????????????'", "5:13: '????????????????' says nothing"),
    ("owner: alice", "owner: ' '", "6:12: ' ' says nothing"),
    ("owner: alice", "owner: 7", "6:12: expected text, found 7; quote it"),
    ("owner: alice", "owner: ~", "6:12: expected text, found nothing; quote it"),
    ("    expires_on: 2026-12-01\n", "",
     "3:5: a frozen row has its last day in expires_on"),
    ("expires_on: 2026-12-01", "expires_on:",
     "7:16: a frozen row has its last day in expires_on"),
    ("expires_on: 2026-12-01", "expires_on: null",
     "7:17: a frozen row has its last day in expires_on"),
    ("expires_on: 2026-12-01", "expires_on: ''",
     "7:17: expected a date written YYYY-MM-DD, found ''"),
    ("expires_on: 2026-12-01", "expires_on: never",
     "7:17: expected a date written YYYY-MM-DD, found 'never'"),
    ("expires_on: 2026-12-01", "expires_on: 2026-11-19",
     "7:17: expires_on 2026-11-19 is before since 2026-11-20"),
    ("status: frozen", "status: open",
     "7:5: an open row is tracked and never skipped; drop expires_on, or make it frozen"),
    ("    owner: bob\n", "    owner: bob\n    expires_on: null\n", None),
    ("./tests/test_a.py::test_c", "tests//test_a.py::test_b",
     "9:5: nodeid 'tests/test_a.py::test_b' again; the row in line 3 has it"),
    ("tests/test_a.py::test_b", "../tests/test_a.py::test_b",
     "3:13: '../tests/test_a.py::test_b' names no file inside the repository"),
    ("tests/test_a.py::test_b", "./oracle/relations/t.py::MR00",
     "3:13: './oracle/relations/t.py::MR00' is a relation; relations never stand here, only in "
     "the freezes"),
    ("tests/test_a.py::test_b", "!!str tests/test_a.py::test_b",
     "3:13: tag 'tag:yaml.org,2002:str'; tags are not used here"),
])
def test_a_fault_stands_where_it_is_mended(old, new, fault):
    expected = [] if fault is None else [fault]
    assert faults(Record.QUARANTINE, changed(QUARANTINE, old, new)) == expected


def test_a_key_that_stands_twice_is_a_fault():
    """C131."""
    text = changed(QUARANTINE, "2026-12-01", "2026-11-21\n    expires_on: 2027-01-01")
    assert faults(Record.QUARANTINE, text) == [
        "8:5: duplicate key 'expires_on'; it stands in line 7 already"]


@pytest.mark.parametrize("written", ["2026-12-01", "'2026-12-01'", '"2026-12-01"'])
def test_a_date_is_the_same_with_and_without_quotes(written):
    """C134."""
    text = changed(QUARANTINE, "2026-12-01", written)
    assert read(Record.QUARANTINE, text) == read(Record.QUARANTINE, QUARANTINE)


@pytest.mark.parametrize("written", [
    "2026-9-1", "20260901", "2026", "12:34:56", "2026-12-01T00:00:00+0200", "2027-02-29",
    "2026-12-01 00:00:00", "!!timestamp 2026-12-01", "[2026-12-01]"])
def test_what_is_almost_a_date_is_none(written):
    """C135."""
    fault, = faults(Record.QUARANTINE, changed(QUARANTINE, "2026-12-01", written))
    assert fault.startswith("7:17: ")


DEFAULTS = """\
version: 1
defaults: &defaults {owner: alice, status: frozen, expires_on: 2026-12-01}
rules:
  - <<: *defaults
    nodeid: tests/test_a.py::test_b
    reason: upstream answers 429
    owner: bob
  - {<<: *defaults, nodeid: "tests/test_a.py::test_c", reason: upstream answers 429}
"""


def test_rows_may_share_what_they_do_not_say_themselves():
    """C132."""
    assert faults(Record.QUARANTINE, DEFAULTS) == []
    assert [(row.line, row.owner, row.last) for row in read(Record.QUARANTINE, DEFAULTS).rows] \
        == [(4, "bob", date(2026, 12, 1)), (8, "alice", date(2026, 12, 1))]


def test_a_row_that_is_an_alias_stands_where_the_alias_stands():
    text = QUARANTINE.replace("- nodeid", "- &row\n    nodeid", 1) + "  - *row\n"
    assert faults(Record.QUARANTINE, text) == [
        "4:5: nodeid 'tests/test_a.py::test_b' again; the row in line 3 has it"]


def test_aliases_that_explode_are_refused_at_once():
    """C139."""
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    assert faults(Record.QUARANTINE, "version: 1\n" + bomb) == [
        "8:10: more than 1000000 values, aliases written out"]
    assert time.process_time() - begun < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_a_large_file_of_plain_rows_is_accepted():
    """C140, with 20,000 rows."""
    row = ('  - nodeid: "tests/test_rates.py::test_endpoint[{}]"\n    status: frozen\n'
           f'    reason: "upstream answers 429 {"without Retry-After, " * 6}"\n'
           '    expires_on: "2026-12-07"\n    owner: alice\n')
    text = "version: 1\nrules:\n" + "".join(map(row.format, range(20_000)))
    assert len(text) > 5_000_000
    parsed = read(Record.QUARANTINE, text)
    assert parsed.faults == ()
    assert len(parsed.rows) == 20_000
    assert parsed.rows[-1].line == 3 + 5 * 19_999
