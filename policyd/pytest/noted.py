"""What the reports of a test carry for policyd, from the process that ran it to the one that tells.

Plain JSON, because xdist sends reports as such: `relation` (true), `row` (the normalised id of a
listed test), and for a test that ran under a flake row `flaky`, `runs` and `said`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

_NAME = "policyd"


def note(report: pytest.TestReport, **facts: object) -> None:
    setattr(report, _NAME, {**noted(report), **facts})


def noted(report: object) -> Mapping[str, Any]:
    found: Mapping[str, Any] = getattr(report, _NAME, {})
    return found


def words_of(report: pytest.TestReport) -> str:
    """The first line of a failure's message."""
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = (crash.message if crash else report.longreprtext).strip().splitlines()
    return f"{report.when}: {lines[0] if lines else 'failed'}"
