"""The servers that policyd knows: where a hook must stand so that each of them runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from policyd.adapters.hosts import gitea, gitlab, gitolite, plain
from policyd.adapters.hosts.seat import Seat


class Host(Protocol):
    """What each of the modules here holds."""

    TAKES_FOLDER: bool
    """Whether one folder for many repositories can be named."""

    def seat(self, git_dir: Path, hooks_path: Path | None, roots: Sequence[str]) -> Seat:
        """Where the hook of a repository goes. As its owner. Raises CannotJudge."""

    def faults(self, git_dir: Path, taken: Seat,
               folder: Path | None = None) -> Iterator[tuple[str, str]]:
        """What keeps a hook in this place from being run, each with what to do.

        `folder` is where git looks for hooks, where that was asked for already.
        """

    def after(self, git_dir: Path, taken: Seat) -> Iterator[str]:
        """What somebody has to do, or should know, when the hook is there."""

    def spares(self, place: str) -> str:
        """Why a repository at this place below a root is enrolled only by name; else empty."""


HOSTS: Mapping[str, Host] = {
    "plain": plain, "gitolite": gitolite, "gitea": gitea, "gitlab": gitlab}
