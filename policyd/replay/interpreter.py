"""The Python that candidates run on: what a sandbox has to show of it, and what to hide."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass

_ASK = ("import sys, sysconfig; print([sys.version.split()[0], sys.base_prefix, "
        "sysconfig.get_path('stdlib')].__repr__().replace(chr(39), chr(34)))")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """`program` is the file itself, behind all links; `modules` its standard modules."""

    program: Path
    prefix: Path
    modules: Path
    version: str

    @classmethod
    def asked(cls, python: Path) -> Interpreter:
        """The one behind a path, which may be a virtual environment's. Raises CannotJudge."""
        program = Path(os.path.realpath(python))
        try:
            told = subprocess.run([program, "-I", "-S", "-B", "-c", _ASK], check=True, timeout=20,
                                  capture_output=True, env={}, cwd="/").stdout
            version, prefix, modules = json.loads(told)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise CannotJudge(f"{python} is no Python that runs: {error}") from error
        return cls(program, Path(prefix), Path(modules), version)

    @classmethod
    def own(cls) -> Interpreter:
        """The one that runs policyd."""
        modules = Path(os.path.dirname(os.path.realpath(os.__file__)))
        program = Path(os.path.realpath(sys.executable))
        return cls(program, Path(sys.base_prefix), modules, sys.version.split()[0])

    def shows(self) -> tuple[Path, ...]:
        """Folders and files below which everything lies that it loads, system libraries apart."""
        return (self.program, self.prefix / "lib")

    def hides(self) -> tuple[Path, ...]:
        """Folders of installed packages: the standard ones alone are there without a site."""
        above = [self.modules, self.prefix / "lib" / "python3"]
        return tuple(folder / name for folder in above
                     for name in ("site-packages", "dist-packages") if (folder / name).is_dir())
