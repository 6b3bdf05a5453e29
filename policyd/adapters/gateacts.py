"""Operators' acts on gates: changed with their log entry, under the lock, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from policyd.adapters import decisionlog, gatefiles, hints
from policyd.adapters.hints import Hint
from policyd.adapters.statefolder import StrPath
from policyd.core.gates import Acts


def change(state: StrPath, key: str, git_dir: str, entry: Mapping[str, object],
           how: Callable[[Acts], Acts]) -> None:
    """What `how` raises keeps everything as it is. Raises CannotJudge."""
    made: list[Acts] = []
    decisionlog.append(
        state, {**entry, "key": key},
        first=lambda: made.append(how(gatefiles.acts(state, key))),
        then=lambda: gatefiles.store_acts(state, key, made[-1]))
    hints.leave(state, key, Hint(git_dir))
