"""Runs one test until a run of it passes, as often as its row allows.

A run is set up, called and torn down by pytest's own phases. Between two runs of a test only
the test is torn down: fixtures of its function are made anew, those of its class, module and
session stay. A failure in any phase makes a run a failed one; a skip after a failed run is no
pass. Reported is only the run that passed or, where none did, the last one that failed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from policyd.core.rows import DatedRow
from policyd.pytest import inner
from policyd.pytest.noted import note, words_of

Reports = list[pytest.TestReport]


class Beside(pytest.Item):
    """Where the next run of a test stands: in the same place, and yet another node."""

    def runtest(self) -> None:
        """Nothing: it is only named as the next item, so that fixtures above it stay."""


@dataclass(slots=True)
class _Story:
    """All runs of one test so far."""

    item: pytest.Item
    row: DatedRow
    subtest_failed: Callable[[], bool]
    runs: int = 0
    failures: list[Reports] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether the test runs no more, whatever came of it."""
        session = self.item.session
        return bool(self.runs >= (self.row.runs or 1) or self.subtest_failed()
                    or session.shouldfail or session.shouldstop)

    def passed(self, reports: Reports) -> Reports:
        """A run that passed, told as one that others went before."""
        if self.failures or self.subtest_failed():
            self.note(reports, flaky=not self.subtest_failed())
        return reports

    def failed(self) -> Reports:
        """The last run that failed, told as the last of all."""
        reports = self.failures[-1]
        self.note(reports, flaky=False)
        told = [f"failed in {len(self.failures)} of {self.runs} runs and passed in none",
                f"row {self.row.id} ({self.row.path}:{self.row.line}) allows {self.row.runs}"]
        next(report for report in reports if report.failed).sections.append(
            ("policyd", "\n".join(told)))
        return reports

    def note(self, reports: Reports, *, flaky: bool) -> None:
        said = [words_of(next(report for report in run if report.failed)) for run in self.failures]
        if self.subtest_failed():
            said.append("subtest: it is told at once, and so nothing is run again")
        for report in reports:
            note(report, flaky=flaky, runs=self.runs, said=said)
            report.user_properties.append(("policyd.flaky_runs", self.runs))


def protocol(item: pytest.Item, nextitem: pytest.Item | None, row: DatedRow,
             subtest_failed: Callable[[], bool]) -> None:
    """Run the test and report on it, in place of pytest's own protocol.

    pytest tells of a subtest that failed while its test still runs: such a failure stands, and
    ends the runs.
    """
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    properties, marks = list(item.user_properties), list(item.own_markers)
    story = _Story(item, row, subtest_failed)
    reports: Reports | None = None
    while reports is None:
        item.user_properties[:], item.own_markers[:] = properties, marks
        inner.captured(item).clear()
        inner.begin(item)
        story.runs += 1
        try:
            reports = _run(story, nextitem)
        finally:
            inner.end(item)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _run(story: _Story, nextitem: pytest.Item | None) -> Reports | None:
    """One run of the test. What is still to be reported of it; None where it runs again."""
    item = story.item
    reports = [inner.phase(item, "setup")]
    if reports[0].passed:
        reports.append(inner.phase(item, "call"))
    if _is_failure(reports):
        story.failures.append(reports)
        if story.is_over:
            return _last(story, nextitem)
        parent: Any = item.parent
        beside = Beside.from_parent(parent, name=item.name)
        reports.append(inner.phase(item, "teardown", nextitem=beside))
        return None
    reports.append(inner.phase(item, "teardown", nextitem=nextitem))
    if _is_failure(reports):
        story.failures.append(reports)
    elif all(report.passed for report in reports):
        return story.passed(reports)
    elif not story.failures:
        return reports
    return story.failed() if story.is_over else None


def _last(story: _Story, nextitem: pytest.Item | None) -> Reports:
    """Tell of the last failure, and tear down only then: it may end the session, and with the
    session everything is torn down.
    """
    for report in story.failed():
        story.item.ihook.pytest_runtest_logreport(report=report)
    session = story.item.session
    goes_on = nextitem if not (session.shouldfail or session.shouldstop) else None
    teardown = inner.phase(story.item, "teardown", nextitem=goes_on)
    story.note([teardown], flaky=False)
    return [teardown]


def _is_failure(reports: Reports) -> bool:
    return any(report.failed for report in reports)
