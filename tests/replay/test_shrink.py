"""Choices become the simplest that still break, within the number of questions allowed."""

from __future__ import annotations

import pytest

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
    ("nothing simpler", lambda c: c == (3, 1, 4), (3, 1, 4), (3, 1, 4)),
    ("nothing at all", lambda _: False, (), ()),
]


@pytest.mark.parametrize(("title", "is_broken", "start", "simplest"), KNOWN)
def test_what_is_known_to_be_simplest_is_found(title, is_broken, start, simplest):
    assert Judge(is_broken).simplest(start) == simplest, title
