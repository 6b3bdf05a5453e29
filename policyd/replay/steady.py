"""Runs made once more in one process: what changes is a flicker, or a leak from another run.

Two sequences, in the order of the draws and in reverse, the second with another seed of hashes,
are a second execution of every run. Whatever answers otherwise there is run alone again: if that
differs too, the run is no function of its input; if not, another run before it made the change,
provided that the same sequence makes it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policyd.core.values import dataclass
from policyd.replay import hysteresis
from policyd.replay.candidate import Candidate, Script
from policyd.replay.hysteresis import Leak
from policyd.replay.outcome import Broken, Outcome

HASHES = "identical runs differ with the seed of hashes: the order of a set, or an address"
CHANCE = "identical runs differ: a clock or chance"
_TRIED_HARD = 6
"""Of the runs that seem steady, so many are run alone again and again before it is believed."""
_AGAIN = 5
_HASHED_AGAIN = 10
"""How often a run agrees with itself under each seed of hashes before they are the reason."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A leak, and the polluters that were found, by their places in the runs handed in."""

    leak: Leak
    polluters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Steadiness:
    """`flickers`: runs that are no function of their input, each with what can be told of it."""

    flickers: Mapping[Script, str]
    leaks: tuple[Changed, ...]


def looked_at(scripts: Sequence[Script], groups: Sequence[str],
              candidate: Candidate) -> Steadiness:
    """What changes of runs that are `candidate.known`. A leak is localised once a group.

    A run that breaks its process alone would end a sequence, and hide what comes after it.
    """
    alone = [candidate.known[script] for script in scripts]
    forward = [at for at, outcome in enumerate(alone) if not isinstance(outcome, Broken)]
    found: list[tuple[Leak, _Together]] = []
    for order, other in ((forward, False), (forward[::-1], True)):
        together = _Together(scripts, candidate, other)
        found += ((leak, together) for leak in hysteresis.differing(alone, order, together))
    flickers = _flickers([scripts[leak.victim] for leak, _ in found], candidate)
    leaks: dict[str, Changed] = {}
    known: list[tuple[int, ...]] = []
    for leak, together in found:
        victim, group = leak.victim, groups[leak.victim]
        if scripts[victim] in flickers or group in leaks:
            continue
        if hysteresis.end(together((*leak.order, victim))[-1]) == alone[victim]:
            flickers[scripts[victim]] = CHANCE  # two sequences of the same runs differ
            continue
        before = hysteresis.polluters(leak, alone[victim], together, known)
        known += [before] if before and before not in known else []
        leaks[group] = Changed(leak, before)
    return Steadiness(flickers, tuple(leaks.values()))


class _Together:
    """Runs by their places, made in one process."""

    def __init__(self, scripts: Sequence[Script], candidate: Candidate, other: bool) -> None:
        self._scripts, self._candidate, self._other = scripts, candidate, other

    def __call__(self, places: Sequence[int]) -> Sequence[Sequence[Outcome]]:
        return self._candidate.in_one_process([self._scripts[place] for place in places],
                                              hashed_otherwise=self._other)


def _flickers(scripts: Sequence[Script], candidate: Candidate) -> dict[Script, str]:
    """Those that differ among clean processes; by the seed of hashes, or anyhow."""
    suspects = list(dict.fromkeys(scripts))
    found: dict[Script, str] = {}
    for script, outcome in zip(suspects, candidate.anew(suspects), strict=True):
        if outcome != candidate.known[script]:
            found[script] = CHANCE
    rest = [script for script in suspects if script not in found]
    for script, outcome in zip(rest, candidate.anew(rest, hashed_otherwise=True), strict=True):
        if outcome != candidate.known[script]:
            sure = list(found.values()).count(HASHES) >= _TRIED_HARD
            found[script] = HASHES if sure else _by_hashes(script, outcome, candidate)
    for script in [script for script in rest if script not in found][:_TRIED_HARD]:
        if any(outcome != candidate.known[script] for outcome in candidate.anew([script] * _AGAIN)):
            found[script] = CHANCE
    return found


def _by_hashes(script: Script, other: Outcome, candidate: Candidate) -> str:
    """Whether each seed of hashes has an answer of its own, or the same one has several."""
    again = [script] * _HASHED_AGAIN
    same = all(outcome == candidate.known[script] for outcome in candidate.anew(again)) and all(
        outcome == other for outcome in candidate.anew(again, hashed_otherwise=True))
    return HASHES if same else CHANCE
