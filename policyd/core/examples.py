"""Short ways to write the situations of the rules' examples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from policyd.core.facts import Commit, Op, Pusher, Situation, Touch, Update

MAIN = Update("refs/heads/main", Op.UPDATE, old="0" * 39 + "a", new="0" * 39 + "f",
              tip="0" * 39 + "f", guarded=True, boundary=("0" * 39 + "a",))
"""An update of a guarded branch that brings nothing."""


def touching(*touches: Touch) -> Commit:
    """A commit that touches these paths."""
    return Commit("c" * 40, tuple(t for t in touches if t.zones))


def push(*commits: Commit, update: Update = MAIN, net: tuple[Touch, ...] | None = None,
         arrivals: tuple[Touch, ...] = (), name: str | None = "agent-7",
         groups: frozenset[str] = frozenset({"agents"}), **more: Any) -> Situation:
    """A push of one update with these commits; the net change is theirs unless given."""
    if net is None:
        net = tuple(touch for commit in commits for touch in commit.touches)
    looked = replace(update, judged=len(commits), commits=commits, net=net, arrivals=arrivals)
    return Situation(Pusher(name, groups), (looked,), **more)
