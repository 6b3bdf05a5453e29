"""A receipt is recorded from a known commit of the guarded branch, apart from the source.

Looked at are the receipts that the push changes. The baseline is a commit that the branch holds:
what was recorded from anywhere else says nothing about it. A receipt, new, changed or removed,
and source never travel together, whoever pushes. An owner, where one is given, is a group of the
policy or stands in one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policyd.core.examples import MAIN, push, touching
from policyd.core.facts import Books, Need, Situation, Touch, Update
from policyd.core.owners import Members, is_known
from policyd.core.policy import Reach
from policyd.core.rows import Receipt, Record, Records
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_zones as _undefined
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`source`: the zone that receipts are about."""

    source: str = "source"

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        yield from _undefined(("source",), (self.source,), zones)


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for update in given.updates:
        if update.books is None:
            continue
        receipts = tuple(one for one in update.books.after.receipts
                         if one.path in update.books.changed)
        yield from _together(update, update.books, options)
        yield from _baselines(update, update.books, receipts)
        yield from _owners(update, receipts, given.members)


def _together(update: Update, books: Books, options: Options) -> Iterator[Finding]:
    kinds = {**books.before.kinds, **books.after.kinds}
    receipts = sorted(path for path in books.changed if kinds.get(path) is Record.RECEIPTS)
    source = [touch.path for touch in update.net if options.source in touch.zones]
    if receipts and source:
        yield Finding(
            ref=update.ref, says=f"{receipts[0]} + {source[0]}",
            scene="a receipt and source in one push",
            places=tuple(Place(path=path) for path in (receipts[0], source[0], *receipts[1:],
                                                       *source[1:])),
            repair=Repair("apart", Next.SPLIT, paths=tuple(receipts), words=(
                "two pushes: the receipts alone, then the source",)))


def _baselines(update: Update, books: Books, receipts: tuple[Receipt, ...]) -> Iterator[Finding]:
    lost = [one for one in receipts if one.baseline not in books.baselines]
    branch = update.branch or update.ref
    if lost:
        yield Finding(
            ref=update.ref, says=f"{lost[0].path}:{lost[0].baseline_line} has no baseline",
            scene=_count(lost),
            places=tuple(Place(path=one.path, line=one.baseline_line,
                               note=f"{one.baseline[:12]} is no commit of {branch}")
                         for one in lost),
            repair=Repair("edit", Next.EDIT, words=(
                f"record it again from a clean commit of {branch}, in a commit on top;",
                "its baseline is the whole id of that commit")),
            why="what was recorded from elsewhere says nothing about this branch.")


def _owners(update: Update, receipts: tuple[Receipt, ...], members: Members) -> Iterator[Finding]:
    strange = [one for one in receipts
               if one.owner is not None and not is_known(one.owner, members)]
    if strange:
        yield Finding(
            ref=update.ref, says=f"{strange[0].path}:{strange[0].line} owner unknown",
            scene=_count(strange),
            places=tuple(Place(path=one.path, line=one.line,
                               note=f"{one.owner} is no group and in none") for one in strange),
            repair=Repair("edit", Next.EDIT, words=(
                "name a group of the policy, or somebody in one, in a commit on top",)),
            why="who answers for a receipt is somebody who can be asked.")


def _count(receipts: list[Receipt]) -> str:
    return "1 receipt" if len(receipts) == 1 else f"{len(receipts)} receipts"


def _with(*receipts: Receipt, before: tuple[Receipt, ...] = (), net: tuple[Touch, ...] = (),
          changed: bool = True) -> Situation:
    kinds = {one.path: Record.RECEIPTS for one in (*receipts, *before)}
    books = Books(Records(receipts=before), Records(receipts=receipts, kinds=kinds),
                  frozenset(kinds if changed else ()), baselines=frozenset({_GOOD.baseline}))
    return push(touching(*net), update=replace(MAIN, books=books), name="mei",
                members={"maintainers": ("mei", "joe"), "agents": ("bot-*",)},
                groups=frozenset({"maintainers"}))


_GOOD = Receipt("oracle/receipts/tax.json", 1, "9" * 40, 3, "tax:total", "mei")
_ELSEWHERE, _STRANGE = replace(_GOOD, baseline="7" * 40), replace(_GOOD, owner="nobody")
_CODE, _TEST = Touch("src/tax.py", ("source",)), Touch("tests/test_tax.py", ("tests",))

RULE = Rule(
    id="recorded-receipts",
    why="a receipt that comes with its source proves what that source does.",
    fix="Record from a clean commit of the branch, and push the receipt alone.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("a receipt from a commit of the branch", _with(_GOOD, net=(_TEST,)), Options()),
        Example("no owner", _with(replace(_GOOD, owner=None)), Options()),
        Example("a group as owner", _with(replace(_GOOD, owner="maintainers")), Options()),
        Example("an owner by a pattern", _with(replace(_GOOD, owner="bot-3")), Options()),
        Example("an old receipt that the push leaves alone",
                _with(_ELSEWHERE, _STRANGE, net=(_CODE,), changed=False), Options()),
        Example("no record changed", push(touching(_CODE)), Options()),
    ),
    rejects=lambda: (
        Example("a baseline that the branch does not hold", _with(_ELSEWHERE), Options()),
        Example("a receipt with source, by a maintainer", _with(_GOOD, net=(_CODE,)), Options()),
        Example("a receipt removed with source", _with(before=(_GOOD,), net=(_CODE,)), Options()),
        Example("source by another zone's name", _with(_GOOD, net=(_TEST,)),
                Options(source="tests")),
        Example("an owner whom the policy does not know", _with(_STRANGE), Options()),
    ),
    needs=frozenset({Need.RECORDS}),
    on=Reach.GUARDED,
)
