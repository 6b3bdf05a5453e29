"""GitLab: Gitaly runs custom hooks itself, of each repository and then of a folder for all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from policyd.adapters import repoconfig
from policyd.adapters.hosts.plain import demand_safe
from policyd.adapters.hosts.seat import PART, Kind, Seat

TAKES_FOLDER = True
OWN, FOLDER = "custom_hooks", "pre-receive.d"
_FULLPATH = "gitlab.fullpath"
_INTERNAL = {"@pools": "an object pool", "+gitaly": "Gitaly's own"}


def seat(git_dir: Path, hooks_path: Path | None, roots: Sequence[str]) -> Seat:  # noqa: ARG001
    """In the repository's custom_hooks, or in the folder for all. Raises CannotJudge."""
    if hooks_path is None:
        folder = Path(os.path.realpath(git_dir / OWN / FOLDER))
        return Seat("gitlab", Kind.PART, folder, PART)
    real = Path(os.path.realpath(hooks_path))
    demand_safe(real, os.stat(git_dir).st_uid)
    return Seat("gitlab", Kind.COMMON_PART, real / FOLDER, PART)


def faults(git_dir: Path, taken: Seat,
           folder: Path | None = None) -> Iterator[tuple[str, str]]:  # noqa: ARG001
    """What keeps Gitaly from coming as far as the hook, each with what to do.

    A hook that fails ends the row: those in front of ours refuse on their own, and that is no
    fault. Gitaly's configuration cannot be seen from here.
    """
    if taken.kind is Kind.PART and taken.folder != Path(os.path.realpath(git_dir / OWN / FOLDER)):
        yield (f"Gitaly looks into {git_dir / OWN}, and the hook of policyd is in "
               f"{taken.folder}: pushes are not judged", f"policyd enroll {git_dir}")


def after(git_dir: Path, taken: Seat) -> Iterator[str]:
    """What else somebody has to do."""
    if taken.is_common:
        yield ("gitlab.rb must say gitaly['configuration'] = {hooks: {custom_hooks_dir: "
               f"'{taken.folder.parent}'}}}}, on every Gitaly node")
    else:
        yield (f"note: `gitaly hooks set` replaces all of {git_dir / OWN}; put policyd's file "
               "into its tar, or enrol again")


def spares(place: str) -> str:
    """Object pools and Gitaly's own repositories take no pushes."""
    return _INTERNAL.get(place.split("/")[0], "")


def project(git_dir: Path) -> str:
    """What GitLab calls it, such as group/project; empty where its configuration does not say.

    GitLab writes it for people who meet a hashed path, and not for wikis and designs. As its owner.
    """
    told = repoconfig.own_value(git_dir, _FULLPATH) or ""
    is_name = told.isprintable() and all(part not in ("", ".", "..") for part in told.split("/"))
    return told if is_name and "/" in told else ""
