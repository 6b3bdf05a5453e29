"""How one relation fares: all of its draws, rejected ones replaced, each pair with its state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

from policyd.core.values import dataclass
from policyd.core.witness import Counts
from policyd.replay.candidate import Candidate
from policyd.replay.oracle import Asked, Oracle, Rejected
from policyd.replay.outcome import Break, Broken, Outcome, digest
from policyd.replay.pairs import Drawn, Pair, State, draw, tried
from policyd.replay.plan import KEPT, Replacing
from policyd.replay.shrink import shrunk
from policyd.replay.table import Row

_MOST_SHRUNK = 240
_SHRINKING_SECONDS = 10.0
_PROBED = 2
"""Where so many runs, the first of a row, take all their time, it is not spent on the rest."""


@dataclass(frozen=True, slots=True)
class Fare:
    """A row with its pairs, in the order of their draws."""

    row: Row
    pairs: tuple[Pair, ...]
    rejected: int
    is_cut: bool = False
    """Whether its first runs took all their time, and no others were made."""

    @property
    def broken(self) -> tuple[Pair, ...]:
        return tuple(pair for pair in self.pairs if pair.state is State.BREAKS)

    @property
    def counts(self) -> Counts:
        vacuous = sum(pair.state is State.VACUOUS for pair in self.pairs)
        return Counts(len(self.pairs) + self.rejected, len(self.pairs), self.rejected, vacuous,
                      len(self.broken))


def fare(row: Row, asked: Sequence[Asked], oracle: Oracle, candidate: Candidate) -> Fare:
    """All pairs of a row. Raises CannotJudge, and OutOfTime."""
    instead = Replacing(row)
    pairs: list[Pair] = []
    rejected = 0
    while asked:
        drawn = [one for one in draw(row, asked, oracle) if isinstance(one, Drawn)]
        if not pairs and _hang(drawn[:_PROBED], candidate):
            found = tried(row, drawn[:_PROBED], oracle, candidate.run)
            return Fare(row, tuple(found), rejected, is_cut=True)
        found = tried(row, drawn, oracle, candidate.run)
        pairs += (pair for pair in found if pair.state is not State.REJECTED)
        missed = len(asked) - sum(pair.state is not State.REJECTED for pair in found)
        gone = sum(one.index < KEPT for one in asked) - sum(
            pair.drawn.asked.index < KEPT and pair.state is not State.REJECTED for pair in found)
        rejected += missed
        asked = instead.instead_of(gone)
    return Fare(row, tuple(pairs), rejected)


def smaller(fare: Fare, first: Pair, oracle: Oracle, candidate: Candidate, *,
            seconds: float = _SHRINKING_SECONDS) -> Pair:
    """A pair that breaks, with the simplest input that was found in so many seconds.

    Where time runs out in the first, each other would take as long.
    """
    if any(_is_timeout(candidate.known.get(script)) for script in first.scripts):
        return first
    until = monotonic() + min(seconds, _SHRINKING_SECONDS)
    known: dict[tuple[int, ...], Pair] = {}

    def breaks(sequences: Sequence[tuple[int, ...]]) -> list[bool]:
        if monotonic() > until:
            return [False] * len(sequences)
        tries = [replace(first.drawn.asked, follow=one) for one in sequences]
        made = draw(fare.row, tries, oracle)
        found = tried(fare.row, [one for one in made if isinstance(one, Drawn)], oracle,
                      candidate.run)
        states = iter(found)
        told = []
        for sequence, one in zip(sequences, made, strict=True):
            if isinstance(one, Rejected):
                told.append(False)
                continue
            known[sequence] = pair = next(states)
            told.append(pair.state is State.BREAKS)
        return told

    return known.get(shrunk(first.drawn.choices, breaks, most=_MOST_SHRUNK), first)


def _hang(drawn: Sequence[Drawn], candidate: Candidate) -> bool:
    outcomes = candidate.run([one.script for one in drawn])
    return len(outcomes) == _PROBED and all(map(_is_timeout, outcomes))


def _is_timeout(outcome: Outcome | None) -> bool:
    return isinstance(outcome, Broken) and outcome.kind is Break.TIMEOUT


def lines(fares: Sequence[Fare], candidate: Candidate) -> list[str]:
    """The verdict lines of all pairs, sorted; no word of them is by chance."""
    found = []
    for one in fares:
        for pair in one.pairs:
            came = digest(candidate.known[script] for script in pair.scripts
                          if script in candidate.known)
            found.append(f"{one.row.id} {pair.drawn.asked.index} {pair.state.value} {came}")
    return sorted(found)
