"""What others read of a gate's event, as one JSON document. Pure.

Texts come from files that were pushed. In `text`, the line for people, they are made safe as in
every message; elsewhere only what no UTF-8 can hold is escaped, and JSON does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping

from policyd.core.breakglass import Use
from policyd.core.gates import Event, Reason, Telling
from policyd.core.render import printable
from policyd.core.rows import DatedRow

VERSION = 1
MOST_REASONS = 50
LONGEST = 500
"""Characters of one text."""

Notice = Mapping[str, object]

_SAYS = {Event.CLOSED: "is closed", Event.OPENED: "is open again",
         Event.CHANGED: "is still closed, for other reasons"}


def name(telling: Telling) -> str:
    """`gate.closed`, `gate.opened`, `gate.changed`, `row.due`, or `push.excused`."""
    what = {Event.DUE: "row", Event.EXCUSED: "push"}.get(telling.event, "gate")
    return f"{what}.{telling.event.value}"


def notice(telling: Telling, *, repository: str, at: str, policy_digest: str) -> Notice:
    """All keys are always there; what a thing is not about is None.

    `reasons` are those that close the gate, for `gate.opened` those that did; at most
    MOST_REASONS of them, `more` counts the others. `row` and `days` are those of `row.due`,
    `use` that of `push.excused`.
    """
    branch = telling.ref.removeprefix("refs/heads/")
    return {
        "version": VERSION, "event": name(telling), "at": at, "policy": policy_digest,
        "repository": _text(repository), "ref": _text(telling.ref), "branch": _text(branch),
        "text": f"{_line(repository)} {_line(branch)} {_sentence(telling)}",
        "reasons": [_reason(reason) for reason in telling.reasons[:MOST_REASONS]],
        "more": max(len(telling.reasons) - MOST_REASONS, 0),
        "row": None if telling.row is None else _row(telling.row),
        "days": telling.days,
        "use": None if telling.use is None else _use(telling.use)}


def _reason(reason: Reason) -> Notice:
    return {"cause": reason.cause.value, "says": _text(reason.says), "path": _text(reason.path),
            "line": reason.line, "row": _text(reason.row),
            "kind": reason.kind.value if reason.kind else None, "owner": _text(reason.owner),
            "last": reason.last.isoformat() if reason.last else None}


def _row(row: DatedRow) -> Notice:
    return {"kind": row.kind.value, "id": _text(row.id), "subject": _text(row.subject),
            "path": _text(row.path), "line": row.line, "owner": _text(row.owner),
            "reason": _text(row.reason), "last": row.last.isoformat() if row.last else None}


def _use(use: Use) -> Notice:
    return {"by": use.by, "pusher": _text(use.pusher), "operator": _text(use.operator),
            "reason": _text(use.reason), "rules": list(use.rules), "at": use.at,
            "more": use.more}


def _sentence(telling: Telling) -> str:
    if telling.use is not None:
        use = telling.use
        operator = f" of {_line(use.operator)}" if use.operator else ""
        return (f"took a push of {_line(use.pusher)} that {', '.join(use.rules)} would refuse, by "
                f"{use.by}{operator}: {_line(use.reason)}")
    if telling.row is not None:
        row = telling.row
        return (f"has a row that ends {_when(telling.days)}: {_line(row.id)} "
                f"({_line(row.path)}:{row.line}, owner {_line(row.owner)}, last day {row.last})")
    says = _SAYS[telling.event]
    if telling.event is Event.OPENED or not telling.reasons:
        return says
    others = f" and {len(telling.reasons) - 1} more" if len(telling.reasons) > 1 else ""
    return f"{says}: {_because(telling.reasons[0])}{others}"


def _because(reason: Reason) -> str:
    about = [reason.place and _line(reason.place),
             f"owner {_line(reason.owner)}" if reason.owner else "",
             f"last day {reason.last}" if reason.last else ""]
    known = ", ".join(part for part in about if part)
    return _line(reason.says) + (f" ({known})" if known else "")


def _when(days: int | None) -> str:
    if days is None:
        return "soon"
    return {0: "today", 1: "tomorrow"}.get(days, f"in {days} days")


def _text(text: str | None) -> str | None:
    if text is None:
        return None
    return _short(text).encode("utf-8", "backslashreplace").decode("utf-8")


def _line(text: str) -> str:
    return printable(_short(text))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST - 3] + "..."
