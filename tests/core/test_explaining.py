"""What a policy says, in lines and for programs."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import shipped

from policyd.core import explaining
from policyd.core.changes import Change
from policyd.core.policy import Mode
from policyd.rules import BY_ID

POLICY, = shipped.active().policies
SOFT = replace(POLICY, mode=Mode.WARN, clauses=tuple(
    replace(c, mode=Mode.WARN, enforce_from=date(2027, 1, 15), warn_for=("maintainers",),
            excepted=("agents", "bots")) if c.rule == "literal-overlap" else c
    for c in POLICY.clauses))


def test_a_policy_is_told_rule_by_rule():
    lines = list(explaining.lines(POLICY, BY_ID))
    assert lines[0] == "default: for **; guards main, release/*, tags/v*"
    assert lines[-1] == "  off: write-set"
    assert [line.split()[0] for line in lines[1:-1]] == [
        rule for rule in BY_ID if rule != "write-set"]
    assert all(rule.why in line for rule, line in zip(BY_ID.values(), lines[1:3], strict=False))


def test_what_softens_a_rule_is_told():
    clause = SOFT.clause("literal-overlap")
    assert clause is not None
    assert explaining.how(clause) == ("warn on guarded refs; enforce from 2027-01-15; "
                                      "warn for maintainers; off for agents, bots")
    assert next(iter(explaining.lines(SOFT, BY_ID))).endswith("; nothing counts for more than warn")


def test_programs_are_told_the_same():
    told = json.loads(json.dumps(explaining.policies((SOFT,), BY_ID)))
    assert (told[0]["policy"], told[0]["mode"]) == ("default", "warn")
    rules = {rule["rule"]: rule for rule in told[0]["rules"]}
    assert list(rules) == list(BY_ID)
    assert rules["write-set"]["mode"] == "off"
    overlap = rules["literal-overlap"]
    assert overlap["options"]["allow"] == ["application/json"]
    assert {key: overlap[key] for key in ("mode", "on", "warn_for", "except", "enforce_from")} == {
        "mode": "warn", "on": "guarded", "warn_for": ["maintainers"],
        "except": ["agents", "bots"], "enforce_from": "2027-01-15"}


def test_how_a_policy_uses_a_rule_is_told_with_its_options():
    lines = list(explaining.use_lines(POLICY, BY_ID["literal-overlap"]))
    assert lines[0] == "- default: enforce on guarded refs"
    assert "  - `allow`: application/json" in lines
    assert list(explaining.use_lines(POLICY, BY_ID["write-set"])) == [
        "- default: off, it does not name this rule"]


def test_changes_are_lines():
    changed = (Change("a", None, "x"), Change("b", "x", ""), Change("c", "x", None))
    assert list(explaining.change_lines(changed)) == [
        "  a: - -> x", "  b: x -> nothing", "  c: x -> -"]
    assert explaining.edited(changed)[0] == {"what": "a", "before": None, "after": "x"}
