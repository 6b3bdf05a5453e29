"""The simplest choices that still break: shorter before smaller, asked for in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final, NamedTuple

BATCH: Final = 24
"""How many sequences are asked about at once."""

Choices = tuple[int, ...]


class _Edit(NamedTuple):
    """Places `start` to `stop` hold `instead`; the place `lowered`, before them, is `by` less."""

    start: int
    stop: int
    instead: Choices = ()
    lowered: int = 0
    by: int = 0

    def of(self, choices: Choices) -> Choices:
        if self.by:
            lower = choices[self.lowered] - self.by
            choices = (*choices[: self.lowered], lower, *choices[self.lowered + 1 :])
        return choices[: self.start] + self.instead + choices[self.stop :]


def shrunk(choices: Choices, breaks: Callable[[list[Choices]], list[bool]], *,
           most: int = 400) -> Choices:
    """The simplest sequence found that breaks, or `choices` themselves, which are taken to.

    Choices are 0 or more, and 0 is the simplest (policyd.replay.draws). `breaks` answers for up
    to BATCH sequences, in their order, none of which it was asked about before; it is asked about
    at most `most` in all. The same answers lead to the same sequence. Where `most` were enough,
    no shorter or smaller sequence that is one edit away breaks.
    """
    search = _Search(tuple(choices), most)
    ways = (search.deleted, search.shortened, search.zeroed, search.lowered)
    way = idle = 0
    while idle < len(ways) and search.left > 0:
        batch = search.batch(ways[way]())
        if not batch:
            way, idle = (way + 1) % len(ways), idle + 1
            continue
        if search.learn(batch, breaks([sequence for sequence, _ in batch])):
            idle = 0
    return search.best


def _simplicity(choices: Choices) -> tuple[int, Choices]:
    return len(choices), choices


class _Search:
    """The best sequence so far, what was asked, and what is worth asking next."""

    def __init__(self, choices: Choices, most: int) -> None:
        self.best = choices
        self.left = most
        self._asked = {choices}
        self._joined: list[Choices] = []
        """What the last edits come to when they are made together."""
        self._floors: dict[int, int] = {}
        """The largest value at a place that did not break when it was last tried."""

    def batch(self, edits: Iterator[_Edit]) -> list[tuple[Choices, _Edit | None]]:
        """The next sequences to ask about, each with the edit of the best that makes it."""
        joined = ((sequence, None) for sequence in self._joined)
        made: dict[Choices, _Edit | None] = {}
        for sequence, edit in chain(joined, ((edit.of(self.best), edit) for edit in edits)):
            if len(made) == min(BATCH, self.left):
                break
            if sequence not in self._asked and _simplicity(sequence) < _simplicity(self.best):
                made.setdefault(sequence, edit)
        self._joined = []
        return list(made.items())

    def learn(self, batch: list[tuple[Choices, _Edit | None]], verdicts: list[bool]) -> bool:
        """Take the simplest that breaks; whether there is one."""
        self.left -= len(batch)
        self._asked.update(sequence for sequence, _ in batch)
        broken = sorted((pair for pair, breaks in zip(batch, verdicts, strict=True) if breaks),
                        key=lambda pair: _simplicity(pair[0]))
        for (_, edit), breaks in zip(batch, verdicts, strict=True):
            if edit is not None and not breaks and len(edit.instead) == 1 and not edit.by:
                floor = self._floors.get(edit.start, 0)
                self._floors[edit.start] = max(floor, edit.instead[0])
        if not broken:
            return False
        edits = [edit for _, edit in broken if edit is not None]
        self._joined = [_together(self.best, edits), _together(self.best, edits[: len(edits) // 2])]
        best = broken[0][0]
        kept = self._floors if len(best) == len(self.best) else {}
        self._floors = {at: floor for at, floor in kept.items() if floor < best[at]}
        self.best = best
        return True

    def deleted(self) -> Iterator[_Edit]:
        """Chunks left out, the largest first."""
        for start, stop in _chunks(0, len(self.best)):
            yield _Edit(start, stop)

    def shortened(self) -> Iterator[_Edit]:
        """What may be the length of a list made smaller, and as many choices after it left out."""
        size = len(self.best)
        for at, value in enumerate(self.best):
            if 0 < value < size - at:
                for start, stop in _chunks(at + 1, size, largest=value):
                    yield _Edit(start, stop, lowered=at, by=stop - start)

    def zeroed(self) -> Iterator[_Edit]:
        """Chunks of zeros, the largest first."""
        for start, stop in _chunks(0, len(self.best)):
            if any(self.best[start:stop]):
                yield _Edit(start, stop, (0,) * (stop - start))

    def lowered(self) -> Iterator[_Edit]:
        """Single values: some between what is known not to break and what does, and neighbours."""
        places = [at for at, value in enumerate(self.best) if value]
        points = max(3, BATCH // max(len(places), 1))
        for at in places:
            value = self.best[at]
            floor = min(self._floors.get(at, 0), value - 1)
            for point in range(1, points + 1):
                lower = floor + (value - floor) * point // (points + 1)
                if floor < lower:
                    yield _Edit(at, at + 1, (lower,))
        for at in places:
            value = self.best[at]
            for lower in (1, 2, value - 2, value - 1):
                if 0 < lower < value:
                    yield _Edit(at, at + 1, (lower,))


def _chunks(start: int, stop: int, largest: int | None = None) -> Iterator[tuple[int, int]]:
    """Halves, quarters and so on of a stretch, none longer than `largest`, the last first."""
    size = stop - start if largest is None else min(largest, stop - start)
    while size > 0:
        for end in range(stop, start, -size):
            yield max(end - size, start), end
        size //= 2


def _together(choices: Choices, edits: list[_Edit]) -> Choices:
    """All edits that leave one another's places alone, the earlier ones in the list first."""
    taken: list[_Edit] = []
    for edit in edits:
        first = edit.lowered if edit.by else edit.start
        if all(edit.stop <= (other.lowered if other.by else other.start) or other.stop <= first
               for other in taken):
            taken.append(edit)
    for edit in sorted(taken, key=lambda edit: edit.start, reverse=True):
        choices = edit.of(choices)
    return choices
