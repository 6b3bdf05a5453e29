"""How much a finding counts: for whom, on which ref, from which day on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

import pytest

from policyd.core.evaluate import Outcome, enforces, evaluate, together
from policyd.core.examples import MAIN, push
from policyd.core.policy import Bounds, Clause, Mode, Policy, Reach
from policyd.core.rule import Finding, Next, Repair, Rule

DAY = date(2027, 1, 15)


@dataclass(frozen=True, slots=True)
class Nothing:
    """None."""


def _every_ref(given, _options):
    for update in given.updates:
        yield Finding(update.ref, "is here", "", (), Repair("stop", Next.STOP, words=("stop",)))


RULE = Rule("every-ref", "why.", "fix.", Nothing, _every_ref)
RULES = {"every-ref": RULE}


def policy(**clause):
    return Policy("p", (), Mode.ENFORCE, (), (), (), (), Bounds(), "UTC", (), {},
                  (Clause("every-ref", **{"mode": Mode.ENFORCE, "options": Nothing(), **clause}),))


def verdict(of, *, today=DAY, groups=frozenset({"agents"}), guarded=(True,)):
    given = push(groups=groups)
    updates = tuple(replace(MAIN, ref=f"refs/heads/b{n}", guarded=g)
                    for n, g in enumerate(guarded))
    return evaluate(replace(given, updates=updates, today=today), of, RULES, seconds=lambda: 0.0)


@pytest.mark.parametrize(("clause", "today", "group", "guarded", "mode"), [
    ({}, DAY, "agents", True, Mode.ENFORCE),
    ({"mode": Mode.WARN}, DAY, "agents", True, Mode.WARN),
    ({"mode": Mode.OBSERVE}, DAY, "agents", True, Mode.OBSERVE),
    ({"mode": Mode.OFF}, DAY, "agents", True, None),
    ({"on": Reach.GUARDED}, DAY, "agents", True, Mode.ENFORCE),
    ({"on": Reach.GUARDED}, DAY, "agents", False, Mode.WARN),
    ({"on": Reach.GUARDED, "mode": Mode.OBSERVE}, DAY, "agents", False, Mode.OBSERVE),
    ({"warn_for": ("agents",)}, DAY, "agents", True, Mode.WARN),
    ({"warn_for": ("agents",)}, DAY, "maintainers", True, Mode.ENFORCE),
    ({"warn_for": ("agents",), "mode": Mode.OBSERVE}, DAY, "agents", True, Mode.OBSERVE),
    ({"excepted": ("agents",)}, DAY, "agents", True, None),
    ({"excepted": ("agents",)}, DAY, "maintainers", True, Mode.ENFORCE),
    ({"mode": Mode.WARN, "enforce_from": DAY}, date(2027, 1, 14), "agents", True, Mode.WARN),
    ({"mode": Mode.WARN, "enforce_from": DAY}, DAY, "agents", True, Mode.ENFORCE),
    ({"mode": Mode.WARN, "enforce_from": DAY, "warn_for": ("agents",)}, DAY, "agents", True,
     Mode.WARN),
    ({"mode": Mode.WARN, "enforce_from": DAY, "on": Reach.GUARDED}, DAY, "agents", False,
     Mode.WARN),
])
def test_how_much_a_finding_counts(clause, today, group, guarded, mode):
    found = verdict(policy(**clause), today=today, groups=frozenset({group}), guarded=(guarded,))
    assert [v.mode for v in found.violations] == ([] if mode is None else [mode])
    assert found.outcome is (Outcome.REFUSED if mode is Mode.ENFORCE else Outcome.ACCEPTED)


def test_each_ref_counts_by_itself():
    found = verdict(policy(on=Reach.GUARDED), guarded=(False, True))
    assert [(v.finding.ref, v.mode) for v in found.violations] == [
        ("refs/heads/b1", Mode.ENFORCE), ("refs/heads/b0", Mode.WARN)]


def test_the_same_finding_of_two_policies_is_told_once_and_strictest():
    warned, enforced = verdict(policy(mode=Mode.WARN)), verdict(policy())
    for order in ((warned, enforced), (enforced, warned)):
        assert [v.mode for v in together(order).violations] == [Mode.ENFORCE]


@pytest.mark.parametrize(("clause", "guarded", "refuses"), [
    ({}, False, True), ({"on": Reach.GUARDED}, False, False), ({"on": Reach.GUARDED}, True, True),
    ({"mode": Mode.WARN}, True, False), ({"mode": Mode.WARN, "enforce_from": DAY}, True, True),
])
def test_a_failure_refuses_where_some_rule_enforces(clause, guarded, refuses):
    assert enforces(policy(**clause), frozenset(), DAY, guarded=guarded) is refuses
