"""The tour's last chapters: the daemon keeps the calendar, and a gate closes while you look."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

LEDGER = "tests/ledger/flake_ledger.json"
SECONDS = 6.0
"""Before midnight, when the daemon starts to pretend."""


def show(stage: Any, say: Any, chapter: Any) -> None:
    """`stage` is the tour's; its home must allow a pretended clock."""
    today = datetime.now(UTC).date()
    chapter("A flake gets a row with a last day, by a maintainer, alone: accepted")
    stage.start_over()
    stage.commit("List a flake", {LEDGER: _ledger(str(today))})
    stage.push("alice", "HEAD:main", accepted=True)
    chapter(f"The daemon keeps the calendar; it is {SECONDS:.0f} seconds before midnight")
    midnight = datetime(today.year, today.month, today.day, tzinfo=UTC) + timedelta(days=1)
    with _daemon(stage, say, midnight - timedelta(seconds=SECONDS)):
        _until(lambda: _is_open(stage) is True)
        stage.start_over()
        stage.commit("Round up", {"src/net.py": "def net(gross):\n    return gross\n"})
        stage.push("agent-7", "HEAD:main", accepted=True)
        say("... the last day ends, and nobody pushes, edits a file or is awake ...")
        _until(lambda: _is_open(stage) is False)
        say(stage.policyd("status").rstrip())
        chapter("Behind the last day source waits; everything else passes")
        stage.start_over()
        stage.commit("Round down", {"src/net.py": "def net(gross):\n    return gross - 1\n"})
        stage.push("agent-7", "HEAD:main", accepted=False)
        chapter("A maintainer settles the row, alone: accepted, and the gate is open")
        stage.start_over()
        stage.commit("The flake is fixed", {LEDGER: _ledger()})
        stage.push("alice", "HEAD:main", accepted=True)
        _until(lambda: _is_open(stage) is True)
        stage.start_over()
        stage.commit("Round down", {"src/net.py": "def net(gross):\n    return gross - 1\n"})
        stage.push("agent-7", "HEAD:main", accepted=True)


@contextmanager
def _daemon(stage: Any, say: Any, moment: datetime) -> Iterator[None]:
    """`policyd serve` with a pretended clock; at its end, what it logged of gates."""
    say(f"$ policyd serve --clock {moment.isoformat()}")
    log = stage.folder / "serve.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-I", "-m", "policyd", "--home", str(stage.home), "serve",
             "--clock", moment.isoformat()], stdout=out, stderr=out, cwd=stage.folder)
    try:
        yield
    finally:
        process.terminate()
        process.wait()
        say("the daemon's log:")
        for line in log.read_text().splitlines():
            told = json.loads(line)
            if str(told.get("event", "")).startswith("gate."):
                say(f"  {told['event']} {told['repository']} {told['branch']} "
                    f"{', '.join(told['reasons'])}")


def _is_open(stage: Any) -> bool | None:
    """What is noted of main; None where nothing is yet."""
    for file in (stage.home / "state" / "gates").glob("*.json"):
        written = json.loads(file.read_bytes())["value"]["gates"].get("refs/heads/main")
        return None if written is None else not written["gate"]["reasons"]
    return None


def _until(done: Any, most: float = 30.0) -> None:
    end = time.monotonic() + most
    while not done():
        if time.monotonic() > end:
            raise TimeoutError("the daemon wrote nothing down")
        time.sleep(0.05)


def _ledger(*ends: str) -> str:
    rows = [{"id": "shop.rates", "nodeid": "tests/test_rates.py::test_rates",
             "reason": "the rate server answers 429", "first_seen": end, "expires_on": end,
             "owner": "alice", "max_runs": 3} for end in ends]
    return json.dumps({"schema": "flake_ledger.v1", "entries": rows}, indent=2) + "\n"
