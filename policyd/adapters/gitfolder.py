"""Where a repository that somebody names keeps its objects: bare, or below a work tree."""

from __future__ import annotations

import os
import re
from pathlib import Path

from policyd.core.errors import CannotJudge

_FORMAT = re.compile(rb"(?i)^\s*objectformat\s*=\s*\"?([a-z0-9]+)", re.MULTILINE)
_STORAGE = re.compile(rb"(?i)^\s*refstorage\s*=\s*\"?([a-z0-9]+)", re.MULTILINE)


def git_dir(path: Path) -> Path:
    """The folder with HEAD and objects. Raises CannotJudge where it is none that can be read."""
    real = Path(os.path.realpath(path))
    found = next((folder for folder in (real, _below(real)) if is_git_dir(folder)), None)
    if found is None:
        raise CannotJudge(f"{path} is no repository; name its folder, bare or with a work tree")
    refuse_unreadable(found)
    return found


def is_git_dir(folder: Path) -> bool:
    """Whether git would take a folder for a repository's own."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()


def name_of(folder: Path) -> str:
    """What people call the repository whose git folder this is."""
    named = folder.parent if folder.name == ".git" else folder
    return named.name.removesuffix(".git") or "repository"


def refuse_unreadable(folder: Path) -> None:
    """Raises CannotJudge for the formats that libgit2 does not read."""
    try:
        config = (folder / "config").read_bytes()
    except OSError:
        return
    if (form := _FORMAT.search(config)) and form[1].lower() != b"sha1":
        raise CannotJudge(f"{folder} uses {form[1].decode().upper().replace('SHA', 'SHA-')} object "
                          "ids, which libgit2 cannot read")
    if (kept := _STORAGE.search(config)) and kept[1].lower() != b"files":
        raise CannotJudge(f"{folder} keeps its refs as {kept[1].decode()}, which libgit2 cannot "
                          "read")


def _below(worktree: Path) -> Path:
    """`.git` of a work tree; of a linked one, the repository that it is linked to."""
    inside = worktree / ".git"
    if not inside.is_file():
        return inside
    text = os.fsdecode(inside.read_bytes())
    if not text.startswith("gitdir: "):
        return inside
    linked = worktree / text.removeprefix("gitdir: ").rstrip("\n")
    common = linked / "commondir"
    if not common.is_file():
        return Path(os.path.realpath(linked))
    return Path(os.path.realpath(linked / os.fsdecode(common.read_bytes()).rstrip("\n")))
