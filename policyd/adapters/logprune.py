"""Remove the oldest files of the decision log, and only such as are what was written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from policyd.adapters import decisionlog, logcheck, logfiles, statefolder
from policyd.adapters.logfiles import Rotated
from policyd.adapters.statefolder import StrPath
from policyd.core import chain
from policyd.core.errors import CannotJudge


def prune(state: StrPath, keep: int, operator: str) -> tuple[Rotated, ...]:
    """Remove all rotated files but the newest `keep`; those that went, oldest first.

    They are read whole before, together with the entry that follows them, and the log says that
    they went. Raises CannotJudge where one of them has a fault; then all stay.
    """
    found = logfiles.rotated(state)
    doomed = found[:max(0, len(found) - keep)]
    if not doomed:
        return ()
    report = logcheck.verify_oldest(state, len(doomed))
    if report.faults:
        first = report.faults[0]
        raise CannotJudge(f"no rotated file was removed: {first.file}:{first.line}: "
                          f"{first.message}; see `policyd log verify`")
    entry = {"kind": chain.REMOVED, "files": [closed.name for closed in doomed],
             "last": doomed[-1].last, "operator": operator}
    decisionlog.append(state, entry, then=lambda: _remove(state, doomed))
    return doomed


def _remove(state: StrPath, doomed: Sequence[Rotated]) -> None:
    """Oldest first: whenever this stops, what is left has no hole."""
    for closed in doomed:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(state, closed.name))
    statefolder.sync_folder(state)
