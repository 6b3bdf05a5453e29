"""What policies say, rule by rule, as lines and for programs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from policyd.core.changes import Change, text
from policyd.core.frozen import plain
from policyd.core.policy import Clause, Mode, Policy
from policyd.core.rule import Rule


def policies(listed: Sequence[Policy], rules: Mapping[str, Rule]) -> list[dict[str, Any]]:
    """For programs: each policy and its rules."""
    return [{"policy": policy.name, "repositories": [p.glob for p in policy.repositories],
             "guarded": [p.glob for p in policy.guarded], "mode": policy.mode.value,
             "rules": [use(policy, rule) for rule in rules.values()]} for policy in listed]


def use(policy: Policy, rule: Rule) -> dict[str, Any]:
    """For programs: how a policy uses a rule; one that it does not name is off."""
    clause = policy.clause(rule.id)
    if clause is None:
        return {"rule": rule.id, "mode": Mode.OFF.value, "says": rule.why}
    return {"rule": rule.id, "mode": clause.mode.value, "on": clause.on.value,
            "warn_for": list(clause.warn_for), "except": list(clause.excepted),
            "enforce_from": plain(clause.enforce_from), "says": rule.why,
            "options": plain(clause.options)}


def edited(changed: Sequence[Change]) -> list[dict[str, str | None]]:
    """For programs: what an apply would change."""
    return [{"what": c.what, "before": c.before, "after": c.after} for c in changed]


def lines(policy: Policy, rules: Mapping[str, Rule]) -> Iterator[str]:
    """A policy in lines: what it holds for, each rule with what it says, and what is off."""
    yield (f"{policy.name}: for {', '.join(p.glob for p in policy.repositories)}; guards "
           f"{', '.join(p.glob for p in policy.guarded)}"
           + (f"; nothing counts for more than {policy.mode.value}"
              if policy.mode is not Mode.ENFORCE else ""))
    width = max(map(len, rules), default=0)
    used = [(rule, clause) for rule in rules.values() if (clause := policy.clause(rule.id))]
    for rule, clause in used:
        yield f"  {rule.id:{width}}  {how(clause)}: {rule.why}"
    off = [rule for rule in rules if policy.clause(rule) is None]
    if off:
        yield f"  off: {', '.join(off)}"


def how(clause: Clause) -> str:
    """How much a rule counts, where, and for whom it counts less: `warn on guarded refs`."""
    parts = [f"{clause.mode.value} on {clause.on.value} refs"]
    if clause.enforce_from is not None:
        parts.append(f"enforce from {clause.enforce_from}")
    if clause.warn_for:
        parts.append(f"warn for {', '.join(clause.warn_for)}")
    if clause.excepted:
        parts.append(f"off for {', '.join(clause.excepted)}")
    return "; ".join(parts)


def use_lines(policy: Policy, rule: Rule) -> Iterator[str]:
    """How a policy uses a rule, with its options as they are in force."""
    clause = policy.clause(rule.id)
    if clause is None:
        yield f"- {policy.name}: off, it does not name this rule"
        return
    yield f"- {policy.name}: {how(clause)}"
    for one in fields(clause.options):
        yield f"  - `{one.name}`: {text(getattr(clause.options, one.name)) or 'none'}"


def change_lines(changed: Sequence[Change]) -> Iterator[str]:
    for change in changed:
        yield f"  {change.what}: {_or_dash(change.before)} -> {_or_dash(change.after)}"


def _or_dash(value: str | None) -> str:
    return "-" if value is None else value or "nothing"
