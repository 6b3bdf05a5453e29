"""Whether a decision log is whole, line by line, in constant memory. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from policyd.core.chain import (
    MAX_TORN_LINES,
    RECOVERED,
    ROTATED,
    START,
    Entry,
    Position,
    hash_of,
    parse,
    torn_hash,
)


@dataclass(frozen=True, slots=True)
class LogFault:
    """Something that an undisturbed log never holds. `line` starts at 1."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class LogReport:
    """What verifying found. `tears` are lines that a recovered entry accounts for: no faults."""

    entries: int
    head: Position
    faults: tuple[LogFault, ...]
    tears: tuple[int, ...]

    @property
    def whole(self) -> bool:
        return not self.faults


@dataclass(slots=True)
class _Seen:
    """A line gone by, and the head of the chain before it."""

    line: bytes
    before: Position
    loose: int


@dataclass(slots=True)
class Checker:
    """Feed it every line in order, then ask for the report.

    `expected` maps an entry's number to (hash, who says so): positions that the indexes hold.
    """

    expected: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict)
    _head: Position = START
    _line: int = 0
    _entries: int = 0
    _head_line: int = 0
    _faults: list[LogFault] = field(default_factory=list)
    _tears: list[int] = field(default_factory=list)
    _loose: list[int] = field(default_factory=list)
    _seen: deque[_Seen] = field(default_factory=lambda: deque(maxlen=MAX_TORN_LINES + 1))

    def feed(self, line: bytes, *, ended: bool = True) -> None:
        """`line` without its newline; `ended` is whether it had one."""
        self._line += 1
        before, loose = self._head, len(self._loose)
        entry = parse(line) if ended else None
        if entry is None:
            self._loose.append(self._line)
        else:
            self._take(entry, Position(entry.n, hash_of(line)))
        self._seen.append(_Seen(line, before, loose))

    def report(self) -> LogReport:
        faults = [*self._faults, *(LogFault(at, "torn: the next push closes it")
                                   for at in self._loose), *self._lost()]
        return LogReport(self._entries, self._head,
                         tuple(sorted(faults, key=lambda fault: fault.line)), tuple(self._tears))

    def _take(self, entry: Entry, here: Position) -> None:
        closes = self._closes_a_tear(entry)
        for at in self._loose:
            self._fault(at, "not an entry: inserted or overwritten")
        self._loose.clear()
        if closes:
            self._advance(here)
        elif self._entries == 0:
            self._begin(entry, here)
        elif entry.n <= self._head.n:
            self._fault(self._line, f"entry {entry.n} stands behind entry {self._head.n}: "
                                    "inserted or moved")
        else:
            self._follow(entry, here)

    def _begin(self, entry: Entry, here: Position) -> None:
        rotated = entry.fields.get("kind") == ROTATED
        if not rotated and (entry.n, entry.prev) != (1, START.hash):
            self._fault(self._line, f"the log begins with entry {entry.n}: "
                                    "what was before it is missing")
        self._advance(here)

    def _follow(self, entry: Entry, here: Position) -> None:
        if entry.n > self._head.n + 1:
            gap = f"{self._head.n + 1} to {entry.n - 1}"
            self._fault(self._line, f"entries {gap} before this one are missing")
        elif entry.prev != self._head.hash:
            self._fault(self._head_line, f"edited: entry {entry.n} names another hash for it")
        elif entry.fields.get("kind") == RECOVERED:
            self._fault(self._line, "the torn lines that this entry closes are missing or edited")
        self._advance(here)

    def _closes_a_tear(self, entry: Entry) -> bool:
        count = entry.closes
        if not 0 < count <= len(self._seen):
            return False
        torn = list(self._seen)[-count:]
        before = torn[0].before
        if entry.fields.get("torn") != torn_hash([seen.line for seen in torn]):
            return False
        if (entry.n, entry.prev) != (before.n + 1, before.hash):
            return False
        # Lines that read as entries and yet did not chain keep their faults: no power cut
        # makes those.
        self._tears.extend(range(self._line - count, self._line))
        del self._loose[torn[0].loose:]
        return True

    def _advance(self, here: Position) -> None:
        self._head, self._head_line = here, self._line
        self._entries += 1
        for told, who in self.expected.get(here.n, ()):
            if told != here.hash:
                self._fault(self._line, f"entry {here.n} is not the one that {who} was "
                                        "recorded with: edited or replaced")

    def _lost(self) -> list[LogFault]:
        beyond = [n for n in self.expected if n > self._head.n]
        if not beyond:
            return []
        who = ", ".join(sorted({name for n in beyond for _, name in self.expected[n]}))
        return [LogFault(max(self._line, 1), f"entries {self._head.n + 1} to {max(beyond)} are "
                                             f"missing at the end: recorded for {who}")]

    def _fault(self, line: int, message: str) -> None:
        self._faults.append(LogFault(line, message))
