"""The hook that was there before policyd: it runs last, after acceptance."""

from __future__ import annotations

import os
from collections.abc import Mapping

from policyd.core.errors import CannotJudge

CHAINED = "pre-receive.before-policyd"
HIDDEN = "." + CHAINED
"""Its name in a folder for many repositories: gitolite would link any other into all of them."""

TOLD = "POLICYD_HOOK"
"""What the installed hook says of itself in its environment: `KIND:PATH`."""

_NAMES = {"own": CHAINED, "common": HIDDEN}


def run(git_dir: str, data: bytes, environment: Mapping[str, str]) -> int:
    """Its exit code; it gets the same input and environment. Absent or not executable: 0, as git.

    Raises CannotJudge when it cannot be started.
    """
    path = _path(git_dir, environment.get(TOLD))
    if path is None or not os.access(path, os.X_OK):
        return 0
    import subprocess

    given = {name: value for name, value in environment.items() if name != TOLD}
    try:
        return subprocess.run([path], input=data, env=given, check=False).returncode
    except OSError as error:
        raise CannotJudge(f"the hook {path} cannot run: {error.strerror}") from error


def is_for_many(environment: Mapping[str, str]) -> bool:
    """Whether the hook that runs serves many repositories, enrolled or not."""
    return environment.get(TOLD, "").startswith("common")


def _path(git_dir: str, told: str | None) -> str | None:
    """Beside the hook that ran, links followed; a hook that says nothing of itself is an old one.

    None where others run theirs by themselves.
    """
    if told is None:
        return os.path.join(git_dir, "hooks", CHAINED)
    kind, _, path = told.partition(":")
    name = _NAMES.get(kind)
    if name is None:
        return None
    return os.path.join(os.path.dirname(os.path.realpath(os.path.join(git_dir, path))), name)
