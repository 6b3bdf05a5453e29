"""Daemons for tests: the loop in this process, and `policyd serve` in one of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sites import Site

from policyd.adapters import activepolicy, gatefiles, repoindex
from policyd.adapters.gatefiles import Heartbeat, Noted
from policyd.core.gates import Event, Gate, Telling
from policyd.daemon.fleet import Entry
from policyd.daemon.loop import Loop
from policyd.rules import OPTIONS


class Heard:
    """Keeps what the daemon says."""

    def __init__(self) -> None:
        self.tellings: list[Telling] = []
        self.said: list[tuple[str, Mapping[str, Any]]] = []
        self.looks = 0

    def tells(self, noted: Noted, telling: Telling, at: datetime) -> None:  # noqa: ARG002
        self.tellings.append(telling)

    def looked(self, seconds: float) -> None:  # noqa: ARG002
        self.looks += 1

    def beats(self, beat: Heartbeat, entries: list[Entry]) -> None:
        pass

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
