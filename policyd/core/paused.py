"""A pause: for some minutes everything is only observed. Loud, logged, and over by itself. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from policyd.core.policy import Active, Clause, Mode, Policy
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Pause:
    """Until when nothing is enforced, exclusive; both are date-times with their zone."""

    until: str
    reason: str
    operator: str
    at: str

    def holds(self, now: datetime) -> bool:
        return datetime.fromisoformat(self.at) <= now < datetime.fromisoformat(self.until)


def observed(active: Active) -> Active:
    """What is in force during a pause: every rule looks, and none refuses or warns."""
    return replace(active, policies=tuple(map(_observed, active.policies)))


def _observed(policy: Policy) -> Policy:
    return replace(policy, mode=Mode.OBSERVE, clauses=tuple(map(_at_most, policy.clauses)))


def _at_most(clause: Clause) -> Clause:
    mode = Mode.OFF if clause.mode is Mode.OFF else Mode.OBSERVE
    return replace(clause, mode=mode, enforce_from=None)
