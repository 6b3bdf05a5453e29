"""What a pusher reads in the end: a rejection, warnings, or the answer to a question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date

from policyd.core import calendar, closure, render
from policyd.core.breakglass import Use
from policyd.core.evaluate import Outcome, Verdict, Violation
from policyd.core.facts import Pusher
from policyd.core.gates import SOON, Gate, closes_on
from policyd.core.paused import Pause
from policyd.core.policy import Mode
from policyd.core.repair import Block
from policyd.core.rows import DatedRow
from policyd.core.values import dataclass

SHOWN = 5
"""Rows that are shown; the rest are a number."""


_GITLAB = "GL-HOOK-ERR: "


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict on its way to the pusher."""

    push_id: str
    pusher: Pusher
    verdict: Verdict
    blocks: Mapping[int, Block]
    """What mends each enforced finding, by its position among them."""
    check: str | None = None
    """The branch that a question was about; None for a push."""
    gate: Gate | None = None
    """The branch's gate, for a question."""
    today: date = date.min
    use: Use | None = None
    """What lets the push through that rules refuse."""
    no_override: str = ""
    """Why the override that was asked for does not help."""

    @property
    def refused(self) -> bool:
        return self.verdict.outcome is Outcome.REFUSED


def answer(told: Answer, *, everything: bool) -> str:
    """All lines; empty when there is nothing to say. `everything` makes the last one whole."""
    text = _excuse(told) + (_question(told) if told.check is not None else _push(told))
    if not everything:
        return text
    lines = text.splitlines()
    if lines and lines[-1].startswith("policyd {"):
        lines.pop()
    return "\n".join([*lines, whole(told)]) + "\n"


def for_gitlab(text: str) -> str:
    """As GitLab's pages show it: only lines that say that they are for people."""
    return "".join(line if line.startswith("policyd {") else _GITLAB + line
                   for line in text.splitlines(keepends=True))


def cannot_ask(reason: str, push_id: str) -> str:
    """What somebody reads whose push to refs/check/ is no question that can be answered."""
    return _lines(f"policyd: check: {reason}") + render.for_programs(push_id, [], "stop") + "\n"


def paused(pause: Pause) -> str:
    """What everybody reads while nothing is enforced."""
    return _lines(f"policyd: paused until {pause.until} by {pause.operator}: nothing is refused "
                  f"({pause.reason})")


def due(rows: Sequence[DatedRow], branch: str, today: date) -> str:
    """What a maintainer reads of rows that end soon, behind a push that was accepted."""
    lines = [_due(row, branch, today) for row in rows[:SHOWN]]
    if len(rows) > SHOWN:
        lines.append(f"  and {len(rows) - SHOWN} more; see `policyd status`\n")
    return "".join(lines)


def _excuse(told: Answer) -> str:
    """Before all else: what lets the push through, or why what was asked for does not."""
    if told.no_override:
        return _lines(f"policyd: override: no effect: {told.no_override}")
    if told.use is None:
        return ""
    by = f", by {told.use.operator}" if told.use.operator else ""
    does = "let through and logged" if told.check is None else "would be let through"
    return _lines(f"policyd: {told.use.by}{by}: {', '.join(told.use.rules)} would refuse this; "
                  f"{does}: {told.use.reason}")


def _due(row: DatedRow, branch: str, today: date) -> str:
    left = calendar.days_left(row, today) or 0
    when = ("today is its last day", "tomorrow is its last day")[left] if left < 2 else \
        f"{left} days left"
    ends = f"closes {branch} behind {row.last}" if closes_on(row) else f"ends {row.last}"
    return _lines(f"policyd: note: {row.kind.value} row {row.id} {ends}, {when}; "
                  f"{row.path}:{row.line}, owner {row.owner}")


def _gate(told: Answer, branch: str) -> str:
    """The gate, and what closes it next."""
    gate = told.gate
    if gate is None:
        return ""
    if not gate.is_open:
        more = f" and {len(gate.reasons) - 1} more" if len(gate.reasons) > 1 else ""
        return _lines(f"  {branch} is closed to source by {closure.brief(gate.reasons[0])}{more}")
    row = next(filter(closes_on, gate.soon), None)
    if row is None:
        return _lines(f"  {branch} is open; nothing closes it within {SOON} days")
    return _lines(f"  {branch} is open; row {row.id} closes it behind {row.last}, "
                  f"owner {row.owner}")


def _lines(text: str) -> str:
    return "\n".join(render.wrapped(render.printable(text), "  ")) + "\n"


def whole(told: Answer) -> str:
    """Every finding with every place, as one line for programs."""
    enforced = told.verdict.of(Mode.ENFORCE)
    found = [_finding(v, told.blocks.get(n)) for n, v in enumerate(enforced)]
    found += [_finding(v, None) for v in told.verdict.of(Mode.WARN)]
    after = told.blocks[0].next.value if told.refused else "push"
    return "policyd " + json.dumps(
        {"id": told.push_id, "verdict": told.verdict.outcome.value, "findings": found,
         "next": after}, separators=(",", ":"))


def _push(told: Answer) -> str:
    enforced, warned = told.verdict.of(Mode.ENFORCE), told.verdict.of(Mode.WARN)
    if told.refused:
        return _rejection(told, enforced)
    return render.warning(warned, told.pusher) if warned else ""


def _question(told: Answer) -> str:
    branch = str(told.check).removeprefix("refs/heads/")
    enforced, warned = told.verdict.of(Mode.ENFORCE), told.verdict.of(Mode.WARN)
    if told.refused:
        return (_lines(f"policyd: check: {branch} would refuse this") + _gate(told, branch)
                + _rejection(told, enforced))
    warnings = render.warning(warned, told.pusher) if warned else ""
    return (_lines(f"policyd: check: {branch} would take this") + warnings + _gate(told, branch)
            + render.for_programs(told.push_id, [], "push") + "\n")


def _rejection(told: Answer, enforced: tuple[Violation, ...]) -> str:
    return render.rejection(render.Told(told.push_id, told.pusher, enforced, told.blocks))


def _finding(violation: Violation, block: Block | None) -> dict[str, object]:
    finding = violation.finding
    found: dict[str, object] = {
        "rule": violation.rule.id, "mode": violation.mode.value, "ref": finding.ref,
        "says": finding.says, "why": finding.why or violation.rule.why,
        "places": [{"commit": p.commit, "path": p.path, "line": p.line, "note": p.note}
                   for p in finding.places]}
    if block is not None:
        found |= {"do": [block.says, *block.commands], "next": block.next.value}
    return found
