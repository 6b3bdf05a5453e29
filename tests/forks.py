"""Scripts in forks of this process: a new interpreter for each would cost many times as much."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from typing import NoReturn


class Fork:
    """A script at work, with `arguments` in sys.argv as `python -c` puts them there."""

    def __init__(self, script: str, *arguments: object) -> None:
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # other threads hold nothing of it
            self._process = os.fork()
        if self._process == 0:
            _become(script, ["-c", *map(str, arguments)], writing)
        os.close(writing)
        self.stdout = open(reading, "rb")  # noqa: SIM115  # closed by `end`

    def kill(self) -> None:
        os.kill(self._process, signal.SIGKILL)

    def end(self) -> tuple[int, bytes]:
        """Its exit code, or minus the signal that ended it, and what it printed and nobody read."""
        with self.stdout:
            told = self.stdout.read()
        return os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1]), told


def run(script: str, *arguments: object) -> int:
    """Do a script to its end; its exit code, or minus the signal that ended it."""
    return Fork(script, *arguments).end()[0]


def _become(script: str, arguments: list[str], output: int) -> NoReturn:
    """Whatever happens, none of the tests goes on in here, nor is anything of theirs tidied up."""
    code = 1
    try:
        os.dup2(output, 1)
        sys.argv, sys.stdout = arguments, open(1, "w", closefd=False)  # noqa: SIM115
        exec(compile(script, "-c", "exec"), {"__name__": "__main__"})
        sys.stdout.flush()
        code = 0
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)
