"""A pause holds from its beginning to its end, and while it holds nothing is more than observed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from history import shipped_policy

from policyd.core.paused import Pause, observed
from policyd.core.policy import Active, Mode, Settings

NOON, MINUTE = datetime(2026, 9, 22, 12, tzinfo=UTC), timedelta(minutes=1)
PAUSE = Pause((NOON + 30 * MINUTE).isoformat(), "fire", "joe", NOON.isoformat())


@pytest.mark.parametrize(("minutes", "holds"), [
    (-1, False), (0, True), (29.9, True), (30, False), (31, False)])
def test_it_holds_from_its_beginning_to_its_end(minutes, holds):
    at = NOON + minutes * MINUTE
    assert PAUSE.holds(at) is holds
    assert PAUSE.holds(at.astimezone(timezone(timedelta(hours=9)))) is holds


def test_every_rule_looks_and_none_refuses_or_warns():
    policy = shipped_policy()
    clauses = (*(replace(policy.clauses[0], mode=mode, enforce_from=date.min) for mode in Mode),
               *policy.clauses)
    found = observed(Active("d", Settings("/s"), (replace(policy, clauses=clauses), policy)))
    assert [p.mode for p in found.policies] == [Mode.OBSERVE, Mode.OBSERVE]
    modes = [c.mode_for(frozenset(), date.max, guarded=True) for c in found.policies[0].clauses]
    assert modes[0] is Mode.OFF
    assert set(modes[1:]) == {Mode.OBSERVE}
    assert [c.rule for c in found.policies[1].clauses] == [c.rule for c in policy.clauses]
    assert (found.digest, found.settings) == ("d", Settings("/s"))
