"""Whatever happens in whatever order, the next look leaves what `desired` says from scratch.

Rows are edited by real pushes, days pass, daemons end and begin, hints are lost, late and
doubled, branches move past the hook, operators hold and release. `POLICYD_ORDERS=200` in the
environment tries that many orders.
"""

from __future__ import annotations

import json
import os
import tempfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from daemons import Daemon
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sites import MAIN, Site

from policyd import records
from policyd.core.gates import Acts, Gate, Given, Hold, desired
from policyd.core.movement import Movement
from policyd.core.policy import Places
from policyd.core.recordset import together
from policyd.core.rows import Record

LEDGER, QUARANTINE = "tests/ledger/flake_ledger.json", "oracle/quarantine.yaml"
FILES = {LEDGER: Record.FLAKES, QUARANTINE: Record.QUARANTINE}
DAY = timedelta(days=1)
START = datetime.now(UTC)
ORDERS = int(os.environ.get("POLICYD_ORDERS", "4"))


class Days(RuleBasedStateMachine):
    """A site with few records, and a daemon that may be another one at any moment."""

    based: Site

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(prefix="policyd-days-")
        self.site = self.based.copied(Path(self._folder.name) / "site")
        self.daemon: Daemon | None = Daemon(self.site)
        self.ahead, self.held, self.moved_to, self.version = 0, False, None, 0
        self.looked = False

    def teardown(self) -> None:
        self._folder.cleanup()

    @rule(ends=st.lists(st.integers(-3, 6), max_size=3), broken=st.booleans())
    @precondition(lambda self: self.moved_to is None)
    def rows_are_edited(self, ends: list[int], broken: bool) -> None:
        entries = [{"id": f"r{n}.{self.version}", "nodeid": f"tests/t.py::t{n}_{self.version}",
                    "reason": "it is slow", "owner": "alice", "max_runs": 2,
                    "first_seen": str(self.today() + (end - 9) * DAY),
                    "expires_on": str(self.today() + end * DAY)} for n, end in enumerate(ends)]
        self.version += 1
        text = json.dumps({"schema": "flake_ledger.v1", "entries": entries})
        self.deliver({LEDGER: text, QUARANTINE: "rules: [" if broken
                      else "version: 1\nrules: []\n"})

    @rule(days=st.integers(1, 4))
    def days_pass(self, days: int) -> None:
        self.ahead += days
        self.site.pretend(self.ahead * DAY, jumped=True)
        self.looked = False

    @rule()
    def the_clock_is_set_back(self) -> None:
        """Nothing opens; the mark stays where it was, once it was there without a doubt."""
        self.site.pretend(self.ahead * DAY)
        self.look()
        self.site.pretend((self.ahead - 1) * DAY, jumped=True)
        self.look()
        self.site.pretend(self.ahead * DAY, jumped=True)

    @rule()
    def the_daemon_ends(self) -> None:
        self.daemon = None

    @rule(times=st.integers(1, 3))
    @precondition(lambda self: self.daemon is not None)
    def hints_come(self, times: int) -> None:
        for _ in range(times):
            self.daemon.loop.take(("hint", self.daemon.key))
        self.daemon.loop.turn(lambda: None)

    @rule()
    def hints_are_lost(self) -> None:
        for file in (self.site.state / "hints").glob("*"):
            file.unlink()

    @rule()
    @precondition(lambda self: self.moved_to is None)
    def the_branch_moves_past_the_hook(self) -> None:
        self.recorded = self.site.refs()[MAIN]
        self.site.git("checkout", "-q", "--detach", self.recorded)
        self.site.commit({"docs/past.md": f"{self.version}\n"})
        self.version += 1
        self.moved_to = self.site.tip()
        self.site.git("push", "-q", "origin", "HEAD:refs/heads/past", "--force")
        self.site.git("update-ref", MAIN, self.moved_to, cwd=self.site.server)
        self.looked = False

    @rule()
    @precondition(lambda self: self.moved_to is not None)
    def the_movement_is_accepted(self) -> None:
        assert self.site.policyd("movement", "accept", str(self.site.server), "main",
                                 "--reason", "x") == 0, self.site.out
        self.moved_to, self.looked = None, False

    @rule()
    def the_branch_is_held_or_released(self) -> None:
        word = "release" if self.held else "hold"
        assert self.site.policyd("gate", word, str(self.site.server), "main",
                                 "--reason", "x") == 0, self.site.out
        self.held, self.looked = not self.held, False

    @rule()
    def look(self) -> None:
        if self.daemon is None:
            self.daemon = Daemon(self.site)
        self.daemon.look()
        self.looked = True

    @invariant()
    def what_is_written_is_what_is_desired(self) -> None:
        if self.looked and self.daemon is not None:
            noted = self.daemon.gate()
            wanted = self.wanted()
            assert [(r.cause, r.place, r.row) for r in noted.reasons] == [
                (r.cause, r.place, r.row) for r in wanted.reasons]
            assert noted.is_open == wanted.is_open

    def today(self) -> date:
        return (datetime.now(UTC) + self.ahead * DAY).date()

    def deliver(self, files: dict[str, str]) -> None:
        self.site.git("checkout", "-q", "--detach", self.site.refs()[MAIN])
        self.site.commit(files)
        assert self.site.push(f"HEAD:{MAIN}") == 0, self.site.err
        self.looked = False

    def wanted(self) -> Gate:
        """From the bytes that git shows, and from what this machine did; no cache, no note."""
        parsed = [records.load(kind, path, self.site.git("show", f"{MAIN}:{path}",
                                                         cwd=self.site.server).encode())
                  for path, kind in FILES.items()]
        said = together(parsed, kinds=FILES, seeds=(), hashes={}, places=Places())
        holds = (Hold(MAIN, "x", "me", "now"),) if self.held else ()
        moved = (Movement(MAIN, self.recorded, self.moved_to),) if self.moved_to else ()
        return desired(MAIN, said, Given(self.today(), Acts(holds), moved))


@pytest.fixture(scope="module")
def lenient(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A site on which a maintainer may write any record, so that rows can be over and broken."""
    site = Site.made(tmp_path_factory.mktemp("days"))
    site.commit({"src/app.py": "x = 1\n", LEDGER: json.dumps(
        {"schema": "flake_ledger.v1", "entries": []}), QUARANTINE: "version: 1\nrules: []\n"})
    site._deliver()
    site.enroll()
    for word in ("valid-records", "kept-rows", "owned-rows"):
        site.edit_policy(f"{word}: {{mode: enforce}}", f"{word}: {{mode: observe}}")
    site.edit_policy("bounded-renewals:\n    mode: enforce", "bounded-renewals:\n    mode: observe")
    return site


def test_any_order_leaves_what_is_desired(lenient):
    machine = type("Tried", (Days,), {"based": lenient})
    run_state_machine_as_test(machine, settings=settings(
        max_examples=ORDERS, stateful_step_count=12, deadline=None,
        suppress_health_check=list(HealthCheck)))
