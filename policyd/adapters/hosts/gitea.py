"""Gitea and Forgejo: a file of our own in the folder that their delegate runs.

The delegate is hooks/pre-receive and is written anew by `gitea admin regenerate hooks`; files
beside the server's own in pre-receive.d stay.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from policyd.adapters import repoconfig
from policyd.adapters.hosts.seat import NAME, PART, Kind, Seat
from policyd.adapters.nexthook import CHAINED
from policyd.core.errors import CannotJudge

TAKES_FOLDER = False
FOLDER = "pre-receive.d"
_REMEDY = "`gitea admin regenerate hooks` (or `forgejo admin regenerate hooks`)"


def seat(git_dir: Path, hooks_path: Path | None, roots: Sequence[str]) -> Seat:  # noqa: ARG001
    """Beside the delegate that git runs. Raises CannotJudge where that runs nothing.

    Forgejo sends the hooks of all its repositories to one folder, and its delegate runs what
    stands beside it.
    """
    hooks = repoconfig.hooks_folder(git_dir)
    inside = hooks.is_relative_to(os.path.realpath(git_dir))
    found = Seat("gitea", Kind.PART if inside else Kind.COMMON_PART, hooks / FOLDER, PART)
    for says, remedy in _delegate(_standing(hooks)):
        raise CannotJudge(f"{says}; {remedy}")
    return found


def faults(git_dir: Path, taken: Seat,
           folder: Path | None = None) -> Iterator[tuple[str, str]]:
    """What keeps the delegate from running the hook, each with what to do."""
    hooks = folder or repoconfig.hooks_folder(git_dir)
    if hooks / FOLDER != taken.folder:
        yield (f"git looks for hooks in {hooks} (core.hooksPath), and the hook of policyd is in "
               f"{taken.folder}: pushes are not judged", f"policyd enroll {git_dir}")
        return
    yield from _delegate(hooks / NAME)


def after(git_dir: Path, taken: Seat) -> Iterator[str]:  # noqa: ARG001
    """What else somebody should know."""
    if taken.is_common:
        yield (f"note: all repositories of this server run {taken.path}; those that are not "
               "enrolled pass it")


def spares(place: str) -> str:  # noqa: ARG001
    return ""


def _standing(hooks: Path) -> Path:
    """The delegate, also where an earlier enrolment put the hook in front of it."""
    kept = hooks / CHAINED
    return kept if os.path.lexists(kept) and not _names_folder(hooks / NAME) else hooks / NAME


def _delegate(path: Path) -> Iterator[tuple[str, str]]:
    if not path.is_file():
        yield f"{path}, which runs {FOLDER}, is absent: no hook runs there", _REMEDY
    elif not os.access(path, os.X_OK):
        yield (f"{path}, which runs {FOLDER}, is not executable: git takes no notice of it, and "
               "no hook runs", f"chmod 755 {path}")
    elif not _names_folder(path):
        yield f"{path} is not the server's: it does not name {FOLDER}, so nothing in it runs", \
            _REMEDY


def _names_folder(path: Path) -> bool:
    try:
        return FOLDER.encode() in path.read_bytes()
    except OSError:
        return False
