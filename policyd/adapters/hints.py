"""STATE/hints/KEY: that something was decided about a repository. The daemon looks; nobody else.

A hint may be lost, doubled or late: it only says "look". It is left before git moves the refs,
so that it names what they will hold.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import field

from policyd.adapters import statefolder
from policyd.adapters.statefolder import StrPath
from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass

FOLDER = "hints"

_LONGEST = 1_048_576


@dataclass(frozen=True, slots=True)
class Hint:
    """What the branches of a repository hold once git is done; None for deleted ones."""

    git_dir: str
    tips: Mapping[str, str | None] = field(default_factory=dict)


def leave(state: StrPath, key: str, hint: Hint) -> None:
    """Best effort: without hints the daemon finds out at its next rescan."""
    data = json.dumps({"git_dir": hint.git_dir, "tips": dict(hint.tips)}).encode("ascii")
    path = os.path.join(state, FOLDER, key)
    try:
        if not os.path.isdir(os.path.join(state, FOLDER)):
            statefolder.subfolder(state, FOLDER)
        statefolder.replace(path, data, durable=False)
    except (CannotJudge, OSError):
        return


def read(state: StrPath, key: str) -> Hint | None:
    """What a hint says; None where there is none or it says nothing."""
    try:
        with open(os.path.join(state, FOLDER, key), "rb") as file:
            raw = json.loads(file.read(_LONGEST))
        return Hint(str(raw["git_dir"]), dict(raw["tips"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
