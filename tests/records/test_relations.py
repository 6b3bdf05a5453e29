"""Relation tables: one table of a document and what is wrong in it."""

from __future__ import annotations

from datetime import date

import pytest
from reading import changed, faults, read

from policyd.core.rows import DatedRow, Kind, Record, Relation

PAIR = """\
version: 1
relations:
  - id: R1
    relation: the total does not depend on the order
    entry: shop.app:total
    generator: prices
    transform: shuffled
    compare: exact
    status: blocking
"""
FULL = """\
  - id: R2
    class: scale
    relation: twice the prices, twice the total
    entry: app:total
    roots: [src, .]
    generator: prices
    transform: doubled
    compare: map
    map: twice
    status: policy
    owner: alice
    expires: 2026-12-01
    leases: [prices]
    rounding: half to even, at the end
    quantum: 0.010
    min_applied: 40
    safety: true
  - id: R3
    relation: a mean over threads
    entry: app:mean
    generator: prices
    transform: shuffled
    compare: tolerance
    within: 0.001
    status: freezable
    reducer: float addition
  - id: R4
    class: property
    relation: a total is the sum
    entry: app:total
    arity: 1
    generator: prices
    compare: holds
    holds: adds_up
    status: blocking
"""


def test_a_table_is_read_whole():
    parsed = read(Record.RELATIONS, PAIR + FULL)
    assert parsed.faults == ()
    assert parsed.relations == (
        Relation("R1", "f", 3, "blocking", functions=("prices", "shuffled")),
        Relation("R2", "f", 10, "policy", leases=("prices",),
                 functions=("prices", "doubled", "twice"), rounds=True),
        Relation("R3", "f", 27, "blocking", freezable=True, functions=("prices", "shuffled")),
        Relation("R4", "f", 36, "blocking", functions=("prices", "adds_up")))
    assert parsed.rows == (DatedRow(
        Kind.POLICY, "f", 10, "R2", "R2", "alice", "twice the prices, twice the total",
        last=date(2026, 12, 1)),)


@pytest.mark.parametrize(("text", "fault"), [
    ("version: 1\nrelations: []\n", "2:12: a table without rows proves nothing"),
    ("version: 1\nrelations:\n", "2:11: expected a list of rows"),
    ("version: 1\nrelations: {}\n", "2:12: expected a list of rows"),
    ("version: 1\n", "1:1: missing key 'relations'"),
    ("[]", "1:1: expected a mapping, found a list"),
    ("", "1:1: the file is empty"),
])
def test_an_empty_table_is_a_fault(text, fault):
    """MISSION 16."""
    assert faults(Record.RELATIONS, text) == [fault]


NO_ANSWERS = "a row stores no expected value; it says how the output changes when the input does"


