"""What an update does to rows and relations, as tables of before and after."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.core.facts import Books, Past
from policyd.core.rowchanges import How, added, changed, left, redated
from policyd.core.rows import DatedRow, Kind, Records, Relation

FIRST = date(2026, 9, 1)
ROW = DatedRow(Kind.FLAKE, "tests/ledger/flake_ledger.json", 5, "api.rates",
               "tests/test_api.py::test_rates", "billing", "answers 429", FIRST,
               date(2026, 9, 22), 3)
OPEN = DatedRow(Kind.QUARANTINE, "oracle/quarantine.yaml", 3, "q", "tests/a.py::test_x", "mei")
POLICY = DatedRow(Kind.POLICY, "oracle/relations/t.yaml", 4, "MR05", "MR05", "joe",
                  last=date(2026, 12, 1))
BLOCKS = Relation("MR05", "oracle/relations/t.yaml", 4, "blocking")
WARNS = replace(BLOCKS, status="policy")


def books(before: tuple[DatedRow, ...], after: tuple[DatedRow, ...], **past: Past) -> Books:
    rows = {row.id: row for row in (*before, *after)}
    return Books(Records(rows=before), Records(rows=after),
                 past={rows[id_].identity: told for id_, told in past.items()})


def tables(before: tuple[Relation, ...], after: tuple[Relation, ...]) -> Books:
    return Books(Records(relations=before), Records(relations=after))


def until(row: DatedRow, days: int) -> DatedRow:
    return replace(row, last=FIRST + timedelta(days=days))


SAME = [
    # what is another in the row that stands for the same promise
    {}, {"line": 90}, {"path": "tests/ledger/other.json"},
]
OTHERWISE = [{"id": "again"}, {"owner": "mei"}, {"reason": "other"}, {"runs": 5}, {"first": None},
             {"last": date(2026, 9, 21)}]


@pytest.mark.parametrize("how", SAME)
def test_a_row_that_only_moves_is_not_changed(how):
    assert changed(books((ROW,), (replace(ROW, **how),))) == ()


@pytest.mark.parametrize("how", OTHERWISE)
def test_a_row_that_says_anything_else_is_changed_and_not_added(how):
    now = replace(ROW, **how)
    assert changed(books((ROW,), (now,))) == (now,)
    assert added(books((ROW,), (now,))) == ()


def test_a_row_about_something_else_is_added_and_changed_under_the_same_id():
    now = replace(ROW, subject="tests/test_api.py::test_other")
    assert added(books((ROW,), (now,))) == (now,) == changed(books((ROW,), (now,)))


def test_the_same_subject_in_two_kinds_is_two_rows():
    now = replace(ROW, kind=Kind.QUARANTINE)
    assert added(books((ROW,), (ROW, now))) == (now,)


REDATED = [
    # before, after, past, is it dated anew, is that later
    (ROW, ROW, None, False, False),
    (until(ROW, 9), until(ROW, 10), None, True, True),
    (until(ROW, 9), until(ROW, 8), None, True, False),
    (until(ROW, 9), replace(until(ROW, 10), id="again", path="elsewhere.json"), None, True, True),
    (OPEN, OPEN, None, False, False),
    (OPEN, until(OPEN, 9), None, True, False),
    (OPEN, until(OPEN, 9), Past(1), True, True),
    (until(OPEN, 9), OPEN, Past(1), True, False),
    (None, ROW, None, False, False),
    (None, ROW, Past(0), False, False),
    (None, ROW, Past(0, frozenset({"answers 429"})), True, True),
    (None, ROW, Past(1), True, True),
    (None, OPEN, Past(1), True, False),
    (ROW, None, None, False, False),
]


@pytest.mark.parametrize(("was", "now", "past", "is_redated", "later"), REDATED)
def test_a_row_is_renewed_when_it_is_let_pass_longer(was, now, past, is_redated, later):
    some = was or now
    told = {} if past is None else {some.identity: past}
    found = redated(Books(Records(rows=(was,) if was else ()), Records(rows=(now,) if now else ()),
                          past=told))
    assert [(one.was, one.now) for one in found] == ([(was, now)] if is_redated else [])
    assert [one.later for one in found] == ([later] if is_redated else [])


@given(st.integers(0, 400), st.integers(0, 400))
def test_between_two_dates_one_way_is_a_renewal_and_the_other_is_none(one, other):
    there = redated(books((until(ROW, one),), (until(ROW, other),)))
    back = redated(books((until(ROW, other),), (until(ROW, one),)))
    assert len(there) == len(back) == (one != other)
    assert [r.later for r in (*there, *back)].count(True) == (one != other)


def test_a_row_that_is_gone_is_told_with_the_place_where_it_stood():
    gone, = left(books((ROW, OPEN), (OPEN,)))
    assert (gone.how, gone.kind, gone.id) == (How.REMOVED, "flake", "api.rates")
    assert (gone.path, gone.line) == (ROW.path, 5)


@pytest.mark.parametrize("how", [*SAME, *OTHERWISE])
def test_a_row_that_is_still_there_in_any_words_is_not_gone(how):
    assert left(books((ROW,), (replace(ROW, **how),))) == ()


RELATIONS = [
    # before, after, what is told
    (BLOCKS, BLOCKS, []),
    (BLOCKS, replace(BLOCKS, path="oracle/relations/u.yaml", line=9), []),
    (BLOCKS, None, [(How.REMOVED, "")]),
    (BLOCKS, replace(BLOCKS, id="MR06"), [(How.REMOVED, "")]),
    (BLOCKS, WARNS, [(How.WEAKENED, "blocking to policy")]),
    (BLOCKS, replace(BLOCKS, freezable=True), [(How.WEAKENED, "freezable now")]),
    (BLOCKS, replace(WARNS, freezable=True),
     [(How.WEAKENED, "blocking to policy, freezable now")]),
    (WARNS, BLOCKS, []),
    (WARNS, None, [(How.REMOVED, "")]),
    (WARNS, replace(WARNS, freezable=True), [(How.WEAKENED, "freezable now")]),
    (replace(BLOCKS, freezable=True), BLOCKS, []),
    (replace(BLOCKS, freezable=True), replace(BLOCKS, freezable=True, line=9), []),
    (None, WARNS, []),
]


@pytest.mark.parametrize(("was", "now", "told"), RELATIONS)
def test_a_relation_is_told_when_it_is_gone_or_counts_less(was, now, told):
    found = left(tables((was,) if was else (), (now,) if now else ()))
    assert [(one.how, one.note) for one in found] == told
    assert {one.kind for one in found} <= {"relation"}


def test_a_policy_row_whose_relation_blocks_again_is_no_loss():
    assert left(Books(Records(rows=(POLICY,), relations=(WARNS,)),
                      Records(relations=(BLOCKS,)))) == ()


def test_a_policy_row_that_goes_with_its_relation_is_told_once():
    found = left(Books(Records(rows=(POLICY,), relations=(WARNS,)), Records()))
    assert [(one.how, one.kind, one.id) for one in found] == [(How.REMOVED, "relation", "MR05")]
