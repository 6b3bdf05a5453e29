"""All enrolled repositories: which of them must be looked at, and when one must be by itself."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime

from policyd.adapters import gatefiles, refstat, repoindex
from policyd.adapters.gatefiles import Noted
from policyd.core.values import dataclass


@dataclass(slots=True)
class Entry:
    """What is kept in memory of one repository; the rest is in its note."""

    name: str = ""
    git_dir: str = ""
    branches: tuple[str, ...] = ()
    """Full names of the guarded branches there were."""
    seen: str = ""
    next: datetime | None = None
    closed: tuple[str, ...] = ()
    """Short names of the branches whose gates are closed."""
    moved: int = 0
    """Branches that moved past policyd."""
    due: Mapping[int, int] = field(default_factory=dict)
    """Rows by the step that they stand on."""
    problem: str = ""
    hook_broken: bool = False


class Fleet:
    """The repositories of one state folder. It looks at none of them itself."""

    def __init__(self, state: str) -> None:
        self._state = state
        self.entries: dict[str, Entry] = {}
        self._heap: list[tuple[float, str]] = []

    def known(self, digest: str) -> tuple[list[str], list[str]]:
        """Take up what was enrolled since and let go of what is no more: the new, the gone."""
        keys = set(repoindex.keys(self._state))
        new = sorted(keys - self.entries.keys())
        gone = sorted(self.entries.keys() - keys)
        for key in gone:
            del self.entries[key]
        for key in new:
            self.entries[key] = Entry()
            noted = gatefiles.noted(self._state, key)
            if noted is not None and noted.digest == digest and not noted.problem \
                    and not noted.untold:
                self.take(key, noted)
        return new, gone

    def take(self, key: str, noted: Noted) -> None:
        """Remember what a look found."""
        following = None if noted.next is None else datetime.fromisoformat(noted.next)
        entry = self.entries[key] = _entry(noted, following)
        if entry.next is not None:
            heapq.heappush(self._heap, (entry.next.timestamp(), key))

    def is_dirty(self, key: str, digest: str) -> bool:
        """Whether anything may have changed since the last look, told from stat alone."""
        entry = self.entries[key]
        return not entry.seen or entry.seen != refstat.seen(
            self._state, key, entry.git_dir, entry.branches, digest)

    def due(self, at: datetime) -> Iterator[str]:
        """The repositories whose moment has come, each once; whoever asks looks at them."""
        while self._heap and self._heap[0][0] <= at.timestamp():
            moment, key = heapq.heappop(self._heap)
            entry = self.entries.get(key)
            if entry is not None and entry.next is not None \
                    and entry.next.timestamp() == moment:
                entry.next = None
                yield key

    def upcoming(self, until: float) -> list[tuple[float, str]]:
        """Moments up to one, in seconds of the epoch, with their repositories; sorted."""
        if not self._heap or self._heap[0][0] > until:
            return []
        return sorted({(moment, key) for moment, key in self._heap if moment <= until
                       and (entry := self.entries.get(key)) is not None
                       and entry.next is not None and entry.next.timestamp() == moment})

    def next(self) -> float | None:
        """The earliest moment at which a gate changes by itself, in seconds of the epoch."""
        while self._heap:
            moment, key = self._heap[0]
            entry = self.entries.get(key)
            if entry is not None and entry.next is not None \
                    and entry.next.timestamp() == moment:
                return moment
            heapq.heappop(self._heap)
        return None


def _entry(noted: Noted, following: datetime | None) -> Entry:
    gates = {ref: written.gate for ref, written in noted.gates.items()}
    steps: dict[int, int] = {}
    for written in noted.gates.values():
        for step in written.told.values():
            steps[step] = steps.get(step, 0) + 1
    return Entry(
        noted.repository, noted.git_dir, tuple(sorted(noted.tips)), noted.seen, following,
        tuple(ref.removeprefix("refs/heads/") for ref, gate in gates.items() if not gate.is_open),
        sum(any(r.cause.value == "moved" for r in gate.reasons) for gate in gates.values()),
        steps, noted.problem)
