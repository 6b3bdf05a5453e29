"""The tour of `./install.sh demo`, as somebody new sees it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_tour_shows_every_refusal_and_ends_well():
    done = subprocess.run([sys.executable, "demo/tour.py"], cwd=ROOT, capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = [line for line in done.stdout.splitlines() if line.startswith("  => ")]
    assert told == ["  => accepted", "  => refused", "  => refused", "  => accepted",
                    "  => refused", "  => refused", "  => accepted", "  => refused",
                    "  => refused", "  => accepted",
                    "  => accepted", "  => accepted", "  => refused", "  => accepted",
                    "  => accepted", "  => accepted", "  => refused", "  => accepted",
                    "  => accepted"]
    assert "CLOSED" in done.stdout
    assert "  gate.closed " in done.stdout
    assert "  gate.opened " in done.stdout
    for rule in ("separate-authorship", "protected-writers", "literal-overlap", "relations-hold",
                 "gate-open"):
        assert f"policyd: {rule}: " in done.stdout
