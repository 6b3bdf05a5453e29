"""What git itself says of a repository: where its hooks are and how it is configured.

Runs git without the caller's GIT_*, as the user that it is called as.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from policyd.core.errors import CannotJudge

OFFERED = "receive.advertisePushOptions"
_OURS = "policyd.advertisePushOptions"


def hooks_folder(git_dir: Path) -> Path:
    """Where git looks for hooks, symbolic links followed; it need not exist.

    Raises CannotJudge where that is not the repository's own folder.
    """
    elsewhere = value(git_dir, "core.hooksPath")
    if elsewhere is not None:
        raise CannotJudge(f"core.hooksPath sends the hooks of {git_dir} to {elsewhere}, which "
                          "policyd does not support; unset it, or have that hook run policyd")
    told = _git(git_dir, "rev-parse", "--git-path", "hooks")
    real = Path(os.path.realpath(git_dir / (told or "hooks")))
    if not real.is_relative_to(os.path.realpath(git_dir)):
        raise CannotJudge(f"the hooks of {git_dir} lie in {real}, outside of the repository; "
                          "put a folder of its own there")
    if real != Path(os.path.realpath(git_dir / "hooks")):
        raise CannotJudge(f"the hooks of {git_dir} lie in {real} and not in hooks; "
                          "policyd supports no other folder")
    return real


def offer_push_options(git_dir: Path) -> bool:
    """Let pushers use `git push -o` unless the server has decided; whether that changed.

    A second value remembers that it was us, and is written first.
    """
    if value(git_dir, OFFERED) is not None:
        return False
    _set(git_dir, _OURS)
    _set(git_dir, OFFERED)
    return True


def withdraw_push_options(git_dir: Path) -> bool:
    """Undo `offer_push_options` where it was us; whether that changed anything."""
    if value(git_dir, _OURS) is None:
        return False
    if _git(git_dir, "config", "--local", "--get", OFFERED, absent=1) == "true":
        _unset(git_dir, OFFERED)
    _unset(git_dir, _OURS)
    return True


def value(git_dir: Path, name: str) -> str | None:
    """A value as pushes see it, from any of git's files."""
    return _git(git_dir, "config", "--get", name, absent=1)


def _set(git_dir: Path, name: str) -> None:
    _git(git_dir, "config", "--local", name, "true")


def _unset(git_dir: Path, name: str) -> None:
    _git(git_dir, "config", "--local", "--unset-all", name, absent=5)


def _git(git_dir: Path, *arguments: str, absent: int = 0) -> str | None:
    """What git prints, or None where it ends with the status `absent`. Raises CannotJudge."""
    try:
        done = subprocess.run(["git", *arguments], cwd=git_dir, env=_environment(git_dir),
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise CannotJudge(f"git cannot run in {git_dir}: {error.strerror}") from error
    if absent and done.returncode == absent:
        return None
    if done.returncode:
        said = os.fsdecode(done.stderr).strip().partition("\n")[0]
        raise CannotJudge(f"git refuses {git_dir}: {said}")
    return os.fsdecode(done.stdout).removesuffix("\n")


def _environment(git_dir: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "LC_ALL": "C", "GIT_DIR": str(git_dir), "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
