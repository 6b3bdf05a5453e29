"""What policies call a repository: its path below the server's roots, without .git."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from policyd.core.errors import CannotJudge
from policyd.core.policy import Settings

TELLING = frozenset({"gitea", "gitlab", "gitolite", "ghes"})
"""Servers that tell the hook what a repository is called, whatever its path."""


def name_of(git_dir: Path, roots: Sequence[str]) -> str:
    """The name of the repository in a folder. Roots may be symbolic links.

    Raises CannotJudge where there are roots and it lies below none of them; without roots its
    whole path is its name.
    """
    real = Path(os.path.realpath(git_dir))
    for root in roots or ("/",):
        base = Path(os.path.realpath(root))
        if real != base and real.is_relative_to(base):
            return str(real.relative_to(base)).removesuffix(".git").removesuffix("/")
    raise CannotJudge(f"{git_dir} lies below none of the roots ({', '.join(roots)}); move it, or "
                      "add its folder to `roots` in policyd.yaml and run `policyd policy apply`")


def known_as(git_dir: Path, settings: Settings, told: str) -> str:
    """What policies call a repository outside of a push; `told` is what its last push was told.

    Raises CannotJudge as `name_of` does.
    """
    if told and settings.identity.source in TELLING:
        return told
    return name_of(git_dir, settings.roots)
