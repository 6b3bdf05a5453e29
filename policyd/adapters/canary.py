"""A push through the real receive-pack that nothing may accept: the proof that the hook runs.

It asks refs/check/BRANCH about the commit that BRANCH holds. The hook answers and refuses; where
git takes the push, no hook ran, and the ref that it made is taken away again.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.hookinput import CHECK
from policyd.core.values import dataclass

SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Canary:
    """What became of it."""

    taken: bool
    """No hook refused it; the ref that it made is gone again."""
    answered: bool
    """The hook judged it, as a question, and said so."""
    said: str
    """The first line that tells why not."""


def push(git_dir: Path, branch: str) -> Canary | None:
    """Push the canary, as the repository's owner; None where the branch is not there."""
    tip = PushedRepo(str(git_dir)).resolve(f"refs/heads/{branch}")[1]
    if tip is None:
        return None
    ref = f"{CHECK}{branch}"
    with tempfile.TemporaryDirectory(prefix="policyd-canary-") as folder:
        said, taken = _pushed(Path(folder), git_dir, tip, ref)
    if taken:
        _git(git_dir, "update-ref", "-d", ref)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    first = next((line for line in lines if "policyd" in line), lines[0] if lines else "")
    return Canary(taken, "policyd: check:" in said, first)


def _pushed(folder: Path, git_dir: Path, tip: str, ref: str) -> tuple[str, bool]:
    _git(folder, "init", "--quiet", "--bare", ".")
    (folder / "objects/info").mkdir(parents=True, exist_ok=True)
    (folder / "objects/info/alternates").write_text(f"{git_dir}/objects\n")
    done = _git(folder, "push", str(git_dir), f"{tip}:{ref}")
    return done.stderr, done.returncode == 0


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, errors="replace",
        check=False, timeout=SECONDS, stdin=subprocess.DEVNULL,
        env={**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_COUNT": "1",
             "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"})
