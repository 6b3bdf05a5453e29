"""A project whose tests are run with policyd's plugin, on 2026-09-12 where nothing else is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from policyd import records
from policyd.core import recordset, render

KEPT = (records, recordset, render)
"""Imported once: what a run in this process imports is forgotten after it."""

TODAY = "2026-09-12"
LEDGER, QUARANTINE = "tests/ledger/flake_ledger.json", "oracle/quarantine.yaml"


def flake(nodeid: str, *, row: str = "app.row", runs: int = 3, last: str = "2026-09-30") -> Any:
    return {"id": row, "nodeid": nodeid, "reason": "upstream stalls", "first_seen": "2026-09-10",
            "expires_on": last, "owner": "mei", "max_runs": runs}


class Project:
    """A folder that is run by pytest, in this process or in one of its own."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester, self.folder = pytester, pytester.path
        pytester.makeini("[pytest]")

    def write(self, place: str, text: str) -> Path:
        file = self.folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def ledger(self, *rows: Any, place: str = LEDGER) -> None:
        self.write(place, json.dumps({"schema": "flake_ledger.v1", "entries": rows}, indent=1))

    def quarantine(self, *rows: str, place: str = QUARANTINE) -> None:
        self.write(place, "\n".join(["version: 1", "rules:", *(f"- {{{row}}}" for row in rows)]))

    def frozen(self, nodeid: str, last: str = "2026-09-17") -> None:
        self.quarantine(f'nodeid: "{nodeid}", status: frozen, expires_on: {last}, '
                        "reason: upstream serves 429, owner: payments")

    def run(self, *args: str, today: str | None = TODAY) -> pytest.RunResult:
        return self.pytester.runpytest_inprocess(*self._options(today), *args)

    def spawn(self, *args: str, today: str | None = TODAY) -> pytest.RunResult:
        return self.pytester.runpytest_subprocess(*self._options(today), *args)

    def _options(self, today: str | None) -> list[str]:
        day = [] if today is None else [f"--policyd-today={today}"]
        return ["-p", "policyd.pytest", "-p", "no:hypothesispytest", *day]


def told(run: pytest.RunResult) -> str:
    """The section of policyd."""
    before, found, section = run.stdout.str().partition("= policyd =")
    assert found, before
    return section.partition("\n=")[0]
