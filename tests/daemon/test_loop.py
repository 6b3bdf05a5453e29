"""The daemon's loop on a real site: what a look writes down, and what makes it look."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from daemons import Daemon, key
from sites import MAIN, Site

from policyd.adapters import gatefiles, hints, moment, repoindex
from policyd.core.gates import Cause, Event, Telling

DAY = timedelta(days=1)


def causes(daemon: Daemon) -> list[Cause]:
    return [reason.cause for reason in daemon.gate().reasons]


def test_a_gate_closes_by_the_calendar_alone(site):
    """C149: nobody pushes, no file changes."""
    daemon = Daemon(site)
    daemon.look()
    assert daemon.gate().is_open
    site.pretend(7 * DAY, jumped=True)
    daemon.look()
    assert daemon.gate().is_open
    site.pretend(8 * DAY, jumped=True)
    daemon.look()
    assert causes(daemon) == [Cause.EXPIRED, Cause.EXPIRED]
    assert daemon.heard.events() == [Event.CLOSED]


def test_a_look_comes_only_where_something_changed(site):
    daemon = Daemon(site)
    for _ in range(3):
        daemon.look()
    looks = daemon.heard.looks
    daemon.look()
    assert daemon.heard.looks == looks
    site.commit({"docs/a.md": "1\n"})
    assert site.push(f"HEAD:{MAIN}") == 0
    daemon.look()
    assert daemon.heard.looks > looks
    assert daemon.noted().tips[MAIN] == site.tip()


def test_a_packed_ref_is_no_change_and_no_movement(site):
    daemon = Daemon(site)
    daemon.look()
    site.git("pack-refs", "--all", cwd=site.server)
    site.git("gc", "-q", cwd=site.server)
    daemon.look()
    assert daemon.gate().is_open
    assert daemon.heard.events() == []


def test_a_movement_closes_and_its_return_opens(site):
    """C036"""
    daemon = Daemon(site)
    daemon.look()
    site.commit({"docs/a.md": "1\n"})
    site.git("push", "-q", "origin", "HEAD:refs/heads/topic")
    site.git("update-ref", MAIN, site.tip(), cwd=site.server)
    daemon.look()
    assert causes(daemon) == [Cause.MOVED]
    site.git("update-ref", MAIN, site.base_tip, cwd=site.server)
    daemon.look()
    assert daemon.heard.events() == [Event.CLOSED, Event.OPENED]


def test_a_guarded_branch_made_behind_the_hook_is_a_movement(site):
    daemon = Daemon(site)
    daemon.look()
    site.git("update-ref", "refs/heads/release/1", site.base_tip, cwd=site.server)
    daemon.look()
    assert not daemon.gate("release/1").is_open
    assert site.policyd("enroll", str(site.server)) == 0
    daemon.look()
    assert daemon.gate("release/1").is_open


def test_a_mirror_moves_as_it_likes(site):
    site.edit_policy("records_from: {}", "records_from: {}\nmirror: true")
    daemon = Daemon(site)
    site.git("update-ref", "refs/heads/release/1", site.base_tip, cwd=site.server)
    daemon.look()
    assert daemon.gate("release/1").is_open


def test_an_operators_act_is_seen(site):
    daemon = Daemon(site)
    daemon.look()
    assert site.policyd("gate", "hold", str(site.server), "main", "--reason", "drill") == 0
    daemon.look()
    assert causes(daemon) == [Cause.HELD]
    assert site.policyd("gate", "release", str(site.server), "main", "--reason", "over") == 0
    daemon.look()
    assert daemon.gate().is_open


def test_a_push_that_was_let_through_is_told_once(site):
    site.edit_policy("\nrules:", "\noverride: {groups: [maintainers], rules: [gate-open]}\nrules:")
    daemon = Daemon(site)
    assert site.policyd("gate", "hold", str(site.server), "main", "--reason", "drill") == 0
    daemon.look()
    site.commit({"src/app.py": "x = 1\n"})
    assert site.push("-o", "policyd.override=ticket 77", f"HEAD:{MAIN}") == 0, site.err
    daemon.look()
    daemon.look()
    assert daemon.heard.events() == [Event.CLOSED, Event.EXCUSED]
    assert [use.rules for use in daemon.noted().uses] == [("gate-open",)]


def test_another_policy_counts_from_the_next_tick_on(site):
    daemon = Daemon(site)
    daemon.look()
    site.edit_policy("quarantine: oracle/quarantine.yaml", "quarantine: src/app.py")
    daemon.loop.take(("policy", ""))
    daemon.look()
    assert causes(daemon)[0] is Cause.INVALID


def test_a_damaged_policy_leaves_what_was_read_before(site):
    daemon = Daemon(site)
    daemon.look()
    (site.home / "active/current").write_text("{}")
    daemon.loop.take(("policy", ""))
    daemon.look()
    assert daemon.gate().is_open
    assert any("cannot be read" in what for what, _ in daemon.heard.said)


def test_a_restart_goes_on_from_the_notes(site):
    daemon = Daemon(site)
    daemon.look()
    daemon.look()
    again = Daemon(site)
    again.look()
    assert again.heard.looks == 0
    site.pretend(8 * DAY, jumped=True)
    third = Daemon(site)
    third.look()
    assert third.heard.events() == [Event.CLOSED]
    Daemon(site).look()
    assert Daemon(site).heard.events() == []


def test_what_a_kill_left_untold_is_told_by_the_next_one(site):
    daemon = Daemon(site)
    daemon.look()
    telling = Telling(Event.CLOSED, MAIN)
    gatefiles.note(site.state, daemon.key, replace(daemon.noted(), untold=(telling,)))
    again = Daemon(site)
    again.look()
    assert again.heard.tellings == [telling]
    assert again.noted().untold == ()
    third = Daemon(site)
    third.look()
    assert third.heard.tellings == []


def near_midnight(days: int, seconds: float) -> timedelta:
    """How far ahead the moment is that lies so many seconds before a day ends."""
    now = datetime.now(UTC)
    end = now.replace(hour=0, minute=0, second=0, microsecond=0) + days * DAY
    return end - timedelta(seconds=seconds) - now


def test_what_is_ready_before_midnight_is_put_in_place_at_midnight(site):
    site.pretend(near_midnight(8, 20), jumped=True)
    daemon = Daemon(site)
    daemon.look()
    assert daemon.gate().is_open
    looks = daemon.heard.looks
    assert (site.state / "gates" / f".{daemon.key}.ready").exists()
    site.pretend(near_midnight(8, -1), jumped=True)
    daemon.loop.turn(lambda: None)
    assert not daemon.gate().is_open
    assert daemon.heard.looks == looks
    assert daemon.heard.events() == [Event.CLOSED]
    assert daemon.noted().untold == ()


def test_what_is_ready_is_thrown_away_where_something_changed(site):
    site.pretend(near_midnight(8, 20), jumped=True)
    daemon = Daemon(site)
    daemon.look()
    empty = json.dumps({"schema": "flake_ledger.v1", "entries": []})
    site.commit({"tests/ledger/flake_ledger.json": empty,
                 "oracle/quarantine.yaml": "version: 1\nrules: []\n"})
    assert site.push(f"HEAD:{MAIN}") == 0, site.err
    site.pretend(near_midnight(8, -1), jumped=True)
    daemon.loop.turn(lambda: None)
    assert daemon.gate().is_open
    assert daemon.noted().tips[MAIN] == site.tip()


def test_damaged_notes_are_worked_out_again(site):
    Daemon(site).look()
    file = site.state / "gates" / f"{key(site)}.json"
    for damage in (b"", b"{", b"[]", b'{"format": 1, "value": {}}', os.urandom(64)):
        file.write_bytes(damage)
        daemon = Daemon(site)
        daemon.look()
        assert daemon.gate().is_open


def test_a_repository_comes_goes_and_moves(site):
    daemon = Daemon(site)
    daemon.look()
    there = site.server.with_name("elsewhere.git")
    site.server.rename(there)
    daemon.look()
    assert "it is no longer at" in daemon.noted().problem
    site.git("remote", "set-url", "origin", str(there))
    site.commit({"docs/a.md": "1\n"})
    assert site.push(f"HEAD:{MAIN}") == 0, site.err
    daemon.look()
    assert daemon.noted().problem == ""
    assert daemon.noted().git_dir == str(there)
    assert site.policyd("unenroll", str(there)) == 0, site.out
    daemon.look()
    assert not daemon.loop.knows(daemon.key)
    assert gatefiles.noted(site.state, daemon.key) is None


def test_newcomers_are_enrolled_where_the_settings_say_so(site):
    new = site.server.with_name("new.git")
    site.git("clone", "-q", "--bare", str(site.server), str(new), cwd=site.folder)
    empty = site.server.with_name("topics.git")
    site.git("init", "-q", "--bare", str(empty), cwd=site.folder)
    site.git("push", "-q", str(empty), "HEAD:refs/heads/topic")
    old = time.time() - 3600
    for folder in (new, empty):
        for path in (folder, *folder.iterdir()):
            os.utime(path, (old, old))
    daemon = Daemon(site)
    daemon.look()
    assert not (new / "policyd-key").exists()
    settings = site.home / "policyd.yaml"
    settings.write_text(settings.read_text() + "enroll: {new: true}\n")
    assert site.policyd("policy", "apply") == 0, site.out
    again = Daemon(site)
    for _ in range(2):
        again.look()
    assert again.loop.knows(repoindex.key_of(new))
    told = [what for what, _ in again.heard.said]
    assert told.count("a repository was enrolled") == 1
    assert told.count("a repository cannot be enrolled") == 1


def test_a_clock_set_back_opens_nothing_and_a_jump_ends(site):
    daemon = Daemon(site)
    daemon.look()
    site.pretend(8 * DAY)
    (site.state / moment.MARK).unlink(missing_ok=True)
    daemon.look()
    assert not daemon.gate().is_open
    site.pretend(6 * DAY, jumped=True)
    daemon.look()
    assert not daemon.gate().is_open
    fresh = Daemon(site)
    site.pretend(0 * DAY)
    fresh.look()
    site.pretend(3650 * DAY, jumped=True)
    fresh.look()
    assert not fresh.gate().is_open
    site.pretend(0 * DAY, jumped=True)
    fresh.look()
    assert fresh.gate().is_open


def test_a_row_that_ends_soon_is_told_once_a_step(site):
    daemon = Daemon(site)
    daemon.look()
    site.pretend(4 * DAY, jumped=True)
    for _ in range(3):
        daemon.look()
    told = [t.row.id for t in daemon.heard.tellings if t.event is Event.DUE and t.row]
    assert sorted(told) == ["R1_order", "app.rates", "tests/test_rates.py::test_endpoint"]
    again = Daemon(site)
    again.look()
    assert again.heard.tellings == []


def test_a_hint_leads_to_a_look_until_the_refs_are_there(site):
    daemon = Daemon(site)
    daemon.look()
    site.commit({"docs/a.md": "1\n"})
    assert site.push(f"HEAD:{MAIN}") == 0
    hint = hints.read(site.state, key(site))
    assert hint is not None
    assert hint.tips == {MAIN: site.tip()}
    daemon.loop.take(("hint", daemon.key))
    daemon.loop.turn(lambda: None)
    assert daemon.noted().tips == {MAIN: site.tip()}


def test_nobody_believes_a_note(site):
    """The push works its gate out by itself; what the daemon wrote is for people."""
    Daemon(site).look()
    site.pretend(8 * DAY)
    site.commit({"src/app.py": "x = 1\n"})
    assert site.push(f"HEAD:{MAIN}", as_="carol") == 1
    for file in (site.state / "gates").iterdir():
        file.unlink()
    site.pretend(0 * DAY)
    assert site.push(f"HEAD:{MAIN}", as_="carol") == 0, site.err


def test_a_branch_that_nobody_can_read_is_told_and_does_not_stop_others(site: Site):
    daemon = Daemon(site)
    daemon.look()
    objects = site.server / "objects"
    objects.rename(site.server / "away")
    objects.mkdir()
    daemon.loop.take(("rescan", ""))
    daemon.look()
    assert daemon.noted().problem
    assert gatefiles.heartbeat(site.state) is not None


def test_a_repository_that_is_gone_when_its_day_comes_is_told_and_keeps_nobody(site: Site):
    """The moment at which its gate was to change is over, and nothing can be looked at."""
    daemon = Daemon(site)
    daemon.look()
    site.server.rename(site.server.with_name("gone.git"))
    site.pretend(8 * DAY, jumped=True)
    daemon.heard.most = daemon.heard.looks + 10
    daemon.look()
    assert "no longer at" in daemon.noted().problem
    assert daemon.noted().next is None
    site.server.with_name("gone.git").rename(site.server)
    daemon.look()
    assert causes(daemon) == [Cause.EXPIRED, Cause.EXPIRED]
    assert daemon.noted().next is not None


def test_a_note_with_a_damaged_moment_does_not_end_the_daemon(site: Site):
    Daemon(site).look()
    file = next((site.state / "gates").iterdir())
    for moment_ in ('"soon"', '"2026-01-01T00:00:00"', "7"):
        text = file.read_text()
        start = text.index('"next":') + len('"next":')
        file.write_text(text[:start] + moment_ + text[text.index(",", start):])
        daemon = Daemon(site)
        daemon.look()
        assert daemon.gate().is_open
        assert daemon.noted().next is not None


def test_a_branch_made_behind_the_hook_in_a_folder_without_guarded_ones_is_found(site: Site):
    site.git("update-ref", "refs/heads/release/old/draft", site.base_tip, cwd=site.server)
    daemon = Daemon(site)
    daemon.look()
    site.git("update-ref", "refs/heads/release/9", site.base_tip, cwd=site.server)
    daemon.look()
    assert [r.cause for r in daemon.gate("release/9").reasons] == [Cause.MOVED]
