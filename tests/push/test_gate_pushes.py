"""Gates at push time: real pushes, records that are over, and the ways to open a gate again.

The clock is pretended: hook and tests live some days ahead of the records that BASE holds.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from pushing import accepted, last, refused, rules
from sites import MAIN, Site

LEDGER, QUARANTINE = "tests/ledger/flake_ledger.json", "oracle/quarantine.yaml"
FREEZES, LEASE, CORPUS = ("fixtures/freezes.json", "fixtures/leases/data.yaml",
                          "fixtures/data/prices.csv")
DAY = timedelta(days=1)
EMPTY = {LEDGER: json.dumps({"schema": "flake_ledger.v1", "entries": []}),
         QUARANTINE: "version: 1\nrules: []\n", FREEZES: "[]\n"}
"""Nothing that could be over, but for the lease."""


def day(ahead: int) -> str:
    return str((datetime.now(UTC) + ahead * DAY).date())


def row(name: str, *, first: int = 0, ends: int = 7, reason: str = "the rate server is slow",
        owner: str = "alice", number: int = 0) -> dict[str, object]:
    return {"id": name, "nodeid": f"tests/test_{name}.py::test_{number}", "reason": reason,
            "first_seen": day(first), "expires_on": day(ends), "owner": owner, "max_runs": 3}


def ledger(*rows: dict[str, object]) -> dict[str, str]:
    return {LEDGER: json.dumps({"schema": "flake_ledger.v1", "entries": rows}, indent=2) + "\n"}


def keep(site: Site, files: dict[str, str], message: str = "Keep the records") -> None:
    """A maintainer's push of records alone."""
    site.commit(files, message)
    assert site.push(f"HEAD:{MAIN}") == 0, site.err


def source(site: Site, *, as_: str = "carol", ref: str = MAIN) -> int:
    site.git("checkout", "-q", "--detach", site.refs()[MAIN])
    site.commit({"src/app.py": f"x = {len(site.log())}\n"}, "Change the app")
    return site.push(f"HEAD:{ref}", as_=as_)


def closed(site: Site) -> bool:
    """Whether source is refused on main, and by its gate alone."""
    code = source(site)
    assert code == 0 or rules(site.told) == {"gate-open"}, site.err
    return code != 0


def test_the_last_day_is_inclusive_and_then_source_waits(site):
    site.pretend(7 * DAY)
    assert not closed(site)
    site.pretend(8 * DAY)
    assert closed(site)
    assert last(site.told)["next"] == "wait"
    assert "main closed by row test" in site.told[0]
    assert any(f"{LEDGER}:" in line for line in site.told)
    assert any(f"{QUARANTINE}:" in line for line in site.told)


def test_a_closed_gate_stops_source_and_nothing_else(site):
    site.pretend(8 * DAY)
    site.commit({"docs/a.md": "text\n", "tests/test_more.py": "def test_x(): pass\n"})
    assert site.push(f"HEAD:{MAIN}", as_="carol") == 0
    assert closed(site)


def test_a_closed_gate_binds_its_own_branch_alone(site):
    site.git("push", "-q", str(site.server), f"HEAD:{MAIN}")
    keep(site, EMPTY)
    assert site.push("HEAD:refs/heads/release/1") == 0, site.err
    keep(site, ledger(row("due", ends=1)))
    site.pretend(2 * DAY)
    assert source(site) == 1
    assert source(site, ref="refs/heads/topic") == 0, site.err
    assert source(site, ref="refs/heads/release/1", as_="alice") == 1  # it brings main's ledger
    site.git("checkout", "-q", "--detach", site.refs()["refs/heads/release/1"])
    site.commit({"src/app.py": "fixed = 1\n"})
    assert site.push("HEAD:refs/heads/release/1", as_="carol") == 0, site.err


