"""Whoever may not write a record proposes it: in a form that is taken, and for others to adopt.

A proposal is a YAML file of the zone: `kind` (flake, quarantine, receipt, lease, literal,
relation, golden) and what such a one says. It never says what a maintainer decides: a last day,
an owner, a status, an expected value. A draft of a relation holds no number, no skip and no
freeze. Files of other suffixes are not read.

A proposal is not adopted by whom it came from: while it stands, or in the push that removes it,
the record that it asks for is not changed by a pusher who brought that file, under whatever name,
or who changed it since. A proposal that came before the repository was enrolled is anybody's.
Who drops one and records nothing, withdraws or turns it down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policyd.core.errors import Fault
from policyd.core.examples import MAIN, push, touching
from policyd.core.facts import Books, Need, Situation, Touch, Update
from policyd.core.owners import people
from policyd.core.policy import Reach
from policyd.core.proposals import Asks, Intake, Proposal, Unfit, adopted
from policyd.core.rows import DatedRow, Kind, Receipt, Records, Relation
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_zones as _undefined
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`zone`: where proposals are put."""

    zone: str = "proposals"

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        yield from _undefined(("zone",), (self.zone,), zones)


def check(given: Situation, options: Options) -> Iterator[Finding]:  # noqa: ARG001
    others = tuple(name for name in given.members.get("maintainers", ())
                   if name != given.pusher.name)
    for update in given.updates:
        if update.intake is None:
            continue
        yield from (_unfit(update, one) for one in update.intake.unfit)
        for own in update.intake.own:
            paths = adopted(update, own, update.intake.allowlist)
            if paths:
                yield _own(update, own, paths, others)


def _unfit(update: Update, one: Unfit) -> Finding:
    count = len(one.faults)
    return Finding(
        ref=update.ref, says=f"{one.path}:{one.faults[0].line} is no proposal",
        scene="1 fault" if count == 1 else f"{count} faults in one file",
        places=tuple(Place(path=one.path, line=fault.line, note=fault.message)
                     for fault in one.faults),
        repair=Repair("edit", Next.EDIT, words=(
            f"mend {'the line' if count == 1 else 'these lines'} in a commit on top; such a file "
            "says", *_broken(one.shape))))


def _broken(shape: str) -> tuple[str, ...]:
    """The shape on lines that fit; a line of a block is never broken later."""
    lines: list[str] = []
    for word in shape.split(" "):
        if lines and len(lines[-1]) + len(word) < 66:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return tuple(lines)


def _own(update: Update, own: Proposal, paths: tuple[str, ...],
         others: tuple[str, ...]) -> Finding:
    return Finding(
        ref=update.ref, says=f"{own.path} is your own",
        scene=f"kind {own.kind.value}",
        places=(Place(path=own.path, note="came by a push of yours"),
                *(Place(path=path, note="records it") for path in paths)),
        repair=Repair("elsewhere", Next.PROPOSE),
        why=f"a proposal is adopted by somebody else: {people(others) or 'nobody yet'}.")


def _with(*unfit: Unfit, own: tuple[Proposal, ...] = (), books: Books | None = None,
          touches: tuple[str, ...] = (), who: str = "mei") -> Situation:
    net = tuple(Touch(path, ("oracle",)) for path in touches)
    return push(
        touching(*net), update=replace(MAIN, books=books, intake=Intake(
            unfit, own=own, allowlist="oracle/allow-literals.txt")),
        name=who, members={"maintainers": ("mei", "joe")}, groups=frozenset({"maintainers"}))


def _books(before: Records, after: Records) -> Books:
    paths = {row.path for row in (*before.rows, *after.rows)}
    return Books(before, after, frozenset(paths | {one.path for one in after.receipts}))


_FILE = "proposals/flake-rates.yaml"
_NODE = "tests/test_api.py::test_rates"
_ROW = DatedRow(Kind.FLAKE, "tests/ledger/flake_ledger.json", 5, "api.rates", _NODE, "mei")
_RECEIPT = Receipt("oracle/receipts/tax.json", 1, "9" * 40, 3, "tax:total")
_MR05 = Relation("MR05", "oracle/relations/tax.yaml", 7, "policy")
_NONE, _ADDED = Records(), Records(rows=(_ROW,))
_DAY = Fault(_FILE, 3, 1, "a proposal has no last day; the maintainer who adopts it says until "
                          "when")
_LINE = Fault(_FILE, 2, 9, "'tests' is no node id")
_SHAPE = "kind: flake, nodeid, reason; if known max_runs, first_seen"


def _mine(kind: Asks, *subjects: str) -> tuple[Proposal, ...]:
    return (Proposal(kind, _FILE, subjects),)


RULE = Rule(
    id="fair-proposals",
    why="what is proposed can be read, and is adopted by somebody else.",
    fix="Say what the kind asks for and no more, and leave the adopting to a maintainer.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("proposals that can be read", _with(), Options()),
        Example("a row that was not proposed by who adds it",
                _with(books=_books(_NONE, _ADDED)), Options()),
        Example("a row about something else than what was proposed", _with(
            own=_mine(Asks.FLAKE, "tests/test_api.py::test_other"),
            books=_books(_NONE, _ADDED)), Options()),
        Example("the same node in the quarantine", _with(
            own=_mine(Asks.QUARANTINE, _NODE), books=_books(_NONE, _ADDED)), Options()),
        Example("a proposal withdrawn, and nothing recorded",
                _with(own=_mine(Asks.FLAKE, _NODE)), Options()),
        Example("no proposal", push(), Options()),
    ),
    rejects=lambda: (
        Example("a date and a node id that are none of a proposal's",
                _with(Unfit(_FILE, (_LINE, _DAY), _SHAPE)), Options()),
        Example("a row by who proposed it", _with(
            own=_mine(Asks.FLAKE, _NODE), books=_books(_NONE, _ADDED)), Options()),
        Example("a row that is dated anew by who proposed it", _with(
            own=_mine(Asks.FLAKE, _NODE),
            books=_books(Records(rows=(replace(_ROW, owner="joe"),)), _ADDED)), Options()),
        Example("a receipt by who proposed it", _with(
            own=_mine(Asks.RECEIPT, "tax:total"),
            books=_books(_NONE, Records(receipts=(_RECEIPT,)))), Options()),
        Example("a relation by who drafted it", _with(
            own=_mine(Asks.RELATION, "MR05"),
            books=_books(_NONE, Records(relations=(_MR05,)))), Options()),
        Example("a literal by who proposed it", _with(
            own=_mine(Asks.LITERAL, "EUR"), touches=("oracle/allow-literals.txt",)), Options()),
        Example("a recording by who proposed it", _with(
            own=_mine(Asks.GOLDEN, "tests/snap/bill.json"),
            touches=("tests/snap/bill.json",)), Options()),
        Example("a patch by who proposed it", _with(
            own=_mine(Asks.PATCH, "oracle/rates.json"), touches=("oracle/rates.json",)),
                Options()),
    ),
    needs=frozenset({Need.PROPOSALS, Need.RECORDS}),
    on=Reach.GUARDED,
)
