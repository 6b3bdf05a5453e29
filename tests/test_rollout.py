"""A rule on its way into force, as its operator goes it: edit, try, apply, wait, go back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from policyhome import PolicyHome

from policyd import caserun
from policyd.adapters import activepolicy
from policyd.core.cases import MAIN, Case
from policyd.core.policy import Mode
from policyd.rules import OPTIONS

RULE = "literal-overlap"
CASES = "policies/default.cases.yaml"
BEFORE = {"src/a.py": "", "tests/test_a.py": ""}
AFTER = {"src/a.py": "A = 'EUR 19.25'\n", "tests/test_a.py": "assert A == 'EUR 19.25'\n"}
TABLE = """\
- title: a paste
  who: agent-7
  before: {src/a.py: "", tests/test_a.py: ""}
  commits: [{src/a.py: "A = 'EUR 19.25'\\n", tests/test_a.py: "assert A == 'EUR 19.25'\\n"}]
  expect: ANSWER
"""
TAKEN = TABLE.replace("ANSWER", "accept")
REFUSED = TABLE.replace("ANSWER", f"refuse\n  rules: [{RULE}]")

DAY_BEFORE = datetime(2099, 1, 14, 12, tzinfo=UTC)
LAST_MINUTE = datetime(2099, 1, 14, 22, 59, tzinfo=UTC)
FIRST_MINUTE = datetime(2099, 1, 14, 23, 0, tzinfo=UTC)
"""In Madrid, an hour ahead in winter, 15 January begins."""


@pytest.fixture
def home(tmp_path: Path) -> PolicyHome:
    """A site without the rule, in force."""
    home = PolicyHome.made(tmp_path / "home")
    home.edit(f"  {RULE}:\n    mode: enforce\n", f"  {RULE}:\n    mode: off\n")
    home.edit("timezone: UTC", "timezone: Europe/Madrid")
    assert home.run("policy", "apply") == 0, home.out
    return home


def step(home: PolicyHome, old: str, new: str) -> None:
    home.edit(old, new)
    assert home.run("policy", "apply") == 0, home.out


def announced(home: PolicyHome, more: str = "") -> None:
    """The rule warns, and names the day from which it enforces."""
    step(home, "    mode: off\n", f"    mode: warn\n    enforce_from: 2099-01-15\n{more}")


def counts(home: PolicyHome, at: datetime, who: str = "agent-7") -> Mode | None:
    """How much the rule counts for a paste, by what is in force; None where it says nothing."""
    case = Case("a paste", who, BEFORE, (AFTER,), MAIN, ())
    result, = caserun.run([case], activepolicy.load(home.path, OPTIONS), at=at)
    assert result.unjudged is None
    assert (result.refused_by == (RULE,)) is ((RULE, Mode.ENFORCE) in [f[:2] for f in result.found])
    return next((mode for rule, mode, _ in result.found if rule == RULE), None)


def test_a_rule_warns_until_its_day_in_the_zone_of_the_policy_and_enforces_from_then(home):
    assert counts(home, FIRST_MINUTE) is None
    announced(home)
    assert counts(home, LAST_MINUTE) is Mode.WARN
    assert counts(home, FIRST_MINUTE) is Mode.ENFORCE


def test_nothing_counts_before_it_is_applied(home):
    home.edit("    mode: off\n", "    mode: enforce\n")
    assert counts(home, FIRST_MINUTE) is None
    assert home.run("policy", "explain") == 0
    assert f"  default: rules.{RULE}: off -> enforce" in home.out.splitlines()
    assert home.run("policy", "apply") == 0
    assert counts(home, FIRST_MINUTE) is Mode.ENFORCE


def test_the_day_can_be_tried_before_it_comes_and_needs_no_apply(home):
    announced(home)
    before = home.active()
    home.write(CASES, REFUSED)
    assert home.run("policy", "test", "--on", "2099-01-14") == 1
    assert home.run("policy", "test", "--on", "2099-01-15") == 0
    assert home.active() == before


def test_cases_are_those_of_the_day_of_the_apply(home):
    home.write(CASES, TAKEN)
    announced(home)
    before = home.active()
    home.write(CASES, REFUSED)
    home.edit("min_length: 6", "min_length: 7")
    assert home.run("policy", "apply") == 1
    assert home.active() == before
    home.edit("enforce_from: 2099-01-15", "enforce_from: 2020-01-15")
    assert home.run("policy", "apply") == 0, home.out


def test_a_group_may_go_last(home):
    announced(home, "    warn_for: [agents]\n")
    assert counts(home, FIRST_MINUTE, "dora") is Mode.ENFORCE
    assert counts(home, FIRST_MINUTE) is Mode.WARN
    step(home, "    warn_for: [agents]\n", "")
    assert counts(home, FIRST_MINUTE) is Mode.ENFORCE


def test_the_way_back_is_one_command_and_so_is_the_way_forth_again(home):
    announced(home)
    step(home, "    mode: warn\n    enforce_from: 2099-01-15\n", "    mode: enforce\n")
    assert counts(home, DAY_BEFORE) is Mode.ENFORCE
    assert home.run("policy", "apply", "--rollback") == 0
    assert f"rules.{RULE}.enforce_from" in home.out
    assert (counts(home, DAY_BEFORE), counts(home, FIRST_MINUTE)) == (Mode.WARN, Mode.ENFORCE)
    assert home.run("policy", "explain") == 0
    assert f"  default: rules.{RULE}: warn -> enforce" in home.out.splitlines()
    assert home.run("policy", "apply") == 0
    assert counts(home, DAY_BEFORE) is Mode.ENFORCE


def test_a_broken_step_leaves_the_step_before_in_force_and_the_way_back_open(home):
    announced(home)
    before, previous = home.active(), home.active("previous")
    home.edit("enforce_from: 2099-01-15", "enforce_from: 2099-02-30")
    assert home.run("policy", "apply") == 1
    assert (home.active(), home.active("previous")) == (before, previous)
    assert counts(home, FIRST_MINUTE) is Mode.ENFORCE
    assert home.run("policy", "apply", "--rollback") == 0
    assert counts(home, FIRST_MINUTE) is None


def test_one_table_accompanies_a_policy_from_observe_to_enforce(home):
    home.write(CASES, REFUSED)
    home.edit("    mode: off\n", "    mode: enforce\n")
    ceiling = "\nmode: enforce"
    for mode in (Mode.OBSERVE, Mode.WARN, Mode.ENFORCE):
        step(home, ceiling, f"\nmode: {mode.value}")
        ceiling = f"\nmode: {mode.value}"
        assert counts(home, DAY_BEFORE) is mode


def test_a_base_takes_all_that_stand_on_it_along(home):
    text = (home.path / "policies/default.yaml").read_text()
    home.write("policies/base.yaml", text.replace('repositories: ["**"]\n', ""))
    home.write("policies/default.yaml", 'extends: base.yaml\nrepositories: ["**", "!slow/**"]\n')
    home.write("policies/slow.yaml", 'extends: base.yaml\nrepositories: ["slow/**"]\n'
                                     f"rules: {{{RULE}: {{mode: warn}}}}\n")
    home.edit("    mode: off\n", "    mode: enforce\n", "policies/base.yaml")
    assert home.run("policy", "apply") == 0, home.out
    assert {policy.name: clause.mode for policy in activepolicy.load(home.path, OPTIONS).policies
            if (clause := policy.clause(RULE))} == {"default": Mode.ENFORCE, "slow": Mode.WARN}
