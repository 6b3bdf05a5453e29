"""`policyd policy apply`: what is edited counts whole or not at all, and there is a way back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from policyhome import ROWS, PolicyHome

CASES = "policies/default.cases.yaml"


@pytest.fixture
def home(tmp_path: Path) -> PolicyHome:
    """As it is initialised, in force."""
    home = PolicyHome.made(tmp_path / "home")
    assert home.run("policy", "apply") == 0, home.out
    return home


def carol(home: PolicyHome) -> None:
    home.edit("[alice, bob]", "[alice, carol]")


BROKEN = [
    pytest.param("policies/default.yaml", "creators: [maintainers]", "creators: [maintainer]",
                 id="a group that is not there"),
    pytest.param("policies/default.yaml", "version: 1", "version: [", id="no YAML"),
    pytest.param("policies/default.yaml", "  ordinary-refs: {mode: enforce}",
                 "  ordinary-refs: {mode: enforced}", id="a mode that is none"),
    pytest.param("policies/default.yaml", "version: 1", "version: 1\nextends: base.yaml",
                 id="an absent base"),
    pytest.param("policies/default.yaml", "[alice, carol]", "{file: groups/m.txt}",
                 id="an absent group file"),
    pytest.param("policyd.yaml", "state: ", "stat: ", id="settings"),
    pytest.param(CASES, "expect: accept", "expect: accepted", id="cases that cannot be read"),
    pytest.param(CASES, "rules: [separate-authorship]", "rules: [protected-writers]",
                 id="a case that does not hold"),
    pytest.param("policies/default.yaml", "source: [oracle, ledger, manifest]", "source: [ledger]",
                 id="a policy for which a case does not hold"),
]


@pytest.mark.parametrize(("name", "old", "new"), BROKEN)
def test_a_broken_edit_changes_nothing(home, name, old, new):
    home.write(CASES, ROWS)
    carol(home)
    before = home.active()
    assert before is not None
    home.edit(old, new, name)
    assert home.run("policy", "apply") == 1
    assert home.out
    assert home.err == ""
    assert home.active() == before
    assert home.active("previous") is None


def test_the_same_edit_without_the_break_is_applied(home):
    home.write(CASES, ROWS)
    carol(home)
    assert home.run("policy", "apply") == 0
    assert "in force: " in home.out


def test_every_case_that_does_not_hold_is_told(home):
    home.write(CASES, ROWS.replace("rules: [separate", "rules: [protected-writers, separate")
               .replace("expect: accept", "expect: refuse\n  rules: [ordinary-refs]"))
    assert home.run("policy", "apply") == 1
    assert home.lines() == [
        f"{CASES}:1: code alone",
        "  expected: refused by ordinary-refs",
        "  found: accepted",
        f"{CASES}:7: code with a receipt",
        "  expected: refused by protected-writers, separate-authorship",
        "  found: refused by separate-authorship",
        "    separate-authorship: oracle/r.json + src/a.py",
        "nothing changes: 2 cases do not hold"]


def test_cases_must_hold_even_where_nothing_else_was_edited(home):
    home.write(CASES, ROWS.replace("who: alice", "who: agent-7"))
    assert home.run("policy", "apply") == 1
    assert home.lines()[-1] == "nothing changes: 1 case does not hold"


@pytest.mark.parametrize("mode", ["off", "observe", "warn"])
def test_cases_hold_all_through_a_roll_out(home, mode):
    home.write(CASES, ROWS)
    home.edit("\nmode: enforce", f"\nmode: {mode}")
    assert home.run("policy", "apply") == 0, home.out


def test_each_policy_is_tried_by_its_own_cases_alone(home):
    home.write("policies/other.yaml", "extends: default.yaml\nrepositories: [other/**]\n"
                                      "rules: {separate-authorship: {mode: off}}\n")
    home.write("policies/other.cases.yaml", ROWS.replace(
        "expect: refuse\n  rules: [separate-authorship]", "expect: accept"))
    home.write(CASES, ROWS)
    assert home.run("policy", "apply") == 0, home.out


def test_a_base_changes_what_stands_on_it(home):
    text = (home.path / "policies/default.yaml").read_text()
    home.write("policies/base.yaml", text.replace('repositories: ["**"]\n', ""))
    home.write("policies/default.yaml", 'extends: base.yaml\nrepositories: ["**"]\n')
    assert home.run("policy", "apply") == 0
    assert home.lines()[-1] == "nothing changes"
    home.edit("[alice, bob]", "[alice, carol]", "policies/base.yaml")
    assert home.run("policy", "apply") == 0
    assert "default: groups.maintainers" in home.out


def test_a_group_file_counts_once_it_is_applied(home):
    home.write("groups/m.txt", "alice\nbob\n")
    home.edit("[alice, bob]", "{file: groups/m.txt}")
    assert home.run("policy", "apply") == 0
    assert home.lines()[-1] == "nothing changes"
    before = home.active()
    home.write("groups/m.txt", "alice\ncarol\n")
    assert home.active() == before
    assert home.run("policy", "apply") == 0
    assert "alice, carol" in home.out


def test_a_rollback_puts_back_what_was_in_force_and_can_itself_be_taken_back(home):
    first = home.active()
    carol(home)
    assert home.run("policy", "apply") == 0
    second = home.active()
    assert home.run("policy", "apply", "--rollback") == 0
    assert (home.active(), home.active("previous")) == (first, second)
    assert "alice, carol" in home.out
    assert "the files in policies/ stay as they are" in home.out
    assert home.run("policy", "apply", "--rollback") == 0
    assert (home.active(), home.active("previous")) == (second, first)


def test_a_rollback_needs_no_file_that_can_be_read(home):
    first = home.active()
    carol(home)
    assert home.run("policy", "apply") == 0
    home.write("policies/default.yaml", "[")
    assert home.run("policy", "apply", "--rollback") == 0
    assert home.active() == first


def test_a_rollback_takes_the_place_of_what_is_damaged(home):
    first = home.active()
    carol(home)
    assert home.run("policy", "apply") == 0
    (home.path / "active/current").write_text("x")
    assert home.run("policy", "apply", "--rollback") == 0
    assert "replaces what cannot be used" in home.out
    assert home.active() == first


def test_there_may_be_nothing_to_go_back_to(home):
    before = home.active()
    assert home.run("policy", "apply", "--rollback") == 2
    assert "there is nothing to go back to" in home.err
    assert home.active() == before


def damaged(data: bytes) -> bytes:
    return data.replace(b"alice", b"mallo")


def of_another_format(data: bytes) -> bytes:
    head, body = data.split(b"\n", 1)
    return json.dumps(json.loads(head) | {"format": 99}).encode() + b"\n" + body


@pytest.mark.parametrize("change", [damaged, of_another_format])
def test_what_cannot_be_in_force_is_not_put_back(home, change):
    carol(home)
    assert home.run("policy", "apply") == 0
    before, previous = home.active(), home.path / "active/previous"
    previous.write_bytes(change(previous.read_bytes()))
    assert home.run("policy", "apply", "--rollback") == 2
    assert "active/previous: the policy in force " in home.err
    assert home.active() == before


def test_what_others_could_write_is_not_put_back(home):
    carol(home)
    assert home.run("policy", "apply") == 0
    before = home.active()
    (home.path / "active/previous").chmod(0o666)
    assert home.run("policy", "apply", "--rollback") == 2
    assert "writable by others" in home.err
    assert home.active() == before


def test_a_rollback_to_the_same_changes_nothing(home):
    (home.path / "active/previous").write_bytes(home.active())
    (home.path / "active/previous").chmod(0o644)
    before = (home.path / "active/current").stat().st_ino
    assert home.run("policy", "apply", "--rollback") == 0
    assert home.out.startswith("nothing changes\n")
    assert (home.path / "active/current").stat().st_ino == before


def test_there_is_no_way_past_the_cases(home):
    assert home.run("policy", "apply", "--no-cases") == 2
