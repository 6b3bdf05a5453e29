"""What a repository had accepted before a push that is in the log, from what it has now. Pure.

The log is gone through from its end. Whatever became of a push, each ref held its `old` when it
came; so no step is missed where a branch moved otherwise in between.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from policyd.core.facts import ZERO
from policyd.core.gates import Acts
from policyd.core.index import ACCEPTED, Index
from policyd.core.values import dataclass

JUDGED = frozenset({ACCEPTED, "refused", "unjudged"})


@dataclass(frozen=True, slots=True)
class Step:
    """One ref of a logged push. Ids are hex or None."""

    ref: str
    old: str | None
    new: str | None
    rewrites: bool
    guarded: bool


def steps(entry: Mapping[str, Any]) -> tuple[Step, ...]:
    """What a logged push was to do; nothing where the entry is none. Raises what bad JSON does."""
    return tuple(Step(one["ref"], _held(one["old"]), _held(one["new"]), bool(one["rewrites"]),
                      bool(one["guarded"])) for one in entry.get("updates", ()))


def why_not(entry: Mapping[str, Any]) -> str:
    """Why a push cannot be judged again as it was; empty where it can."""
    if "bootstrap" in entry:
        return "taken unjudged, as enrolment allowed"
    if entry.get("paused"):
        return "made while policyd was paused"
    if "incident" in entry and entry.get("verdict") == ACCEPTED:
        return "taken unjudged, as nothing enforced"
    if any(found["rule"] == "gate-open" and found["mode"] == "enforce"
           for found in entry.get("findings", ())):
        return "met a closed gate, of which the log keeps no state"
    return ""


def judged(entry: Mapping[str, Any]) -> str:
    """What the judgement was; a permit or an override lets pass what rules refused."""
    return "refused" if "excused" in entry else str(entry["verdict"])


def before(index: Index, entry: Mapping[str, Any]) -> Index:
    """The index as it was when a push came, from what it was behind that push."""
    branches, extra = dict(index.branches), set(index.extra)
    for step in steps(entry):
        if not step.guarded or not step.ref.startswith("refs/heads/"):
            continue
        if step.old is None:
            branches.pop(step.ref, None)
        else:
            branches[step.ref] = step.old
            if entry["verdict"] == ACCEPTED and (step.rewrites or step.new is None):
                extra.discard(step.old)
    at = datetime.fromisoformat(entry["time"])
    return replace(index, branches=branches, extra=tuple(sorted(extra)), pending=(), moves=tuple(
        move for move in index.moves if datetime.fromisoformat(move.at) < at))


def acts_then(acts: Acts, at: datetime) -> Acts:
    """Holds and waivers that are there still and were there already. A permit excuses nothing."""
    return Acts(tuple(hold for hold in acts.holds if datetime.fromisoformat(hold.at) <= at),
                tuple(one for one in acts.waivers if datetime.fromisoformat(one.at) <= at))


def _held(oid: str | None) -> str | None:
    return None if oid in (None, ZERO) else oid
