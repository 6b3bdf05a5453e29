"""Replays that no push waits for: which are queued ahead, and the worker that runs the queue."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from policyd.adapters import replayfiles
from policyd.adapters.beside import Beside
from policyd.adapters.gatefiles import Noted
from policyd.core.errors import CannotJudge
from policyd.core.policy import Active
from policyd.daemon.foresight import Foresight, Place

PAUSES = (1.0, 1.0, 60.0)
"""Seconds before the next worker after one that failed; the last for all further ones."""
JOB, SAID, ENDED = EVENTS = ("job", "job done", "worker ended")
"""Events of the loop: a job came or went, the worker said a line, it ended."""
JOBS = replayfiles.JOBS
"""The folder of the queue, in the state folder."""


class Voice(Protocol):
    """What is said of replays."""

    def replayed(self, done: Mapping[str, Any]) -> None: ...
    def worker_failed(self, code: int, reason: str) -> None: ...
    def trouble(self, what: str, **fields: object) -> None: ...
    def fails(self, where: str, error: Exception) -> None: ...


def command(home: Path) -> tuple[str, ...]:
    """What the worker is: this policyd, under this home."""
    return (sys.executable, "-I", "-m", "policyd", "--home", str(home), "replay", "work",
            "--attended", "--format", "json")


class Replays:
    """For the loop's thread alone; the worker's own thread puts events with `put`."""

    def __init__(self, state: str, voice: Voice, put: Callable[[tuple[str, str]], None]) -> None:
        self._state, self._voice, self._put = state, voice, put
        self._foresight = Foresight(state)
        self._ahead: dict[str, Place] = {}
        self._worker: Beside | None = None
        self._failed, self._not_before = 0, 0.0
        self.command: Sequence[str] = ()
        """What works; empty: nobody does."""
        self.queued = 0
        """Jobs that wait, as of the last look; the one that runs is among them."""
        self.trouble = ""
        """What is wrong with the worker, in one sentence; empty while nothing is."""

    @property
    def next(self) -> float | None:
        """The moment of the monotonic clock at which a worker that failed is followed by one."""
        waits = self._failed and self.queued and self.command and self._worker is None
        return self._not_before if waits else None

    @property
    def pid(self) -> int | None:
        return None if self._worker is None else self._worker.pid

    def turn(self) -> None:
        """A worker where a failed one is to be followed by now."""
        if self.next is not None and self.next <= time.monotonic():
            self.see()

    def see(self) -> None:
        """Look at the queue, and start a worker where it must be."""
        self.queued = len(replayfiles.queued(self._state))
        if self._worker is not None or not self.queued or not self.command \
                or time.monotonic() < self._not_before:
            return
        try:
            self._worker = Beside(self.command, lambda line: self._put((SAID, line)),
                                  lambda code, last: self._put((ENDED, json.dumps([code, last]))))
        except CannotJudge as error:
            self._fails(str(error))
            self._voice.worker_failed(127, str(error))

    def sweep(self) -> None:
        """What killed hooks left, also where no worker ever runs."""
        replayfiles.sweep(self._state)

    def foresee(self, active: Active, key: str, noted: Noted, at: datetime) -> None:
        """Queue replays of what may be pushed soon to the guarded branches of a repository."""
        if noted.problem or not noted.git_dir:
            return
        try:
            place = Place(key, noted.repository, noted.git_dir)
            found = self._foresight.look(active, place, at)
        except Exception as error:
            self._voice.fails(f"branches of {key}", error)
            return
        if key in self._foresight.more:
            self._ahead[key] = place
        else:
            self._ahead.pop(key, None)
        if found:
            self.see()

    def foresee_more(self, active: Active, at: datetime) -> None:
        """Go on with the repositories of which a look left branches over."""
        for key, place in list(self._ahead.items()):
            self.foresee(active, key, Noted(place.name, place.git_dir), at)

    def looks_ahead(self, key: str) -> bool:
        return self._foresight.wants(key)

    def forget(self, key: str | None = None) -> None:
        """What was seen of one repository, or of all."""
        if key is None:
            self._foresight, self._ahead = Foresight(self._state), {}
        else:
            self._foresight.forget(key)
            self._ahead.pop(key, None)

    def take(self, what: str, about: str) -> None:
        """One of the events."""
        if what != ENDED:
            if what == SAID:
                self._done(about)
            self.see()
            return
        code, last = json.loads(about)
        self._worker = None
        if code == 0:
            self._failed, self.trouble = 0, ""
        else:
            how = f"by signal {-code}" if code < 0 else f"with status {code}"
            self._fails(f"the replay worker was ended {how}{last and ': '}{last}")
            self._voice.worker_failed(code, last)
        self.see()

    def stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    def _done(self, line: str) -> None:
        try:
            told = json.loads(line)
            self._voice.replayed({"came": str(told["came"]), "seconds": float(told["seconds"]), **{
                name: str(told[name]) for name in ("name", "why", "repository", "ref")}})
        except (ValueError, TypeError, KeyError):
            self._voice.trouble("the replay worker says what nobody understands", line=line[:200])

    def _fails(self, why: str) -> None:
        self.trouble = why
        pause = PAUSES[min(self._failed, len(PAUSES) - 1)]
        self._failed, self._not_before = self._failed + 1, time.monotonic() + pause
