"""Reads what people edit in HOME: policyd.yaml, policies/ and groups/. Never in a push's way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

from policyd.adapters import home as homes
from policyd.core.errors import CannotJudge

SETTINGS = "policyd.yaml"
FOLDERS = (("policies", ".yaml"), ("groups", ".txt"))
"""The folders of HOME that hold what people edit, and how the names in them end."""


def sources(home: Path, *, reader: int | None = None) -> dict[str, bytes]:
    """The files' bytes by their path in HOME, sorted; absent ones are left out.

    Raises CannotJudge for a file that somebody else than HOME's owner may have written.
    """
    looked = homes.look(home, reader=reader)
    names = [SETTINGS] if os.path.lexists(home / SETTINGS) else []
    for folder, ending in FOLDERS:
        names += _names(looked, folder, ending)
    return {name: homes.read(looked, name) for name in names}


def demand_owner(home: Path, home_owner: str) -> None:
    """Raises CannotJudge when the owner of HOME is not the one that policyd.yaml declares."""
    homes.demand_owner(homes.look(home), home_owner)


def knows_timezone(name: str) -> bool:
    """Whether this machine's zone data has it; UTC needs none."""
    try:
        return name == "UTC" or bool(ZoneInfo(name).key)
    except (OSError, ValueError, LookupError):
        return False


def _names(home: homes.Home, relative: str, ending: str) -> Iterator[str]:
    """The files of a folder by name, sorted; editors' hidden files are none."""
    if not os.path.lexists(home.path / relative):
        return
    folder = homes.folder(home, relative)
    try:
        names = os.listdir(folder)
    except OSError as error:
        raise CannotJudge(f"{folder} cannot be listed ({error.strerror}); "
                          "run this as its owner") from error
    for name in sorted(names):
        if name.endswith(ending) and not name.startswith("."):
            yield f"{relative}/{name}"
