"""The doctor on replays: what keeps pushes from being judged, and what isolates nothing."""

from __future__ import annotations

import os
import shutil
import time

import pytest
from sites import Site

from policyd.adapters import activepolicy, replayfiles
from policyd.doctor import replays
from policyd.doctor.findings import Finding, Weight
from policyd.rules import OPTIONS


def told(site: Site, replay: str | None = None) -> list[Finding]:
    if replay is not None:
        site.edit_policy("\nrules:\n", f"\nreplay: {replay}\n\nrules:\n")
    return list(replays.look(activepolicy.load(site.home, OPTIONS)))


@pytest.fixture
def bare(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without bubblewrap."""
    monkeypatch.setenv("PATH", str(site.folder / "nowhere"))


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_where_all_is_well_it_says_nothing(site):
    assert told(site) == []


@pytest.mark.usefixtures("bare")
def test_without_relations_a_missing_sandbox_is_no_fault_yet(site):
    """With one: tests/push/test_relation_pushes.py."""
    [found] = told(site)
    assert (found.weight, found.check) == (Weight.WARNING, "sandbox")
    assert "no repository has relations yet" in found.says
    assert found.remedy == "apt install bubblewrap"


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("edit", [
    ("relations-hold: {mode: enforce}", "relations-hold: {mode: warn}"),
    ("\nrules:\n", "\nreplay: {when: off}\n\nrules:\n")])
def test_where_nothing_enforces_nothing_is_needed(site, edit):
    site.edit_policy(*edit)
    assert told(site) == []


@pytest.mark.parametrize(("replay", "weight", "check", "says"), [
    ("{sandbox: none}", Weight.WARNING, "sandbox", "what is pushed runs as the user that judges"),
    ("{python: /nowhere/python}", Weight.FAULT, "interpreter", "is no Python that runs"),
    ("{python: /bin/true, sandbox: none}", Weight.FAULT, "interpreter", "is no Python that runs"),
    ("{site: /nowhere/site, sandbox: none}", Weight.FAULT, "site", "cannot be read"),
])
def test_what_cannot_be_used_is_named(site, replay, weight, check, says):
    found = [one for one in told(site, replay) if one.check == check]
    assert [(one.weight, one.about) for one in found] == [(weight, "default")]
    assert says in found[0].says


def test_a_site_that_others_may_write_to_is_a_fault(site):
    packages = site.folder / "packages"
    (packages / "lib").mkdir(parents=True)
    found = told(site, f"{{site: {packages}, sandbox: none}}")
    assert [(one.weight, one.check) for one in found[1:]] == [(Weight.NOTE, "site")]
    (packages / "policyd.locks").touch()
    assert [one.check for one in told(site)] == ["sandbox"]
    (packages / "lib").chmod(0o775)
    [_, fault] = told(site)
    assert (fault.weight, fault.check) == (Weight.FAULT, "site")
    assert f"{packages}/lib may be written by others" in fault.says


@pytest.mark.usefixtures("bare")
def test_a_glance_is_silent_until_something_was_replayed(site):
    active = activepolicy.load(site.home, OPTIONS)
    assert replays.trouble(active) == ""
    replayfiles.folder(str(site.state), "ab" * 16)
    assert "pushes cannot be replayed: bubblewrap is not installed" in replays.trouble(active)
    site.edit_policy("relations-hold: {mode: enforce}", "relations-hold: {mode: observe}")
    assert replays.trouble(activepolicy.load(site.home, OPTIONS)) == ""


@pytest.mark.parametrize(("replay", "says"), [
    ("{sandbox: none, python: /nowhere/python}", "/nowhere/python cannot be run"),
    ("{sandbox: none, site: /nowhere/site}", "the site /nowhere/site is no folder")])
def test_a_glance_sees_what_is_gone(site, replay, says):
    replayfiles.folder(str(site.state), "ab" * 16)
    site.edit_policy("\nrules:\n", f"\nreplay: {replay}\n\nrules:\n")
    assert says in replays.trouble(activepolicy.load(site.home, OPTIONS))


def test_jobs_that_nobody_runs_are_told(site):
    state = str(site.state)
    with replayfiles.workplace(state) as place:
        replayfiles.queue(state, "a" * 64, place, "a job")
    assert [one.check for one in told(site, "{sandbox: none}")] == ["sandbox"]
    long_ago = time.time() - 2 * replays.LATE
    os.utime(site.state / "jobs" / ("a" * 64) / "job.json", (long_ago, long_ago))
    [_, waiting] = told(site)
    assert "1 wait, the first for more than 15 min: no daemon runs" in waiting.says
