"""Cases of the field about records, as real pushes by a maintainer.

Where a row is one "id" in a case it is a node id here, and `expires` is `expires_on`. C135 and
C153 ask for moments with a zone to be taken or refused: a last day is a day here, and every
moment is refused. C138's commit ids stand in a receipt's baseline, which is JSON, where a number
is no text; the third form, text, is taken in a lease's notes. C148's fourteen days are those of a
freeze: they count when it is written (bounded-renewals), and its end closes nothing.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pushing import accepted, refused, rules
from sites import MAIN, Site

LEDGER, QUARANTINE, FREEZES = ("tests/ledger/flake_ledger.json", "oracle/quarantine.yaml",
                               "fixtures/freezes.json")
DAY = timedelta(days=1)


def day(ahead: int) -> str:
    return str((datetime.now(UTC) + ahead * DAY).date())


def row(**changes: Any) -> dict[str, Any]:
    made = {"id": "a", "nodeid": "tests/test_app.py::test_total", "reason": "the clock is slow",
            "first_seen": day(0), "expires_on": day(20), "owner": "alice", "max_runs": 2,
            **changes}
    return {name: value for name, value in made.items() if value is not ...}


def ledger(*rows: dict[str, Any]) -> str:
    return json.dumps({"schema": "flake_ledger.v1", "entries": rows})


def frozen(nodeid: str = "tests/test_app.py::test_total", expires: str = "", more: str = "") -> str:
    return (f'version: 1\nrules:\n  - nodeid: "{nodeid}"\n    status: frozen\n'
            f"    reason: the rate server is slow\n    owner: alice\n"
            f"    expires_on: {expires or day(20)}\n{more}")


TWICE = ledger(row(), row()).replace('"id": "a"', '"id": "b"', 1)
BOMB = "version: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)) + "rules: *a9\n"

REFUSED = [
    # case, file, content, a word of what the pusher reads, the rules beside valid-records
    ("C122", LEDGER, ledger(row(nodeid="tests")), "::", {"valid-records"}),
    ("C122", LEDGER, ledger(row(nodeid="tests/test_app.py")), "::", {"valid-records"}),
    ("C124", LEDGER, ledger(row(nodeid="tests/t.py::t[い]"), row(
        id="b", nodeid="tests/t.py::t[\\u3044]")), "line", {"valid-records"}),
    ("C126", LEDGER, TWICE.replace(day(20), day(-1), 1), "line", {"valid-records"}),
    ("C127", LEDGER, ledger(row(expires_on=...)), "expires_on", {"valid-records"}),
    ("C127", LEDGER, ledger(row(expires_on=None)), "a date", {"valid-records"}),
    ("C127", LEDGER, ledger(row(expires_on="")), "a date", {"valid-records"}),
    ("C127", LEDGER, ledger(row(owner=...)), "owner", {"valid-records"}),
    ("C128", LEDGER, ledger(row(expires_on="9999-12-31")), "9999-12-31", {"bounded-renewals"}),
    ("C131", QUARANTINE, frozen(more=f"    expires_on: {day(25)}\n"), "duplicate key",
     {"valid-records"}),
    *(("C135", QUARANTINE, frozen(expires=text), "a date", {"valid-records"})
      for text in ("2026-9-1", "20260901", "2026", "12:34:56", "2026-12-01T00:00:00+0200")),
    ("C139", QUARANTINE, BOMB, "alias", {"valid-records"}),
    ("C142", LEDGER, ledger(row()).replace('"owner"', '"expires_on": "2026-01-01", "owner"'),
     "duplicate key", {"valid-records"}),
    ("C143", LEDGER, ledger(row(max_runs=float("nan"))), "NaN", {"valid-records"}),
    ("C143", LEDGER, ledger(row(max_runs=float("inf"))), "Infinity", {"valid-records"}),
    ("C144", FREEZES, "\ufeff[]", "", {"valid-records"}),
    *(("C150", LEDGER, ledger(row(expires_on=text)), "a date", {"valid-records"})
      for text in ("2026-13-45", "2026-02-30", "soon")),
    *(("C153", FREEZES, json.dumps([{
        "relation_id": "R1_order", "expires": text, "reruns": 5, "pass_needed": 5,
        "reason": "parallel sums", "owner": "alice"}]), "a date", {"valid-records"})
      for text in ("2026-11-01T01:30 America/New_York", "2026-11-01T01:30:00-05:00")),
    ("S4", QUARANTINE, frozen("./oracle/relations/t.py::test_x"), "relation", {"valid-records"}),
    ("S4", QUARANTINE, frozen(expires="never"), "a date", {"valid-records"}),
    ("C148", FREEZES, json.dumps([{
        "relation_id": "R2_store", "expires": day(15), "reruns": 5, "pass_needed": 5,
        "reason": "parallel sums", "owner": "alice"}]), day(15), {"bounded-renewals"}),
]


@pytest.mark.parametrize(("case", "path", "text", "word", "by"), REFUSED)
def test_a_record_that_means_something_else_is_refused(site, case, path, text, word, by):  # noqa: ARG001
    site.commit({path: text})
    start = time.monotonic()
    refused(site, f"HEAD:{MAIN}", by=by, as_="alice")
    assert time.monotonic() - start < 10
    told = " ".join(map(str.strip, site.told))
    assert word in told
    assert path.rpartition("/")[2] in told


TAKEN = [
    ("C134", QUARANTINE, frozen(expires=day(20)), None),
    ("C134", QUARANTINE, frozen(expires=f"'{day(20)}'"), None),
    ("C148", FREEZES, json.dumps([{
        "relation_id": "R2_store", "expires": day(14), "reruns": 5, "pass_needed": 5,
        "reason": "parallel sums", "owner": "alice"}]), None),
]


@pytest.mark.parametrize(("case", "path", "text", "word"), TAKEN)
def test_a_record_that_is_well_is_taken(site, case, path, text, word):  # noqa: ARG001
    site.commit({path: text})
    assert site.push(f"HEAD:{MAIN}") == 0, site.err


def test_merge_keys_are_legal_in_a_record(site):
    """C132"""
    first = frozen()
    merged = first.replace("  - nodeid", "  - &row\n    nodeid", 1) + (
        '  - <<: *row\n    nodeid: "tests/test_app.py::test_other"\n    owner: bob\n')
    site.commit({QUARANTINE: merged})
    assert site.push(f"HEAD:{MAIN}") == 0, site.err


def test_a_large_quarantine_is_read_in_time(site):
    """C140: 20,000 plain rows."""
    site.edit_policy("seconds: 5}", "seconds: 30}")
    rows = "".join(
        f'  - nodeid: "tests/test_{n}.py::test_x"\n    status: open\n    owner: alice\n'
        f"    reason: the rate server is slow\n" for n in range(20_000))
    site.commit({QUARANTINE: f"version: 1\nrules:\n{rows}"})
    start = time.monotonic()
    assert site.push(f"HEAD:{MAIN}") == 0, site.err
    assert time.monotonic() - start < 60


def test_there_is_no_grace_behind_the_last_day(site):
    """C130, C151: the day after, at once; a month further on is not the first of January."""
    keep = {LEDGER: ledger(row(expires_on=day(20))), QUARANTINE: "version: 1\nrules: []\n",
            FREEZES: "[]\n"}
    site.commit(keep)
    assert site.push(f"HEAD:{MAIN}") == 0, site.err
    site.pretend(20 * DAY)
    site.commit({"src/app.py": "x = 1\n"})
    accepted(site, f"HEAD:{MAIN}", as_="carol")
    site.pretend(21 * DAY)
    site.commit({"src/app.py": "x = 2\n"})
    assert site.push(f"HEAD:{MAIN}", as_="carol") == 1
    assert rules(site.told) == {"gate-open"}


def test_without_a_daemon_pushes_are_judged_all_the_same(site):
    """C164, C166: there is no socket to wait for; the hook works everything out."""
    assert not (site.state / "daemon.json").exists()
    site.commit({"src/app.py": "x = 1\n"})
    accepted(site, f"HEAD:{MAIN}", as_="carol")
    site.commit({"src/app.py": "x = 2\n", LEDGER: ledger()})
    refused(site, f"HEAD:{MAIN}", by={"separate-authorship", "protected-writers",
                                         "kept-rows"}, as_="carol")


def test_a_hint_folder_that_cannot_be_written_stops_no_push(site: Site):
    """C165: the state folder's parts are made anew, and what is only a hint is let go."""
    hints = site.state / "hints"
    if hints.exists():
        for file in hints.iterdir():
            file.unlink()
        hints.rmdir()
    hints.write_text("no folder\n")
    site.commit({"src/app.py": "x = 1\n"})
    accepted(site, f"HEAD:{MAIN}", as_="carol")
