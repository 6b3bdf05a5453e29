"""STATE/hooks/KEY.json: the daemon's notes of hooks that are broken; no push believes them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress

from policyd.adapters import repoindex, statefolder
from policyd.adapters.statefolder import StrPath
from policyd.core.frozen import plain, thawed
from policyd.core.hookstate import Broken

FOLDER = "hooks"
FORMAT = 1


def all_of(state: StrPath) -> Mapping[str, Broken]:
    """By the key of the repository; what cannot be read is found out again."""
    folder = os.path.join(state, FOLDER)
    found = {}
    try:
        names = os.listdir(folder)
    except OSError:
        return {}
    for name in names:
        key = name.removesuffix(".json")
        if repoindex.is_key(key):
            with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
                found[key] = _read(os.path.join(folder, name))
    return found


def note(state: StrPath, key: str, broken: Broken) -> None:
    """Not durable: after a power cut the daemon looks again. Raises CannotJudge."""
    folder = statefolder.subfolder(state, FOLDER)
    data = json.dumps({"format": FORMAT, "value": plain(broken)}).encode("ascii")
    statefolder.replace(os.path.join(folder, f"{key}.json"), data, durable=False)


def forget(state: StrPath, key: str) -> None:
    """The hook is well, or its repository is gone."""
    with suppress(OSError):
        os.unlink(os.path.join(state, FOLDER, f"{key}.json"))


def _read(path: str) -> Broken:
    with open(path, "rb") as file:
        raw = json.loads(file.read())
    if raw["format"] != FORMAT:
        raise ValueError(f"format {raw['format']!r}")
    return thawed(raw["value"], Broken)