def test_records_from_lets_a_release_wait_for_main(site):
    site.edit_policy("records_from: {}", 'records_from: {"release/*": main}')
    keep(site, EMPTY)
    assert site.push("HEAD:refs/heads/release/1") == 0, site.err
    keep(site, ledger(row("due", ends=1)))
    site.pretend(2 * DAY)
    site.git("checkout", "-q", "--detach", site.refs()["refs/heads/release/1"])
    site.commit({"src/app.py": "fixed = 1\n"})
    refused(site, "HEAD:refs/heads/release/1", by={"gate-open"}, as_="carol")
    fix = site.tip()
    site.git("checkout", "-q", "--detach", site.refs()[MAIN])
    keep(site, ledger(), "Settle it")
    assert site.push(f"{fix}:refs/heads/release/1", as_="carol") == 0, site.err


def test_the_push_that_settles_the_row_opens_the_gate(site):
    keep(site, {**EMPTY, **ledger(row("due", ends=1))})
    site.pretend(2 * DAY)
    assert closed(site)
    site.git("checkout", "-q", "--detach", site.refs()[MAIN])
    keep(site, ledger(), "Settle it")
    assert not closed(site)
    entry = next(e for e in reversed(site.log()) if "rows" in e)
    assert entry["rows"] == {MAIN: {"left": ["removed flake due"]}}


def test_a_push_with_row_and_source_is_no_way_out(site):
    keep(site, {**EMPTY, **ledger(row("due", ends=1))})
    site.pretend(2 * DAY)
    renewed = row("due", ends=9, reason="another reason than before")
    site.commit({**ledger(renewed), "src/app.py": "x = 2\n"})
    refused(site, f"HEAD:{MAIN}", by={"separate-authorship"}, as_="alice")
    refused(site, f"HEAD:{MAIN}", by={"separate-authorship", "protected-writers"}, as_="carol")


@pytest.mark.parametrize(("files", "word"), [
    ({QUARANTINE: "version: 1\nrules: [\n"}, QUARANTINE),
    ({LEDGER: "{}"}, LEDGER),
    ({LEASE: "id: prices\n"}, LEASE),
    ({CORPUS: "price\n3\n"}, "prices"),
    ({"oracle/relations/r.yaml": "version: 1\nrelations: []\n"}, "relations"),
])
def test_what_cannot_be_read_closes_the_gate(site, files, word):
    """Put there past the hook, by nobody's push: main is closed for that and for the move."""
    site.commit(files, "Break a record")
    refused(site, f"HEAD:{MAIN}", by={"valid-records"}, as_="alice")
    site.edit_policy("valid-records: {mode: enforce}", "valid-records: {mode: warn}")
    assert site.push(f"HEAD:{MAIN}") == 0, site.err
    assert closed(site)
    assert word in "\n".join(site.told)


def test_an_expired_freeze_closes_nothing(site):
    keep(site, {LEDGER: EMPTY[LEDGER], QUARANTINE: EMPTY[QUARANTINE]})
    site.pretend(8 * DAY)
    assert not closed(site)


def test_a_broken_receipt_is_refused_and_closes_nothing(site):
    """It is no dated row; the witness finds that nothing was replayed."""
    site.commit({"oracle/receipts/expected.json": "{}\n"})
    refused(site, f"HEAD:{MAIN}", by={"valid-records"}, as_="alice")


def test_a_clock_set_back_opens_nothing(site):
    site.pretend(7 * DAY)
    assert not closed(site)
    site.pretend(8 * DAY, jumped=True)
    assert closed(site)
    site.pretend(6 * DAY, jumped=True)
    assert closed(site)


def test_a_jump_to_2036_and_back_closes_nothing_for_ever(site):
    assert not closed(site)
    site.pretend(3650 * DAY, jumped=True)
    assert closed(site)
    site.pretend(0 * DAY, jumped=True)
    assert not closed(site)


