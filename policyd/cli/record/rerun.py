"""A test of the clone run several times, each in a process of its own, without any help."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path
from shlex import quote
from xml.etree import ElementTree

import click

from policyd.adapters.worktree import WorkTree
from policyd.core.errors import PolicydError
from policyd.core.render import printable
from policyd.core.rows import DatedRow

_HELPERS = ("policyd.pytest", "rerunfailures", "flaky", "pytest-retry")
"""Plugins that would run a failed test again, or skip it."""

_FAILED, _NO_TEST = 1, 5
"""Exit codes of pytest."""
_GONE = "where it is gone: --no-rerun --reason TEXT"


def passed(tree: WorkTree, row: DatedRow, python: Path) -> str:
    """A sentence on the runs of a flake's test, for the commit. Raises PolicydError for a failure.

    A run that finds no test, or skips it, is no run that passed.
    """
    runs, began = row.runs or 1, time.monotonic()
    for number in range(1, runs + 1):
        click.echo(f"run {number} of {runs}: {printable(row.subject)}", err=True)
        if (failure := _failure(tree, row.subject, python)) is not None:
            raise PolicydError(f"the row stays: run {number} of {runs} {failure}; while it is "
                               f"repaired: policyd record flake renew {quote(row.id)} --until "
                               "DATE --reason TEXT")
    commit = tree.git("rev-parse", "--short=12", "HEAD")
    dirty = " and changes that are not committed" if tree.changed() else ""
    return (f"Rerun at {commit}{dirty}: {row.subject} passed {runs} of {runs} runs, "
            f"in {time.monotonic() - began:.1f} s.")


def _failure(tree: WorkTree, nodeid: str, python: Path) -> str | None:
    """How one run ended; None where the test ran and passed."""
    with tempfile.TemporaryDirectory(prefix="policyd-rerun-") as folder:
        report = Path(folder, "junit.xml")
        without = [word for name in _HELPERS for word in ("-p", f"no:{name}")]
        done = subprocess.run(
            [python, "-m", "pytest", *without, "-q", f"--junitxml={report}", "--", nodeid],
            cwd=tree.root, capture_output=True, text=True, errors="replace", check=False)
        counts = _counts(report)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        telling = (line for line in reversed(lines) if line.startswith(("FAILED", "ERROR", "E ")))
        said = next(telling, lines[-1] if lines else "")
        said = printable(said[:200])
        if done.returncode == _NO_TEST or "not found" in said:
            return f"found no test ({said}); {_GONE}"
        return f"could not be made ({said})" if done.returncode > _FAILED else f"failed ({said})"
    if counts is None or not counts[0]:
        return f"found no test; {_GONE}"
    return "skipped the test" if counts[1] else None


def _counts(report: Path) -> tuple[int, int] | None:
    """Tests, and how many of them were skipped."""
    try:
        suites = ElementTree.parse(report).getroot().iter("testsuite")
        counts = [(int(one.get("tests", 0)), int(one.get("skipped", 0))) for one in suites]
    except (OSError, ElementTree.ParseError, ValueError):
        return None
    return sum(tests for tests, _ in counts), sum(skipped for _, skipped in counts)
