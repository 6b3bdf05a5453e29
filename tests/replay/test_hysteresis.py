"""Who pollutes: found among simulated processes, and in real ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

import pytest
from trials import Bench, Found, needs_sandbox, row

from policyd.replay import hysteresis
from policyd.replay.hysteresis import RUNS, Leak
from policyd.replay.outcome import Break, Broken, Outcome, Raised, Value

CLEAN, POLLUTED = Value(b"1"), Value(b"2")


class Process:
    """Runs by number, in one process: a run is polluted where `trips` says so of those before."""

    def __init__(self, trips: Callable[[Sequence[int]], bool]) -> None:
        self._trips = trips
        self.asked: list[Sequence[int]] = []

    def __call__(self, runs: Sequence[int]) -> list[list[Outcome]]:
        self.asked.append(runs)
        return [[POLLUTED if self._trips(runs[:at]) else CLEAN] for at in range(len(runs))]


def found(trips: Callable[[Sequence[int]], bool], before: int,
          known: Sequence[tuple[int, ...]] = ()) -> tuple[tuple[int, ...], Process]:
    process = Process(trips)
    leak = Leak(before, tuple(range(before)))
    return hysteresis.polluters(leak, CLEAN, process, known), process


def test_one_polluter_is_found_wherever_it_is():
    for before in (1, 2, 3, 7, 64, 600):
        for one in range(0, before, 1 + before // 60):
            polluters, process = found(lambda runs, one=one: one in runs, before)
            assert polluters == (one,)
            assert len(process.asked) <= 24


@pytest.mark.parametrize("two", [(0, 1), (0, 599), (299, 300), (100, 500), (17, 301), (598, 599),
                                 (3, 150), (450, 451)])
def test_two_that_are_needed_together_are_found(two):
    polluters, process = found(lambda runs: {*two} <= {*runs}, 600)
    assert polluters == two
    assert len(process.asked) <= RUNS


def test_bisection_alone_would_not_find_two_in_different_halves():
    _, process = found(lambda runs: {100, 500} <= {*runs}, 600)
    assert [len(runs) - 1 for runs in process.asked[:2]] == [300, 300]
    assert {100, 500} <= {*process.asked[-1]}


def test_three_of_a_few_are_found():
    assert found(lambda runs: {1, 9, 17} <= {*runs}, 20)[0] == (1, 9, 17)


def test_a_counter_needs_as_many_as_it_counts():
    polluters, _ = found(lambda runs: len(runs) >= 2, 600)
    assert len(polluters) == 2


def test_their_order_is_that_in_which_they_ran():
    def trips(runs: Sequence[int]) -> bool:
        return 9 in runs and 40 in runs and runs.index(9) < runs.index(40)

    assert found(trips, 100)[0] == (9, 40)


def test_known_polluters_are_tried_first():
    polluters, process = found(lambda runs: 7 in runs, 600, known=[(3,), (7,)])
    assert polluters == (7,)
    assert [list(runs) for runs in process.asked] == [[3, 600], [7, 600]]


def test_a_known_polluter_that_is_the_victim_is_not_tried():
    polluters, process = found(lambda runs: 7 in runs, 600, known=[(600,)])
    assert polluters == (7,)
    assert all(runs.count(600) == 1 for runs in process.asked)


def test_what_is_not_found_in_its_runs_is_not_localised():
    many = frozenset(range(0, 600, 30))
    polluters, process = found(lambda runs: many <= {*runs}, 600)
    assert polluters == ()
    assert len(process.asked) == RUNS


def test_what_another_run_heals_is_not_localised_at_any_price():
    polluters, process = found(lambda runs: 5 in runs and 6 not in runs, 600)
    assert polluters in ((), (5,))
    assert len(process.asked) <= RUNS


def test_nothing_is_named_that_does_not_leak():
    assert found(lambda _: False, 600)[0] == ()


def test_differing_runs_are_told_once_with_what_came_before():
    alone = [CLEAN] * 4
    process = Process(lambda runs: 2 in runs)
    leaks = hysteresis.differing(alone, [3, 2, 1, 1, 0], process)
    assert leaks == (Leak(1, (3, 2)), Leak(0, (3, 2, 1, 1)))


def test_behind_a_broken_process_nothing_is_compared():
    def process(_: Sequence[int]) -> list[list[Outcome]]:
        return [[CLEAN], [Broken(Break.EXIT)], [Broken(Break.UNREACHED)]]

    assert hysteresis.differing([CLEAN] * 3, [0, 1, 2], process) == (Leak(1, (0,)),)


def test_a_run_came_to_its_last_answer_or_the_first_that_is_none():
    assert hysteresis.end([CLEAN, POLLUTED]) == POLLUTED
    assert hysteresis.end([CLEAN, Raised("E"), POLLUTED]) == Raised("E")


# Real ones.

SOURCE = """
cache = {}
def cached(n, other):
    return cache.setdefault(n, n + other)

count = 0
def third(n):
    global count
    count += 1
    return -1 if count == 3 else n

kept = []
def keeps(items):
    kept.append(items)
    return sorted(kept[0])

import os
def leaves(n):
    if os.path.exists("/tmp/seen"):
        os._exit(3)
    open("/tmp/seen", "w").close()
    return n

def ends(n):
    os._exit(1)
"""
FUNCTIONS = """
def two(draw):
    return [draw.integer(0, 3), draw.integer(0, 9)]

def swapped(draw, n, other):
    return [n, other + 1]

def is_sum(draw, out):
    return out == sum(draw.input)

def plus_one(draw, out):
    return out + 1

def is_input(draw, out):
    return out == draw.input[0]
"""
ROWS = [
    row("first-ends", "m:ends", status="policy", owner="mei", expires=date(2026, 12, 1)),
    row("cached", "m:cached", generator="two", transform="swapped", map="plus_one", draws=12),
    row("third", "m:third", holds="is_input"),
    row("keeps", "m:keeps", generator="numbers", transform="shuffled"),
    row("leaves", "m:leaves", holds="is_input"),
    row("last-ends", "m:ends", status="policy", owner="mei", expires=date(2026, 12, 1)),
]


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> Found:
    return Bench(tmp_path_factory.mktemp("real"), ROWS, FUNCTIONS, {"src/m.py": SOURCE}).run()


@needs_sandbox
@pytest.mark.parametrize(("name", "polluters"), [("cached", 1), ("third", 2), ("keeps", 1)])
def test_what_a_module_keeps_is_hysteresis_with_its_polluters(real, name, polluters):
    one = real[name]
    assert (one.bucket.value, one.cause.value, one.counts.broken) == ("hysteresis", "breaks", 0)
    assert len(one.polluters) == polluters
    assert all(found.startswith("(") for found in one.polluters)
    assert one.reason == "it answers otherwise after other calls in the same process"


@needs_sandbox
def test_runs_that_end_the_process_alone_hide_nothing_of_others(real):
    assert real["first-ends"].bucket.value == real["last-ends"].bucket.value == "policy-sensitive"
    assert [name for name, bucket in real.buckets.items() if bucket == "hysteresis"] == [
        "cached", "third", "keeps", "leaves"]
