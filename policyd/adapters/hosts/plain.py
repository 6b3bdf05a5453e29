"""A server that runs git and nothing else: git's own hooks folder, wherever that is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from policyd.adapters import repoconfig
from policyd.adapters.hosts import below
from policyd.adapters.hosts.seat import Kind, Seat
from policyd.core.errors import CannotJudge

TAKES_FOLDER = True


def seat(git_dir: Path, hooks_path: Path | None, roots: Sequence[str]) -> Seat:
    """The repository's own folder, or the one for many that was named. Raises CannotJudge."""
    folder = repoconfig.hooks_folder(git_dir)
    if hooks_path is not None:
        return Seat("plain", Kind.COMMON, _named(git_dir, hooks_path, folder))
    if not folder.is_relative_to(os.path.realpath(git_dir)):
        _demand_alone(git_dir, folder, roots)
    return Seat("plain", Kind.OWN, folder)


def faults(git_dir: Path, taken: Seat,
           folder: Path | None = None) -> Iterator[tuple[str, str]]:
    """What keeps git from running the hook there, each with what to do."""
    folder = folder or repoconfig.hooks_folder(git_dir)
    if folder != taken.folder:
        how = "core.hooksPath says" if repoconfig.value(git_dir, "core.hooksPath") else "it is"
        yield (f"git looks for hooks in {folder} ({how} so), and the hook of policyd is in "
               f"{taken.folder}: pushes are not judged", f"policyd enroll {git_dir}")


def after(git_dir: Path, taken: Seat) -> Iterator[str]:  # noqa: ARG001
    """What else somebody has to do, and should know."""
    if (taken.folder / f"{taken.name}.d").is_dir():
        yield (f"note: {taken.folder / taken.name}.d is there; a server that writes "
               f"{taken.path} anew takes the hook away: see `--server`")


def spares(place: str) -> str:  # noqa: ARG001
    """Why a repository is not enrolled unless it is named; empty for any other."""
    return ""


def _named(git_dir: Path, hooks_path: Path, folder: Path) -> Path:
    real = Path(os.path.realpath(hooks_path))
    if real != folder:
        raise CannotJudge(f"its hooks lie in {folder} and not in {real}; "
                          f"`git -C {git_dir} config core.hooksPath {hooks_path}`")
    demand_safe(real, os.stat(git_dir).st_uid)
    return real


def demand_safe(folder: Path, owner: int) -> None:
    """Raises CannotJudge where anybody but root and the repository's owner may change it."""
    try:
        found = os.stat(folder)
    except OSError:
        raise CannotJudge(f"{folder} is not there; make it, as root") from None
    if found.st_uid not in (0, owner):
        raise CannotJudge(f"{folder} belongs to uid {found.st_uid}, who could change what judges; "
                          "give it to root")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CannotJudge(f"others than its owner may write in {folder}; `chmod go-w {folder}`")


def _demand_alone(git_dir: Path, folder: Path, roots: Sequence[str]) -> None:
    """A folder outside is a place for one repository's hook when no other one uses it."""
    told = repoconfig.value(git_dir, "core.hooksPath")
    where = (f"core.hooksPath sends the hooks of {git_dir} to {told}" if told is not None else
             f"the hooks of {git_dir} lie in {folder}, outside of the repository")
    many = f"for all repositories at once: `policyd enroll --hooks-path {folder} REPO...`"
    if told is not None and repoconfig.own_value(git_dir, "core.hooksPath") is None:
        raise CannotJudge(f"{where}, and so do those of others, by a configuration that is not "
                          f"its own; {many}")
    try:
        demand_safe(folder, os.stat(git_dir).st_uid)
    except CannotJudge as error:
        raise CannotJudge(f"{where}: {error}") from None
    if os.stat(folder).st_uid != os.stat(git_dir).st_uid:
        raise CannotJudge(f"{where}, which is not its owner's; {many}")
    for other in _others(git_dir, roots):
        if repoconfig.hooks_folder(other) == folder:
            raise CannotJudge(f"{where}, which {other} uses too; {many}")


def _others(git_dir: Path, roots: Sequence[str]) -> Iterator[Path]:
    """The repositories beside it that say where their hooks are."""
    for root in roots or (git_dir.parent,):
        for other in below.bare(Path(root)):
            if other != git_dir and _says_where(other):
                yield other


def _says_where(git_dir: Path) -> bool:
    try:
        return (os.path.islink(git_dir / "hooks")
                or b"hookspath" in (git_dir / "config").read_bytes().lower())
    except OSError:
        return False
