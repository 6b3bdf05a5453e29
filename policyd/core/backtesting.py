"""What rules say of a branch's past steps: policies to try them by, and findings to count. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from policyd.core.globs import repository_pattern
from policyd.core.policy import Clause, Mode, NamePattern, Policy
from policyd.core.ranks import rank
from policyd.core.values import dataclass

EXAMPLES = 3
REASONS = 50
"""Different reasons that are told apart; what comes after them is one."""

_IDS = re.compile(r"\b[0-9a-f]{7,40}\b")
_NUMBERS = re.compile(r"\d+([.,]\d+)*")
SECONDS = 60.0
"""For one step, whatever the policy says: work side by side takes longer than one push alone."""
_STRICTEST_FIRST = sorted((mode.value for mode in Mode), reverse=True,
                          key=lambda mode: Mode(mode).strictness)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a rule is broken."""

    commit: str | None
    path: str | None
    line: int | None
    note: str


@dataclass(frozen=True, slots=True)
class Found:
    """A finding about one step."""

    rule: str
    mode: str
    policy: str
    says: str
    scene: str
    spots: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A first-parent step of a branch, judged as a push; or why it could not be."""

    commit: str
    parent: str
    time: str
    """The committer date, which is when it was judged."""
    subject: str
    """The first line of its message; empty where nothing is told of the step."""
    milliseconds: float
    """For all of the judgement."""
    found: tuple[Found, ...] = ()
    spent: Mapping[str, float] | None = None
    """Milliseconds by rule."""
    unjudged: str | None = None

    def by(self, mode: Mode) -> bool:
        return any(found.mode == mode.value for found in self.found)


@dataclass(frozen=True, slots=True)
class Row:
    """One rule: in how many of the steps it found something, by how much that counts."""

    rule: str
    mode: str
    """At the newest step, for the pusher."""
    refused: int
    warned: int
    would_refuse: int
    """Where it observes."""
    findings: int
    share: float
    """Of the judged steps those in which it found anything."""
    median: float
    p99: float
    """Milliseconds."""
    examples: tuple[tuple[Step, Found], ...]
    """The newest steps, each with the first finding of the rule."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why steps could not be judged; ids of objects and numbers are left out of it."""

    says: str
    steps: int
    example: str
    """The newest commit."""


@dataclass(frozen=True, slots=True)
class Summary:
    """All of it, without what was found one by one."""

    steps: int
    judged: int
    refused: int
    warned: int
    """Of those that are not refused."""
    would_refuse: int
    """Of those that are neither refused nor warned of."""
    first: str
    last: str
    median: float
    p99: float
    slow: int
    """Judged steps that took longer than the policy's own bound lets a push take."""
    rows: tuple[Row, ...]
    reasons: tuple[Reason, ...]


def as_tried(policy: Policy, ref: str, *, only: Collection[str], every: bool) -> Policy:
    """A policy that holds for any repository and guards `ref`, with the rules that are tried.

    `only` are rules by id, none for all; one that is off observes. `every`: all enforce at once.
    """
    guarded = policy.guarded if policy.guards(ref) else (
        *policy.guarded, NamePattern(ref, False, re.escape(ref)))
    return replace(
        policy, repositories=(repository_pattern("**"),), guarded=guarded,
        bounds=replace(policy.bounds, seconds=max(policy.bounds.seconds, SECONDS)),
        clauses=tuple(_tried(clause, named=bool(only), every=every) for clause in policy.clauses
                      if not only or clause.rule in only))


def _tried(clause: Clause, *, named: bool, every: bool) -> Clause:
    if every:
        return replace(clause, mode=Mode.ENFORCE, enforce_from=None)
    return replace(clause, mode=Mode.OBSERVE) if named and clause.mode is Mode.OFF else clause


def modes(policies: Sequence[Policy], groups: Mapping[str, frozenset[str]],
          today: date) -> dict[str, str]:
    """Each rule that runs, with how much it counts on a guarded branch; the strictest policy's.

    `groups` are those of the pusher, by the policy's name.
    """
    found: dict[str, Mode] = {}
    for policy in policies:
        for clause in policy.clauses:
            mode = clause.mode_for(groups[policy.name], today, guarded=True)
            known = found.get(clause.rule, Mode.OFF)
            found[clause.rule] = max(mode, known, key=lambda one: one.strictness)
    return {rule: mode.value for rule, mode in found.items() if mode is not Mode.OFF}


