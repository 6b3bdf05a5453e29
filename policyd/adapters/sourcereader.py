"""The only place where pushed source is parsed: in forked children that may crash or run out.

A child that dies costs one file, which then counts as unreadable; another goes on with the rest.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from policyd.adapters.sourcechild import FRAME, READY, Reader, Task, serve
from policyd.core.errors import CannotJudge
from policyd.core.sheet import Sheet, unpacked
from policyd.core.values import dataclass
from policyd.languages import CHECKS, DATA, SETTINGS

TOO_LONG = "the parser gave up: it ran out of time"
CRASHED = "the parser gave up: it ran out of memory or crashed"

_SHARE = 0.75
"""Of the time for all files, what one may use; so that the file is named, not the whole push."""
_WORTH_TWO = 256 << 10
"""Bytes of source below which a second child costs more than it saves."""
_LARGEST_ANSWER = 256 << 20


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that could not be read: from which line on (1 if unknown), and why."""

    line: int
    reason: str


Reading = Sheet | Unread


class _TimeIsOver(Exception):
    pass


def read(
    files: Sequence[tuple[str, bytes]],
    *,
    min_length: int,
    seconds: float,
    memory_bytes: int = 1 << 30,
    language: str = "python",
    reader: Reader | None = None,
) -> Mapping[str, Reading]:
    """What each file of one language holds, by its key, in the order given.

    Raises CannotJudge when `seconds` are over. `memory_bytes` is for one child, of which there
    are two when there is much to read. `reader` is the language's unless another is given.
    """
    if not files:
        return {}
    deadline = time.monotonic() + seconds
    task = Task(reader or _reader_of(language), min_length, seconds * _SHARE, seconds, memory_bytes)
    lanes = [_Lane(share, task) for share in _shares(files)]
    found: dict[str, Reading] = {}
    try:
        for lane in lanes:
            lane.start()
        while running := [lane for lane in lanes if lane.is_running]:
            for lane in _answering(running, deadline):
                found.update(lane.answers())
    except _TimeIsOver:
        raise CannotJudge(
            f"reading {len(files)} source files takes longer than the bound `seconds` leaves for"
            f" it ({seconds:.1f}); push fewer of them at once, or ask an operator to raise it"
        ) from None
    finally:
        for lane in lanes:
            lane.stop()
    return {key: found[key] for key, _ in files}


class _Lane:
    """Files that are read one after the other, by one child after the other."""

    def __init__(self, files: Sequence[tuple[str, bytes]], task: Task) -> None:
        self._files = deque(files)
        self._task = task
        self._child = 0
        self._pipe = -1
        self._buffer = bytearray()
        self._is_ready = False

    @property
    def is_running(self) -> bool:
        return self._child > 0

    @property
    def pipe(self) -> int:
        return self._pipe

    def start(self) -> None:
        """Signals wait meanwhile: a handler that raised in the child would run the parent there."""
        self._pipe, theirs = os.pipe()
        self._is_ready = False
        self._buffer.clear()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self._child = os.fork()
            if self._child == 0:
                serve(theirs, (source for _, source in self._files), self._task)
        except OSError as error:
            raise CannotJudge(f"no process to read source with: {error.strerror}") from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.close(theirs)

    def answers(self) -> Iterator[tuple[str, Reading]]:
        """What has come in since; the end of a child is the answer to the file it was at."""
        chunk = os.read(self._pipe, 1 << 20)
        self._buffer += chunk
        yield from self._whole_answers()
        if chunk and len(self._buffer) < _LARGEST_ANSWER:
            return
        status = self.stop()
        if not self._is_ready:
            raise CannotJudge("the process that reads source ended before its first file")
        if self._files:
            yield self._files.popleft()[0], Unread(1, _cause(status))
        if self._files:
            self.start()

    def _whole_answers(self) -> Iterator[tuple[str, Reading]]:
        while len(self._buffer) >= FRAME.size:
            end = FRAME.size + FRAME.unpack_from(self._buffer)[0]
            if len(self._buffer) < end:
                return
            answer = json.loads(self._buffer[FRAME.size : end])
            del self._buffer[:end]
            if answer is READY:
                self._is_ready = True
            elif self._files:
                yield self._files.popleft()[0], _reading(answer)

    def stop(self) -> int:
        """Ends the child, if it has not ended, and buries it; its exit status."""
        if self._pipe >= 0:
            os.close(self._pipe)
        child, self._child, self._pipe = self._child, 0, -1
        if child <= 0:
            return 0
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return 0


def _answering(lanes: Sequence[_Lane], deadline: float) -> Sequence[_Lane]:
    poll = select.poll()
    for lane in lanes:
        poll.register(lane.pipe, select.POLLIN)
    left = deadline - time.monotonic()
    ready = {pipe for pipe, _ in poll.poll(left * 1000)} if left > 0 else set()
    if not ready:
        raise _TimeIsOver
    return [lane for lane in lanes if lane.pipe in ready]


def _shares(files: Sequence[tuple[str, bytes]]) -> Sequence[Sequence[tuple[str, bytes]]]:
    """The files in one lane, or dealt out by size to two where there are two processors."""
    if sum(len(source) for _, source in files) < _WORTH_TWO or len(os.sched_getaffinity(0)) < 2:
        return [files]
    by_size = sorted(files, key=lambda file: len(file[1]), reverse=True)
    return [share for share in (by_size[0::2], by_size[1::2]) if share]


def _reading(answer: Any) -> Reading:
    if isinstance(answer, dict):
        return Unread(answer["line"], answer["reason"])
    return unpacked(answer, Sheet)


def _cause(status: int) -> str:
    return TOO_LONG if -status in (signal.SIGPROF, signal.SIGXCPU) else CRASHED


def _reader_of(language: str) -> Reader:
    """Loaded when there is something to read: a push of anything else need not pay for it."""
    if language in SETTINGS:
        from policyd.languages import settings

        return partial(settings.sheet, form=language)
    if language in CHECKS:
        from policyd.languages import checks

        return partial(checks.sheet, form=language)
    if language == DATA:
        from policyd.languages import data

        return data.sheet
    if language in ("javascript", "typescript", "tsx"):
        from policyd.languages import javascript

        javascript.load(language)
        return partial(javascript.sheet, dialect=language)
    from policyd.languages import python

    return partial(python.sheet, python=f"Python {sys.version_info.major}.{sys.version_info.minor}")
