"""What came of the tests, told from their reports: the same here and in a run of many workers."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from policyd.pytest.noted import noted


@dataclass(frozen=True, slots=True)
class Repeated:
    """A test that failed under a flake row: how often it ran, and what its failed runs said."""

    nodeid: str
    row: str
    """The normalised node id."""
    flaky: bool
    """Whether it passed in the end."""
    runs: int
    said: tuple[str, ...]


@dataclass(slots=True)
class Tally:
    """Counts by node id: a test has several reports."""

    executed: set[str] = field(default_factory=set)
    """Relation tests that ran and passed or failed; not those skipped or expected to fail."""
    listed: set[str] = field(default_factory=set)
    """Normalised ids of the listed tests that were run or skipped."""
    repeated: dict[str, Repeated] = field(default_factory=dict)

    def add(self, report: pytest.TestReport) -> None:
        facts = noted(report)
        if facts.get("relation") and report.when == "call" and _ran(report):
            self.executed.add(report.nodeid)
        if "row" in facts:
            self.listed.add(facts["row"])
        if "runs" in facts:
            self.repeated[report.nodeid] = Repeated(
                report.nodeid, facts["row"], facts["flaky"], facts["runs"], tuple(facts["said"]))


def _ran(report: pytest.TestReport) -> bool:
    return report.outcome in ("passed", "failed") and not hasattr(report, "wasxfail")
