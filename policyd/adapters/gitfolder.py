"""Where a repository that somebody names keeps its objects: bare, or below a work tree."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from policyd.core.errors import CannotJudge

DEEPEST = 6
"""Folders below a root; GitLab's @hashed/aa/bb/ID.git needs three."""

_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"(.*)")?\s*\]\s*')
_VALUE = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*?)\s*)?")


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
    told = config(folder)
    form, kept = told.get("extensions.objectformat"), told.get("extensions.refstorage")
    if form not in (None, "sha1"):
        raise CannotJudge(f"{folder} uses {str(form).upper().replace('SHA', 'SHA-')} object ids, "
                          "which libgit2 cannot read")
    if kept not in (None, "files"):
        raise CannotJudge(f"{folder} keeps its refs as {kept}, which libgit2 cannot read")


def config(folder: Path) -> Mapping[str, str]:
    """What the repository's own file says, `section.name.key` in lower case; the last one wins.

    Lines that go on and files that are included are left to git.
    """
    try:
        text = os.fsdecode((folder / "config").read_bytes())
    except OSError:
        return {}
    found: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        if opened := _SECTION.fullmatch(line):
            section = ".".join(part for part in opened.groups() if part)
        elif section and (set_to := _VALUE.fullmatch(line)):
            value = "true" if set_to[2] is None else set_to[2].strip('"')
            found[f"{section}.{set_to[1]}".lower()] = value
    return found


def below(root: Path, *, deepest: int = DEEPEST) -> Iterator[Path]:
    """The repositories below a folder, bare or with a work tree, in the order of their names.

    Follows no symbolic link; what lies inside of a repository is no other one.
    """
    real = Path(os.path.realpath(root))
    if (is_git_dir(real) and (real / "refs").is_dir()) or os.path.lexists(real / ".git"):
        yield real
    elif deepest:
        for name in _folders(real):
            yield from below(real / name, deepest=deepest - 1)


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


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
