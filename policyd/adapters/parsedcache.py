"""What record files say, kept by their blob's id in STATE/parsed/KEY.json.

What is kept is a function of the bytes alone, so that it can be lost or forgotten at any time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from policyd.adapters import statefolder
from policyd.adapters.statefolder import StrPath
from policyd.core import parsedjson
from policyd.core.errors import CannotJudge
from policyd.core.rows import Parsed, Record

FOLDER = "parsed"
MOST = 512
"""Files that are kept for a repository; those that were asked for last."""
LARGEST = 16 * 1024 * 1024
"""Bytes of the file; beyond them everything but what was just asked for goes."""


class ParsedCache:
    """The parsed records of one repository. Without a state folder nothing is kept."""

    def __init__(self, state: StrPath | None, key: str) -> None:
        self._path = os.path.join(state, FOLDER, f"{key}.json") if state and key else None
        self._state = state
        self._kept: dict[str, Mapping[str, Any]] | None = None
        self._used: dict[str, Parsed] = {}
        self._fresh = False

    def get(self, record: Record, path: str, oid: bytes) -> Parsed | None:
        name = _name(record, path, oid)
        known = self._used.get(name)
        if known is not None:
            return known
        if self._kept is None:
            self._kept = self._load()
        raw = self._kept.get(name)
        if raw is None:
            return None
        try:
            found = self._used[name] = parsedjson.from_plain(raw)
        except (ValueError, TypeError, KeyError):
            return None
        return found

    def put(self, record: Record, path: str, oid: bytes, parsed: Parsed) -> None:
        self._used[_name(record, path, oid)] = parsed
        self._fresh = True

    def save(self) -> None:
        """Keep what was parsed anew. Best effort: what is not kept is parsed again."""
        if not self._fresh or self._path is None or self._state is None:
            return
        self._fresh = False
        used = {name: parsedjson.to_plain(parsed) for name, parsed in self._used.items()}
        older = {name: raw for name, raw in (self._kept or {}).items() if name not in used}
        every = dict(list({**older, **used}.items())[-MOST:])
        data = _dumped(every)
        if len(data) > LARGEST:
            data = _dumped(used)
        try:
            statefolder.subfolder(self._state, FOLDER)
            if len(data) <= LARGEST:
                statefolder.replace(self._path, data)
        except (CannotJudge, OSError):
            return

    def _load(self) -> dict[str, Mapping[str, Any]]:
        if self._path is None:
            return {}
        try:
            with open(self._path, "rb") as file:
                raw = json.loads(file.read())
            return dict(raw["files"]) if raw["format"] == parsedjson.FORMAT else {}
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return {}


def _name(record: Record, path: str, oid: bytes) -> str:
    return f"{record.value} {oid.hex()} {path}"


def _dumped(files: Mapping[str, object]) -> bytes:
    return json.dumps({"format": parsedjson.FORMAT, "files": files},
                      separators=(",", ":")).encode("ascii")
