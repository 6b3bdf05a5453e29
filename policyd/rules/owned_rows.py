"""Every dated row that a push adds or changes is owned by somebody who can be asked.

That is a group of the policy, somebody in one, or a name that the policy lists as an owner. Rows
that stay as they are keep the owner that they have, also one who left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from policyd.core.examples import MAIN, push
from policyd.core.facts import Books, Need, Situation, Update
from policyd.core.owners import is_known
from policyd.core.policy import Reach
from policyd.core.rowchanges import changed
from policyd.core.rows import DatedRow, Kind, Records
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`owners`: names besides those in the policy's groups, such as teams."""

    owners: tuple[str, ...] = ()


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for update in given.updates:
        if update.books is None:
            continue
        rows = tuple(row for row in changed(update.books)
                     if row.owner not in options.owners
                     and not is_known(row.owner, given.members))
        if rows:
            yield _finding(update, rows)


def _finding(update: Update, rows: tuple[DatedRow, ...]) -> Finding:
    return Finding(
        ref=update.ref, says=f"{rows[0].path}:{rows[0].line} has no known owner",
        scene="1 row" if len(rows) == 1 else f"{len(rows)} rows",
        places=tuple(Place(path=row.path, line=row.line, note=_note(row)) for row in rows),
        repair=Repair("edit", Next.EDIT, words=(
            "name a group of the policy, or somebody in one, in a commit on top",)))


def _note(row: DatedRow) -> str:
    owner = f"{row.owner} is no group and in none" if row.owner else "no owner"
    return f"{row.kind.value} {row.id}: {owner}"


def _with(*rows: DatedRow, before: Iterable[DatedRow] = ()) -> Situation:
    books = Books(Records(rows=tuple(before)), Records(rows=rows), frozenset({_MEI.path}))
    return push(update=replace(MAIN, books=books), name="mei", groups=frozenset({"maintainers"}),
                members={"maintainers": ("mei", "joe"), "agents": ("bot-*",)})


_MEI = DatedRow(Kind.FLAKE, "tests/ledger/flake_ledger.json", 5, "api.rates",
                "tests/test_api.py::test_rates", "mei", "answers 429")
_GONE = replace(_MEI, owner="kim")
_OTHER = replace(_MEI, subject="tests/test_api.py::test_slow", id="api.slow", line=9)

RULE = Rule(
    id="owned-rows",
    why="debt that nobody answers for is never settled.",
    fix="Name a group of the policy, or somebody in one, as the owner of the row.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("somebody in a group", _with(_MEI), Options()),
        Example("a group", _with(replace(_MEI, owner="maintainers")), Options()),
        Example("somebody by a pattern", _with(replace(_MEI, owner="bot-3")), Options()),
        Example("a team that the policy lists", _with(replace(_MEI, owner="billing")),
                Options(owners=("billing",))),
        Example("an old row of somebody who left, beside a new one",
                _with(replace(_GONE, line=6), _OTHER, before=(_GONE,)), Options()),
        Example("no record changed", push(), Options()),
    ),
    rejects=lambda: (
        Example("a new row of somebody unknown", _with(_GONE, _OTHER), Options()),
        Example("an old row of somebody unknown that is changed",
                _with(replace(_GONE, reason="still answers 429"), before=(_GONE,)), Options()),
        Example("a row that is handed to somebody unknown", _with(_GONE, before=(_MEI,)),
                Options()),
        Example("a row without an owner", _with(replace(_MEI, owner="")), Options()),
    ),
    needs=frozenset({Need.RECORDS}),
    on=Reach.GUARDED,
)
