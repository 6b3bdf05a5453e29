"""What git itself says of a repository: where its hooks are and how it is configured.

Runs git without the caller's GIT_*, as the user that it is called as.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass

OFFERED = "receive.advertisePushOptions"
_OURS = "policyd.advertisePushOptions"
HOOK = "policyd.hook"

_ASKED_OF_GIT = (b"hookspath", b"include", b"worktree")
"""Words of a configuration that only git itself reads right."""
_REMEMBERED = re.compile(rb"\s*hook\s*=\s*([A-Za-z0-9/._@+ -]*[A-Za-z0-9/._@+-])\s*")


@dataclass(frozen=True, slots=True)
class Hooks:
    """What git's configuration says of a repository's hooks."""

    folder: Path
    """Where git looks for them, symbolic links followed; it need not exist."""
    remembered: tuple[str, ...]
    """Where enrolment put them, the latest last."""


def hooks(git_dir: Path, everywhere: str | None) -> Hooks:
    """Both at once, without a child process where the repository's file is plain about them.

    `everywhere` is what `hooks_everywhere` said. Raises CannotJudge.
    """
    plain = _plain(git_dir)
    if plain is None or (everywhere is not None and not everywhere.startswith("/")):
        return Hooks(hooks_folder(git_dir), remembered(git_dir))
    return Hooks(Path(os.path.realpath(everywhere or git_dir / "hooks")), plain)


def hooks_everywhere() -> str | None:
    """core.hooksPath of this machine or of this user; most have none. Raises CannotJudge."""
    return _git(Path("/"), "config", "--type=path", "--get", "core.hooksPath", absent=1,
                given="/nowhere")


def _plain(git_dir: Path) -> tuple[str, ...] | None:
    """Where enrolment put hooks, by the text of the file; None where git has to be asked."""
    try:
        text = (git_dir / "config").read_bytes()
    except OSError:
        return None
    lower = text.lower()
    if any(word in lower for word in _ASKED_OF_GIT):
        return None
    found, section = [], b""
    for line in text.splitlines():
        if line.lstrip().startswith(b"["):
            section = line.strip()
        if b"hook" in line.lower():
            match = _REMEMBERED.fullmatch(line)
            if match is None or section != b"[policyd]":
                return None
            found.append(os.fsdecode(match[1]))
    return tuple(found)


def hooks_folder(git_dir: Path) -> Path:
    """Where git looks for hooks, symbolic links followed; it need not exist. Raises CannotJudge."""
    told = _git(git_dir, "rev-parse", "--git-path", "hooks")
    return Path(os.path.realpath(git_dir / (told or "hooks")))


def remembered(git_dir: Path) -> tuple[str, ...]:
    """Where enrolment put hooks, the latest last. More than one while the hook moves."""
    told = _git(git_dir, "config", "--local", "-z", "--get-all", HOOK, absent=1)
    return tuple((told or "").split("\0")[:-1])


def remember(git_dir: Path, seat: str) -> None:
    """Write down where the hook goes, beside what is there. Before it goes there."""
    if seat not in remembered(git_dir):
        _git(git_dir, "config", "--local", "--add", HOOK, seat)


def forget_hooks(git_dir: Path, *, but: str = "") -> None:
    """Let go of where hooks were, all but one. After they are gone."""
    found = remembered(git_dir)
    if but and found != (but,):
        _git(git_dir, "config", "--local", "--replace-all", HOOK, but)
    elif not but and found:
        _unset(git_dir, HOOK)


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
    if own_value(git_dir, OFFERED) == "true":
        _unset(git_dir, OFFERED)
    _unset(git_dir, _OURS)
    return True


def value(git_dir: Path, name: str) -> str | None:
    """A value as pushes see it, from any of git's files."""
    return _git(git_dir, "config", "--get", name, absent=1)


def own_value(git_dir: Path, name: str) -> str | None:
    """A value from the repository's own file alone."""
    return _git(git_dir, "config", "--local", "--get", name, absent=1)


def _set(git_dir: Path, name: str) -> None:
    _git(git_dir, "config", "--local", name, "true")


def _unset(git_dir: Path, name: str) -> None:
    _git(git_dir, "config", "--local", "--unset-all", name, absent=5)


def _git(git_dir: Path, *arguments: str, absent: int = 0, given: str = "") -> str | None:
    """What git prints, or None where it ends with the status `absent`. Raises CannotJudge."""
    try:
        done = subprocess.run(["git", *arguments], cwd=git_dir,
                              env=_environment(given or str(git_dir)),
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise CannotJudge(f"git cannot run in {git_dir}: {error.strerror}") from error
    if absent and done.returncode == absent:
        return None
    if done.returncode:
        said = os.fsdecode(done.stderr).strip().partition("\n")[0]
        raise CannotJudge(f"git refuses {git_dir}: {said}")
    return os.fsdecode(done.stdout).removesuffix("\n")


def _environment(git_dir: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "LC_ALL": "C", "GIT_DIR": git_dir, "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
