"""Large tables of real pushes: an ordinary run tries every other row, POLICYD_LONG=1 all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import pytest

LONG = bool(os.environ.get("POLICYD_LONG"))
_WAITS = pytest.mark.skipif(not LONG, reason="every other row of this table; POLICYD_LONG=1 runs "
                                             "it")


def every_other(rows: Mapping[str, object]) -> list[Any]:
    """The rows as parameters by their titles; those in between are skipped, and counted as such."""
    return [pytest.param(row, id=title, marks=[_WAITS] if number % 2 else [])
            for number, (title, row) in enumerate(rows.items())]
