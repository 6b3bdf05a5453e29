"""What the daemon says: to its log, to its metrics, and to a webhook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from policyd.adapters import incidents
from policyd.adapters.gatefiles import Heartbeat, Noted
from policyd.adapters.webhook import Webhook
from policyd.core import closure, hookstate, notices
from policyd.core.errors import CannotJudge
from policyd.core.gates import Event, Telling
from policyd.core.hookstate import Turn
from policyd.core.notices import Notice
from policyd.daemon.fleet import Entry
from policyd.daemon.hooks import Turned
from policyd.daemon.metrics import Metrics

_SHOWN = 10
"""Reasons in one line of the log."""
_LOUD = frozenset({Event.CLOSED, Event.CHANGED, Event.EXCUSED})


class Spoken:
    """Nothing here raises: a daemon that cannot say something goes on looking."""

    def __init__(self, state: Path, log: Any, metrics: Metrics, webhook: Webhook | None) -> None:
        self._state, self._log, self._metrics, self._webhook = state, log, metrics, webhook

    def tells(self, noted: Noted, telling: Telling, at: datetime) -> None:
        name = notices.name(telling)
        say = self._log.warning if telling.event in _LOUD else self._log.info
        say(name, repository=noted.repository, branch=telling.ref.removeprefix("refs/heads/"),
            **_about(telling))
        self._put(name, notices.notice(telling, repository=noted.repository, at=at.isoformat(),
                                       policy_digest=noted.digest))

    def _put(self, name: str, notice: Notice) -> None:
        if self._webhook is None:
            return
        try:
            self._webhook.put(name, notice)
        except CannotJudge as error:
            self.trouble("a notice cannot be queued", reason=str(error))

    def tells_of_hook(self, turned: Turned, at: datetime, digest: str) -> None:
        name, hook = turned.turn.value, turned.hook
        say = self._log.warning if turned.turn is Turn.BROKEN else self._log.info
        say(name, repository=hook.repository, path=hook.git_dir, reason=hook.says,
            since=hook.since, remedy=hook.remedy)
        self._put(name, hookstate.notice(turned.turn, hook, at=at.isoformat(),
                                         policy_digest=digest))

    def replayed(self, done: Mapping[str, Any]) -> None:
        """A queued replay came to an end."""
        self._metrics.replayed(done["came"], done["seconds"])
        say = self._log.info if done["came"] in ("holds", "refuses") else self._log.warning
        say("replay.done", **done)

    def worker_failed(self, code: int, reason: str) -> None:
        self._metrics.replay_worker_failed()
        self._log.warning("replay.worker_failed", code=code, reason=reason)

    def looked(self, seconds: float) -> None:
        self._metrics.looked(seconds)

    def beats(self, beat: Heartbeat, entries: Sequence[Entry]) -> None:
        self._metrics.beats(beat, entries, self._webhook)

    def trouble(self, what: str, **fields: object) -> None:
        self._log.warning(what, **fields)

    def says(self, what: str, **fields: object) -> None:
        self._log.info(what, **fields)

    def fails(self, where: str, error: Exception) -> None:
        """A fault of policyd itself: the traceback goes where those of pushes go."""
        incident = incidents.report(self._state, where, error)
        self._log.error("a look failed", where=where, incident=incident,
                        error=type(error).__name__)


def _about(telling: Telling) -> dict[str, object]:
    if telling.row is not None:
        row = telling.row
        return {"row": row.id, "kind": row.kind.value, "last": str(row.last), "days": telling.days,
                "owner": row.owner, "place": f"{row.path}:{row.line}"}
    if telling.use is not None:
        use = telling.use
        return {"by": use.by, "pusher": use.pusher, "operator": use.operator,
                "rules": list(use.rules), "reason": use.reason, "pushed": use.at}
    return {"reasons": [f"{reason.cause.value}: {closure.brief(reason)}"
                        for reason in telling.reasons[:_SHOWN]],
            "more": max(len(telling.reasons) - _SHOWN, 0)}