@pytest.mark.parametrize(("old", "new", "fault"), [
    ("    relation: the total does not depend on the order\n", "", "3:5: missing key 'relation'"),
    ("the total does not depend on the order", "''", "4:15: '' says nothing"),
    ("the total does not depend on the order", '"a\\nb"',
     "4:15: 'a\\nb' is not one line of characters that can be seen, without white space around "
     "it"),
    ("shop.app:total", "total",
     "5:12: 'total' is no entry point, such as package.module:function"),
    ("generator: prices", "generator: a.b", "6:16: 'a.b' is no name of a function"),
    ("generator: prices", "generator: import", "6:16: 'import' is no name of a function"),
    ("    generator: prices\n", "", "3:5: missing key 'generator'"),
    ("    transform: shuffled\n", "",
     "3:5: a pair (arity 2) has a transform that makes the second input"),
    ("transform: shuffled", "transform:",
     "7:15: a pair (arity 2) has a transform that makes the second input"),
    ("transform: shuffled", "transform: identity",
     "7:16: both sides are the same call, so that the row holds of any code"),
    ("transform: shuffled", "transform: none",
     "7:16: both sides are the same call, so that the row holds of any code"),
    ("transform: shuffled", "transform: Identity",
     "7:16: both sides are the same call, so that the row holds of any code"),
    ("    transform: shuffled\n    compare: exact",
     "    transform: shuffled\n    arity: 1\n    compare: raises",
     "7:16: a property (arity 1) has one execution, so nothing is transformed"),
    ("transform: shuffled", "transform: shuffled\n    arity: 3",
     "8:12: expected one of 2, 1; found 3"),
    ("compare: exact", "compare: xyz",
     "8:14: expected one of exact, bag, tolerance, quota, subset, map, holds, raises; "
     "found 'xyz'"),
    ("compare: exact", "compare: map",
     "3:5: `compare: map` names its function under map"),
    ("compare: exact", "compare: exact\n    map: twice", None),
    ("compare: exact", "compare: raises\n    map: twice",
     "9:10: map says nothing where outputs are compared by raises"),
    ("compare: exact", "compare: quota\n    within: 2",
     "3:5: `compare: quota` names its function under map"),
    ("compare: exact", "compare: quota\n    within: 2\n    map: twice", None),
    ("compare: exact", "compare: tolerance\n    within: 1e-9", None),
    ("compare: exact", "compare: tolerance\n    within: as_many", None),
    ("compare: exact", "compare: tolerance\n    within: 0",
     "9:13: '0' is no number above 0 and no name of a function"),
    ("compare: exact", "compare: tolerance\n    within: -1",
     "9:13: '-1' is no number above 0 and no name of a function"),
    ("compare: exact", "compare: tolerance",
     "3:5: `compare: tolerance` names its bound, a number or a function, under within"),
    ("compare: exact", "compare: exact\n    within: 1",
     "9:13: within says nothing where outputs are compared by exact"),
    ("compare: exact", "compare: exact\n    holds: adds_up",
     "9:12: holds says nothing where outputs are compared by exact"),
    ("compare: exact", "compare: holds\n    holds: adds_up",
     "8:14: a pair (arity 2) has two outputs; holds looks at one"),
    ("transform: shuffled", "arity: 1",
     "8:14: a property (arity 1) has one output: holds or raises, not exact"),
    ("    transform: shuffled\n    compare: exact", "    arity: 1\n    compare: holds",
     "3:5: `compare: holds` names its function under holds"),
    ("    transform: shuffled\n    compare: exact",
     "    arity: 1\n    compare: raises\n    merge: added",
     "9:12: a property (arity 1) has no follow-up run, so there is no merge"),
    ("    transform: shuffled\n    compare: exact",
     "    arity: 1\n    compare: raises\n    follow_up: app:parse",
     "9:16: a property (arity 1) has no follow-up run, so there is no follow_up"),
    ("status: blocking", "status: blocking\n    steps: {reset: shop.app:reset}", None),
    ("status: blocking", "status: blocking\n    steps: {reset: reset}",
     "10:20: 'reset' is no entry point, such as package.module:function"),
    ("status: blocking", "status: blocking\n    draws: 0", "10:12: 0 is not from 1 to 10,000"),
    ("status: blocking", "status: on",
     "9:13: expected one of blocking, policy, freezable; found 'on'"),
    ("status: blocking", "status: blocking\n    owner: alice",
     "10:12: only a policy row has owner; a row that blocks does so without end"),
    ("status: blocking", "status: blocking\n    expires: 2026-12-01",
     "10:14: only a policy row has expires; a row that blocks does so without end"),
    ("status: blocking", "status: policy\n    owner: alice",
     "3:5: a policy row has a last day: expires"),
    ("status: blocking", "status: policy\n    expires: 2026-12-01",
     "3:5: a policy row has an owner: owner"),
    ("status: blocking", "status: policy\n    expires: 2026-12-01\n    owner:",
     "11:11: a policy row has an owner: owner"),
    ("status: blocking", "status: policy\n    expires: 2026-12-01\n    owner: ''",
     "11:12: '' says nothing"),
    ("status: blocking", "status: policy\n    owner: a\n    expires: soon",
     "11:14: expected a date written YYYY-MM-DD, found 'soon'"),
    ("status: blocking", "status: freezable",
     "3:5: a freezable row names its reducer, which is not associative"),
    ("status: blocking", "status: freezable\n    reducer: ''", "10:14: '' says nothing"),
    ("status: blocking", "status: freezable\n    reducer: float sum\n    safety: true",
     "11:13: a row marked safety is never freezable"),
    ("status: blocking", "status: freezable\n    reducer: float sum\n    safety: false", None),
    ("status: blocking", "status: freezable\n    reducer: float sum\n    expires: 2026-12-01",
     "11:14: only a policy row has expires; a row that blocks does so without end"),
    ("status: blocking", "status: blocking\n    safety: yes",
     "10:13: expected true or false, found 'yes'"),
    ("status: blocking", "status: blocking\n    leases: [prices]\n    rounding: half to even",
     "11:15: a row that reads a lease and rounds states its quantum"),
    ("status: blocking", "status: blocking\n    leases: [prices]\n    rounding: half to even\n"
                         "    quantum: 0.01", None),
    ("status: blocking", "status: blocking\n    leases: []\n    rounding: half to even", None),
    ("status: blocking", "status: blocking\n    leases: [prices]", None),
    ("status: blocking", "status: blocking\n    quantum: 0", "10:14: '0' is no quantum, such as "
                                                             "0.01"),
    ("status: blocking", "status: blocking\n    min_applied: 0", "10:18: 0 is less than 1"),
    ("status: blocking", "status: blocking\n    roots: [../x]",
     "10:13: '../x' is no path inside the repository; it begins at the root and has no . or .. "
     "in it"),
    ("status: blocking", "status: blocking\n    class: xyz",
     "10:12: expected one of order, store, split-merge, idempotence, round-trip, commuting, scale, "
     "duplication, property; found 'xyz'"),
])
def test_a_fault_stands_where_it_is_mended(old, new, fault):
    expected = [] if fault is None else [fault]
    assert faults(Record.RELATIONS, changed(PAIR, old, new)) == expected


