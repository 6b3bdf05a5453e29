"""Where the program starts. A push goes to the hook without importing the command line."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import NoReturn


def main(argv: list[str] | None = None) -> int:
    """Runs the command that `argv` (without the program) names and gives its exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    home = _home_of_hook(arguments)
    if home is not None:
        _run_hook(home)
    from policyd import cli

    return cli.run(arguments)


def _run_hook(home: Path) -> NoReturn:
    """Judge one push and end at once: a process this short collects nothing, nor tidies up."""
    gc.disable()
    from policyd import hook

    os._exit(hook.main(home))


def _home_of_hook(arguments: list[str]) -> Path | None:
    """HOME where the command is `hook` and nothing else is asked; as the installed hook calls."""
    if arguments == ["hook"]:
        return Path("/etc/policyd")
    if len(arguments) == 3 and arguments[0] == "--home" and arguments[2] == "hook":
        return Path.cwd() / arguments[1]
    return None


if __name__ == "__main__":
    sys.exit(main())
