"""The daemon's loop: wake, look, write down, tell. Events only say where to look first."""

from __future__ import annotations

import heapq
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from policyd.adapters import activepolicy, gatefiles, hints, moment, repoindex
from policyd.adapters.gatefiles import Heartbeat, Noted
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.gates import Telling
from policyd.core.policy import Active
from policyd.daemon.ahead import Ahead
from policyd.daemon.fleet import Entry, Fleet
from policyd.daemon.ground import Ground
from policyd.daemon.hooks import Hooks, Turned
from policyd.daemon.look import Looked, look
from policyd.daemon.newcomers import Newcomers
from policyd.daemon.replays import EVENTS, JOB, JOBS, Replays
from policyd.rules import OPTIONS

TICK = 5.0
"""Seconds after which the clock and the watched folders are looked at, whatever happens."""

SLICE = 0.05
"""Seconds that a rescan takes at a time; boundaries and hints come between."""

FOLLOW = (0.05, 0.1, 0.3, 0.6, 1.0, 2.0, 4.0, 8.0)
"""Seconds between looks after a hint, which comes before git moves the refs."""


LATER = 1.0
"""Seconds until branches that no gate is noted of are looked at once more after a hint."""


class Voice(Protocol):
    """What the daemon says, wherever it goes; nothing here may fail or block."""

    def tells(self, noted: Noted, telling: Telling, at: datetime) -> None: ...
    def tells_of_hook(self, turned: Turned, at: datetime, digest: str) -> None: ...
    def looked(self, seconds: float) -> None: ...
    def beats(self, beat: Heartbeat, entries: list[Entry]) -> None: ...
    def replayed(self, done: Mapping[str, Any]) -> None: ...
    def worker_failed(self, code: int, reason: str) -> None: ...
    def trouble(self, what: str, **fields: object) -> None: ...
    def says(self, what: str, **fields: object) -> None: ...
    def fails(self, where: str, error: Exception) -> None: ...


class Stopped(Exception):
    """Somebody asked the daemon to end."""


