"""Which files the decision log is made of, and how they are read. Read-only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import BinaryIO

from policyd.adapters import statefolder
from policyd.adapters.statefolder import StrPath, because
from policyd.core import chain
from policyd.core.chain import Tail
from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass

NAME = "decisions.jsonl"

_ROTATED = re.compile(r"decisions-([1-9][0-9]{0,18})-([1-9][0-9]{0,18})\.jsonl")
_FIRST_REACH = 1 << 14
_LONGEST = 1 << 26
"""Bytes: no line that was written whole is longer, and no end is looked for further back."""


@dataclass(frozen=True, slots=True, order=True)
class Rotated:
    """A file that was closed: the numbers of its first and its last entry."""

    first: int
    last: int

    @property
    def name(self) -> str:
        return f"decisions-{self.first}-{self.last}.jsonl"


@dataclass(frozen=True, slots=True)
class Reading:
    """All files of a log as they were at one moment, oldest first; entries that come are left out.

    Pushes go on meanwhile. To be taken under the lock, and to be closed.
    """

    state: str
    rotated: tuple[Rotated, ...]
    present: BinaryIO | None
    size: int

    def of(self, closed: Rotated) -> Iterator[bytes]:
        """The lines of a rotated file, with their newlines. Raises CannotJudge, OSError."""
        try:
            yield from lines(os.path.join(self.state, closed.name))
        except FileNotFoundError:
            raise CannotJudge(f"{closed.name} was removed while it was read; "
                              "run this again") from None

    def of_present(self) -> Iterator[bytes]:
        """The lines of decisions.jsonl; none where it is absent."""
        return iter(()) if self.present is None else _lines(self.present, self.size)

    def backwards(self) -> Iterator[bytes]:
        """All lines from the last one on, without their newlines. Raises OSError.

        A rotated file that is removed meanwhile, and all before it, are left out.
        """
        if self.present is not None:
            yield from _backwards(self.present, self.size)
        for closed in reversed(self.rotated):
            try:
                file = _open(os.path.join(self.state, closed.name))
            except FileNotFoundError:
                return
            with file:
                yield from _backwards(file, os.fstat(file.fileno()).st_size)

    def close(self) -> None:
        if self.present is not None:
            self.present.close()


def reading(state: StrPath) -> Reading:
    """Raises OSError."""
    folder = os.fspath(state)
    try:
        present = _open(os.path.join(folder, NAME))
    except FileNotFoundError:
        return Reading(folder, rotated(folder), None, 0)
    return Reading(folder, rotated(folder), present, os.fstat(present.fileno()).st_size)


def read_undisturbed(state: StrPath) -> Reading:
    """The same, with writers kept out for the moment that it takes. Raises CannotJudge, OSError."""
    os.stat(state)
    with statefolder.undisturbed(state):
        return reading(state)


def rotated(state: StrPath) -> tuple[Rotated, ...]:
    """The rotated files, in the order of their entries. Raises OSError."""
    found = (_ROTATED.fullmatch(name) for name in os.listdir(state))
    return tuple(sorted(Rotated(int(match[1]), int(match[2])) for match in found if match))


def lines(path: str) -> Iterator[bytes]:
    """All lines of one file, with their newlines. Raises OSError."""
    with _open(path) as file:
        yield from _lines(file, os.fstat(file.fileno()).st_size)


def tail(fd: int, path: str) -> Tail:
    """The end of one file of the log, without reading all of it. Raises CannotJudge."""
    try:
        size, reach = os.fstat(fd).st_size, _FIRST_REACH
        while reach <= _LONGEST:
            start = max(0, size - reach)
            found = chain.tail_of(os.pread(fd, size - start, start), whole=start == 0)
            if found is not None:
                return found
            reach *= 4
    except chain.NotOneTear:
        pass
    except OSError as error:
        raise CannotJudge(f"decision log {path} cannot be read: {because(error)}") from error
    raise CannotJudge(f"decision log {path} is damaged at its end; see `policyd log verify`")


def _open(path: str) -> BinaryIO:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    return open(fd, "rb")


def _lines(file: BinaryIO, size: int) -> Iterator[bytes]:
    """What is longer than any entry comes cut off: it is damage, and may be all of a disk."""
    while size > 0:
        line = file.readline(min(size, _LONGEST))
        if not line:
            return
        size -= len(line)
        size -= _skip_rest(file, size) if len(line) == _LONGEST and line[-1:] != b"\n" else 0
        yield line


def _backwards(file: BinaryIO, at: int) -> Iterator[bytes]:
    rest = b""
    while at > 0:
        step = min(at, max(_FIRST_REACH, len(rest)))
        at -= step
        file.seek(at)
        first, *others = (file.read(step) + rest).split(b"\n")
        yield from filter(None, reversed(others))
        rest = first
    if rest:
        yield rest


def _skip_rest(file: BinaryIO, size: int) -> int:
    """Go on to the next line; how many bytes that were."""
    skipped, part = 0, b"x"
    while part and not part.endswith(b"\n"):
        part = file.readline(min(size - skipped, 1 << 20))
        skipped += len(part)
    return skipped
