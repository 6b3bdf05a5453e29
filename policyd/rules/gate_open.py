"""A closed gate stops source, and nothing else.

The gate is that of the branch with the records that the push would leave, so that the push that
settles a row opens it. Documentation, tests and records pass a closed gate, and so does a
maintainer's revert to what was accepted before. Closed by a dated
row that is over, by a record that cannot be read, by a leased corpus that is another one, by an
operator's hold, or by a movement of the branch that no accepted push explains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from policyd.core import closure
from policyd.core.examples import MAIN, push, touching
from policyd.core.facts import Need, Situation, Touch, Update
from policyd.core.gates import Cause, Gate, Reason
from policyd.core.policy import Reach
from policyd.core.rows import Kind
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_zones as _undefined
from policyd.core.values import dataclass

_PLAIN = re.compile(r"[A-Za-z0-9_./-]{1,40}")


@dataclass(frozen=True, slots=True)
class Options:
    """`source`: the zone that a closed gate stops."""

    source: str = "source"

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        yield from _undefined(("source",), (self.source,), zones)


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for update in given.updates:
        if not update.guarded or update.gate is None or update.gate.is_open or update.revert:
            continue
        path = next((touch.path for touch in (*update.net, *update.arrivals)
                     if options.source in touch.zones), None)
        if path is not None:
            yield _finding(given, update, update.gate.reasons, path)


def _finding(given: Situation, update: Update, reasons: tuple[Reason, ...],
             path: str) -> Finding:
    more = f" and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    branch = update.branch or update.ref
    return Finding(
        ref=update.ref, says=f"{branch} closed by {closure.brief(reasons[0])}{more}; {path}",
        scene="closed to source",
        places=tuple(Place(path=reason.path, line=reason.line,
                           note=closure.note(reason, given.members, first=number == 0))
                     for number, reason in enumerate(reasons)),
        repair=_repair(given, update, reasons[0], branch), why=closure.WHY[reasons[0].cause])


def _repair(given: Situation, update: Update, reason: Reason, branch: str) -> Repair:
    if update.stands is not None and update.stands.is_open:
        return Repair("edit", Next.EDIT, words=(
            f"the gate is open; this push closes it by {closure.brief(reason)}.",
            "put that right in a commit on top, or leave it out of the push"))
    settled = closure.settled_by(reason, branch)
    if "maintainers" in given.pusher.groups:
        return Repair("wait", Next.WAIT, words=(
            "nothing in your push is wrong; keep it until the gate is open:",
            f"first: {settled}", *_question(update)))
    return Repair("wait", Next.WAIT, words=(
        "nothing in your push is wrong and nothing you push opens it.",
        f'tell {closure.whom(reason, given.members)}: "{closure.news(reason, branch)}"',
        *((f"maintainers: {settled}",) if reason.path is not None else ()),
        *_question(update)))


def _question(update: Update) -> tuple[str, ...]:
    """How to ask whether it is open again, where the branch's name needs no quotes."""
    if update.branch is None or not _PLAIN.fullmatch(update.branch):
        return ()
    return (f"open again? git push origin HEAD:refs/check/{update.branch}",)


def _at(gate: Gate, *touches: Touch, stands: Gate | None = None, **more: Any) -> Situation:
    update = replace(MAIN, gate=gate, stands=stands or gate)
    return push(touching(*touches), update=update, members=_MEMBERS, **more)


_MEMBERS = {"maintainers": ("mei", "joe"), "billing": ("mei", "joe")}
_CODE, _DOCS = Touch("src/app.py", ("source",)), Touch("docs/tax.md", ("docs",))
_OPEN = Gate(MAIN.ref)
_DUE = Reason(Cause.EXPIRED, "row billing.currency", "tests/ledger/flake_ledger.json", 5,
              "billing.currency", Kind.FLAKE, "billing", date(2026, 9, 22))
_DRIFT = Reason(Cause.DRIFTED, "lease rates: fixtures/data/rates.csv is absent",
                "fixtures/leases/rates.yaml", 3, "rates", Kind.LEASE, "joe", date(2027, 1, 31))
_FAULT = Reason(Cause.INVALID, "expected a date", "oracle/quarantine.yaml", 4)
_HOLD = Reason(Cause.HELD, "held by ops: fire drill", owner="ops")
_MOVED = Reason(Cause.MOVED, "moved past policyd, 9d8e11c00000 to 71aa0c200000")
_CLOSED = Gate(MAIN.ref, (_DUE,))

RULE = Rule(
    id="gate-open",
    why="a closed gate stops source until a maintainer settles what closed it.",
    fix="Keep the work on a branch; a maintainer settles what closed the gate, in its own push.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("source through an open gate", _at(_OPEN, _CODE), Options()),
        Example("no source through a closed gate", _at(_CLOSED, _DOCS), Options()),
        Example("source where no gate binds", push(touching(_CODE)), Options()),
        Example("a maintainer's return to an earlier accepted state", push(
            touching(_CODE), update=replace(MAIN, gate=_CLOSED, stands=_CLOSED, revert=True),
            name="mei", groups=frozenset({"maintainers"})), Options()),
        Example("source on a branch that is not guarded", push(
            touching(_CODE), update=replace(MAIN, guarded=False, gate=_CLOSED)), Options()),
        Example("source that judged commits bring and the net change does not",
                _at(_CLOSED, _CODE, net=()), Options()),
        Example("another zone than the one that is stopped", _at(_CLOSED, _CODE),
                Options(source="docs")),
    ),
    rejects=lambda: (
        Example("source while a row is over", _at(_CLOSED, _CODE), Options()),
        Example("source by a maintainer", _at(
            _CLOSED, _CODE, name="mei", groups=frozenset({"maintainers"})), Options()),
        Example("source that arrives from another guarded branch",
                _at(_CLOSED, arrivals=(_CODE,)), Options()),
        Example("source past an operator's hold", _at(Gate(MAIN.ref, (_HOLD,)), _CODE), Options()),
        Example("source on a branch that moved by itself", _at(
            Gate(MAIN.ref, (_MOVED,)), _CODE, name="mei", groups=frozenset({"maintainers"})),
            Options()),
        Example("source past a leased corpus that is gone, and more", _at(
            Gate(MAIN.ref, (_DRIFT, _DUE)), _CODE), Options()),
        Example("source past a record that cannot be read", _at(
            Gate(MAIN.ref, (_FAULT,)), _CODE), Options()),
        Example("source with the very change that closes the gate", _at(
            Gate(MAIN.ref, (_FAULT,)), _CODE, stands=_OPEN), Options()),
    ),
    needs=frozenset({Need.GATE}),
    on=Reach.GUARDED,
)