class Loop:
    """`wake` takes events from other threads and from signals; `run` goes on until STOP."""

    def __init__(self, home: Path, active: Active, voice: Voice, version: str) -> None:
        self._home, self._active, self._voice = home, active, voice
        self.events: SimpleQueue[tuple[str, str]] = SimpleQueue()
        """("hint", key), ("policy", ""), ("lost", reason), ("rescan", ""), ("stop", ""), and
        those of `daemon.replays`."""
        self._version, self._started = version, ""
        self._fleet = Fleet(active.settings.state)
        self._ahead, self._more_ahead = Ahead(), False
        self._newcomers = Newcomers(home)
        self._hooks = Hooks(home, active.settings.state)
        self._ground, self._trouble = Ground(home), ""
        self.replays = Replays(active.settings.state, voice, self.events.put)
        self.lost = ""
        """Why events do not arrive now; whoever watches says so. Empty while they do."""
        self._follow: list[tuple[float, str, int]] = []
        self._rescan: Iterator[None] | None = None
        self._next_rescan = self._next_tick = time.monotonic()
        self._force = self._passed = False
        self._current = self._active_mark()
        self._last: datetime | None = None

    @property
    def active(self) -> Active:
        return self._active

    def knows(self, key: str) -> bool:
        """Whether a repository is among those that are looked at."""
        return key in self._fleet.entries

    def run(self, every_tick: _Tick) -> None:
        """Until somebody puts ("stop", "") into `events`. `every_tick` is called at each tick."""
        with suppress(Stopped):
            while True:
                self.turn(every_tick)
                self.take(self._wait())

    def pass_over(self, every_tick: _Tick) -> None:
        """Look once at all that may have changed, and come back when that is done."""
        self._next_rescan = time.monotonic()
        self.turn(every_tick)
        while self._rescan is not None:
            self.turn(every_tick)
        self.turn(every_tick)  # what the pass found in notes may be due

    def turn(self, every_tick: _Tick) -> None:
        """What is due now, and a slice of a rescan that is under way."""
        at = self._moment()
        self._due(at)
        self._follow_up(at)
        self.replays.turn()
        self._more_ahead = self._ahead.prepare(self._active, self._fleet, at, SLICE)
        now = time.monotonic()
        if now >= self._next_tick:
            self._next_tick = now + TICK
            self._tick(at, every_tick)
        if self._rescan is None and now >= self._next_rescan:
            self._next_rescan = now + self._active.settings.service.rescan_seconds
            force, self._force = self._force, False
            self._rescan = self._rescanned(force=force)
        self._go_on()

    def _due(self, at: datetime) -> None:
        """First what is ready is put in place, for all; then it is told."""
        put: list[tuple[str, Looked]] = []
        for key in self._fleet.due(at):
            found = self._ahead.put(self._active, key, at)
            if found is None:
                self._look(key, at)
            else:
                put.append((key, found))
        for key, found in put:
            self._tell(key, found, at)

    def _moment(self) -> datetime:
        """The moment that counts. After a jump back every repository is looked at again."""
        try:
            at = moment.of(self._active.settings)
        except CannotJudge as error:
            self._voice.trouble("the clock's mark cannot be used", reason=str(error))
            at = moment.now(self._active.settings)
        if self._last is not None and at < self._last:
            self._voice.trouble("the clock went back", before=self._last.isoformat(),
                                now=at.isoformat())
            self._all()
        self._last = at
        return at

    def _wait(self) -> tuple[str, str] | None:
        """The next event, or None once something is due."""
        if self._rescan is not None or self._more_ahead:
            seconds = 0.0
        else:
            now = time.monotonic()
            seconds = min(self._next_tick, self._next_rescan) - now
            if self._follow:
                seconds = min(seconds, self._follow[0][0] - now)
            following = self._fleet.next()
            if self.replays.next is not None:
                seconds = min(seconds, self.replays.next - now)
            if following is not None:
                shown = moment.now(self._active.settings).timestamp()
                seconds = min(seconds, following - shown)
        try:
            return self.events.get(timeout=max(seconds, 0.0)) if seconds > 0 \
                else self.events.get_nowait()
        except Empty:
            return None

    def take(self, event: tuple[str, str] | None) -> None:
        """All events that are there; what they ask for is done in the next turn."""
        while event is not None:
            what, about = event
            if what == "stop":
                raise Stopped
            if what == "hint":
                heapq.heappush(self._follow, (time.monotonic(), about, 0))
            elif what in EVENTS:
                self.replays.take(what, about)
            elif what == "policy":
                self._reload()
            elif what == "rescan":
                self._reload()
                self._all()
            elif what == "lost":
                self._voice.trouble("events may have been lost", reason=about)
                self._all()
            try:
                event = self.events.get_nowait()
            except Empty:
                event = None

    def _follow_up(self, at: datetime) -> None:
        """Look where hints led, until the refs hold what the push was to leave."""
        now, seen = time.monotonic(), set()
        while self._follow and self._follow[0][0] <= now:
            _, key, attempt = heapq.heappop(self._follow)
            if key in seen:
                continue
            seen.add(key)
            if key not in self._fleet.entries:
                self._known()
            if key in self._fleet.entries:
                noted = self._look(key, at)
                if noted is not None and not self._is_there(key, noted) and attempt < len(FOLLOW):
                    heapq.heappush(self._follow, (now + FOLLOW[attempt], key, attempt + 1))
                elif attempt == 0 and self.replays.looks_ahead(key):
                    heapq.heappush(self._follow, (now + LATER, key, len(FOLLOW)))

    def _is_there(self, key: str, noted: Noted) -> bool:
        hint = hints.read(self._active.settings.state, key)
        return hint is None or all(noted.tips.get(ref) == tip for ref, tip in hint.tips.items())

    def _look(self, key: str, at: datetime) -> Noted | None:
        start, state = time.perf_counter(), self._active.settings.state
        self._ahead.forget(key)
        try:
            found = look(self._active, key, at)
            self._trouble_of(key, found.noted)
            gatefiles.note(state, key, replace(found.noted, untold=found.tellings))
        except Exception as error:
            self._voice.fails(f"look at {key}", error)
            self._fleet.entries[key].seen = ""
            return None
        self._tell(key, found, at)
        self.replays.foresee(self._active, key, found.noted, at)
        self._voice.looked(time.perf_counter() - start)
        return found.noted

    def _tell(self, key: str, found: Looked, at: datetime) -> None:
        """Tell what is noted as untold, and note that it is told: a kill in between tells twice."""
        for telling in found.tellings:
            self._voice.tells(found.noted, telling, at)
        if found.tellings:
            try:
                gatefiles.note(self._active.settings.state, key, found.noted)
            except CannotJudge as error:
                self._voice.fails(f"note of {key}", error)
        self._fleet.take(key, found.noted)

    def _trouble_of(self, key: str, noted: Noted) -> None:
        problem, before = noted.problem, self._fleet.entries[key].problem
        if problem and problem != before:
            self._voice.trouble("a repository cannot be looked at", key=key,
                                repository=noted.repository, reason=problem)
        elif before and not problem:
            self._voice.says("a repository can be looked at again", key=key,
                             repository=noted.repository)

    def _tick(self, at: datetime, every_tick: _Tick) -> None:
        mark = self._active_mark()
        if mark != self._current:
            self._reload()
        self.replays.see()
        self.replays.foresee_more(self._active, at)
        every_tick()
        self._beat(at)

    def _beat(self, at: datetime) -> None:
        self._started = self._started or at.isoformat()
        self._stand()
        beat = Heartbeat(os.getpid(), self._started, at.isoformat(), self._version,
                         self._active.digest, len(self._fleet.entries),
                         self._active.settings.service.rescan_seconds, self._passed, self.lost,
                         self._trouble, len(self._hooks.broken), self.replays.queued,
                         self.replays.trouble)
        for key, entry in self._fleet.entries.items():
            entry.hook_broken = key in self._hooks.broken
        try:
            gatefiles.beat(self._active.settings.state, beat)
        except CannotJudge as error:
            self._voice.trouble("the heartbeat cannot be written", reason=str(error))
        self._voice.beats(beat, list(self._fleet.entries.values()))

    def _stand(self) -> None:
        """Say once that home or program are not as they must be, and once that they are."""
        before, self._trouble = self._trouble, self._ground.trouble(self._active)
        if self._trouble and self._trouble != before:
            self._voice.trouble("not all is as it must be", reason=self._trouble)
        elif before and not self._trouble:
            self._voice.says("all is as it must be again", before=before)

    def _all(self) -> None:
        """Look at everything again, changed or not, from the next turn on."""
        self._ahead.forget()
        self._force, self._rescan = True, None
        self._next_rescan = time.monotonic()

    def _rescanned(self, *, force: bool) -> Iterator[None]:
        """A pass over all repositories, one at a time."""
        self._enrol()
        self._known()
        self.replays.sweep()
        hooks = self._begin_hooks(force=force)
        for key in list(self._fleet.entries):
            if key in self._fleet.entries and (
                    force or self._fleet.is_dirty(key, self._active.digest)):
                self._look(key, self._moment())
            if hooks and key in self._fleet.entries:
                self._look_at_hook(key)
            yield

    def _begin_hooks(self, *, force: bool) -> bool:
        if force:
            self._hooks.again()
        try:
            self._hooks.begin()
        except CannotJudge as error:
            self._voice.trouble("hooks cannot be looked at", reason=str(error))
            return False
        return True

    def _look_at_hook(self, key: str) -> None:
        """It is told before it is noted: a kill in between tells twice."""
        entry = self._fleet.entries[key]
        if not entry.git_dir:
            return
        try:
            at = self._moment()
            turned = self._hooks.look(key, entry.name, entry.git_dir, at.isoformat())
            if turned is not None:
                self._voice.tells_of_hook(turned, at, self._active.digest)
                self._hooks.note(key, turned)
                self._next_tick = time.monotonic()  # the figures say it at once
        except Exception as error:
            self._voice.fails(f"hook of {key}", error)

    def _go_on(self) -> None:
        end = time.monotonic() + SLICE
        while self._rescan is not None and time.monotonic() < end:
            if next(self._rescan, self) is self:
                self._rescan = None
                if not self._passed:
                    self._passed, self._next_tick = True, time.monotonic()

    def _enrol(self) -> None:
        try:
            for path, failed in self._newcomers.enrol(self._active):
                if failed is None:
                    self._voice.says("a repository was enrolled", path=str(path))
                else:
                    self._voice.trouble("a repository cannot be enrolled", path=str(path),
                                        reason=failed)
        except OSError as error:
            self._voice.trouble("the roots cannot be looked through", reason=str(error))

    def _known(self) -> None:
        try:
            new, gone = self._fleet.known(self._active.digest)
        except OSError as error:
            self._voice.trouble("the indexes cannot be listed", reason=str(error))
            return
        for key in gone:
            gatefiles.forget(self._active.settings.state, key)
            self._hooks.forget(key)
            self.replays.forget(key)
        if new or gone:
            self._voice.says("repositories came or went", new=len(new), gone=len(gone))

    def _active_mark(self) -> object:
        try:
            found = os.stat(self._home / activepolicy.FOLDER / activepolicy.CURRENT)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _reload(self) -> None:
        """What is in force now; what cannot be read leaves what was read before."""
        self._current = self._active_mark()
        try:
            active = activepolicy.load(self._home, OPTIONS)
        except PolicydError as error:
            self._voice.trouble("what is in force cannot be read; what was read before goes on "
                                "here, and pushes are refused", reason=str(error))
            return
        if active.settings.state != self._active.settings.state:
            raise CannotJudge("the state folder is another one now; start `policyd serve` anew")
        if active.digest != self._active.digest:
            self._voice.says("another policy is in force", digest=active.digest[:12])
            self._active = active
            self.replays.forget()
            self._all()


class _Tick(Protocol):
    """Called every few seconds: sees to the watched folders, and tells systemd that all is well."""

    def __call__(self) -> None: ...


def hinted(path: Path) -> tuple[str, str] | None:
    """The event for a file that changed in a watched folder; None for a draft."""
    if path.parent.name == hints.FOLDER:
        return ("hint", path.name) if repoindex.is_key(path.name) else None
    if path.parent.name == JOBS:
        return JOB, ""
    return "policy", ""  # whatever its name: a swap of folders names none of what is in them
