"""One run of pytest with policyd: its hooks, in the order in which they are called."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest

from policyd.core import calendar
from policyd.pytest import listed, options, recordfiles, relations, repeat, told
from policyd.pytest.listed import Listed
from policyd.pytest.noted import note, noted
from policyd.pytest.seen import HELD, Seen, is_relation
from policyd.pytest.tally import Tally

_INPUT = "policyd"
"""The key of what a worker is sent, and of what it sends back."""


class Run:
    """The hooks of one process: a plain run, the controller of an xdist run, or a worker of it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._worker: dict[str, Any] | None = getattr(config, "workerinput", None)
        self._listed, self._seen, self._tally = Listed(), Seen(), Tally()
        self._subtest_failed = False
        self._untried = ""

    def pytest_sessionstart(self) -> None:
        if self._worker is not None:
            self._listed = listed.from_text(self._worker[_INPUT])
            return
        options.refuse_other_retriers(self._config)
        today, tree = options.today(self._config), options.tree(self._config)
        records = recordfiles.read(tree, *options.places(self._config))
        if records is None:
            return
        over = [row for row in records.rows if calendar.is_over(row, today)]
        if records.faults or over:
            raise pytest.UsageError(told.refusal(records.faults, over, today, str(tree)))
        self._listed = Listed.of(records.rows, today)

    def pytest_report_header(self) -> str:
        hindrance = "a debugger or --setup-*" if options.is_debugging(self._config) else ""
        return told.header(self._listed, str(options.tree(self._config)), hindrance)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[_INPUT] = listed.to_text(self._listed)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._seen.unread.append(report.nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None]:
        """Around all others: any of them may add marks, deselect tests, or change their ids."""
        named = [(self._listed.normalised(item.nodeid), item) for item in items]
        yield
        self._seen.look(named, items, self._listed)
        if self._worker is not None:
            if self._seen.faults:
                items.clear()
            self._config.workeroutput[_INPUT] = self._seen.plain()  # type: ignore[attr-defined]
        else:
            self._refuse_faults()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None
                                ) -> bool | None:
        held = item.stash.get(HELD, None)
        if held is None or held.flake is None or options.is_debugging(self._config):
            return None
        self._subtest_failed = False
        repeat.protocol(item, nextitem, held.flake, lambda: self._subtest_failed)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item
                                  ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if is_relation(item):
            note(report, relation=True)
        elif HELD in item.stash:
            note(report, row=item.stash[HELD].subject)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if "runs" not in noted(report):  # while a listed test runs, only its subtests are told
            self._subtest_failed |= report.failed
        self._tally.add(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        """A flaky test has a word and a sign of its own, which nobody takes for another's."""
        if report.when == "call" and report.passed and noted(report).get("flaky"):
            return "flaky", "~", ("FLAKY", {"yellow": True})
        return None

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker ended; one that crashed says nothing."""
        self._seen.take(getattr(node, "workeroutput", {}).get(_INPUT, {}))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        result = yield
        if self._worker is None:
            self._refuse_faults()
            self._untried = relations.untried(
                self._config.getoption("markexpr", ""), collected=self._seen.relations,
                executed=len(self._tally.executed),
                only_collects=self._config.getoption("collectonly"))
            session.testsfailed += bool(self._untried)
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Before the JUnit file is written, by a plugin that is known by what it can do."""
        if self._listed.today is None or self._worker is not None:
            return
        flaky = sum(repeated.flaky for repeated in self._tally.repeated.values())
        facts = {"today": self._listed.today, "rows": len(self._listed.rows), "flaky": flaky}
        for plugin in self._config.pluginmanager.get_plugins():
            add = getattr(plugin, "add_global_property", None)
            if add is not None:
                for name, value in facts.items():
                    add(f"policyd.{name}", str(value))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        lines = list(self._section())
        if lines:
            terminalreporter.write_sep("=", "policyd")
        for line, asks in lines:
            terminalreporter.write_line(line, yellow=asks)
        if self._untried:
            terminalreporter.write_line(self._untried, red=True)

    def _section(self) -> Iterator[tuple[str, bool]]:
        missing = self._seen.missing(self._listed, options.searched(self._config),
                                     self._config.rootpath)
        yield from told.section(self._listed, self._tally, missing, self._seen.several)

    def _refuse_faults(self) -> None:
        if self._seen.faults:
            raise pytest.UsageError("policyd: no test was run\n  " + "\n  ".join(self._seen.faults))
