"""What operators may do to gates and movements, on values."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from policyd.core import operating
from policyd.core.errors import PolicydError
from policyd.core.facts import ZERO
from policyd.core.gates import Acts, Hold, Waiver
from policyd.core.index import Index, Pending
from policyd.core.movement import Movement
from policyd.core.rows import DatedRow, Kind, Records

MAIN, RELEASE, TODAY, NOON = ("refs/heads/main", "refs/heads/release/1", date(2026, 9, 22),
                              "2026-09-22T12:00:00+00:00")
A, B, C, D = ("a" * 40, "b" * 40, "c" * 40, "d" * 40)


def hold(ref: str) -> Hold:
    return Hold(ref, "drill", "joe", NOON)


def waiver(*, ref: str = MAIN, kind: Kind = Kind.FLAKE, subject: str = "t.py::t",
           last: date | None = date(2026, 9, 20), days: int = 3) -> Waiver:
    return Waiver(ref, kind, subject, last, TODAY + timedelta(days=days), "ill", "joe", NOON)


def test_each_branch_is_held_once_and_released_alone():
    acts = operating.held(operating.held(Acts(), hold(MAIN)), hold(RELEASE))
    with pytest.raises(PolicydError, match=r"main is held already, by joe since .*: drill"):
        operating.held(acts, hold(MAIN))
    assert operating.released(acts, MAIN) == Acts((hold(RELEASE),))
    assert operating.released(operating.released(acts, MAIN), RELEASE) == Acts()
    with pytest.raises(PolicydError, match=f"held is {MAIN}, {RELEASE}"):
        operating.released(acts, "refs/heads/topic")
    with pytest.raises(PolicydError, match="held is no branch"):
        operating.released(Acts(), MAIN)


@pytest.mark.parametrize(("days", "says"), [
    (-1, "is over; today is 2026-09-22"), (0, None), (3, None), (4, "3 days at most, until")])
def test_a_waiver_lasts_until_a_near_day(days, says):
    if says is None:
        assert operating.waived(Acts(), waiver(days=days), TODAY).waivers == (waiver(days=days),)
    else:
        with pytest.raises(PolicydError, match=says):
            operating.waived(Acts(), waiver(days=days), TODAY)


def test_a_row_has_one_waiver_for_each_last_day_and_branch():
    acts = operating.waived(Acts((hold(MAIN),)), waiver(days=0), TODAY)
    assert acts.holds == (hold(MAIN),)
    with pytest.raises(PolicydError, match="had its waiver, by joe until 2026-09-22: ill"):
        operating.waived(acts, waiver(), TODAY)
    with pytest.raises(PolicydError, match="had its waiver"):
        operating.waived(acts, waiver(days=33), TODAY + timedelta(days=30))
    for other in (waiver(ref=RELEASE), waiver(kind=Kind.QUARANTINE), waiver(subject="t.py::u"),
                  waiver(last=date(2026, 9, 21))):
        assert len(operating.waived(acts, other, TODAY).waivers) == 2


def row(name: str, subject: str, line: int = 3) -> DatedRow:
    return DatedRow(Kind.FLAKE, "f.json", line, name, subject, "mei")


def test_a_row_is_named_by_its_id_or_by_what_it_is_about():
    one, other = row("a", "t.py::a"), row("b", "t.py::b", 9)
    records = Records(rows=(one, other))
    assert operating.the_row(records.rows, "a") == operating.the_row(records.rows, "t.py::a") == one
    for name, says in (("c", "no row c; the branch's rows are a, b"), ("", "no row ")):
        with pytest.raises(PolicydError, match=says):
            operating.the_row(records.rows, name)
    with pytest.raises(PolicydError, match="rows are none"):
        operating.the_row((), "a")
    with pytest.raises(PolicydError, match="a is the name of several rows"):
        operating.the_row((one, row("a", "t.py::c")), "a")
    with pytest.raises(PolicydError, match=r"several rows \(f.json:3, f.json:9\)"):
        operating.the_row((one, row("c", "a", 9)), "a")


def index(branches, *, pending=(), extra=(), empty=False) -> Index:
    steps = tuple(Pending(ref, old, new, False, NOON) for ref, old, new in pending)
    return Index("ab" * 16, NOON, empty, branches, extra, steps)


@pytest.mark.parametrize(("before", "movement", "after"), [
    (index({MAIN: A}), Movement(MAIN, A, B), index({MAIN: B}, extra=(A,))),
    (index({MAIN: A}), Movement(MAIN, A, None), index({}, extra=(A,))),
    (index({MAIN: A}), Movement(RELEASE, None, B), index({MAIN: A, RELEASE: B})),
    (index({MAIN: B}, extra=(C,)), Movement(MAIN, B, A), index({MAIN: A}, extra=(B, C))),
    (index({}, empty=True), Movement(MAIN, None, A), index({MAIN: A})),
    (index({}, empty=True), Movement(MAIN, None, None), index({}, empty=True)),
    # A push that was accepted and waits for git keeps its way on from what is there now.
    (index({MAIN: A}, pending=[(MAIN, B, C)]), Movement(MAIN, A, B),
     index({MAIN: B}, extra=(A,), pending=[(MAIN, B, C)])),
    (index({MAIN: A}, pending=[(MAIN, A, C), (RELEASE, A, B)]), Movement(MAIN, A, B),
     index({MAIN: B}, extra=(A,), pending=[(RELEASE, A, B)])),
    (index({MAIN: A}, pending=[(MAIN, ZERO, C), (MAIN, A, C)]), Movement(MAIN, A, None),
     index({}, extra=(A,), pending=[(MAIN, ZERO, C)])),
])
def test_an_accepted_movement_is_accepted_history(before, movement, after):
    assert operating.accepting(before, movement) == after


def test_what_an_older_repository_lacks_is_let_go():
    before = index({MAIN: B}, extra=(C, D))
    assert operating.accepting(before, Movement(MAIN, B, A), {A, C}.__contains__) == index(
        {MAIN: A}, extra=(C,))


def test_movements_are_chosen_by_their_branch():
    moved = (Movement(MAIN, A, B), Movement(RELEASE, None, D))
    assert operating.chosen(moved, None) == moved
    assert operating.chosen(moved, RELEASE) == moved[1:]
    with pytest.raises(PolicydError, match=f"did not move past policyd; {MAIN}, {RELEASE} did"):
        operating.chosen(moved, "refs/heads/x")
    for asked in (None, MAIN):
        with pytest.raises(PolicydError, match="nothing moved past policyd"):
            operating.chosen((), asked)
