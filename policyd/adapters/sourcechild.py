"""What a forked reader does: give up everything but one pipe, answer file by file, vanish.

Nothing of the parent may leak through it: no exception, no exit handler, no buffered output, no
open file. So it ends in `os._exit`, always.
"""

from __future__ import annotations

import gc
import json
import math
import os
import resource
import signal
import struct
from collections.abc import Callable, Iterable
from typing import NoReturn

from policyd.core.sheet import Sheet, packed
from policyd.core.values import dataclass
from policyd.languages.literal import Unparseable

Reader = Callable[[bytes, int], Sheet]
"""Source and the least length of text in; what it says out, or Unparseable."""

FRAME = struct.Struct(">I")
"""Before each answer: its length in bytes."""
READY: None = None
"""The first answer, before any file: from here on a death is the fault of what is read."""

_PIPE = 3
_OPEN_FILES = 16
_MAPPED = 1 << 30
"""More than packs and libraries take that are mapped and not resident."""


@dataclass(frozen=True, slots=True)
class Task:
    """How to read, and how much that may take."""

    reader: Reader
    min_length: int
    seconds_each: float
    """Processor time for one file; beyond it SIGPROF ends the child."""
    seconds: float
    """Processor time for all files, in case that nobody is left to end the child."""
    memory_bytes: int
    """Beyond what was in use before the fork: mapped packs of a repository count as used."""


def serve(pipe: int, sources: Iterable[bytes], task: Task) -> NoReturn:
    """Answers READY, then for each source its sheet, packed, or `{line, reason}`."""
    try:
        _confine(pipe, task)
        _send(READY)
        for source in sources:
            signal.setitimer(signal.ITIMER_PROF, task.seconds_each)
            _send(_answer(source, task))
        os._exit(0)
    finally:
        os._exit(1)


def _answer(source: bytes, task: Task) -> object:
    try:
        return packed(task.reader(source, task.min_length))
    except Unparseable as error:
        return {"line": error.line, "reason": error.reason}
    except Exception as error:
        return {"line": 1, "reason": f"the reader failed ({type(error).__name__})"}


def _send(answer: object) -> None:
    body = json.dumps(answer).encode("ascii")
    rest = memoryview(FRAME.pack(len(body)) + body)
    while rest:
        rest = rest[os.write(_PIPE, rest) :]


def _confine(pipe: int, task: Task) -> None:
    """A child that kept git's stderr open would keep the pusher waiting for it."""
    gc.disable()
    os.setpgid(0, 0)
    os.dup2(pipe, _PIPE)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(_PIPE):
        os.dup2(nothing, standard)
    os.closerange(_PIPE + 1, min(os.sysconf("SC_OPEN_MAX"), 1 << 16))
    _forget_handlers()
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _limit(resource.RLIMIT_CPU, math.ceil(task.seconds) + 1)
    _limit(resource.RLIMIT_AS, _address_space() + task.memory_bytes)


def _forget_handlers() -> None:
    """Signals do what they do by default: a handler of the parent's must not run here."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _address_space() -> int:
    """What is mapped; where /proc is not there, as in a chroot, what is resident and a gibibyte."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + _MAPPED
