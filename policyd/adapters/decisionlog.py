"""The decision log: one line a decision, chained by hash, on disk before anything moves.

STATE/decisions.jsonl is written under the one lock of the state folder. Whoever holds that
lock first sees to it that the last line has reached its index and that torn bytes are closed;
so at most the last line is ever missing from an index, and no search is needed to repair it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from policyd.adapters import clock, repoindex, statefolder
from policyd.adapters.statefolder import StrPath, because, cannot_write
from policyd.core import chain
from policyd.core import index as indexes
from policyd.core.chain import Position, Tail
from policyd.core.errors import CannotJudge
from policyd.core.index import Index, Movement

NAME = "decisions.jsonl"

_FIRST_REACH = 1 << 14
_LONGEST_REACH = 1 << 26


@dataclass(frozen=True, slots=True)
class _Log:
    """The log, open and locked."""

    state: StrPath
    path: str
    fd: int
    tail: Tail


def append(state: StrPath, entry: Mapping[str, object], *, at: datetime | None = None,
           then: Callable[[], None] | None = None) -> str:
    """Write an entry that moves no index, then call `then`, under the lock; the entry's id.

    `entry` is what JSON can say, without `n`, `prev` and `time`. Raises CannotJudge; ValueError
    for an accepted push, which is for `record`.
    """
    if entry.get("verdict") == indexes.ACCEPTED and "key" in entry:
        raise ValueError("an accepted push is for record(), which moves its index")
    with _opened(state) as log:
        _finish_last(log)
        block, position = _block(log, entry, _time(at))
        _write(log, block)
        if then is not None:
            then()
    return position.id


def record(state: StrPath, key: str, entry: Mapping[str, object],
           change: Callable[[Index], Index] | None = None, *, at: datetime | None = None) -> str:
    """Write an accepted entry and move the index of its repository; the entry's id.

    The entry moves the index by itself, as a replay of the log would: it needs `verdict`
    "accepted" and `updates` as `core.index.logged` gives them; `key` is filled in. `change` is
    for what a replay cannot know, such as settling with live refs; it runs under the lock,
    before the entry is applied. Raises CannotJudge; then the log may hold the entry, which means
    nothing as long as git moves no ref.
    """
    with _opened(state) as log:
        index = _current(log, key, _finish_last(log))
        index = index if change is None else change(index)
        fields, time = {**entry, "key": key}, _time(at)
        block, position = _block(log, fields, time)
        moved = indexes.replayed(index, {**fields, "time": time}, position)
        _write(log, block)
        repoindex.store(state, moved)
    return position.id


def begin(state: StrPath, index: Index, entry: Mapping[str, object], *,
          at: datetime | None = None) -> str:
    """Write the entry of an enrolment, then the new index at its place; the entry's id."""
    with _opened(state) as log:
        _finish_last(log)
        block, position = _block(log, {**entry, "key": index.key}, _time(at))
        _write(log, block)
        repoindex.store(state, replace(index, applied=position))
    return position.id


def settled(state: StrPath, key: str, live: Callable[[Index], Mapping[str, str | None]],
            ) -> tuple[Index, tuple[Movement, ...]]:
    """The index settled with the live refs, stored where that changed it, and what moved.

    `live` reads the refs of `core.index.watched`; it is called under the lock, which is what
    makes its values comparable with the index. Raises CannotJudge.
    """
    with _opened(state) as log:
        index = _current(log, key, _finish_last(log))
        found, movements = indexes.settle(index, live(index))
        if found != index:
            repoindex.store(state, found)
    return found, movements


@contextmanager
def _opened(state: StrPath) -> Iterator[_Log]:
    path = os.path.join(state, NAME)
    with statefolder.locked(state):
        try:
            fd = _open(path)
        except OSError as error:
            raise cannot_write("decision log", path, error) from error
        try:
            yield _Log(state, path, fd, _tail(fd, path))
        finally:
            os.close(fd)


def _open(path: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        fd = os.open(path, flags)
    except FileNotFoundError:
        fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
        statefolder.sync_folder(os.path.dirname(path))
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError("not an ordinary file")
    return fd


def _tail(fd: int, path: str) -> Tail:
    try:
        size = os.fstat(fd).st_size
        reach = _FIRST_REACH
        while reach <= _LONGEST_REACH:
            start = max(0, size - reach)
            tail = chain.tail_of(os.pread(fd, size - start, start), whole=start == 0)
            if tail is not None:
                return tail
            reach *= 4
    except chain.NotOneTear:
        pass
    except OSError as error:
        raise CannotJudge(f"decision log {path} cannot be read: {because(error)}") from error
    raise CannotJudge(f"decision log {path} is damaged at its end; see `policyd log verify`")


def _finish_last(log: _Log) -> Index | None:
    """Bring the last line to its index where the process that wrote it died before.

    The index of that line's repository, whether or not it needed this; None if there is none.
    """
    last = log.tail.last
    if last is None or last.fields.get("verdict") != indexes.ACCEPTED:
        return None
    try:
        index = repoindex.load(log.state, str(last.fields.get("key")))
    except (CannotJudge, ValueError):
        return None  # a repository that is gone or must be enrolled anew keeps no other waiting
    if index.applied.n < log.tail.head.n:
        index = indexes.replayed(index, last.fields, log.tail.head)
        repoindex.store(log.state, index)
    return index


def _current(log: _Log, key: str, loaded: Index | None) -> Index:
    index = loaded
    if index is None or index.key != key:
        index = repoindex.load(log.state, key)
    head = log.tail.head
    if index.applied.n > head.n or (index.applied.n == head.n and index.applied != head):
        raise CannotJudge(f"decision log {log.path} has lost entries: it ends with {head.n}, and "
                          f"repository {key} was recorded with {index.applied.n}; put it back "
                          "from a backup, or `policyd enroll REPO` to record anew")
    return index


def _time(at: datetime | None) -> str:
    return (at or clock.now()).astimezone(UTC).isoformat(timespec="milliseconds")


def _block(log: _Log, entry: Mapping[str, object], time: str) -> tuple[bytes, Position]:
    """The bytes to append: what closes torn lines, if any, and the entry's own line."""
    closing, head = chain.closing(log.tail, time)
    line = chain.line_of(head, time, entry)
    return closing + line + b"\n", chain.position_of(head, line)


def _write(log: _Log, block: bytes) -> None:
    """Append and sync, or take back what was written and raise CannotJudge."""
    before = os.fstat(log.fd).st_size
    try:
        statefolder.write_all(log.fd, block)
        os.fsync(log.fd)
    except OSError as error:
        with suppress(OSError):
            os.ftruncate(log.fd, before)
            os.fsync(log.fd)
        raise cannot_write("decision log", log.path, error) from error
