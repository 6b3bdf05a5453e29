"""The decision log: one line a decision, chained by hash, on disk before anything moves.

STATE/decisions.jsonl is written under the one lock of the state folder. Whoever holds that
lock first sees to it that the last line has reached its index and that torn bytes are closed;
so at most the last line is ever missing from an index, and no search is needed to repair it.
Rotation goes on with the chain in a new file: positions that indexes hold stay true.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime

from policyd.adapters import clock, headlog, logfiles, logrotate, repoindex, statefolder
from policyd.adapters.logfiles import Rotated
from policyd.adapters.statefolder import StrPath, cannot_write
from policyd.core import chain
from policyd.core import index as indexes
from policyd.core.chain import Position, Tail
from policyd.core.errors import CannotJudge
from policyd.core.index import Index
from policyd.core.movement import Movement
from policyd.core.values import dataclass

NAME = logfiles.NAME


@dataclass(frozen=True, slots=True)
class _Log:
    """The log, open and locked."""

    state: StrPath
    path: str
    fd: int
    tail: Tail


def append(state: StrPath, entry: Mapping[str, object], *, at: datetime | None = None,
           first: Callable[[], None] | None = None,
           then: Callable[[], None] | None = None) -> str:
    """Write an entry that moves no index, between `first` and `then`, all under the lock; its id.

    What `first` raises keeps the entry from being written. `entry` is what JSON can say, without
    `n`, `prev` and `time`. Raises CannotJudge; ValueError for an accepted push, which is for
    `record`.
    """
    if entry.get("verdict") == indexes.ACCEPTED and "key" in entry:
        raise ValueError("an accepted push is for record(), which moves its index")
    with _opened(state) as log:
        _finish_last(log)
        if first is not None:
            first()
        position = _add(log, entry, _time(at))
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
        headlog.tell(position, indexes.ACCEPTED)
        repoindex.store(state, moved)
    return position.id


def begin(state: StrPath, index: Index, entry: Mapping[str, object], *,
          at: datetime | None = None) -> str:
    """Write the entry of an enrolment, then the new index at its place; the entry's id."""
    with _opened(state) as log:
        _finish_last(log)
        position = _add(log, {**entry, "key": index.key}, _time(at))
        repoindex.store(state, replace(index, applied=position))
    return position.id


def amend(state: StrPath, key: str, entry: Mapping[str, object],
          change: Callable[[Index], Index]) -> str:
    """Write the entry of an operator's act and change the index by it, under the lock; the id."""
    with _opened(state) as log:
        index = _current(log, key, _finish_last(log))
        changed = change(index)
        position = _add(log, {**entry, "key": key}, _time(None))
        repoindex.store(state, replace(changed, applied=position))
    return position.id


def settled(state: StrPath, key: str, live: Callable[[Index], Mapping[str, str | None]],
            git_dir: str = "", name: str = "") -> tuple[Index, tuple[Movement, ...]]:
    """The index settled with the live refs, stored where that changed it, and what moved.

    `live` reads the refs of `core.index.watched`; it is called under the lock, which is what
    makes its values comparable with the index. `git_dir` and `name`, where given, are where the
    repository is met now and what it is called. Raises CannotJudge.
    """
    with _opened(state) as log:
        index = _current(log, key, _finish_last(log))
        found, movements = indexes.settle(index, live(index))
        if git_dir:
            found = replace(found, git_dir=git_dir, name=name or found.name)
        if found != index:
            repoindex.store(state, found)
    return found, movements


def rotate(state: StrPath, operator: str, *, at: datetime | None = None) -> Rotated | None:
    """Close the log under another name and carry its chain on in a new one.

    None where there was nothing to close: no entry but those of rotating itself. Raises
    CannotJudge; whatever was done by then, the next one to open the log finishes.
    """
    with _opened(state) as log:
        _finish_last(log)
        time = _time(at)
        head = _close_torn(log, time)
        first = _first_to_close(log)
        if first is None:
            return None
        if first > head.n:
            raise CannotJudge(f"decision log {log.path} is damaged at its start; "
                              "see `policyd log verify`")
        closed = Rotated(first, head.n)
        line = chain.line_of(head, time, _rotated(closed, operator))
        logrotate.swap(state, closed, line)
        headlog.tell(chain.position_of(head, line), chain.ROTATED)
    return closed


def go_on_after_loss(state: StrPath, operator: str, *, at: datetime | None = None) -> Rotated:
    """Begin a new log behind the newest rotated file, where the one behind it is lost.

    Says so in its first entry. Raises CannotJudge, also where nothing is lost.
    """
    with statefolder.locked(state):
        closed, head = logrotate.demand_lost(state)
        fields = {**_rotated(closed, operator), "lost": True}
        line = chain.line_of(head, _time(at), fields)
        logrotate.begin_behind(state, line)
        headlog.tell(chain.position_of(head, line), chain.ROTATED)
    return closed


@contextmanager
def _opened(state: StrPath) -> Iterator[_Log]:
    path = os.path.join(state, NAME)
    with statefolder.locked(state):
        try:
            fd = _open(path)
        except OSError as error:
            raise cannot_write("decision log", path, error) from error
        try:
            yield _Log(state, path, fd, _tail(state, fd, path))
        finally:
            os.close(fd)


def _open(path: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        fd = os.open(path, flags)
    except FileNotFoundError:
        if logrotate.finish(os.path.dirname(path)):
            fd = os.open(path, flags)
        else:
            fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
            statefolder.sync_folder(os.path.dirname(path))
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError("not an ordinary file")
    return fd


def _tail(state: StrPath, fd: int, path: str) -> Tail:
    """The end of the log; a chain never begins anew beside rotated files."""
    tail = logfiles.tail(fd, path)
    if tail.last is None:
        closed = logfiles.rotated(state)
        if closed:
            raise logrotate.lost(state, closed[-1])
    return tail


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


def _add(log: _Log, entry: Mapping[str, object], time: str) -> Position:
    block, position = _block(log, entry, time)
    _write(log, block)
    headlog.tell(position, entry.get("verdict") or entry.get("kind"))
    return position


def _close_torn(log: _Log, time: str) -> Position:
    closing, head = chain.closing(log.tail, time)
    if closing:
        _write(log, closing)
    return head


def _first_to_close(log: _Log) -> int | None:
    """The number of the first entry; None where there are none but those of rotating itself.

    Else a server without pushes would rotate its history away, one empty file a night.
    """
    first = None
    for line in logfiles.lines(log.path):
        entry = chain.parse(line.removesuffix(b"\n"))
        if entry is None:
            continue
        first = first or entry.n
        if entry.fields.get("kind") not in (chain.ROTATED, chain.REMOVED):
            return first
    return None


def _rotated(closed: Rotated, operator: str) -> dict[str, object]:
    return {"kind": chain.ROTATED, "file": closed.name, "operator": operator}


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
