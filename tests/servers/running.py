"""Programs that serve on loopback for as long as a block runs, and go with whoever started them.

    with running(lambda port: ["sshd", "-D", "-p", str(port)], log=folder / "log") as port: ...

Nothing here knows of a test runner.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

HOST = "127.0.0.1"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Of every server: a daemon hands its environment on to hooks, so the caller's stays out."""
ATTEMPTS = 5
WAIT = 20.0


class Absent(Exception):
    """A server cannot run here; the text says why."""


def program(name: str, package: str) -> str:
    """Where a program is. Raises Absent, naming the package that has it."""
    found = shutil.which(name, path=PATH)
    if found is None:
        raise Absent(f"{package} is not installed")
    return found


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        return int(taken.getsockname()[1])


@contextmanager
def running(command: Callable[[int], Sequence[str]], *, log: Path,
            environment: Mapping[str, str] | None = None, cwd: Path | None = None,
            ready: Callable[[int], bool] | None = None) -> Iterator[int]:
    """A server in the foreground, on a port that it answers on; gone with all its children after.

    `command` makes the command line for a port; another one is tried where somebody took it.
    `ready` says when it answers; by default, when its port does.
    """
    for _ in range(ATTEMPTS):
        port = free_port()
        started = _start(command(port), log, {"PATH": PATH, **(environment or {})}, cwd)
        try:
            if _comes_up(started, port, ready or answers):
                yield port
                return
        finally:
            stop(started)
    raise RuntimeError(f"{command(0)[0]} does not come up: {_end_of(log)}")


def answers(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), 1).close()
    except OSError:
        return False
    return True


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server and what it started, also where it starts its children again."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(happened: Callable[[], bool], *, seconds: float = WAIT) -> bool:
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _start(command: Sequence[str], log: Path, environment: Mapping[str, str],
           cwd: Path | None) -> subprocess.Popen[bytes]:
    """In a group of its own, and told to end when this process dies without ending it."""
    with log.open("ab") as out:
        return subprocess.Popen(
            [program("setpriv", "util-linux"), "--pdeathsig", "TERM", *command], cwd=cwd or "/",
            env=dict(environment), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True)


def _comes_up(process: subprocess.Popen[bytes], port: int, ready: Callable[[int], bool]) -> bool:
    return wait_for(lambda: process.poll() is not None or ready(port)) and process.poll() is None


def _end_of(log: Path) -> str:
    return log.read_text(errors="replace")[-500:] if log.exists() else "it wrote nothing"
