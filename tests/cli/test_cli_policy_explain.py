"""`policyd policy explain`: what is in force, what is only edited, and what a rule is about."""

from __future__ import annotations

from pathlib import Path

import pytest
import shipped
from policyhome import PolicyHome

from policyd.core.catalogue import page
from policyd.rules import BY_ID


@pytest.fixture
def home(tmp_path: Path) -> PolicyHome:
    return PolicyHome.made(tmp_path / "home")


def test_what_is_in_force_is_told_rule_by_rule(home):
    home.edit("    min_length: 6", "    warn_for: [agents]\n    min_length: 6")
    assert home.run("policy", "apply") == 0
    assert home.run("policy", "explain") == 0
    lines = home.out.splitlines()
    assert lines[0].startswith("in force: ")
    assert lines[1] == "default: for **; guards main, release/*, tags/v*"
    assert "  literal-overlap      enforce on guarded refs; warn for agents: " \
        f"{BY_ID['literal-overlap'].why}" in lines
    assert lines[-1] == "  off: write-set"


def test_what_is_edited_and_not_applied_is_told(home):
    assert home.run("policy", "apply") == 0
    home.edit("\nmode: enforce", "\nmode: warn")
    assert home.run("policy", "explain") == 0
    lines = home.out.splitlines()
    assert lines[1] == "default: for **; guards main, release/*, tags/v*"
    assert lines[lines.index("edited, not applied:") + 1] == "  default: mode: enforce -> warn"
    assert home.run("policy", "explain", "--format", "json") == 0
    assert home.json()["edited"][0] == {
        "what": "default: mode", "before": "enforce", "after": "warn"}
    assert home.json()["policies"][0]["mode"] == "enforce"


def test_what_is_edited_and_wrong_is_told(home):
    assert home.run("policy", "apply") == 0
    home.edit("creators: [maintainers]", "creators: [x]")
    assert home.run("policy", "explain") == 0
    fault, = home.out.partition("edited, and not to be applied:\n")[2].splitlines()
    assert fault.startswith("  policies/default.yaml:19:12: unknown group 'x'")
    assert home.run("policy", "explain", "--format", "json") == 0
    assert (home.json()["edited"], home.json()["faults"]) == ([], [fault.strip()])


def test_what_is_in_force_can_be_told_where_the_files_cannot_be_read(home):
    assert home.run("policy", "apply") == 0
    (home.path / "policies/default.yaml").chmod(0o666)
    assert home.run("policy", "explain") == 0
    assert home.out.startswith("in force: ")
    assert "writable by others" in home.out.splitlines()[-1]


def test_nothing_may_be_in_force(home):
    assert home.run("policy", "explain") == 0
    assert home.out == "nothing is in force; `policyd policy apply`\n"
    assert home.run("policy", "explain", "--format", "json") == 0
    assert (home.json()["in_force"], home.json()["policies"]) == (None, [])


def test_what_is_in_force_and_damaged_is_a_sentence(home):
    assert home.run("policy", "apply") == 0
    (home.path / "active/current").write_text("x")
    assert home.run("policy", "explain") == 2
    assert (home.out, home.err.count("\n")) == ("", 1)


@pytest.mark.parametrize("rule", BY_ID)
def test_a_rule_is_its_page_and_its_use(home, rule):
    home.write("policies/more.yaml", "extends: default.yaml\nrepositories: [more]\n"
                                     f"rules: {{{rule}: {{mode: warn}}}}\n"
               if rule != "write-set" else "extends: default.yaml\nrepositories: [more]\n")
    assert home.run("policy", "apply") == 0, home.out
    assert home.run("policy", "explain", rule) == 0
    assert home.out.startswith(page(BY_ID[rule]))
    uses = [line for line in home.out.partition("In force:\n")[2].splitlines()
            if line.startswith("- ")]
    assert [use.split(":")[0] for use in uses] == ["- default", "- more"]
    assert home.run("policy", "explain", rule, "--format", "json") == 0
    told = home.json()
    assert (told["rule"], told["why"]) == (rule, BY_ID[rule].why)
    clause = shipped.active().policies[0].clause(rule)
    assert {use["policy"]: use["mode"] for use in told["policies"]} == (
        {"default": clause.mode.value, "more": "warn"} if clause is not None
        else {"default": "off", "more": "off"})


def test_a_rule_can_be_read_about_before_anything_is_in_force(home):
    assert home.run("policy", "explain", "write-set") == 0
    assert home.out.endswith("- nothing is; `policyd policy apply`\n")


def test_an_unknown_rule_is_a_sentence(home):
    assert home.run("policy", "explain", "write-sets") == 2
    assert home.err == "policyd: unknown rule 'write-sets'; did you mean 'write-set'?\n"