def test_an_unknown_key_is_a_fault():
    fault, = faults(Record.RELATIONS, f"{PAIR}    skip: true\n")
    assert fault.startswith("10:5: unknown key 'skip'; known: id, relation, entry, generator,")


@pytest.mark.parametrize("key", ["expected", "golden", "output", "expected_output", "result"])
def test_a_row_stores_no_expected_value(key):
    assert faults(Record.RELATIONS, f"{PAIR}    {key}: [1]\n") == [f"10:5: {NO_ANSWERS}"]


@pytest.mark.parametrize("kind", ["scale", "duplication"])
@pytest.mark.parametrize("status", ["blocking", "freezable\n    reducer: float sum"])
def test_a_row_that_does_not_say_what_becomes_of_a_remainder_cannot_block(kind, status):
    """MISSION 34."""
    text = changed(PAIR, "status: blocking", f"status: {status}") + f"    class: {kind}\n"
    fault, = faults(Record.RELATIONS, text)
    assert fault.endswith(f"a row of class {kind} blocks only when it says what becomes of the "
                          "remainder, under rounding; until then its status is policy")
    assert faults(Record.RELATIONS, text + "    rounding: largest remainder first\n") == []
    policy = changed(PAIR, "status: blocking",
                     "status: policy\n    owner: a\n    expires: 2026-12-01")
    assert faults(Record.RELATIONS, f"{policy}    class: {kind}\n") == []


def test_a_function_is_named_as_python_reads_its_name():
    text = changed(PAIR, "generator: prices", "generator: ﬁt")
    relation, = read(Record.RELATIONS, text).relations
    assert relation.functions == ("fit", "shuffled")


def test_two_rows_with_one_id_are_a_fault():
    assert faults(Record.RELATIONS, PAIR + changed(FULL, "id: R2", "id: R1")) == [
        "10:5: id 'R1' again; the row in line 3 has it"]


def test_a_row_with_a_fault_is_left_out_so_that_no_policy_row_lacks_its_last_day():
    parsed = read(Record.RELATIONS, PAIR + changed(FULL, "    expires: 2026-12-01\n", ""))
    assert parsed.rows == ()
    assert [relation.id for relation in parsed.relations] == ["R1", "R3", "R4"]


def test_every_fault_of_a_row_is_told_at_once():
    text = (PAIR.replace("shuffled", "none").replace("exact", "same").replace("prices", "1")
            .replace("blocking", "freezable") + "    safety: true\n    golden: x\n    what: y\n")
    assert [fault.split(": ")[0] for fault in faults(Record.RELATIONS, text)] == [
        "3:5", "6:16", "7:16", "8:14", "10:13", "11:5", "12:5"]
