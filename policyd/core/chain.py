"""The decision log as bytes: lines that name the hash of the line before. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from policyd.core.values import dataclass

RESERVED = frozenset({"n", "prev", "time"})
"""Fields that the chain itself fills in."""
RECOVERED = "recovered"
"""The `kind` of the entry that closes bytes which a power cut or a kill left behind."""
ROTATED = "rotated"
"""The `kind` of the only entry that may begin a file in the middle of the chain."""
REMOVED = "removed"
"""The `kind` of the entry that is written before the oldest rotated files are removed."""
MAX_TORN_LINES = 16
"""More bad lines than this at the end are damage to look at, not one interrupted write."""

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the chain: the sequence number of an entry and the hash of its line."""

    n: int
    hash: str

    @property
    def id(self) -> str:
        """How people name the entry: the first six digits of its hash."""
        return self.hash[:6]


START = Position(0, "0" * 64)
"""What the first entry of all chains on."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that reads as an entry; whether it chains depends on the lines before it."""

    n: int
    prev: str
    fields: Mapping[str, Any]
    """Everything in the line, `n`, `prev` and `time` included."""

    @property
    def closes(self) -> int:
        """How many torn lines before this one it accounts for."""
        lines = self.fields.get("lines")
        return lines if self.fields.get("kind") == RECOVERED and isinstance(lines, int) else 0


class NotOneTear(ValueError):
    """The log ends in more lines that do not chain than one interrupted write can leave."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a log: the last entry that chains, and the torn lines behind it."""

    head: Position = START
    last: Entry | None = None
    torn: tuple[bytes, ...] = ()
    open: bool = False
    """The last torn line has no newline."""


def hash_of(line: bytes) -> str:
    return sha256(line).hexdigest()


def line_of(before: Position, time: str, fields: Mapping[str, object]) -> bytes:
    """The line that follows `before`, without its newline. ValueError: a field that is taken."""
    taken = RESERVED & fields.keys()
    if taken:
        raise ValueError(f"the chain fills in {', '.join(sorted(taken))}")
    entry = {"n": before.n + 1, "prev": before.hash, "time": time, **fields}
    return json.dumps(entry, separators=(",", ":"), allow_nan=False).encode("ascii")


def position_of(before: Position, line: bytes) -> Position:
    return Position(before.n + 1, hash_of(line))


def parse(line: bytes) -> Entry | None:
    """The entry in a line; None when it is not one."""
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict):
        return None
    n, prev = raw.get("n"), raw.get("prev")
    if type(n) is not int or n < 1 or not isinstance(prev, str) or not _HASH.fullmatch(prev):
        return None
    if not isinstance(raw.get("time"), str):
        return None
    return Entry(n, prev, raw)


def closing(tail: Tail, time: str) -> tuple[bytes, Position]:
    """What to append to close torn lines, and the position behind it; nothing when whole."""
    if not tail.torn:
        return b"", tail.head
    fields = {"kind": RECOVERED, "torn": torn_hash(tail.torn), "lines": len(tail.torn)}
    line = line_of(tail.head, time, fields)
    return (b"\n" if tail.open else b"") + line + b"\n", position_of(tail.head, line)


def torn_hash(lines: Sequence[bytes]) -> str:
    return hash_of(b"\n".join(lines))


def tail_of(data: bytes, *, whole: bool) -> Tail | None:
    """The tail of a log of which `data` is the end (`whole`: all of it); None: more is needed.

    Raises NotOneTear.
    """
    complete, newline, rest = data.rpartition(b"\n")
    lines = complete.split(b"\n") if newline else []
    if not whole:
        del lines[:1]
    loose = (rest,) if rest else ()
    for at in range(len(lines) - 1, -1, -1):
        torn = (*lines[at + 1:], *loose)
        if len(torn) > MAX_TORN_LINES:
            raise NotOneTear
        entry = parse(lines[at])
        if entry is None:
            continue
        before = at - 1 - entry.closes
        if before < 0 and not whole:
            return None
        if before == -1 or (before >= 0 and _follows(entry, lines[before])):
            return Tail(Position(entry.n, hash_of(lines[at])), entry, torn, bool(rest))
    return Tail(START, None, (*lines, *loose), bool(rest)) if whole else None


def _follows(entry: Entry, line: bytes) -> bool:
    before = parse(line)
    return before is not None and entry.n == before.n + 1 and entry.prev == hash_of(line)
