"""Dated rows and relations go, or count less, by a maintainer's hand alone.

A row is known by its kind and by what it is about, a relation by its id: moving one to another
file or line, re-dating or renaming it, loses nothing. A relation counts less when it no longer
blocks or may be frozen now; a policy row that is gone while its relation stands blocks again,
and that is no loss. What maintainers remove is said in the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policyd.core.examples import MAIN, push, touching
from policyd.core.facts import Books, Need, Situation, Touch, Update
from policyd.core.owners import people
from policyd.core.policy import Reach
from policyd.core.rowchanges import Left, left
from policyd.core.rows import DatedRow, Kind, Records, Relation
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_groups as _undefined
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`by`: the groups whose members may remove rows and relations, and weaken these."""

    by: tuple[str, ...] = ("maintainers",)

    def faults(self, zones: frozenset[str],  # noqa: ARG002
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:
        yield from _undefined(("by",), self.by, groups)


def check(given: Situation, options: Options) -> Iterator[Finding]:
    if given.pusher.groups & set(options.by):
        return
    names = tuple(dict.fromkeys(
        name for group in options.by for name in given.members.get(group, ())))
    for update in given.updates:
        gone = left(update.books) if update.books is not None else ()
        if gone:
            yield _finding(update, gone, names)


def _finding(update: Update, gone: tuple[Left, ...], names: tuple[str, ...]) -> Finding:
    first = gone[0]
    return Finding(
        ref=update.ref, says=f"{first.path}:{first.line} is {first.how.value}",
        scene="1 row" if len(gone) == 1 else f"{len(gone)} rows",
        places=tuple(_place(one) for one in gone), repair=_repair(update, gone),
        why=f"rows and relations are taken out by {people(names) or 'nobody'} alone.")


def _place(one: Left) -> Place:
    what = f", {one.note}" if one.note else ""
    return Place(path=one.path, line=one.line,
                 note=f"{one.kind} {one.id} {one.how.value}{what}")


def _repair(update: Update, gone: tuple[Left, ...]) -> Repair:
    """What only arrives cannot be given back: a listed writer makes that very push."""
    brought = {touch.path for _, touch in update.touched(arriving=False)}
    paths = tuple(dict.fromkeys(one.path for one in gone))
    if brought & set(paths):
        return Repair("give-back", Next.SPLIT, paths=paths)
    return Repair("writer-pushes", Next.STOP)


def _with(before: Records, after: Records, name: str = "agent-7", group: str = "agents",
          *, arriving: bool = False) -> Situation:
    paths = {row.path for row in before.rows} | {one.path for one in before.relations}
    touches = tuple(Touch(path, ("ledger",)) for path in sorted(paths))
    books = Books(before, after, frozenset(paths))
    return push(*(() if arriving else (touching(*touches),)), update=replace(MAIN, books=books),
                arrivals=touches, name=name, groups=frozenset({group}),
                members={"maintainers": ("mei", "joe")})


def _tables(*relations: Relation) -> Records:
    return Records(rows=tuple(_DUE for one in relations if one.status == "policy"),
                   relations=relations)


_FILE = "tests/ledger/flake_ledger.json"
_ROW = DatedRow(Kind.FLAKE, _FILE, 5, "api.rates", "tests/test_api.py::test_rates", "billing")
_FROZEN = DatedRow(Kind.QUARANTINE, "oracle/quarantine.yaml", 2, "api.slow",
                   "tests/test_api.py::test_slow", "joe")
_BLOCKS = Relation("MR05", "oracle/relations/tax.yaml", 7, "blocking")
_WARNS, _LOOSE = replace(_BLOCKS, status="policy"), replace(_BLOCKS, freezable=True)
_DUE = DatedRow(Kind.POLICY, _BLOCKS.path, 7, "MR05", "MR05", "joe")
_TWO, _ONE = Records(rows=(_ROW, _FROZEN)), Records(rows=(_FROZEN,))

RULE = Rule(
    id="kept-rows",
    why="rows and relations are taken out by maintainers alone.",
    fix="Leave the row; tell a maintainer why it may go.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("a row removed by a maintainer", _with(_TWO, _ONE, "mei", "maintainers"),
                Options()),
        Example("a row removed by a group that the policy names",
                _with(_TWO, _ONE, "ledger-bot", "bookkeepers"), Options(by=("bookkeepers",))),
        Example("a row under another id and on another line", _with(
            _TWO, Records(rows=(_FROZEN, replace(_ROW, id="rates", line=9)))), Options()),
        Example("a relation that blocks again, and whose policy row goes",
                _with(_tables(_WARNS), _tables(_BLOCKS)), Options()),
        Example("a row that is added", _with(_ONE, _TWO), Options()),
        Example("no record changed", push(), Options()),
    ),
    rejects=lambda: (
        Example("a row removed by an agent", _with(_TWO, _ONE), Options()),
        Example("a relation removed by an agent",
                _with(_tables(_BLOCKS), _tables()), Options()),
        Example("a relation that no longer blocks",
                _with(_tables(_BLOCKS), _tables(_WARNS)), Options()),
        Example("a relation that may be frozen now",
                _with(_tables(_BLOCKS), _tables(_LOOSE)), Options()),
        Example("every row, when the file goes", _with(_TWO, Records()), Options()),
        Example("a removal that arrives from another branch",
                _with(_TWO, _ONE, arriving=True), Options()),
    ),
    needs=frozenset({Need.RECORDS}),
    on=Reach.GUARDED,
)
