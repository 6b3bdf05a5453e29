"""The hook that was there before policyd: it runs last, after acceptance."""

from __future__ import annotations

import os
from collections.abc import Mapping

from policyd.core.errors import CannotJudge

CHAINED = "pre-receive.before-policyd"


def run(git_dir: str, data: bytes, environment: Mapping[str, str]) -> int:
    """Its exit code; it gets the same input and environment. Absent or not executable: 0, as git.

    Raises CannotJudge when it cannot be started.
    """
    path = os.path.join(git_dir, "hooks", CHAINED)
    if not os.access(path, os.X_OK):
        return 0
    import subprocess

    try:
        return subprocess.run([path], input=data, env=dict(environment), check=False).returncode
    except OSError as error:
        raise CannotJudge(f"the hook {path} cannot run: {error.strerror}") from error
