"""Counted freezes: how many flakes pass them, and what they never help."""

from __future__ import annotations

import json
from datetime import date
from math import comb

import pytest
from trials import TODAY, Bench, Found, needs_sandbox, row

from policyd.core.errors import CannotJudge
from policyd.records.freezes import Freeze
from policyd.replay.classify import Seen, Shown, classified
from policyd.replay.draws import Draw
from policyd.replay.fare import Fare
from policyd.replay.freeze import Counted, counted
from policyd.replay.oracle import Asked
from policyd.replay.pairs import Drawn, Pair, State
from policyd.replay.table import Row

LAST = date(2026, 12, 1)


def freeze(reruns: int = 5, needed: int = 3, row: str = "R") -> Freeze:
    return Freeze(row, LAST, reruns, needed, "a sum of floats", "mei")


def pair(index: int = 17, state: State = State.BREAKS) -> Pair:
    return Pair(Drawn(Asked(index), [1], (1,), ()), state, "the value differs")


class Flaky:
    """Breaks with a chance of so many percent, drawn from a seed."""

    def __init__(self, percent: int, trial: int) -> None:
        self._draw = Draw(b"freeze", "R", index=trial)
        self._percent, self.runs = percent, 0

    def __call__(self, one: Pair) -> Pair:
        self.runs += 1
        breaks = self._draw.integer(1, 1000) <= 10 * self._percent
        return pair(one.drawn.asked.index, State.BREAKS if breaks else State.HOLDS)


def passing(percent: int, reruns: int, needed: int) -> float:
    """The chance that at least `needed` of the reruns pass."""
    holds = 1 - percent / 100
    return sum(comb(reruns, n) * holds**n * (1 - holds) ** (reruns - n)
               for n in range(needed, reruns + 1))


@pytest.mark.parametrize(("reruns", "needed"), [(5, 3), (5, 5), (10, 9)])
@pytest.mark.parametrize("percent", [0, 5, 20, 50, 100])
def test_a_freeze_accepts_as_often_as_chance_says(percent, reruns, needed):
    trials = 600
    held = sum(counted(freeze(reruns, needed), [pair()], Flaky(percent, n)).held
               for n in range(trials))
    due = passing(percent, reruns, needed)
    spread = 4 * (trials * due * (1 - due)) ** 0.5  # one in sixteen thousand lies outside
    assert abs(held - trials * due) <= spread


def test_each_broken_pair_is_run_again_and_each_must_pass():
    asked: list[int] = []

    def again(one: Pair) -> Pair:
        asked.append(one.drawn.asked.index)
        return pair(state=State.BREAKS if one.drawn.asked.index == 9 else State.HOLDS)

    found = counted(freeze(), [pair(3), pair(9), pair(11)], again)
    assert not found.held
    assert asked == [3] * 5 + [9] * 5


def test_what_breaks_every_time_is_no_flake():
    found = counted(freeze(needed=1), [pair()], Flaky(100, 0))
    assert found == Counted(False, "draw 17 passes 0 of 5 reruns; it breaks every time, and a "
                                   "freeze is for flakes")


def test_too_few_passes_are_told():
    runs = iter([State.HOLDS, State.BREAKS, State.HOLDS, State.BREAKS, State.BREAKS])
    found = counted(freeze(), [pair()], lambda _: pair(state=next(runs)))
    assert found == Counted(False, "draw 17 passes 2 of 5 reruns; its freeze asks for 3")


@pytest.mark.parametrize("state", [State.BREAKS, State.VACUOUS, State.REJECTED])
def test_only_a_pair_that_holds_passes(state):
    assert not counted(freeze(needed=1), [pair()], lambda _: pair(state=state)).held


def test_reruns_are_counted_and_never_more():
    flaky = Flaky(0, 1)
    assert counted(freeze(7, 1), [pair(), pair(2)], flaky).says == (
        "each broken pair passes 7 of 7 reruns or more")
    assert flaky.runs == 14


def a_row(**more: object) -> Row:
    return Row("R", "", "m:f", "m:f", {}, False, "exact", None, None, None, None,  # type: ignore[arg-type]
               None, None, "blocking", "", None, more.get("freeze"), 8, 4, ())  # type: ignore[arg-type]


HELD = Counted(True, "each broken pair passes 5 of 5 reruns or more")


@pytest.mark.parametrize(("pairs", "more", "bucket"), [
    ([pair()], {}, "frozen"),
    ([pair(), *[pair(n, State.VACUOUS) for n in range(9)]], {}, "block"),
    ([pair()], {"counted": Counted(False, "no")}, "block"),
    ([pair()], {"counted": None}, "block"),
    ([pair(state=State.HOLDS)], {"counted": None, "flickers": pair(state=State.HOLDS)}, "holds")])