class Tally:
    """Takes steps, newest first, and keeps no more of them than a summary tells."""

    def __init__(self, rules: Mapping[str, str], bound: float) -> None:
        """`rules` with their modes, in the order in which they are told; `bound` is in seconds."""
        self._rules, self._bound = rules, bound * 1000
        self._steps, self._judged, self._slow = 0, 0, 0
        self._first = self._last = ""
        self._whole: Counter[str] = Counter()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._findings: Counter[str] = Counter()
        self._touched: Counter[str] = Counter()
        self._spent: dict[str, Counter[float]] = {}
        self._examples: dict[str, list[tuple[Step, Found]]] = {}
        self._reasons: dict[str, Reason] = {}

    def feed(self, step: Step) -> None:
        self._steps += 1
        day = step.time[:10]
        self._first, self._last = min(self._first or day, day), max(self._last, day)
        if step.unjudged is not None:
            return self._could_not(step, step.unjudged)
        self._judged += 1
        self._slow += step.milliseconds > self._bound
        self._spend("", step.milliseconds)
        for rule, milliseconds in (step.spent or {}).items():
            self._spend(rule, milliseconds)
        strictest = next((mode for mode in _STRICTEST_FIRST if step.by(Mode(mode))), None)
        if strictest is not None:
            self._whole[strictest] += 1
        self._findings.update(found.rule for found in step.found)
        self._counts.update({(found.rule, found.mode) for found in step.found})
        for found in {found.rule: found for found in reversed(step.found)}.values():
            self._touched[found.rule] += 1
            kept = self._examples.setdefault(found.rule, [])
            if len(kept) < EXAMPLES:
                kept.append((step, found))

    def summary(self) -> Summary:
        known = {**self._rules, **{rule: found[0][1].mode
                                   for rule, found in self._examples.items()
                                   if rule not in self._rules}}
        return Summary(
            self._steps, self._judged, self._whole[Mode.ENFORCE.value],
            self._whole[Mode.WARN.value], self._whole[Mode.OBSERVE.value], self._first, self._last,
            self._rank("", 0.5), self._rank("", 0.99), self._slow,
            tuple(self._row(rule, mode) for rule, mode in known.items()),
            tuple(sorted(self._reasons.values(), key=lambda reason: -reason.steps)))

    def _row(self, rule: str, mode: str) -> Row:
        return Row(rule, mode, self._counts[rule, Mode.ENFORCE.value],
                   self._counts[rule, Mode.WARN.value], self._counts[rule, Mode.OBSERVE.value],
                   self._findings[rule], self._touched[rule] / max(self._judged, 1),
                   self._rank(rule, 0.5), self._rank(rule, 0.99),
                   tuple(self._examples.get(rule, ())))

    def _could_not(self, step: Step, why: str) -> None:
        says = _NUMBERS.sub("N", _IDS.sub("...", why))
        if says not in self._reasons and len(self._reasons) >= REASONS:
            says = "other reasons"
        known = self._reasons.get(says, Reason(says, 0, step.commit))
        self._reasons[says] = replace(known, steps=known.steps + 1)

    def _spend(self, rule: str, milliseconds: float) -> None:
        self._spent.setdefault(rule, Counter())[round(milliseconds, 2)] += 1

    def _rank(self, rule: str, part: float) -> float:
        return rank(self._spent.get(rule, Counter()), part)


def together(summaries: Iterable[Summary]) -> dict[str, Counter[str]]:
    """The counts of several summaries by rule: refused, warned, would refuse, judged."""
    found: dict[str, Counter[str]] = {}
    for summary in summaries:
        for row in summary.rows:
            found.setdefault(row.rule, Counter()).update(
                refused=row.refused, warned=row.warned, would_refuse=row.would_refuse,
                judged=summary.judged)
    return found
