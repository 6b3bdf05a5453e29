"""Choices become the simplest that still break, within the number of questions allowed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyd.replay.shrink import BATCH, shrunk


class Judge:
    """Answers, and holds what it was asked."""

    def __init__(self, is_broken, *, most=400):
        self._is_broken, self._most = is_broken, most
        self.asked = []
        self.batches = 0

    def __call__(self, batch):
        assert 0 < len(batch) <= BATCH
        self.asked += batch
        self.batches += 1
        assert len(self.asked) <= self._most
        return [self._is_broken(sequence) for sequence in batch]

    def simplest(self, start):
        return shrunk(tuple(start), self, most=self._most)


def allocation(choices):
    """As a generator reads them: how many weights, the weights, the amount; 0 where none is left.
    """
    left = iter(choices)
    weights = [next(left, 0) for _ in range(1 + next(left, 0))]
    return next(left, 0), weights


KNOWN = [
    # what breaks, from where, and the simplest
    ("everything", lambda _: True, range(40), ()),
    ("five long", lambda c: len(c) >= 5, range(40), (0,) * 5),
    ("one of 7", lambda c: any(x >= 7 for x in c), [*range(40)], (7,)),
    ("one of many", lambda c: any(x >= 777_777 for x in c), [5] * 20 + [10**6] + [5] * 20,
     (777_777,)),
    ("two values at once", lambda c: len(c) > 1 and c[0] >= 123_456 and c[1] >= 654_321,
     [10**6] * 12, (123_456, 654_321)),
    ("the last of three", lambda c: len(c) >= 3 and c[-1] >= 500, range(1000, 1040), (0, 0, 500)),
    ("an odd value", lambda c: any(x % 2 for x in c), [1001, 40, 77, 12], (1,)),
    ("a list of three", lambda c: len(allocation(c)[1]) >= 3 and allocation(c)[0] >= 1000,
     [6, 3, 4, 5, 6, 7, 1, 9, 123_457], (2, 0, 0, 0, 1000)),
    ("a heavy list", lambda c: len(allocation(c)[1]) >= 2 and min(allocation(c)[1]) >= 2,
     [5, 9, 8, 7, 6, 5, 4, 3], (1, 2, 2)),
    ("three in order", lambda c: holds_in_order(c, (0, 1, 1, 1)), (0, 2, 3, 2), (0, 1, 1, 1)),
    ("a bound that falls with another value",
     lambda c: len(c) == 2 and c[1] >= 3 and c[0] >= (9_000 if c[1] > 3 else 4_000), (9_999, 70),
     (4_000, 3)),
    ("nothing simpler", lambda c: c == (3, 1, 4), (3, 1, 4), (3, 1, 4)),
    ("nothing at all", lambda _: False, (), ()),
]


@pytest.mark.parametrize(("title", "is_broken", "start", "simplest"), KNOWN,
                         ids=[row[0] for row in KNOWN])
def test_what_is_known_to_be_simplest_is_found(title, is_broken, start, simplest):
    assert Judge(is_broken).simplest(start) == simplest, title


def simplicity(choices):
    return len(choices), choices


CHOICES = st.lists(st.integers(0, 30) | st.integers(0, 10**9), max_size=20).map(tuple)
PREDICATES = st.sampled_from([
    lambda c: sum(c) >= 40, lambda c: len(set(c)) >= 3, lambda c: sum(c) % 7 == 3,
    lambda c: any(one > two for one, two in pairwise(c)), lambda c: len(c) % 2,
    lambda c: hash(c) % 3 == 0, lambda c: max(c, default=0) >= 1000, lambda c: c[:1] == c[-1:],
    lambda _: True, lambda _: False]).map(lambda predicate: lambda c: bool(predicate(c)))


@given(CHOICES, PREDICATES, st.integers(0, 400))
@settings(max_examples=200, deadline=None)
def test_the_answer_breaks_is_no_less_simple_and_is_the_same_each_time(start, is_broken, most):
    judge = Judge(is_broken, most=most)
    found = judge.simplest(start)
    assert found == start or is_broken(found)
    assert simplicity(found) <= simplicity(start)
    assert len(set(judge.asked)) == len(judge.asked)
    assert all(simplicity(asked) < simplicity(start) for asked in judge.asked)
    assert found == min([start, *(a for a in judge.asked if is_broken(a))], key=simplicity)
    again = Judge(is_broken, most=most)
    assert (again.simplest(start), again.asked) == (found, judge.asked)


@given(CHOICES, PREDICATES)
@settings(max_examples=100, deadline=None)
def test_nothing_one_step_simpler_breaks_where_the_questions_sufficed(start, is_broken):
    judge = Judge(is_broken, most=20_000)
    found = judge.simplest(start)
    for at, value in enumerate(found):
        before, after = found[:at], found[at + 1 :]
        assert not is_broken(before + after)
        for lower in (0, 1, value - 1):
            assert not (0 <= lower < value and is_broken((*before, lower, *after)))


def holds_in_order(choices, least):
    """Whether some of the choices are, in this order, at least these."""
    left = iter(choices)
    return all(any(choice >= one for choice in left) for one in least)


@given(st.lists(st.integers(0, 10**4), max_size=5), st.data())
@settings(max_examples=100, deadline=None)
def test_thresholds_hidden_in_a_sequence_are_found_exactly(least, data):
    start = [value + data.draw(st.integers(0, 1000)) for value in least]
    for _ in range(data.draw(st.integers(0, 12))):
        start.insert(data.draw(st.integers(0, len(start))), data.draw(st.integers(0, 10**4)))
    judge = Judge(lambda c: holds_in_order(c, least), most=5000)
    assert judge.simplest(start) == tuple(least)


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row[0])
def test_few_batches_are_asked(row):
    judge = Judge(row[1])
    judge.simplest(row[2])
    assert judge.batches <= 25
    assert len(judge.asked) <= 300


def test_no_more_is_asked_than_may_be():
    for most in (0, 1, 23, 24, 25, 100):
        judge = Judge(lambda c: sum(c) % 2 == 1, most=most)
        judge.simplest(range(1, 60))
        assert len(judge.asked) <= most


def test_a_long_sequence_costs_little():
    start = [7] * 20_000
    start[12_345] = 10**12
    judge = Judge(lambda c: max(c, default=0) >= 10**11)
    assert judge.simplest(start) == (10**11,)
    assert len(judge.asked) <= 400


def test_edits_that_break_apart_are_made_together():
    judge = Judge(lambda c: len(c) == 12 and all(x >= 500 for x in c))
    found = judge.simplest([900] * 12)
    assert sum(found) <= 12 * 510
