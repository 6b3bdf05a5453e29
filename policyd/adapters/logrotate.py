"""The renames of a rotation, each step of which may be the last one before a power cut.

The new log is on disk as a draft before the old one gives up its name. So where there is no log
and the draft continues the newest rotated file, a rotation was interrupted and is finished; where
there is no such draft, somebody took the log away, and nothing goes on by itself.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress

from policyd.adapters import logfiles, statefolder
from policyd.adapters.logfiles import NAME, Rotated
from policyd.adapters.statefolder import StrPath, because, cannot_write
from policyd.core import chain
from policyd.core.chain import Position
from policyd.core.errors import CannotJudge

DRAFT = f".{NAME}.next"
REMAINS = f"{NAME}.lost"
"""What is left of a log without any entry, when it is gone on without."""


def swap(state: StrPath, closed: Rotated, line: bytes) -> None:
    """Give the log its rotated name and begin a new one with `line`. Under the lock.

    Raises CannotJudge; then either nothing happened or `finish` does the rest.
    """
    path, target = os.path.join(state, NAME), os.path.join(state, closed.name)
    if os.path.lexists(target):
        raise CannotJudge(f"{target} is there already; `policyd log verify` tells whether it "
                          "belongs to the log, move it away if not")
    _prepare(state, line)
    try:
        os.rename(path, target)
        statefolder.sync_folder(state)
        _take_place(state)
    except OSError as error:
        raise cannot_write("decision log", path, error) from error


def finish(state: StrPath) -> bool:
    """Finish a rotation where there is no log; False where no log was ever rotated. Under the lock.

    Raises OSError, and CannotJudge where the log is lost.
    """
    closed = logfiles.rotated(state)
    if not closed:
        return False
    if not is_interrupted(state, closed[-1]):
        raise lost(state, closed[-1])
    _take_place(state)
    return True


def is_interrupted(state: StrPath, newest: Rotated) -> bool:
    """Whether a draft continues the newest rotated file. Raises CannotJudge."""
    try:
        first = next(logfiles.lines(os.path.join(state, DRAFT)), b"")
    except OSError:
        return False
    entry = chain.parse(first.removesuffix(b"\n"))
    if entry is None or entry.fields.get("kind") != chain.ROTATED or not first.endswith(b"\n"):
        return False
    return Position(entry.n - 1, entry.prev) == head_of(state, newest)


def demand_lost(state: StrPath) -> tuple[Rotated, Position]:
    """The newest rotated file and its head. CannotJudge where the log behind it is not lost."""
    try:
        with closing(logfiles.reading(state)) as log:
            closed = log.rotated
            present = any(chain.parse(line.removesuffix(b"\n")) for line in log.of_present())
    except OSError as error:
        raise CannotJudge(f"decision log {os.path.join(state, NAME)} cannot be read: "
                          f"{because(error)}") from error
    if present or not closed or is_interrupted(state, closed[-1]):
        raise CannotJudge(f"decision log {os.path.join(state, NAME)} is not lost; "
                          "`policyd log verify` looks at all of it")
    return closed[-1], head_of(state, closed[-1])


def begin_behind(state: StrPath, line: bytes) -> None:
    """Put a log that begins with `line` where there is none with an entry. Under the lock."""
    path = os.path.join(state, NAME)
    _prepare(state, line)
    try:
        with suppress(FileNotFoundError):
            os.rename(path, os.path.join(state, REMAINS))
        _take_place(state)
    except OSError as error:
        raise cannot_write("decision log", path, error) from error


def lost(state: StrPath, newest: Rotated) -> CannotJudge:
    """What to say where rotated files are there and the log behind them is not."""
    return CannotJudge(f"decision log {os.path.join(state, NAME)} is lost: nothing follows "
                       f"{newest.name}; put it back from a backup, or `policyd log rotate "
                       "--lost` to go on without it")


def head_of(state: StrPath, closed: Rotated) -> Position:
    """The last position of a rotated file. Raises CannotJudge."""
    path = os.path.join(state, closed.name)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise CannotJudge(f"decision log {path} cannot be read: {because(error)}") from error
    try:
        return logfiles.tail(fd, path).head
    finally:
        os.close(fd)


def _prepare(state: StrPath, line: bytes) -> None:
    statefolder.replace(os.path.join(state, DRAFT), line + b"\n")


def _take_place(state: StrPath) -> None:
    os.rename(os.path.join(state, DRAFT), os.path.join(state, NAME))
    statefolder.sync_folder(state)