def test_the_days_are_those_of_the_policys_zone(site):
    """A zone where a day begins 14 hours before it does in UTC, and one where it begins later."""
    now = datetime.now(UTC)
    tomorrow = now.replace(hour=0, minute=0, second=0) + 8 * DAY
    site.edit_policy("timezone: UTC", "timezone: Pacific/Kiritimati")
    site.pretend(tomorrow - now - timedelta(hours=13))
    assert closed(site)
    site.edit_policy("timezone: Pacific/Kiritimati", "timezone: Pacific/Pago_Pago")
    site.pretend(tomorrow - now + timedelta(hours=10))
    assert not closed(site)
    site.pretend(tomorrow - now + timedelta(hours=12))
    assert closed(site)


def test_a_branch_that_moved_past_the_hook_is_closed(site):
    """C036: a merge on the server, or somebody's update-ref."""
    before = site.refs()[MAIN]
    site.commit({"docs/a.md": "unjudged\n"})
    site.git("push", "-q", "origin", "HEAD:refs/heads/topic")
    site.git("update-ref", MAIN, site.tip(), before, cwd=site.server)
    assert closed(site)
    assert "an unrecorded move" in site.told[0]
    site.git("update-ref", MAIN, before, cwd=site.server)
    assert not closed(site)


def test_a_guarded_branch_made_past_the_hook_is_closed(site):
    site.git("update-ref", "refs/heads/release/9", site.base_tip, cwd=site.server)
    assert source(site, ref="refs/heads/release/9") == 1
    assert rules(site.told) == {"gate-open"}


def test_creating_a_guarded_branch_is_not_refused_by_its_gate(site):
    site.pretend(8 * DAY)
    accepted_tip = site.refs()[MAIN]
    assert site.push(f"{accepted_tip}:refs/heads/release/1") == 0, site.err


def test_a_question_tells_the_gate_and_what_closes_next(site):
    site.git("checkout", "-q", "--detach", site.refs()[MAIN])
    site.commit({"docs/a.md": "text\n"})
    assert site.push("HEAD:refs/check/main", as_="carol") == 1
    told = " ".join(map(str.strip, site.told))
    assert f"::test_endpoint closes it behind {day(7)}, owner alice" in told
    site.pretend(8 * DAY)
    assert site.push("HEAD:refs/check/main", as_="carol") == 1
    assert "main would take this" in site.told[0]
    first = "main is closed to source by row tests/test_rates.py::test_endpoint and 1 more"
    assert first in " ".join(map(str.strip, site.told))
    site.commit({"src/app.py": "x = 3\n"})
    assert site.push("HEAD:refs/check/main", as_="carol") == 1
    assert "main would refuse this" in site.told[0]
    assert site.refs()[MAIN] == site.base_tip


def test_a_maintainer_is_told_once_a_step(site):
    site.pretend(4 * DAY)
    site.commit({"docs/a.md": "1\n"})
    assert site.push(f"HEAD:{MAIN}", as_="carol") == 0
    assert site.told == []
    site.commit({"docs/a.md": "2\n"})
    assert site.push(f"HEAD:{MAIN}", as_="alice") == 0
    told = " ".join(map(str.strip, site.told))
    assert "policyd: note: flake row app.rates closes main behind" in told
    assert "3 days left" in told
    assert "freeze row R1_order ends" in told
    site.commit({"docs/a.md": "3\n"})
    accepted(site, f"HEAD:{MAIN}", as_="alice")
    site.pretend(6 * DAY)
    site.commit({"docs/a.md": "4\n"})
    assert site.push(f"HEAD:{MAIN}", as_="alice") == 0
    assert "tomorrow is its last day" in " ".join(map(str.strip, site.told))
    site.commit({"docs/a.md": "5\n"})
    assert site.push(f"HEAD:{MAIN}", as_="bob") == 0
    assert site.told


def test_a_row_may_be_renewed_twice_each_time_for_another_reason(site):
    keep(site, {**EMPTY, **ledger(row("a", ends=2))})
    refused_ledger(site, row("a", ends=5), "bounded-renewals")
    keep(site, ledger(row("a", ends=5, reason="a second reason for it")))
    keep(site, ledger(row("a", ends=8, reason="a third reason for it")))
    refused_ledger(site, row("a", ends=9, reason="a fourth reason"), "bounded-renewals")
    keep(site, ledger(), "Settle it")
    refused_ledger(site, {**row("a", reason="a fifth reason"), "id": "b"}, "bounded-renewals")


