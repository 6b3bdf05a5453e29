"""Reads what people edit in HOME: policyd.yaml and policies/*.yaml. Never in a push's way."""

from __future__ import annotations

import os
from pathlib import Path
from zoneinfo import ZoneInfo

from policyd.adapters import home as homes
from policyd.core.errors import CannotJudge

SETTINGS, POLICIES = "policyd.yaml", "policies"


def sources(home: Path, *, reader: int | None = None) -> dict[str, bytes]:
    """The files' bytes by their path in HOME, sorted; absent ones are left out.

    Raises CannotJudge for a file that somebody else than HOME's owner may have written.
    """
    looked = homes.look(home, reader=reader)
    names = [SETTINGS] if os.path.lexists(home / SETTINGS) else []
    if os.path.lexists(home / POLICIES):
        names += [f"{POLICIES}/{name}" for name in _policies(homes.folder(looked, POLICIES))]
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


def _policies(folder: Path) -> list[str]:
    """Policy files by name. Cases stand beside them; editors' hidden files are none."""
    try:
        names = os.listdir(folder)
    except OSError as error:
        raise CannotJudge(f"{folder} cannot be listed ({error.strerror}); "
                          "run this as its owner") from error
    return sorted(name for name in names if name.endswith(".yaml")
                  and not name.endswith(".cases.yaml") and not name.startswith("."))
