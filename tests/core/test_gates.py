"""What closes a gate and who is told, as pure tables of records, days and acts."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.core import calendar, gates
from policyd.core.errors import Fault
from policyd.core.gates import Acts, Cause, Event, Gate, Given, Hold, Reason, Waiver, Written
from policyd.core.movement import Movement
from policyd.core.rows import DatedRow, Drift, Kind, Lease, Record, Records

MAIN, OTHER = "refs/heads/main", "refs/heads/release/1"
LAST = date(2026, 9, 22)
AFTER = LAST + timedelta(days=1)
LEDGER, QUARANTINE, RECEIPT = ("tests/ledger/flake_ledger.json", "oracle/quarantine.yaml",
                               "oracle/receipts/tax.json")
ROW = DatedRow(Kind.FLAKE, LEDGER, 5, "billing.currency", "tests/test_a.py::test_x", "billing",
               "answers 429", last=LAST)
FREEZE = replace(ROW, kind=Kind.FREEZE, subject="MR02", path="fixtures/freezes.json")
OPEN = replace(ROW, kind=Kind.QUARANTINE, last=None, path=QUARANTINE)
LEASE = Lease("rates", "fixtures/leases/rates.yaml", 3, "fixtures/data/rates.csv", "a" * 64)
LEASED = DatedRow(Kind.LEASE, LEASE.path, 3, "rates", LEASE.corpus, "joe", last=LAST)
HOLD = Hold(MAIN, "fire drill", "ops", "2026-09-01T00:00Z")
WAIVER = Waiver(MAIN, Kind.FLAKE, ROW.subject, LAST, date(2026, 9, 25), "the vendor answers on "
                "Friday", "ops", "2026-09-23T08:00Z")


def of(*rows: DatedRow, **more) -> Records:
    return Records(rows=rows, **more)


def causes(records: Records, today: date, *, ref: str = MAIN, acts: Acts | None = None,
           movements: tuple[Movement, ...] = ()) -> list[Cause]:
    given = Given(today, acts or Acts(), movements)
    return [reason.cause for reason in gates.desired(ref, records, given).reasons]


CLOSES = [
    # one row, today, what closes the gate
    (ROW, LAST - timedelta(days=1), []),
    (ROW, LAST, []),
    (ROW, AFTER, [Cause.EXPIRED]),
    (ROW, date.max, [Cause.EXPIRED]),
    (replace(ROW, kind=Kind.QUARANTINE), AFTER, [Cause.EXPIRED]),
    (replace(ROW, kind=Kind.LEASE), AFTER, [Cause.EXPIRED]),
    (replace(ROW, kind=Kind.POLICY), AFTER, [Cause.EXPIRED]),
    (FREEZE, AFTER, []),
    (OPEN, date.max, []),
    (replace(ROW, last=date(2028, 2, 29)), date(2028, 2, 29), []),
    (replace(ROW, last=date(2028, 2, 29)), date(2028, 3, 1), [Cause.EXPIRED]),
]


@pytest.mark.parametrize(("row", "today", "why"), CLOSES)
def test_a_row_closes_the_gate_when_its_last_day_is_over(row, today, why):
    assert causes(of(row), today) == why


def test_a_gate_without_rows_is_open():
    assert gates.desired(MAIN, Records(), Given(AFTER)).is_open


def test_a_closed_gate_names_the_rows_the_oldest_first():
    older = replace(ROW, id="older", last=LAST - timedelta(days=9), line=20)
    gate = gates.desired(MAIN, of(ROW, older), Given(AFTER))
    assert gate.reasons == (
        Reason(Cause.EXPIRED, "row older", LEDGER, 20, "older", Kind.FLAKE, "billing", older.last),
        Reason(Cause.EXPIRED, "row billing.currency", LEDGER, 5, "billing.currency", Kind.FLAKE,
               "billing", LAST))
    assert [reason.place for reason in gate.reasons] == [f"{LEDGER}:20", f"{LEDGER}:5"]


FAULTY = [
    # the file's kind, does a fault in it close the gate
    (Record.FLAKES, True), (Record.QUARANTINE, True), (Record.FREEZES, True),
    (Record.LEASES, True), (Record.RELATIONS, True), (None, True), (Record.RECEIPTS, False),
    (Record.SEEDS, False),
]


@pytest.mark.parametrize(("kind", "closes"), FAULTY)
def test_a_record_of_dated_rows_that_cannot_be_read_closes_the_gate(kind, closes):
    records = of(faults=(Fault("some/file", 4, 2, "expected a date"),),
                 kinds={"some/file": kind} if kind else {})
    gate = gates.desired(MAIN, records, Given(LAST))
    assert gate.reasons == ((Reason(Cause.INVALID, "expected a date", "some/file", 4),)
                            if closes else ())


DRIFTS = [
    # what the corpus is now, what is said
    ("b" * 64, "lease rates: fixtures/data/rates.csv has sha256 bbbbbbbbbbbb"),
    (None, "lease rates: fixtures/data/rates.csv is absent"),
]


@pytest.mark.parametrize(("found", "says"), DRIFTS)
def test_a_leased_corpus_that_is_another_one_closes_the_gate(found, says):
    reason, = gates.desired(MAIN, of(LEASED, drifts=(Drift(LEASE, found),)), Given(LAST)).reasons
    assert (reason.cause, reason.says, reason.owner) == (Cause.DRIFTED, says, "joe")
    assert (reason.place, reason.row, reason.last) == (f"{LEASE.path}:3", "rates", LAST)


def test_a_lease_that_drifted_closes_the_gate_without_its_row_too():
    assert causes(of(drifts=(Drift(LEASE, None),)), LAST) == [Cause.DRIFTED]


def test_a_hold_and_a_movement_close_their_own_branch_alone():
    acts, moved = Acts(holds=(HOLD,)), (Movement(MAIN, "9" * 40, None),)
    assert causes(of(), LAST, acts=acts, movements=moved) == [Cause.MOVED, Cause.HELD]
    assert causes(of(), LAST, ref=OTHER, acts=acts, movements=moved) == []


def test_a_movement_says_from_where_to_where():
    reason, = gates.desired(MAIN, of(), Given(LAST, movements=(
        Movement(MAIN, None, "7" * 40),))).reasons
    assert reason.says == "moved past policyd, absent to 777777777777"


WAIVED = [
    # the waiver, today, what closes the gate all the same
    (WAIVER, AFTER, []),
    (WAIVER, date(2026, 9, 25), []),
    (WAIVER, date(2026, 9, 26), [Cause.EXPIRED]),
    (replace(WAIVER, ref=OTHER), AFTER, [Cause.EXPIRED]),
    (replace(WAIVER, kind=Kind.QUARANTINE), AFTER, [Cause.EXPIRED]),
    (replace(WAIVER, subject="tests/test_a.py::test_y"), AFTER, [Cause.EXPIRED]),
    (replace(WAIVER, last=LAST - timedelta(days=1)), AFTER, [Cause.EXPIRED]),
]


@pytest.mark.parametrize(("waiver", "today", "why"), WAIVED)
def test_a_waiver_lets_one_row_with_one_date_pass_on_one_branch_until_its_day(waiver, today, why):
    gate = gates.desired(MAIN, of(ROW), Given(today, Acts(waivers=(waiver,))))
    assert [reason.cause for reason in gate.reasons] == why
    assert gate.waived == (() if why else (("billing.currency", waiver.until),))


def test_a_waiver_of_a_lease_lets_its_drift_pass_and_no_hold():
    waiver = replace(WAIVER, kind=Kind.LEASE, subject=LEASE.corpus)
    acts = Acts((HOLD,), (waiver,))
    assert causes(of(LEASED, drifts=(Drift(LEASE, None),)), AFTER, acts=acts) == [Cause.HELD]


def test_what_two_policies_say_closes_together_and_once():
    one = Gate(MAIN, (Reason(Cause.HELD, "held"),), (("a", LAST),))
    other = Gate(MAIN, (Reason(Cause.HELD, "held"), Reason(Cause.MOVED, "moved")), (("a", LAST),))
    assert gates.both(one, other).reasons == other.reasons
    assert gates.both(one, other).waived == (("a", LAST),)
    assert not gates.both(Gate(MAIN), one).is_open
    assert gates.both(Gate(MAIN), Gate(MAIN)).is_open


def test_the_days_on_which_to_look_again_are_those_of_rows_and_waivers():
    acts = Acts(waivers=(WAIVER, replace(WAIVER, ref=OTHER, until=date(2026, 9, 30)),
                         replace(WAIVER, until=date(2026, 9, 1))))
    days = set(gates.changes(of(ROW, OPEN), Given(date(2026, 9, 20), acts), MAIN))
    assert days == {date(2026, 9, 21), AFTER, date(2026, 9, 26)}
    assert set(gates.changes(of(replace(ROW, last=date.max)), Given(date.max), MAIN)) == set()


DAYS = st.integers(0, 120).map(lambda n: date(2026, 6, 1) + timedelta(days=n))
ROWS = st.lists(
    st.builds(replace, st.sampled_from([ROW, FREEZE, LEASED, OPEN]), last=st.none() | DAYS,
              first=st.none() | DAYS, line=st.integers(1, 9)),
    max_size=6, unique_by=lambda row: row.identity).map(tuple)
WAIVERS = st.lists(st.builds(replace, st.just(WAIVER), until=DAYS, last=DAYS), max_size=2)


@given(ROWS, WAIVERS, DAYS)
def test_between_two_days_on_which_to_look_the_gate_stays_the_same(rows, waivers, today):
    start = Given(today, Acts(waivers=tuple(waivers)))
    coming = min(gates.changes(of(*rows), start, MAIN), default=date(2027, 6, 1))
    before = gates.desired(MAIN, of(*rows), replace(start, today=coming - timedelta(days=1)))
    now = gates.desired(MAIN, of(*rows), start)
    assert (before.reasons, before.waived) == (now.reasons, now.waived)


@given(ROWS, DAYS, DAYS)
def test_time_alone_opens_no_gate(rows, one, other):
    sooner, later = sorted((one, other))
    before = set(gates.desired(MAIN, of(*rows), Given(sooner)).reasons)
    assert before <= set(gates.desired(MAIN, of(*rows), Given(later)).reasons)


CLOSED = Gate(MAIN, (Reason(Cause.EXPIRED, "row a", LEDGER, 5, "a"),))
HELD = Gate(MAIN, (*CLOSED.reasons, Reason(Cause.HELD, "held by ops: fire drill")))
MOVED_LINE = Gate(MAIN, (replace(CLOSED.reasons[0], line=90),))

TURNS = [
    # written down before, wanted now, what is told, does `since` begin anew
    (None, Gate(MAIN), [], True),
    (None, CLOSED, [Event.CLOSED], True),
    (Gate(MAIN), Gate(MAIN), [], False),
    (Gate(MAIN), CLOSED, [Event.CLOSED], True),
    (CLOSED, CLOSED, [], False),
    (CLOSED, Gate(MAIN), [Event.OPENED], True),
    (CLOSED, HELD, [Event.CHANGED], False),
    (HELD, CLOSED, [Event.CHANGED], False),
    (HELD, Gate(MAIN, HELD.reasons[::-1]), [], False),
    (CLOSED, MOVED_LINE, [], False),
]


@pytest.mark.parametrize(("have", "want", "told", "anew"), TURNS)
def test_a_gate_that_turns_is_told_of(have, want, told, anew):
    before = Written(have, "2026-01-01T00:00Z", {}) if have else None
    written, events = gates.plan(want, before, (), AFTER, "2026-09-23T00:00Z")
    assert [event.event for event in events] == told
    assert written.gate == want
    assert written.since == ("2026-09-23T00:00Z" if anew else "2026-01-01T00:00Z")


def test_a_gate_that_opens_says_what_it_was_closed_by():
    _, (event,) = gates.plan(Gate(MAIN), Written(CLOSED, "", {}), (), AFTER, "")
    assert event.reasons == CLOSED.reasons


def test_a_row_that_ends_soon_is_told_of_with_its_days():
    written, (event,) = gates.plan(Gate(MAIN), None, (ROW, OPEN), LAST - timedelta(days=5), "")
    assert (event.event, event.row, event.days) == (Event.DUE, ROW, 5)
    assert written.told == {calendar.key_of(ROW): 7}


def test_a_row_that_two_policies_read_is_told_of_once():
    _, events = gates.plan(Gate(MAIN), None, (ROW, replace(ROW, line=9)), LAST, "")
    assert len(events) == 1


def test_a_row_that_is_dated_anew_is_told_of_again_and_one_that_is_gone_is_forgotten():
    first, _ = gates.plan(Gate(MAIN), None, (ROW,), LAST, "")
    again = replace(ROW, last=LAST + timedelta(days=1))
    second, events = gates.plan(Gate(MAIN), first, (again,), LAST, "")
    assert [event.row for event in events] == [again]
    assert set(second.told) == {calendar.key_of(again)}
    assert gates.plan(Gate(MAIN), second, (), LAST, "")[0].told == {}


@given(ROWS, DAYS, st.lists(st.integers(0, 40), max_size=8))
def test_a_step_is_told_once_however_often_and_irregularly_somebody_looks(rows, start, waits):
    """The day never goes back: a clock that does changes nothing (the latest moment counts)."""
    today, have = start, None
    seen: list[tuple[str, int]] = []
    for wait in waits:
        today += timedelta(days=wait)
        have, events = gates.plan(Gate(MAIN), have, rows, today, "")
        seen += [(calendar.key_of(event.row), calendar.step_of(event.row, today))
                 for event in events]
        assert all(event.event is Event.DUE for event in events)
        assert {calendar.key_of(row) for row in rows
                if calendar.step_of(row, today) is not None} == set(have.told)
    assert len(seen) == len(set(seen))


@given(ROWS, DAYS)
def test_day_by_day_every_step_is_told(rows, start):
    have, seen = None, set()
    for n in range(200):
        have, events = gates.plan(Gate(MAIN), have, rows, start + timedelta(days=n), "")
        seen |= {(calendar.key_of(e.row), e.days) for e in events if n}
    due = {(calendar.key_of(row), step) for row in rows for step in calendar.steps(row)
           if row.last - timedelta(days=step) > start}
    assert due == seen


@given(ROWS, WAIVERS, DAYS)
def test_a_second_look_on_the_same_day_tells_nothing_and_writes_the_same(rows, waivers, today):
    want = gates.desired(MAIN, of(*rows), Given(today, Acts(waivers=tuple(waivers))))
    first, _ = gates.plan(want, None, rows, today, "then")
    second, events = gates.plan(want, first, rows, today, "now")
    assert events == ()
    assert second == first
