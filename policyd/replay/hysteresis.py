"""Hysteresis: runs that answer otherwise after other runs in the same process, and after which.

All runs are made once more in one process, in the order of the draws and in reverse, so that
each comes after each other once. An answer that differs from that of a clean process is a leak,
unless clean processes differ among themselves: `policyd.replay.steady` tells these apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from policyd.core.values import dataclass
from policyd.replay.outcome import Broken, Outcome, Value

RUNS = 64
"""How many processes may be spent on one leak."""


@dataclass(frozen=True, slots=True)
class Leak:
    """The run at `victim` of `order` answers otherwise than alone; order holds what came before.

    Both count in the runs that were handed in.
    """

    victim: int
    order: tuple[int, ...]


InOneProcess = Callable[[Sequence[int]], Sequence[Sequence[Outcome]]]
"""Runs by number, made in one process: the outcomes of each one's calls."""


def end(outcomes: Sequence[Outcome]) -> Outcome:
    """What a run came to: its last answer, or the first that is no value."""
    return next((one for one in outcomes if not isinstance(one, Value)), outcomes[-1])


def differing(alone: Sequence[Outcome], order: Sequence[int],
              together: InOneProcess) -> tuple[Leak, ...]:
    """The runs that answer otherwise in one process, in an order, than `alone`; each once."""
    found: dict[int, Leak] = {}
    for place, (run, outcomes) in enumerate(zip(order, together(order), strict=True)):
        came = end(outcomes)
        if came != alone[run]:
            found.setdefault(run, Leak(run, tuple(order[:place])))
        if isinstance(came, Broken):
            break  # the rest was never reached
    return tuple(found.values())


def polluters(leak: Leak, alone: Outcome, together: InOneProcess,
              known: Sequence[tuple[int, ...]] = ()) -> tuple[int, ...]:
    """The fewest runs found after which the leak shows; empty where it is not localised.

    Known polluters are tried first. Then the prefix is bisected; where neither half will do,
    several are needed together: the shortest suffix that leaks begins with one of them.
    """
    tries = _Tries(leak, alone, together)
    for some in known:
        if leak.victim not in some and tries.leaks(some):
            return tuple(some)
    found: tuple[int, ...] = ()
    rest = leak.order
    while rest and tries.left:
        rest = tries.halved(found, rest)
        start = 0 if len(rest) == 1 else tries.shortest(found, rest)
        if start is None:
            break
        found, rest = (*found, rest[start]), rest[start + 1:]
        if tries.leaks(found):
            return found
    return ()


class _Tries:
    """Asks whether some runs make the victim answer otherwise, as often as may be."""

    def __init__(self, leak: Leak, alone: Outcome, together: InOneProcess) -> None:
        self._leak, self._alone, self._together = leak, alone, together
        self._known: dict[tuple[int, ...], bool] = {}
        self.left = RUNS

    def leaks(self, before: Sequence[int]) -> bool:
        key = tuple(before)
        if key not in self._known:
            if not self.left:
                return False
            self.left -= 1
            came = end(self._together([*key, self._leak.victim])[-1])
            self._known[key] = came != self._alone
        return self._known[key]

    def halved(self, fixed: tuple[int, ...], rest: tuple[int, ...]) -> tuple[int, ...]:
        """The smallest half of a half that still leaks behind `fixed`."""
        while len(rest) > 1 and self.left:
            middle = len(rest) // 2
            if self.leaks((*fixed, *rest[middle:])):
                rest = rest[middle:]
            elif self.leaks((*fixed, *rest[:middle])):
                rest = rest[:middle]
            else:
                break
        return rest

    def shortest(self, fixed: tuple[int, ...], rest: tuple[int, ...]) -> int | None:
        """Where the shortest suffix of `rest` begins that leaks behind `fixed`."""
        length = 1
        while length < len(rest) and not self.leaks((*fixed, *rest[-length:])):
            length *= 2
        low, high = length // 2, min(length, len(rest))  # low does not leak, high does
        if high == len(rest) and not self.leaks((*fixed, *rest)):
            return None
        while high - low > 1 and self.left:
            middle = (low + high) // 2
            if self.leaks((*fixed, *rest[-middle:])):
                high = middle
            else:
                low = middle
        return len(rest) - high
