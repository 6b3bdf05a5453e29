"""Counted freezes: the same broken pair again, in fresh processes, a stated number of times."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from policyd.core.values import dataclass
from policyd.records.freezes import Freeze
from policyd.replay.pairs import Pair, State


@dataclass(frozen=True, slots=True)
class Counted:
    """What the reruns of broken pairs came to; `held` if each passed as often as it must."""

    held: bool
    says: str


def counted(freeze: Freeze, broken: Sequence[Pair], again: Callable[[Pair], Pair]) -> Counted:
    """Rerun each broken pair, and nothing else. Where all reruns fail it is no flake."""
    least = freeze.reruns
    for pair in broken:
        passes = sum(again(pair).state is State.HOLDS for _ in range(freeze.reruns))
        if passes < freeze.pass_needed:
            says = f"draw {pair.drawn.asked.index} passes {passes} of {freeze.reruns} reruns"
            needs = ("it breaks every time, and a freeze is for flakes" if not passes
                     else f"its freeze asks for {freeze.pass_needed}")
            return Counted(held=False, says=f"{says}; {needs}")
        least = min(least, passes)
    return Counted(held=True, says=f"each broken pair passes {least} of {freeze.reruns} reruns "
                                   "or more")
