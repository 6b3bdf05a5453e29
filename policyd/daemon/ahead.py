"""Looks that are made ahead of the moment that they are for, so that then only renames are left.

At a midnight many gates may close at once, and a look takes some milliseconds. What a repository
will be then is worked out half a minute before, and put in place when the moment comes, unless
anything has changed in between.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime

from policyd.adapters import gatefiles, refstat
from policyd.core.errors import CannotJudge
from policyd.core.policy import Active
from policyd.core.values import dataclass
from policyd.daemon.fleet import Fleet
from policyd.daemon.look import Looked, look

LEAD = 30.0
"""Seconds."""


@dataclass(frozen=True, slots=True)
class _Ready:
    """What a repository will be at a moment, in seconds of the epoch; None: that is not known."""

    moment: float
    found: Looked | None


class Ahead:
    """What is ready. It writes drafts beside the notes, and notes only by `put`."""

    def __init__(self) -> None:
        self._ready: dict[str, _Ready] = {}

    def forget(self, key: str | None = None) -> None:
        """Of one repository that was looked at otherwise, or of all."""
        if key is None:
            self._ready.clear()
        else:
            self._ready.pop(key, None)

    def prepare(self, active: Active, fleet: Fleet, at: datetime, seconds: float) -> bool:
        """Look ahead for so many seconds of time; whether there is more to do."""
        end = time.monotonic() + seconds
        for moment, key in fleet.upcoming(at.timestamp() + LEAD):
            known = self._ready.get(key)
            if known is not None and known.moment == moment:
                continue
            if time.monotonic() > end:
                return True
            self._ready[key] = _Ready(moment, _prepared(active, key, moment))
        return False

    def put(self, active: Active, key: str, at: datetime) -> Looked | None:
        """Put what is ready in place; None where it is not, or is not true any more."""
        ready = self._ready.pop(key, None)
        if ready is None or ready.found is None or ready.moment > at.timestamp():
            return None
        noted = ready.found.noted
        if noted.next is not None and datetime.fromisoformat(noted.next) <= at:
            return None
        if noted.seen != refstat.seen(active.settings.state, key, noted.git_dir, noted.tips,
                                      active.digest):
            return None
        try:
            gatefiles.put_ready(active.settings.state, key)
        except OSError:
            return None
        return ready.found


def _prepared(active: Active, key: str, moment: float) -> Looked | None:
    try:
        found = look(active, key, datetime.fromtimestamp(moment, UTC))
        if found.noted.problem:
            return None
        gatefiles.ready(active.settings.state, key, replace(found.noted, untold=found.tellings))
    except (CannotJudge, OSError):
        return None
    return found
