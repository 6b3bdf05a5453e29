"""Work shared out to forked processes; answers come in the order of the questions."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")
Make = Callable[[], Callable[[Task], Answer]]
"""Called once in each process: opens what it needs and gives what does the work."""

AHEAD = 256
"""Tasks that others may be ahead of the slowest one, so that few answers wait in memory."""


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


def shared_out(make: Make[Task, Answer], tasks: Sequence[Task],
               jobs: int) -> Generator[Answer | None, None, None]:
    """An answer for each task; None where the process that worked on it died.

    One job is this process itself. Closing the iterator ends the processes at once.
    """
    if min(jobs, len(tasks)) < 2:
        if tasks:
            yield from map(make(), tasks)
        return
    with _Crew(make, min(jobs, len(tasks))) as crew:
        yield from crew.through(tasks)


class _Crew:
    """Processes, each at the other end of a pipe."""

    def __init__(self, make: Make[Any, Any], jobs: int) -> None:
        self._processes: dict[Connection, Any] = {}
        context = get_context("fork")
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, daemon=True,
                                      args=(theirs, (*self._processes, ours), make))
            process.start()
            theirs.close()
            self._processes[ours] = process

    def __enter__(self) -> _Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        for ours, process in self._processes.items():
            process.terminate()
            ours.close()
        for process in self._processes.values():
            process.join()

    def through(self, tasks: Sequence[Any]) -> Iterator[Any]:
        idle = deque(self._processes)
        busy: dict[Connection, int] = {}
        done: dict[int, Any] = {}
        given = told = 0
        while told < len(tasks):
            while idle and given < min(len(tasks), told + AHEAD):
                ours = idle.popleft()
                if _send(ours, tasks[given]):
                    busy[ours] = given
                    given += 1
            if not busy and told not in done:  # all of them died
                done[told] = None
                given = max(given, told + 1)
            for ours in _ready([*busy]) if told not in done else ():
                done[busy.pop(ours)] = answer = _received(ours)
                if answer is not None:
                    idle.append(ours)
            while told in done:
                yield done.pop(told)
                told += 1


def _send(ours: Connection, task: Any) -> bool:
    """Whether somebody was there to take it."""
    try:
        ours.send(task)
    except OSError:
        return False
    return True


def _ready(busy: Sequence[Connection]) -> Sequence[Any]:
    return wait(busy)


def _received(ours: Connection) -> Any:
    """An answer; None where nobody is left to give one."""
    try:
        return ours.recv()
    except (EOFError, OSError):
        return None


def _serve(theirs: Connection, others: Sequence[Connection], make: Make[Any, Any]) -> None:
    """What a process does until nobody is at the other end. Ctrl-C is for the one that asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in others:
        other.close()
    work = make()
    try:
        while True:
            theirs.send(work(theirs.recv()))
    except (EOFError, OSError):
        return
