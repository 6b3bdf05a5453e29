"""What closes a gate, in the words of whoever has to deal with it. Pure."""

from __future__ import annotations

from datetime import timedelta
from shlex import quote

from policyd.core.gates import Cause, Reason
from policyd.core.owners import Members, named, people
from policyd.core.rows import Kind

WHY = {
    Cause.EXPIRED: "expired debt stops source until a maintainer settles it.",
    Cause.DRIFTED: "a corpus that is not the leased one can judge no source.",
    Cause.INVALID: "a record that cannot be read stops source until it is mended.",
    Cause.HELD: "an operator holds this branch closed.",
    Cause.MOVED: "it moved without an accepted push; nobody judged what is there.",
}
"""One sentence for a pusher, by the cause of the first reason."""


def brief(reason: Reason) -> str:
    """The end of `closed by`, in the few words that a first line has room for."""
    match reason.cause:
        case Cause.HELD:
            return f"a hold of {reason.owner}"
        case Cause.MOVED:
            return "an unrecorded move"
        case Cause.INVALID:
            return reason.place
        case Cause.DRIFTED:
            return f"lease {reason.row}"
        case Cause.EXPIRED:
            return reason.says


def note(reason: Reason, members: Members, *, first: bool = True) -> str:
    """What stands beside the reason's place: the fact, the days, the owner.

    The row of the `first` reason stands in the line above already.
    """
    parts = [] if first and reason.cause is Cause.EXPIRED else [reason.says]
    if reason.last is not None:
        parts.append(f"last day {reason.last}")
        if reason.cause is Cause.EXPIRED:
            parts.append(f"closed since {reason.last + timedelta(days=1)}")
    if reason.owner is not None and reason.cause is not Cause.HELD:
        parts.append(f"owner {named(reason.owner, members)}")
    return ", ".join(parts)


def news(reason: Reason, branch: str) -> str:
    """What a pusher may tell those who can open the gate."""
    if reason.cause is Cause.EXPIRED:
        return f"{reason.says} expired {reason.last}"
    return f"{branch} is closed by {brief(reason)}"


def whom(reason: Reason, members: Members) -> str:
    """Who is to be told: the owner, else the maintainers."""
    if reason.cause is Cause.MOVED:
        return "the operator"
    return reason.owner or people(members.get("maintainers", ())) or "a maintainer"


def settled_by(reason: Reason, branch: str) -> str:
    """What opens the gate; for maintainers alone, since some of it is an operator's command."""
    match reason.cause:
        case Cause.EXPIRED:
            return _kept_by(reason)
        case Cause.DRIFTED:
            return f"renew the lease in {reason.path} or its corpus, pushed alone"
        case Cause.INVALID:
            return f"mend {reason.place}, pushed alone"
        case Cause.HELD:
            return f"the operator runs: policyd gate release REPO {branch}"
        case Cause.MOVED:
            return ("the operator looks at what is there, then runs: "
                    f"policyd movement accept REPO {branch} --reason TEXT")


_KEPT_BY = {Kind.FLAKE: "flake remove", Kind.QUARANTINE: "quarantine remove",
            Kind.LEASE: "lease renew"}
"""The command of `policyd record` that settles a row of a kind."""


def _kept_by(reason: Reason) -> str:
    command = None if reason.kind is None else _KEPT_BY.get(reason.kind)
    if command is None or reason.row is None:
        return f"remove or renew the row in {reason.path}, pushed alone"
    row = f"{'-- ' if reason.row.startswith('-') else ''}{quote(reason.row)}"
    return f"in a push of its own: policyd record {command} {row}"
