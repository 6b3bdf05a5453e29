"""Situations and a policy in, verdict out. Pure, total, ordered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from datetime import date
from enum import Enum

from policyd.core.errors import PolicydError
from policyd.core.facts import Need, Situation, Update
from policyd.core.policy import Clause, Mode, Policy
from policyd.core.rule import Finding, Rule
from policyd.core.values import dataclass


class RuleCrashed(PolicydError):
    """A rule raised instead of reporting."""


class Outcome(Enum):
    """The two ends of a push that was judged; the third is that it could not be."""

    ACCEPTED = "accepted"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Violation:
    """A finding, the rule that it breaks, and how much that counts."""

    rule: Rule
    finding: Finding
    mode: Mode
    policy: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What all policies found; `spent` is milliseconds by rule."""

    violations: tuple[Violation, ...] = ()
    spent: Mapping[str, float] = field(default_factory=dict)
    excused: bool = False
    """Whether a permit or an override lets it through, whatever was found."""

    @property
    def outcome(self) -> Outcome:
        refused = self.of(Mode.ENFORCE) and not self.excused
        return Outcome.REFUSED if refused else Outcome.ACCEPTED

    def of(self, mode: Mode) -> tuple[Violation, ...]:
        return tuple(v for v in self.violations if v.mode is mode)


def needs_of(policy: Policy, rules: Mapping[str, Rule]) -> frozenset[Need]:
    """The expensive facts that the policy's rules ask for."""
    asked = (rules[clause.rule].needs for clause in _live(policy))
    return frozenset().union(*asked)


def enforces(policy: Policy, groups: frozenset[str], today: date, *, guarded: bool) -> bool:
    """Whether a failure to judge a push to such a ref must refuse it."""
    return any(clause.mode_for(groups, today, guarded=guarded) is Mode.ENFORCE
               for clause in policy.clauses)


def evaluate(given: Situation, policy: Policy, rules: Mapping[str, Rule], *,
             seconds: Callable[[], float]) -> Verdict:
    """Run every rule that the policy names; report all that they find, not the first.

    `seconds` is a running clock; it is read only to tell what each rule cost.
    """
    found: list[Violation] = []
    spent: dict[str, float] = {}
    for clause in sorted(_live(policy), key=lambda clause: list(rules).index(clause.rule)):
        rule, start = rules[clause.rule], seconds()
        for mode, part in _parts(given, clause):
            try:
                findings = tuple(rule.check(part, clause.options))
            except Exception as error:
                raise RuleCrashed(f"rule {rule.id} failed: {error}") from error
            found += (Violation(rule, finding, mode, policy.name) for finding in findings)
        spent[rule.id] = (seconds() - start) * 1000
    return Verdict(tuple(found), spent)


def together(verdicts: tuple[Verdict, ...]) -> Verdict:
    """One verdict of several policies: the same finding once, in its strictest mode."""
    strictest: dict[tuple[str, Finding], Violation] = {}
    spent: dict[str, float] = {}
    for verdict in verdicts:
        for violation in verdict.violations:
            key = violation.rule.id, violation.finding
            known = strictest.get(key)
            if known is None or known.mode.strictness < violation.mode.strictness:
                strictest[key] = violation
        for rule, milliseconds in verdict.spent.items():
            spent[rule] = spent.get(rule, 0.0) + milliseconds
    return Verdict(tuple(strictest.values()), spent)


def _live(policy: Policy) -> Iterator[Clause]:
    return (clause for clause in policy.clauses if clause.mode is not Mode.OFF)


def _parts(given: Situation, clause: Clause) -> Iterator[tuple[Mode, Situation]]:
    """The push as the rule sees it: by how much a finding counts on each ref, strictest first."""
    by_mode: dict[Mode, list[Update]] = {}
    for update in given.updates:
        mode = clause.mode_for(given.pusher.groups, given.today, guarded=update.guarded)
        by_mode.setdefault(mode, []).append(update)
    for mode in sorted(by_mode, key=lambda mode: -mode.strictness):
        if mode is not Mode.OFF:
            yield mode, replace(given, updates=tuple(by_mode[mode]))
