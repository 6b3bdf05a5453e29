"""What the daemon stands on: the home that it reads and the program that it is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from policyd.adapters import activepolicy
from policyd.adapters import home as homes
from policyd.core.errors import CannotJudge
from policyd.core.policy import Active
from policyd.doctor import replays


class Ground:
    """Made when the daemon starts."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._program = self.program()

    def trouble(self, active: Active) -> str:
        """What is not as it must be, in one sentence; empty when all is well."""
        try:
            homes.folder(homes.look(self._home), activepolicy.FOLDER)
        except CannotJudge as error:
            return f"pushes cannot be judged: {error}"
        if self.program() != self._program:
            return (f"{self.program()} is in force, and this daemon runs {self._program}; "
                    "`systemctl restart policyd`")
        return replays.trouble(active)

    @staticmethod
    def program() -> str:
        """Where the program lies that counts now; an upgrade puts another one there."""
        return os.path.realpath(sys.prefix)
