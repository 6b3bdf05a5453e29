"""Operators' acts on a repository: changed with their log entry, under the lock, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from policyd.adapters import decisionlog, gatefiles, hints
from policyd.adapters.hints import Hint
from policyd.adapters.statefolder import StrPath
from policyd.core import breakglass
from policyd.core.breakglass import Permit, Use
from policyd.core.errors import CannotJudge
from policyd.core.gates import Acts
from policyd.core.index import Index


def change(state: StrPath, key: str, git_dir: str, entry: Mapping[str, object],
           how: Callable[[Acts], Acts]) -> None:
    """What `how` raises keeps everything as it is. Raises CannotJudge."""
    made: list[Acts] = []
    decisionlog.append(
        state, {**entry, "key": key},
        first=lambda: made.append(how(gatefiles.acts(state, key))),
        then=lambda: gatefiles.store_acts(state, key, made[-1]))
    hints.leave(state, key, Hint(git_dir))


def let_through(state: StrPath, key: str, entry: Mapping[str, object], use: Use,
                permit: Permit | None) -> str:
    """Record an accepted push that rules refuse, and that its permit is used up; the entry's id.

    Of two pushes that found the same permit, one has it. Raises CannotJudge.
    """
    def change(index: Index) -> Index:
        acts = gatefiles.acts(state, key)
        if permit is not None and permit not in acts.permits:
            raise CannotJudge("the permit for this push was used or revoked meanwhile; push "
                              "again, and it is judged")
        gatefiles.store_acts(state, key, replace(
            acts, uses=breakglass.used(acts.uses, use),
            permits=tuple(one for one in acts.permits if one != permit)))
        return index

    return decisionlog.record(state, key, entry, change)
