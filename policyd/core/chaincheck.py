"""Whether a decision log is whole, line by line and file by file, in constant memory. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from policyd.core.chain import (
    MAX_TORN_LINES,
    RECOVERED,
    REMOVED,
    ROTATED,
    START,
    Entry,
    Position,
    hash_of,
    parse,
    torn_hash,
)
from policyd.core.values import dataclass

TORN = "torn by a crash or a power cut, and closed"

_Place = tuple[int, int]
"""Which file, counted from 1, and which line of it."""


@dataclass(frozen=True, slots=True)
class LogFault:
    """Something that an undisturbed log never holds, or a note. `line` starts at 1."""

    line: int
    message: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class LogReport:
    """What verifying found. `notes` are what explains itself, such as closed tears: no faults."""

    entries: int
    head: Position
    faults: tuple[LogFault, ...]
    notes: tuple[LogFault, ...] = ()

    @property
    def whole(self) -> bool:
        return not self.faults

    @property
    def tears(self) -> tuple[int, ...]:
        """Lines that a recovered entry accounts for."""
        return tuple(note.line for note in self.notes if note.message == TORN)


@dataclass(slots=True)
class _Seen:
    """A line gone by, and the head of the chain before it."""

    line: bytes
    before: Position
    loose: int


@dataclass(slots=True)
class _File:
    """The file that is read: its name, what that promises, and the first entry found in it."""

    name: str = ""
    named: tuple[int, int] | None = None
    first: int = 0


@dataclass(slots=True)
class Checker:
    """Feed it every line in order, then ask for the report; `begin` before each file.

    `expected` maps an entry's number to (hash, who says so): positions that the indexes hold.
    """

    expected: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict)
    _head: Position = START
    _head_at: _Place = (1, 1)
    _line: int = 0
    _entries: int = 0
    _began: int = 1
    """The number of the first entry of all."""
    _gone: tuple[int, int] = (0, 0)
    """The last entry that a removal tells of, and the number of the entry that does."""
    _names: list[str] = field(default_factory=list)
    _file: _File = field(default_factory=_File)
    _faults: list[tuple[_Place, str]] = field(default_factory=list)
    _notes: list[tuple[_Place, str]] = field(default_factory=list)
    _loose: list[int] = field(default_factory=list)
    _seen: deque[_Seen] = field(default_factory=lambda: deque(maxlen=MAX_TORN_LINES + 1))

    def begin(self, name: str, *, named: tuple[int, int] | None = None) -> None:
        """The lines of this file come next. `named`: first and last entry by its name."""
        self._end_file()
        self._names.append(name)
        self._file, self._line = _File(name, named), 0
        self._seen.clear()

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

    def note(self, message: str) -> None:
        file, line = self._here()
        self._notes.append(((file, max(line, 1)), message))

    def demand_entries(self) -> None:
        """A fault unless the file that is read holds an entry."""
        if not self._file.first:
            self._blame_loose()
            self._fault(self._line, f"no entry is here: what followed entry {self._head.n} is "
                                    "missing")

    def report(self) -> LogReport:
        self._check_name()
        at = len(self._names) or 1
        faults = [*self._faults, *(((at, line), "torn: the next push closes it")
                                   for line in self._loose), *self._lost()]
        return LogReport(self._entries, self._head, self._told(faults),
                         self._told([*self._removed(), *self._notes]))

    def _take(self, entry: Entry, here: Position) -> None:
        self._file.first = self._file.first or entry.n
        closes = self._closes_a_tear(entry)
        self._blame_loose()
        if closes:
            self._advance(here)
        elif self._entries == 0:
            self._begin(entry, here)
        elif entry.n <= self._head.n:
            self._fault(self._line, f"entry {entry.n} stands behind entry {self._head.n}: "
                                    "inserted or moved")
        else:
            self._follow(entry, here)
        self._read(entry)

    def _begin(self, entry: Entry, here: Position) -> None:
        rotated = entry.fields.get("kind") == ROTATED
        if not rotated and (entry.n, entry.prev) != (1, START.hash):
            self._fault(self._line, f"the log begins with entry {entry.n}: "
                                    "what was before it is missing")
        elif rotated:
            self._began = entry.n
        self._advance(here)

    def _follow(self, entry: Entry, here: Position) -> None:
        if entry.n > self._head.n + 1:
            gap = f"{self._head.n + 1} to {entry.n - 1}"
            self._fault(self._line, f"entries {gap} before this one are missing"
                                    f"{self._whose_end()}")
        elif entry.prev != self._head.hash:
            self._faults.append((self._head_at,
                                 f"edited: entry {entry.n} names another hash for it"))
        elif entry.fields.get("kind") == RECOVERED:
            self._fault(self._line, "the torn lines that this entry closes are missing or edited")
        self._advance(here)

    def _whose_end(self) -> str:
        if self._line > 1 or len(self._names) < 2:
            return ""
        return f": a file, or the end of {self._names[-2]}"

    def _read(self, entry: Entry) -> None:
        """What an entry says of rotation."""
        kind, last = entry.fields.get("kind"), entry.fields.get("last")
        if kind == REMOVED and isinstance(last, int):
            self._gone = last, entry.n
        elif kind == ROTATED and entry.fields.get("lost") is True:
            self.note(f"the log behind entry {entry.n - 1} was lost; "
                      "`policyd log rotate --lost` went on without it")

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
        file = self._here()[0]
        self._notes.extend(((file, line), TORN) for line in range(self._line - count, self._line))
        del self._loose[torn[0].loose:]
        return True

    def _advance(self, here: Position) -> None:
        self._head, self._head_at = here, self._here()
        self._entries += 1
        for told, who in self.expected.get(here.n, ()):
            if told != here.hash:
                self._fault(self._line, f"entry {here.n} is not the one that {who} was "
                                        "recorded with: edited or replaced")

    def _end_file(self) -> None:
        """A rotated file was closed with a whole line, so nothing in it is merely torn."""
        self._blame_loose()
        self._check_name()

    def _blame_loose(self) -> None:
        for line in self._loose:
            self._fault(line, "not an entry: inserted or overwritten")
        self._loose.clear()

    def _check_name(self) -> None:
        named = self._file.named
        held = (self._file.first, self._head.n) if self._file.first else None
        if named is not None and named != held:
            holds = f"holds {held[0]} to {held[1]}" if held else "holds none"
            self._fault(1, f"named for entries {named[0]} to {named[1]}, and {holds}")

    def _removed(self) -> list[tuple[_Place, str]]:
        if self._began == 1:
            return []
        last, teller = self._gone
        how = f"removed, as entry {teller} says" if last >= self._began - 1 else "removed by hand"
        return [((1, 1), f"entries 1 to {self._began - 1} are not here: "
                         f"whole files were {how}")]

    def _lost(self) -> list[tuple[_Place, str]]:
        beyond = [n for n in self.expected if n > self._head.n]
        if not beyond:
            return []
        who = ", ".join(sorted({name for n in beyond for _, name in self.expected[n]}))
        file, line = self._here()
        return [((file, max(line, 1)), f"entries {self._head.n + 1} to {max(beyond)} are "
                                       f"missing at the end: recorded for {who}")]

    def _here(self) -> _Place:
        return len(self._names) or 1, self._line

    def _fault(self, line: int, message: str) -> None:
        self._faults.append(((self._here()[0], max(line, 1)), message))

    def _told(self, found: Iterable[tuple[_Place, str]]) -> tuple[LogFault, ...]:
        names = self._names or [""]
        return tuple(LogFault(line, message, names[file - 1])
                     for (file, line), message in sorted(found, key=lambda each: each[0]))
