"""Daemons for tests: the loop in this process, and `policyd serve` in one of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sites import Site

from policyd.adapters import activepolicy, gatefiles, repoindex
from policyd.adapters.gatefiles import Heartbeat, Noted
from policyd.core.gates import Event, Gate, Telling
from policyd.daemon.fleet import Entry
from policyd.daemon.hooks import Turned
from policyd.daemon.loop import Loop
from policyd.rules import OPTIONS


class TooOften(BaseException):
    """The daemon looks and looks."""


class Heard:
    """Keeps what the daemon says."""

    def __init__(self) -> None:
        self.tellings: list[Telling] = []
        self.said: list[tuple[str, Mapping[str, Any]]] = []
        self.hooks: list[Turned] = []
        self.looks, self.most = 0, 1_000
        """How often it looked, and more often than which it never ends."""

    def tells(self, noted: Noted, telling: Telling, at: datetime) -> None:  # noqa: ARG002
        self.tellings.append(telling)

    def tells_of_hook(self, turned: Turned, at: datetime, digest: str) -> None:  # noqa: ARG002
        self.hooks.append(turned)

    def looked(self, seconds: float) -> None:  # noqa: ARG002
        self.looks += 1
        if self.looks > self.most:
            raise TooOften

    def beats(self, beat: Heartbeat, entries: list[Entry]) -> None:
        pass

    def replayed(self, done: Mapping[str, Any]) -> None:
        self.said.append(("replay.done", done))

    def worker_failed(self, code: int, reason: str) -> None:
        self.said.append(("replay.worker_failed", {"code": code, "reason": reason}))

    def trouble(self, what: str, **fields: object) -> None:
        self.said.append((what, fields))

    def says(self, what: str, **fields: object) -> None:
        self.said.append((what, fields))

    def fails(self, where: str, error: Exception) -> None:
        raise AssertionError(f"the daemon failed at {where}") from error

    def events(self) -> list[Event]:
        """What was told of gates, without announcements of rows that end."""
        return [t.event for t in self.tellings if t.event is not Event.DUE]


class Daemon:
    """A daemon of a site, moved by hand: each `look` is one pass of its timer."""

    def __init__(self, site: Site) -> None:
        self.site, self.heard, self.key = site, Heard(), key(site)
        self.loop = Loop(site.home, activepolicy.load(site.home, OPTIONS), self.heard, "test")

    def look(self) -> None:
        """What the timer brings: stat first, and a look only where something changed."""
        self.loop.pass_over(lambda: None)

    def noted(self) -> Noted:
        found = gatefiles.noted(self.site.state, self.key)
        assert found is not None
        return found

    def gate(self, branch: str = "main") -> Gate:
        return self.noted().gates[f"refs/heads/{branch}"].gate


def key(site: Site) -> str:
    return repoindex.key_of(site.server)


class Serving:
    """`policyd serve` as a process of its own; its log is JSON, a line an event."""

    def __init__(self, site: Site, *words: str, env: Mapping[str, str] | None = None,
                 log: str = "serve.log") -> None:
        self.site, self._log = site, site.folder / log
        with self._log.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-m", "policyd", "--home", str(site.home), "serve", *words],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=site.folder,
                env={**site.environment(), **(env or {})})

    def __enter__(self) -> Serving:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def until(self, done: Callable[[], bool], *, most: float = 15.0) -> float:
        """Seconds that it took until `done()`; AssertionError where it ends or is too late."""
        start = time.monotonic()
        while not done():
            assert self.process.poll() is None, self.log()
            assert time.monotonic() - start < most, self.log()
            time.sleep(0.01)
        return time.monotonic() - start

    def is_open(self, branch: str = "main") -> bool | None:
        """What is noted; None where nothing is."""
        found = gatefiles.noted(self.site.state, key(self.site))
        written = found.gates.get(f"refs/heads/{branch}") if found else None
        return None if written is None else written.gate.is_open

    def log(self) -> str:
        return self._log.read_text()

    def events(self) -> list[str]:
        lines = (line for line in self.log().splitlines() if line.startswith("{"))
        return [str(json.loads(line)["event"]) for line in lines]

    def ended(self, number: int) -> int:
        """Send a signal; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=15)
