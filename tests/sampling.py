"""Large tables of real pushes: an ordinary run tries every other row, POLICYD_LONG=1 all."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

LONG = bool(os.environ.get("POLICYD_LONG"))
_WAITS = pytest.mark.skipif(not LONG, reason="every other row of this table; POLICYD_LONG=1 runs "
                                             "it")


def every_other(rows: Mapping[str, object]) -> list[Any]:
    """The rows as parameters by their titles; those in between are skipped, and counted as such."""
    return [pytest.param(row, id=title, marks=[_WAITS] if number % 2 else [])
            for number, (title, row) in enumerate(rows.items())]


THINNED = frozenset({
    "test_path_bypass", "test_path_encoding", "test_push_ref", "test_gate_pushes", "test_hook_env",
    "test_gate_attacks", "test_record_cases", "test_cli_enroll", "test_cli_enrol_servers",
    "test_identities"})
"""Files whose tests of many parameters push for each of them."""


def thin_out(items: Iterable[pytest.Item]) -> None:
    """As `every_other`, for each test of these files that has more than three parameter sets."""
    met: Counter[str] = Counter()
    for item in items:
        name, _, parameters = item.nodeid.partition("[")
        if parameters and item.path.stem in THINNED:
            met[name] += 1
            if met[name] > 3 and met[name] % 2 == 0:
                item.add_marker(_WAITS)
