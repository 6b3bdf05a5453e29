"""STATE/told/KEY.json: which maintainer was told of which row, and for which step. Best effort."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date

from policyd.adapters import statefolder
from policyd.adapters.statefolder import StrPath
from policyd.core import calendar
from policyd.core.errors import CannotJudge
from policyd.core.rows import DatedRow

FOLDER = "told"


def fresh(state: StrPath, key: str, name: str, rows: Sequence[DatedRow],
          today: date) -> tuple[DatedRow, ...]:
    """The rows on a step that this person was not told of yet; from now on they are told."""
    path = os.path.join(state, FOLDER, f"{key}.json")
    told = _load(path)
    mine = told.get(name, {})
    steps = {calendar.key_of(row): step for row in rows
             if (step := calendar.step_of(row, today)) is not None}
    new = tuple(row for row in rows if (which := calendar.key_of(row)) in steps
                and steps[which] < mine.get(which, steps[which] + 1))
    if new:
        with suppress(CannotJudge, OSError):
            statefolder.subfolder(state, FOLDER)
            statefolder.replace(path, json.dumps({
                **told, name: {**_still(mine, today), **steps}}).encode("ascii"), durable=False)
    return new


def _still(told: Mapping[str, int], today: date) -> dict[str, int]:
    """Without the rows that are over; those of another branch are kept."""
    return {key: step for key, step in told.items() if key.rpartition(":")[2] >= str(today)}


def _load(path: str) -> dict[str, dict[str, int]]:
    try:
        with open(path, "rb") as file:
            raw = json.loads(file.read())
        return {str(name): {str(key): int(step) for key, step in steps.items()}
                for name, steps in raw.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
