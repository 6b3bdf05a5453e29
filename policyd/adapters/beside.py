"""A child that works beside this process: with less right to the processor, and never waited for.

It ends with whoever started it: its standard input is a pipe that nobody writes to, whose end it
watches for. Both callbacks are called from a thread of the child's own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from policyd.adapters.statefolder import because
from policyd.core.errors import CannotJudge

NICE = 10
PATIENCE = 5.0
"""Seconds that a child has to end when it is asked to."""
_LONGEST = 65_536
_TAIL = 2_000


class Beside:
    """A running child. `says` takes each line that it prints, `ends` its exit code and last words.

    A code below zero is the signal that ended it. Raises CannotJudge where it cannot be started.
    """

    def __init__(self, command: Sequence[str], says: Callable[[str], None],
                 ends: Callable[[int, str], None]) -> None:
        self._says, self._ends = says, ends
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - the thread closes it
        try:
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complaints,
                cwd="/", start_new_session=True)
        except OSError as error:
            self._complaints.close()
            raise CannotJudge(f"{command[0]} cannot be started: {because(error)}") from error
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._child.pid, NICE)
        self._thread = threading.Thread(target=self._follow, name="beside", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        return self._child.pid

    def stop(self) -> None:
        """Ask it to end, and kill what does not, with all that it started."""
        self._signal(signal.SIGTERM)
        self._thread.join(PATIENCE)
        if self._thread.is_alive():
            self._signal(signal.SIGKILL)
            self._thread.join(PATIENCE)

    def _signal(self, number: int) -> None:
        if self._child.returncode is None:
            with suppress(OSError):
                os.killpg(self._child.pid, number)

    def _follow(self) -> None:
        assert self._child.stdout is not None
        with self._child.stdout as out:
            for line in iter(lambda: out.readline(_LONGEST), b""):
                self._says(line.decode("utf-8", "replace").rstrip("\n"))
        code = self._child.wait()
        if self._child.stdin is not None:
            self._child.stdin.close()
        with self._complaints as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            last = file.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
        self._ends(code, last)
