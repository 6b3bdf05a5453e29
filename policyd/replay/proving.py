"""Runs the base's property tests beside the candidate, and says how they came out.

A script of its own, loaded by the runner; policyd never imports it. The candidate shares its
process: that a property fails refuses, that all pass is no evidence.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(root: str, tests: str, arguments: list[str]) -> dict[str, Any]:
    """`passed`: how many; `failed`: node ids with the last line of why; `ended`: exit code.

    `root` is the folder of the tree, `tests` a path below it.
    """
    import pytest

    class Seen:
        """Counts what was called and what failed, in any phase."""

        def __init__(self) -> None:
            self.passed, self.failed = 0, {}  # type: int, dict[str, str]

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                self.failed.setdefault(report.nodeid, _why(report))
            elif report.when == "call" and report.passed:
                self.passed += 1

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                self.failed.setdefault(report.nodeid or tests, _why(report))

    seen = Seen()
    os.chdir("/tmp")  # a property writes where it is lost
    ended = pytest.main([
        "-q", "--rootdir", root, "-c", "/dev/null", "--import-mode=importlib",
        "-p", "no:cacheprovider", "-p", "policyd.pytest", *arguments,
        os.path.join(root, tests)], plugins=[seen])
    return {"passed": seen.passed, "failed": [list(pair) for pair in sorted(seen.failed.items())],
            "ended": int(ended)}


def _why(report: Any) -> str:
    lines = [line for line in str(report.longrepr).splitlines() if line.strip()]
    return ascii(lines[-1].strip())[1:-1][:200] if lines else ""
