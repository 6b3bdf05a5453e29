"""Bare repositories below a folder. Follows no symbolic link, so each is met once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

DEEPEST = 6
"""Folders below a root; GitLab's @hashed/aa/bb/ID.git needs three."""


def bare(root: Path, *, deepest: int = DEEPEST) -> Iterator[Path]:
    """In the order of their names. What cannot be read is passed over."""
    real = Path(os.path.realpath(root))
    if is_bare(real):
        yield real
    elif deepest:
        for name in _folders(real):
            yield from bare(real / name, deepest=deepest - 1)


def is_bare(folder: Path) -> bool:
    """Whether git would take it for a repository; a work tree's `.git` counts as none."""
    return (folder.name != ".git" and os.path.isfile(folder / "HEAD")
            and os.path.isdir(folder / "objects") and os.path.isdir(folder / "refs"))


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