def test_nobody_re_dates_in_bulk_or_far_ahead(site):
    rows = [row("a", number=n, ends=2) | {"id": f"a{n}"} for n in range(3)]
    keep(site, {**EMPTY, **ledger(*rows)})
    later = [one | {"expires_on": day(9), "reason": f"another reason {n}"}
             for n, one in enumerate(rows)]
    site.commit(ledger(*later))
    refused(site, f"HEAD:{MAIN}", by={"bounded-renewals"}, as_="alice")
    site.git("checkout", "-q", "--detach", site.refs()[MAIN])
    refused_ledger(site, row("far", ends=31), "bounded-renewals")
    refused_ledger(site, row("far") | {"expires_on": "9999-12-31"}, "bounded-renewals")


def refused_ledger(site: Site, one: dict[str, object], rule: str) -> None:
    site.commit(ledger(one), "Try a row")
    refused(site, f"HEAD:{MAIN}", by={rule}, as_="alice")
    site.git("checkout", "-q", "--detach", site.refs()[MAIN])


def test_a_lease_pins_its_corpus(site):
    site.commit({CORPUS: "price\n9\n"})
    refused(site, f"HEAD:{MAIN}", by={"valid-records"}, as_="alice")


def test_an_owner_is_somebody_known(site):
    refused_ledger(site, row("a", owner="nobody-here"), "owned-rows")
    keep(site, ledger(row("a", owner="maintainers")))


def test_a_copy_of_a_repository_is_not_judged_with_its_record(site):
    copy = site.server.with_name("copy.git")
    site.git("clone", "-q", "--mirror", str(site.server), str(copy), cwd=site.folder)
    for name in ("policyd-key", "hooks"):
        site.git("--version")
        _copied(site.server / name, copy / name)
    site.commit({"docs/a.md": "1\n"})
    assert site.git("remote", "set-url", "origin", str(copy)) == ""
    assert site.push(f"HEAD:{MAIN}") == 1
    assert "it is a copy of it" in " ".join(map(str.strip, site.told))


def test_a_repository_that_was_moved_goes_on(site):
    there = site.server.with_name("moved.git")
    site.server.rename(there)
    site.git("remote", "set-url", "origin", str(there))
    site.commit({"docs/a.md": "1\n"})
    accepted(site, f"HEAD:{MAIN}")


def _copied(old, new) -> None:
    import shutil

    if old.is_dir():
        shutil.copytree(old, new, dirs_exist_ok=True)
    else:
        shutil.copy(old, new)


def test_a_maintainers_revert_passes_a_closed_gate(site):
    site.commit({"src/app.py": "x = 1\n", "docs/a.md": "new\n"})
    accepted(site, f"HEAD:{MAIN}", as_="carol")
    bad = site.tip()
    site.pretend(8 * DAY)
    site.git("revert", "--no-edit", bad)
    refused(site, f"HEAD:{MAIN}", by={"gate-open"}, as_="carol")
    assert site.push(f"HEAD:{MAIN}", as_="alice") == 0, site.err
    site.commit({"src/app.py": "y = 1\n"}, "Not quite what it was")
    refused(site, f"HEAD:{MAIN}", by={"gate-open"}, as_="alice")


def test_a_revert_of_one_path_takes_no_other_along(site):
    site.commit({"src/app.py": "x = 1\n"})
    accepted(site, f"HEAD:{MAIN}", as_="carol")
    site.pretend(8 * DAY)
    site.git("revert", "--no-edit", "HEAD")
    site.commit({"src/other.py": "z = 1\n"})
    refused(site, f"HEAD:{MAIN}", by={"gate-open"}, as_="alice")
