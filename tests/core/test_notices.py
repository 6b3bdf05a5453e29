from __future__ import annotations

import json
from datetime import date

import pytest

from policyd.core import notices
from policyd.core.breakglass import Use
from policyd.core.gates import Cause, Event, Reason, Telling
from policyd.core.notices import notice
from policyd.core.rows import DatedRow, Kind

EXPIRED = Reason(Cause.EXPIRED, "row billing.currency", "tests/ledger/flake_ledger.json", 12,
                 "billing.currency", Kind.FLAKE, "bob", date(2026, 5, 1))
MOVED = Reason(Cause.MOVED, "moved past policyd, 0123456789ab to ba9876543210")
HELD = Reason(Cause.HELD, "held by alice: release freeze", owner="alice")
ROW = DatedRow(Kind.LEASE, "fixtures/leases/a.yaml", 3, "rates", "fixtures/data/rates.csv", "carol",
               "upstream table", date(2026, 1, 1), date(2026, 6, 30))


def told(event: Event, *reasons: Reason, row: DatedRow | None = None,
         days: int | None = None, ref: str = "refs/heads/main") -> dict[str, object]:
    """The notice as its receiver parses it."""
    made = notice(Telling(event, ref, reasons, row, days), repository="acme/pay",
                  at="2026-05-02T00:00:01+00:00", policy_digest="ab" * 32)
    assert json.dumps(made).encode("utf-8")
    return json.loads(json.dumps(made))


def test_a_closed_gate_names_everything_that_closes_it():
    assert told(Event.CLOSED, EXPIRED, MOVED) == {
        "version": 1, "event": "gate.closed", "at": "2026-05-02T00:00:01+00:00",
        "policy": "ab" * 32, "repository": "acme/pay", "ref": "refs/heads/main", "branch": "main",
        "text": "acme/pay main is closed: row billing.currency "
                "(tests/ledger/flake_ledger.json:12, owner bob, last day 2026-05-01) and 1 more",
        "reasons": [
            {"cause": "expired", "says": "row billing.currency",
             "path": "tests/ledger/flake_ledger.json", "line": 12, "row": "billing.currency",
             "kind": "flake", "owner": "bob", "last": "2026-05-01"},
            {"cause": "moved", "says": "moved past policyd, 0123456789ab to ba9876543210",
             "path": None, "line": None, "row": None, "kind": None, "owner": None, "last": None}],
        "more": 0, "row": None, "days": None, "use": None}


def test_a_push_that_was_let_through_says_who_how_and_why():
    use = Use("permit", "refs/heads/main", "mei", "hotfix 12", ("gate-open", "kept-rows"),
              "2026-05-02T00:00:00+00:00", "root")
    made = notice(Telling(Event.EXCUSED, "refs/heads/main", use=use), repository="acme/pay",
                  at="2026-05-02T00:00:01+00:00", policy_digest="ab" * 32)
    assert (made["event"], made["text"]) == (
        "push.excused", "acme/pay main took a push of mei that gate-open, kept-rows would refuse, "
        "by permit of root: hotfix 12")
    assert made["use"] == {
        "by": "permit", "pusher": "mei", "operator": "root", "reason": "hotfix 12",
        "rules": ["gate-open", "kept-rows"], "at": "2026-05-02T00:00:00+00:00", "more": 0}


@pytest.mark.parametrize(("event", "reasons", "name", "text"), [
    (Event.CLOSED, (MOVED,), "gate.closed",
     "is closed: moved past policyd, 0123456789ab to ba9876543210"),
    (Event.CLOSED, (HELD,), "gate.closed",
     "is closed: held by alice: release freeze (owner alice)"),
    (Event.CHANGED, (HELD, MOVED), "gate.changed", "is still closed, for other reasons: held by "
     "alice: release freeze (owner alice) and 1 more"),
    (Event.OPENED, (EXPIRED,), "gate.opened", "is open again"),
])
def test_each_event_has_its_name_and_its_line(event: Event, reasons: tuple[Reason, ...], name: str,
                                              text: str):
    made = told(event, *reasons)
    assert (made["event"], made["text"]) == (name, f"acme/pay main {text}")
    assert len(made["reasons"]) == len(reasons)


@pytest.mark.parametrize(("days", "when"), [(0, "today"), (1, "tomorrow"), (14, "in 14 days")])
def test_a_row_that_ends_soon_is_told_with_its_days(days: int, when: str):
    made = told(Event.DUE, row=ROW, days=days)
    assert (made["event"], made["days"], made["reasons"]) == ("row.due", days, [])
    assert made["text"] == (f"acme/pay main has a row that ends {when}: rates "
                            "(fixtures/leases/a.yaml:3, owner carol, last day 2026-06-30)")
    assert made["row"] == {
        "kind": "lease", "id": "rates", "subject": "fixtures/data/rates.csv",
        "path": "fixtures/leases/a.yaml", "line": 3, "owner": "carol", "reason": "upstream table",
        "last": "2026-06-30"}


def test_a_tag_keeps_its_place_in_the_name():
    assert told(Event.CLOSED, HELD, ref="refs/tags/v1")["branch"] == "refs/tags/v1"


def test_what_was_pushed_steers_no_terminal_and_breaks_no_parser():
    made = told(Event.CLOSED, Reason(Cause.INVALID, "\x1b[2Jbad\u202e", "a\udcff\n", 1))
    assert made["text"].isascii()
    assert made["text"].isprintable()
    assert made["reasons"][0]["path"] == "a\\udcff\n"
    assert made["reasons"][0]["says"] == "\x1b[2Jbad\u202e"


def test_a_notice_stays_small_whatever_was_pushed():
    long = Reason(Cause.INVALID, "x" * 1_000_000, "p" * 1_000_000, 1, "r" * 1_000_000)
    made = told(Event.CLOSED, *[long] * 2_000)
    assert len(made["reasons"]) + made["more"] == 2_000
    assert len(json.dumps(made)) < 100_000
    assert made["reasons"][0]["says"] == "x" * (notices.LONGEST - 3) + "..."
