"""`policyd doctor`: what is wrong is told with its remedy, and a canary proves the rest."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from sites import MAIN, Site

ALLOWED = {("home", "note"), ("clock", "warning"), ("daemon", "warning"), ("fsck", "note")}
"""What is so of every site of these tests: a home of its own, a pretended clock, no daemon."""


def findings(site: Site, *words: str) -> list[dict[str, str]]:
    code = site.policyd("doctor", *words, "--format", "json")
    found: list[dict[str, str]] = json.loads(site.out)
    assert (code == 1) is any(one["weight"] == "fault" for one in found)
    assert all(one["says"] and one["remedy"] for one in found)
    return [one for one in found if (one["check"], one["weight"]) not in ALLOWED]


def faults(site: Site, *words: str) -> dict[str, str]:
    return {one["check"]: one["says"] for one in findings(site, *words)
            if one["weight"] == "fault"}


def test_a_site_in_order_has_no_fault_and_the_canary_moves_nothing(site):
    refs = site.refs()
    assert findings(site) == []
    assert site.refs() == refs
    assert site.log()[-1]["verdict"] == "check"


def test_a_hook_that_lost_its_x_bit_is_found_and_mended(site):
    """C033"""
    hook = site.server / "hooks/pre-receive"
    hook.chmod(0o644)
    found = faults(site)
    assert "not executable" in found["hook"]
    assert "was taken" in found["canary"]
    assert "refs/check/main" not in site.refs()
    site.policyd("doctor", "--fix", "--no-canary")
    assert "is 0755 now" in site.out
    assert faults(site) == {}


def test_a_hook_where_git_does_not_look_is_found(site):
    """C034"""
    elsewhere = site.folder / "hooks-elsewhere"
    elsewhere.mkdir()
    site.git("config", "core.hooksPath", str(elsewhere), cwd=site.server)
    found = faults(site)
    assert "core.hooksPath" in found["hook"]
    assert "was taken" in found["canary"]


def test_a_hook_that_is_a_link_to_nothing_is_found(site):
    """C035"""
    hook = site.server / "hooks/pre-receive"
    hook.unlink()
    hook.symlink_to("/bin/true")
    found = faults(site)
    assert "is not policyd's" in found["hook"]
    assert "was taken" in found["canary"]


@pytest.mark.parametrize(("damage", "check", "word"), [
    (lambda site: (site.server / "hooks/pre-receive").unlink(), "hook", "is absent"),
    (lambda site: (site.server / "policyd-key").unlink(), "enrolment", "is not enrolled"),
    (lambda site: (site.server / "hooks/pre-receive").chmod(0o777), "hook", "others"),
    (lambda site: (site.home / "active/current").unlink(), "policy in force", "absent"),
    (lambda site: (site.state / "clock.json").write_text("{"), "clock", "damaged"),
    (lambda site: shutil.rmtree(site.server), "repository", "not a bare repository"),
])
def test_what_is_broken_is_named(site, damage, check, word):
    damage(site)
    assert word in faults(site)[check]


def test_a_program_that_is_gone_is_refused_and_found(site):
    hook = site.server / "hooks/pre-receive"
    hook.write_text(hook.read_text().replace(os.path.realpath("/usr"), "/nowhere").replace(
        str(Path(os.sys.executable)), "/nowhere/python"))
    found = findings(site)
    assert any("another program" in one["says"] for one in found)
    assert any(one["check"] == "canary" and "missing" in one["says"] for one in found)


def test_a_copy_is_told_from_a_move(site):
    copy = site.server.with_name("copy.git")
    shutil.copytree(site.server, copy, symlinks=True)
    assert "it is a copy" in faults(site, str(copy))["enrolment"]


def test_policies_that_fit_badly_are_told(site):
    site.edit_policy('source: ["src/**"]', 'source: ["lib/**"]')
    site.edit_policy("mode: enforce\n\n# Branches", "mode: warn\n\n# Branches")
    file = site.home / "policies/default.yaml"
    file.write_text(file.read_text() + "# edited\nx: 1\n")
    told = {one["check"]: one["says"] for one in findings(site)}
    assert "zone source of default matches no path" in told["zones"]
    assert "refuses nothing" in told["policy"]
    assert "have faults" in told["policy files"]


def test_an_alias_of_a_guarded_branch_is_told(site):
    site.git("symbolic-ref", "refs/heads/trunk", MAIN, cwd=site.server)
    assert any(one["check"] == "alias" and "refs/heads/trunk leads to" in one["says"]
               for one in findings(site))


def test_a_reader_gets_sentences(site):
    (site.server / "hooks/pre-receive").unlink()
    assert site.policyd("doctor") == 1
    assert "fault: hook" in site.out
    assert "policyd enroll" in site.out
    assert "faults," in site.out
