"""Where executions take place, one after the other: a process for each, or a warm sandbox."""

from __future__ import annotations

import array
import os
import signal
import socket
import subprocess
import tempfile
from contextlib import ExitStack, suppress
from typing import IO, Protocol

from policyd.core.errors import CannotJudge
from policyd.replay import seccomp
from policyd.replay.frames import Ended
from policyd.replay.sandbox import Ground, Mode, command, explained

_START_SECONDS = 30.0
"""To start a sandbox, on however busy a machine."""


class Lane(Protocol):
    """At most one job at a time. A job is two pipes and whatever process answers on them."""

    def start(self, requests: int, answers: int) -> int:
        """Begin; a descriptor that becomes readable when the job has ended and is all gone."""

    def ended(self) -> Ended:
        """How the job ended. Called once, when the descriptor is readable or after `kill`."""

    def kill(self) -> None:
        """End the job now, and all that it started."""

    def complaint(self) -> str:
        """One sentence: why nothing came to life, once the job has ended."""

    def close(self) -> None:
        """Leave nothing behind."""


def lane(ground: Ground, mode: Mode) -> Lane:
    return WarmLane(ground) if mode is Mode.WARM else ProcessLane(ground, mode)


class _Child:
    """A process of ours, and the file that it may complain in until the candidate is there."""

    def __init__(self, ground: Ground, mode: Mode, arguments: list[str],
                 descriptors: tuple[int, ...]) -> None:
        with ExitStack() as open_files:
            guard = None if mode is Mode.NONE else _call_filter(open_files)
            kept = descriptors if guard is None else (*descriptors, guard)
            self._start(command(ground, mode, arguments, guard), kept, ground.environment())

    def _start(self, words: list[str], descriptors: tuple[int, ...],
               environment: dict[str, str]) -> None:
        self._complaints: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed when read
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/",
                stderr=self._complaints, pass_fds=descriptors, env=environment,
                start_new_session=True)
            self.over = os.pidfd_open(self._process.pid)
        except OSError as error:
            self._complaints.close()
            raise CannotJudge(f"no process to replay in: {error}") from error

    def end(self) -> None:
        """Kill it and its process group. A sandbox takes all that is in it along."""
        for kill in (os.killpg, os.kill):
            with suppress(ProcessLookupError, PermissionError):
                kill(self._process.pid, signal.SIGKILL)

    def bury(self) -> tuple[int, float]:
        """Wait for it; its status and the processor time of it and what it waited for."""
        _, status, used = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        os.close(self.over)
        return self._process.returncode, used.ru_utime + used.ru_stime

    def complained(self) -> str:
        """The last line of its complaints, once it is buried."""
        with self._complaints as complaints:
            complaints.seek(0)
            text = complaints.read(4096).decode("utf-8", "replace").strip()
        return text.rpartition("\n")[2]


def _call_filter(open_files: ExitStack) -> int | None:
    """A descriptor to read this machine's filter from, if there is one."""
    program = seccomp.program(os.uname().machine)
    if program is None:
        return None
    descriptor = os.memfd_create("calls")
    open_files.callback(os.close, descriptor)
    os.write(descriptor, program)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


class ProcessLane:
    """A process for each job, in a sandbox of its own or in none."""

    def __init__(self, ground: Ground, mode: Mode) -> None:
        self._ground, self._mode = ground, mode
        self._child: _Child | None = None
        self._complaint = ""
        self._killed = False

    def start(self, requests: int, answers: int) -> int:
        pipes = (requests, answers)
        self._child = _Child(self._ground, self._mode, [str(pipe) for pipe in pipes], pipes)
        self._killed = False
        return self._child.over

    def ended(self) -> Ended:
        assert self._child is not None
        self._child.end()  # without a sandbox: what it left behind
        status, seconds = self._child.bury()
        self._complaint = self._child.complained()
        self._child = None
        if self._mode is Mode.NONE:
            self._complaint = f"the runner did not start: {self._complaint or status}"
        else:
            self._complaint = explained(self._complaint)
        return Ended(status, self._killed, seconds)

    def kill(self) -> None:
        if self._child is not None:
            self._killed = True
            self._child.end()

    def complaint(self) -> str:
        return self._complaint

    def close(self) -> None:
        if self._child is not None:
            self.kill()
            self.ended()


class WarmLane:
    """A sandbox whose zygote forks a process for each job; made anew when one was killed."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._child: _Child | None = None
        self._jobs: socket.socket | None = None
        self._complaint = ""
        self._killed = False

    def start(self, requests: int, answers: int) -> int:
        self._killed = False
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [requests, answers]))
        jobs = self._jobs or self._made()
        try:
            jobs.sendmsg([b"job"], [rights])
        except OSError:  # it died since: somebody, or the kernel, was short of memory
            self.close()
            jobs = self._made()
            jobs.sendmsg([b"job"], [rights])
        return jobs.fileno()

    def _made(self) -> socket.socket:
        self._jobs, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            words = [str(theirs.fileno()), str(self._ground.limits.tmp_bytes)]
            self._child = _Child(self._ground, Mode.WARM, words, (theirs.fileno(),))
        self._jobs.settimeout(_START_SECONDS)
        if self._said() != b"ready":
            self.close()
            raise CannotJudge(self._complaint)
        return self._jobs

    def _said(self) -> bytes:
        assert self._jobs is not None
        try:
            return self._jobs.recv(64)
        except OSError:
            return b""

    def ended(self) -> Ended:
        told = b"" if self._killed else self._said()
        if told:
            status, seconds = told.split()
            self._complaint = f"the sandbox let nobody in: status {int(status)}"
            return Ended(int(status), False, float(seconds))
        killed = self._killed
        self.close()
        return Ended(-signal.SIGKILL, killed)

    def kill(self) -> None:
        """The sandbox is what can be killed for certain; the next job gets another one."""
        if self._child is not None:
            self._killed = True
            self._child.end()

    def complaint(self) -> str:
        return self._complaint

    def close(self) -> None:
        if self._jobs is not None:
            self._jobs.close()
        if self._child is not None:
            self._child.end()
            self._child.bury()
            self._complaint = explained(self._child.complained())
        self._jobs = self._child = None