def test_a_freeze_helps_a_row_that_breaks_and_no_other_way(pairs, more, bucket):
    fare = Fare(a_row(freeze=freeze()), tuple(pairs), 0)
    seen = Seen(fare, Shown(pairs[0]), **{"counted": HELD, **more})
    assert classified(seen).bucket.value == bucket


SOURCE = """
import os

def flaky(n):
    return os.urandom(1)[0] % 5

def steady(n):
    return n

def counts(n, seen=[]):
    seen.append(n)
    return len(seen)
"""
FUNCTIONS = """
def mostly(draw, out):
    return out != 0

def never(draw, out):
    return False

def is_one(draw, out):
    return out == 1
"""
FROZEN = {"status": "freezable", "reducer": "sum", "draws": 12}
ROWS = [row("flaky", "m:flaky", holds="mostly", **FROZEN),
        row("strict", "m:flaky", holds="mostly", **FROZEN),
        row("always", "m:steady", holds="never", **FROZEN | {"draws": 4}),
        row("ended", "m:steady", holds="never", **FROZEN | {"draws": 4}),
        row("leaks", "m:counts", holds="is_one", **FROZEN | {"draws": 4}),
        row("other", "m:steady", holds="never", draws=4)]


def frozen(name: str, reruns: int = 5, needed: int = 1, expires: date = LAST) -> dict[str, object]:
    return {"relation_id": name, "expires": str(expires), "reruns": reruns,
            "pass_needed": needed, "reason": "a sum in no order, which is known",
            "owner": "mei"}


def freezes(*rows: object) -> dict[str, str]:
    return {"fixtures/freezes.json": json.dumps(list(rows))}


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> Found:
    rows = [frozen("flaky", 8, 1), frozen("always"), frozen("leaks"), frozen("other"),
            frozen("ended", expires=date(2026, 5, 31))]
    return Bench(tmp_path_factory.mktemp("freeze"), ROWS, FUNCTIONS, {"src/m.py": SOURCE},
                 files=freezes(*rows)).run()


@needs_sandbox
def test_a_flake_passes_its_freeze_and_is_listed(found):
    one = found["flaky"]
    assert one.bucket.value in ("frozen", "holds")  # in 7 of 100 runs no pair breaks
    assert one not in found.replay.refusing
    if one.bucket.value == "frozen":
        assert one.freeze.startswith("each broken pair passes ")
        assert f"flaky is frozen: {one.freeze}" in found.replay.summary


@needs_sandbox
def test_the_same_flake_without_a_freeze_blocks(found):
    one = found["strict"]
    assert (one.bucket.value, one.cause.value, one.freeze) == ("block", "flickers", "")


@needs_sandbox
def test_a_freeze_of_what_always_breaks_does_not_help(found):
    one = found["always"]
    assert (one.bucket.value, one.cause.value) == ("block", "breaks")
    assert one.freeze == ("draw 0 passes 0 of 5 reruns; it breaks every time, and a freeze is for "
                          "flakes")


@needs_sandbox
def test_an_expired_freeze_counts_for_nothing(found):
    assert (found["ended"].bucket.value, found["ended"].freeze) == ("block", "")


@needs_sandbox
def test_a_freeze_does_not_hide_hysteresis(found):
    assert found["leaks"].bucket.value == "hysteresis"


@needs_sandbox
def test_a_freeze_of_a_row_that_is_not_freezable_counts_for_nothing(found):
    assert (found["other"].bucket.value, found["other"].freeze) == ("block", "")


@pytest.mark.parametrize(("expires", "holds"), [
    (date(2026, 6, 2), True), (TODAY, True), (date(2026, 5, 31), False)])
def test_the_last_day_of_a_freeze_is_inclusive(tmp_path, expires, holds):
    there = Bench(tmp_path / "b", ROWS[:1], FUNCTIONS, {}, files=freezes(
        frozen("flaky", expires=expires))).table()
    assert (there.rows[0].freeze is not None) == holds
    assert there.warnings == (() if holds else (
        "the freeze of flaky ended on 2026-05-31; it holds again without reruns",))


def test_a_freeze_that_nobody_can_read_is_no_verdict(tmp_path):
    with pytest.raises(CannotJudge, match=r"freezes.json.*6 passes of 5 runs cannot be had"):
        Bench(tmp_path / "b", ROWS[:1], FUNCTIONS, {},
              files=freezes(frozen("flaky", 5, 6))).table()


def test_a_simulation_draws_from_its_seed_alone():
    assert [Flaky(50, n)(pair()).state for n in range(9)] == [
        Flaky(50, n)(pair()).state for n in range(9)]
