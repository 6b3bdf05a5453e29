"""Code answers its tests as it answers everybody: by what it computes.

Refused is a branch that source gains and that answers an input of a test with the result that the
test wants: one with a telling input (text of 4 characters, numbers of 3 digits), or two. What
everybody writes (0, 1, 2, "", None, True, one character) tells nothing. Where a test wants a
result that cannot be read, two such branches count, by inputs that are no mere words. A table
counts as a whole: where tests hold less than half of its entries it is data. Samples of tests
that the push leaves alone count too.

Refused is also what only its judge can be the reason for: to look whether a test is running, to
end the process past every handler, to be equal to anything, to change the runner or the standard
streams, to name a path in a protected zone, to import a test, and a new module at the top of the
source that has the name of a test runner, which it would stand in for. Moves, cherry-picks and
backports gain nothing. Inputs that are joined into one text count like those that stand apart; of
parts of an input only what no dispatch by prefix looks for. Answers that are computed from a key
elsewhere or lie in a data file, true/false answers and tables that are padded are a known gap:
running relations on other inputs is what answers them.
Source that cannot be read, and could be read before or is new, cannot be cleared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from policyd.core import modules, unread
from policyd.core.answerkey import Answered, answers
from policyd.core.content import Changed, Content, gained, leads_to
from policyd.core.examples import MAIN, push
from policyd.core.facts import Need, Situation, Unreadable, Update
from policyd.core.policy import Reach
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_zones as _undefined
from policyd.core.sheet import Keyed, Opened, Sample, Sheet, Suspect, Trick
from policyd.core.values import dataclass

PROTECTED = ("oracle", "ledger", "manifest", "tests")
SOFT = ("sys.exit", "SystemExit", "process.exitCode")
"""Ends that a caller can catch, or that come later."""

_STAND_INS = re.compile(
    r"(?:(?:src|lib|source|python)/)?(_?pytest|pluggy|unittest|doctest|nose2?|hypothesis"
    r"|testtools|sitecustomize|usercustomize)(?:/__init__)?\.pyi?")
"""Modules that the runner, or Python before it, would take for its own; deeper ones it would not.
A conftest.py is no stand-in: what may write it is `protected-writers`."""
_TEST = re.compile(
    r"(?:.*/)?(?:(?:test_[^/]*|[^/]*_test|[^/]*\.(?:test|spec)|conftest)\.\w+"
    r"|(?:__)?tests?(?:__)?/.*)")
"""Tests that stand beside the source."""


@dataclass(frozen=True, slots=True)
class Options:
    """Where code and its exam stand.

    `source`: the zone of the code.
    `tests`: the zone of the tests whose inputs count.
    `protected`: zones whose paths source does not name.
    `exits`: `hard` are ends past every handler; `all` are those too that a caller can catch,
    outside of what is a command line.
    `allow`: calls, variables, paths and modules that source may use all the same, as a rejection
    names them.
    """

    source: str = "source"
    tests: str = "tests"
    protected: tuple[str, ...] = PROTECTED
    exits: Literal["hard", "all"] = "hard"
    allow: tuple[str, ...] = ()

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        yield from _undefined(("source",), (self.source,), zones)
        yield from _undefined(("tests",), (self.tests,), zones)
        if self.protected != PROTECTED:  # a policy need not have all of the usual ones
            for name in self.protected:
                yield from _undefined(("protected", name), (name,), zones)

    def reads(self) -> tuple[str, ...]:
        return (self.source, self.tests)


@dataclass(frozen=True, slots=True)
class _Hit:
    """A place, what the first line says of it, and what to do instead."""

    place: Place
    says: str
    instead: str


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for update in given.updates:
        if update.content is None or update.revert:
            continue
        source = tuple(update.content.of(options.source))
        lost = unread.newly(update.content, source)
        if lost:
            yield unread.finding(update.ref, lost, "source that is looked at")
        hits = [*_keyed(source, update.content, options), *_tricks(source, options),
                *_named(source, options), *_imported(source, options),
                *_shadows(source, options)]
        if hits:
            yield _finding(update, hits)


def _keyed(source: tuple[Changed, ...], content: Content, options: Options) -> Iterator[_Hit]:
    changed = {file.path: file.after.samples for file in content.of(options.tests)
               if file.after is not None}
    for one in answers(source, {**content.samples, **changed}):
        line = f"{one.test}:{one.sample.line}"
        yield _Hit(Place(path=one.path, line=one.keyed.line, note=_answer(one, line)),
                   f"answers {line}", "compute the result, for inputs that no test gives as well")


def _answer(one: Answered, line: str) -> str:
    given = ", ".join(map(_short, one.keyed.given))
    return f"answers {given} with {_short(one.keyed.result)}, as {line} asks"


def _short(value: str) -> str:
    return value if len(value) <= 30 else f"{value[:27]}..."


_TRICKS = {
    Trick.SENSES: ("looks whether it is tested", "let a test run what everybody runs"),
    Trick.EXITS: ("ends the process", "raise, and let the caller end the process"),
    Trick.PLEASES: ("pleases every comparison", "compare what the values are"),
    Trick.PATCHES: ("changes its judge", "leave runner, assertions and standard streams as they "
                                         "are"),
}


def _tricks(source: tuple[Changed, ...], options: Options) -> Iterator[_Hit]:
    found = gained(source, lambda sheet: sheet.suspects, lambda one: (one.trick, one.what))
    passed = {*options.allow, *(SOFT if options.exits == "hard" else ())}
    for file, one in found:
        if one.trick in _TRICKS and one.what not in passed:
            says, instead = _TRICKS[one.trick]
            yield _Hit(Place(path=file.path, line=one.line, note=f"{says}: {_short(one.what)}"),
                       says, instead)


def _named(source: tuple[Changed, ...], options: Options) -> Iterator[_Hit]:
    """A path counts once a line, whether it is opened or only named."""
    told: set[tuple[str, int]] = set()
    for file, one in gained(source, _paths, lambda one: one.path):
        zones = {zone for where in leads_to(file.path, one.path, one.base)
                 for zone in file.leads.get(where, ()) if zone in options.protected}
        if zones and one.path not in options.allow and (file.path, one.line) not in told:
            told.add((file.path, one.line))
            says = f"names a path in {', '.join(sorted(zones))}"
            yield _Hit(Place(path=file.path, line=one.line, note=f"{says}: {one.path}"), says,
                       "take the data as an argument; what judges the code is not its to read")


def _paths(sheet: Sheet) -> Iterator[Opened]:
    yield from sheet.opened
    yield from (Opened(one.line, one.what, "unknown") for one in sheet.suspects
                if one.trick is Trick.READS)


def _imported(source: tuple[Changed, ...], options: Options) -> Iterator[_Hit]:
    """No line is known."""
    for file, use in gained(source, lambda sheet: sheet.imports, lambda one: one):
        zones = file.leads.get(modules.place_of(use, file.path), ())
        if options.tests in zones and use not in options.allow and not _TEST.fullmatch(file.path):
            yield _Hit(Place(path=file.path, note=f"imports a test: {_short(use)}"),
                       "imports a test", "keep what both need in the source")


def _shadows(source: tuple[Changed, ...], options: Options) -> Iterator[_Hit]:
    for file in source:
        found = _STAND_INS.fullmatch(file.path)
        if file.is_new and file.after is not None and found and found[1] not in options.allow:
            yield _Hit(Place(path=file.path, line=1, note=f"stands in for {found[1]}"),
                       f"stands in for {found[1]}", "give the module another name")


def _finding(update: Update, hits: list[_Hit]) -> Finding:
    first = hits[0]
    instead = dict.fromkeys(hit.instead for hit in hits)
    return Finding(
        ref=update.ref, says=f"{_at(first.place)} {first.says}",
        scene="1 place" if len(hits) == 1 else f"{len(hits)} places",
        places=tuple(hit.place for hit in hits),
        repair=Repair("edit", Next.EDIT, words=(
            f"take {'it' if len(hits) == 1 else 'them'} out, in a commit on top, and instead:",
            *instead)))


def _at(place: Place) -> str:
    return f"{place.path}:{place.line}" if place.line else f"{place.path}"


def _with(source: Sheet, tests: Sheet = Sheet(), *, before: Sheet = Sheet(),  # noqa: B008
          leads: dict[str, tuple[str, ...]] | None = None, **more: Any) -> Situation:
    files = (Changed("src/ship.py", ("source",), source, (before,), leads=leads or {}),
             Changed("tests/test_ship.py", ("tests",), tests))
    return push(update=replace(MAIN, content=Content(files, **more)))


def _of(*files: Changed) -> Situation:
    return push(update=replace(MAIN, content=Content(files)))


def _table(count: int, line: int = 2) -> tuple[Keyed, ...]:
    return tuple(Keyed(line + n, (str(400 + n),), f'"HTTP {n}"', "table") for n in range(count))


_BRANCH = Keyed(2, ('"ORD-2291"',), '"SHIPPED-EAST"')
_CASE = Sample(4, ('"ORD-2291"',), '"SHIPPED-EAST"')
_EXAM = Sheet(samples=(_CASE,))
_SENSES = Suspect(Trick.SENSES, 3, "PYTEST_CURRENT_TEST")
_RECEIPT = "oracle/receipts/tax.json"

RULE = Rule(
    id="no-answer-key",
    why="code that knows its exam is right about nothing else.",
    fix="Compute the result for every input, and leave the judge alone.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("source that could not be read before either", push(update=replace(
            MAIN, content=Content((Changed("src/old.py", ("source",), Sheet()),), (
                Unreadable("src/old.py", 1, "not Python 3.11 (Python 2?)"),)))), Options()),
        Example("a branch whose input no test gives", _with(Sheet(keyed=(_BRANCH,))), Options()),
        Example("a test that wants another result", _with(
            Sheet(keyed=(_BRANCH,)), Sheet(samples=(replace(_CASE, result='"LOST"'),))),
            Options()),
        Example("a branch that was there before", _with(
            Sheet(keyed=(replace(_BRANCH, line=9),)), _EXAM, before=Sheet(keyed=(_BRANCH,))),
            Options()),
        Example("a base case", _with(
            Sheet(keyed=(Keyed(2, ("0",), "1"), Keyed(4, ("1",), "1"))),
            Sheet(samples=(Sample(3, ("0",), "1"), Sample(4, ("1",), "1")))), Options()),
        Example("a predicate", _with(
            Sheet(keyed=(Keyed(2, ('"true"',), "True"), Keyed(4, ('"false"',), "False"))),
            Sheet(samples=(Sample(3, ('"true"',), "True"), Sample(4, ('"false"',), "False")))),
            Options()),
        Example("a table of which a test holds one entry", _with(
            Sheet(keyed=_table(5)), Sheet(samples=(Sample(3, ("404",), '"HTTP 4"'),))),
            Options()),
        Example("one entry more in a table of many", _with(
            Sheet(keyed=_table(5)), Sheet(samples=(Sample(3, ("404",), '"HTTP 4"'),)),
            before=Sheet(keyed=_table(4))), Options()),
        Example("options whose results no test tells", _with(
            Sheet(keyed=(Keyed(2, ('"fast"',), '"quick"'), Keyed(4, ('"slow"',), '"exact"'))),
            Sheet(samples=(Sample(3, ('"fast"',)), Sample(4, ('"slow"',))))), Options()),
        Example("a call that the policy allows", _with(
            Sheet(suspects=(Suspect(Trick.EXITS, 3, "os._exit"),))),
            Options(allow=("os._exit",))),
        Example("an end that a caller can catch", _with(
            Sheet(suspects=(Suspect(Trick.EXITS, 3, "sys.exit"),))), Options()),
        Example("a path that nobody protects", _with(
            Sheet(opened=(Opened(3, "data/rates.csv"),)),
            leads={"data/rates.csv": (), "src/data/rates.csv": ("source",)}), Options()),
        Example("a module of the project that is imported", _with(
            Sheet(imports=("rates", ".units")), leads={"rates": (), "src/units": ("source",)}),
            Options()),
        Example("a test beside the source that imports what tests share", _of(
            Changed("src/ship.test.ts", ("source",), Sheet(imports=("../tests/orders",)),
                    leads={"tests/orders": ("tests",)})), Options()),
        Example("a runner's name deeper in a package, and names that resemble", _of(
            Changed("src/ship/pytest.py", ("source",), Sheet(), is_new=True),
            Changed("src/pytest_orders.py", ("source",), Sheet(), is_new=True)), Options()),
        Example("what is there already, under a runner's name", _of(
            Changed("src/pytest.py", ("source",), Sheet(), (Sheet(),))), Options()),
        Example("a dispatch by prefix", _with(
            Sheet(keyed=(Keyed(2, ('"https://"',), '"secure"', "other"),)),
            Sheet(samples=(Sample(4, ('"https://a.example"',), '"secure"'),))), Options()),
        Example("a look at the runner that only moves", _with(
            Sheet(suspects=(_SENSES,)), before=Sheet(suspects=(replace(_SENSES, line=30),))),
            Options()),
        Example("a maintainer's return to an earlier accepted state", push(update=replace(
            _with(Sheet(keyed=(_BRANCH,)), _EXAM).updates[0], revert=True)), Options()),
    ),
    rejects=lambda: (
        Example("source in a syntax that the server does not know", push(update=replace(
            MAIN, content=Content((Changed("src/ship.py", ("source",), Sheet(), is_new=True),), (
                Unreadable("src/ship.py", 3, "not Python 3.11 (newer syntax?)"),)))), Options()),
        Example("the special case of a test", _with(Sheet(keyed=(_BRANCH,)), _EXAM), Options()),
        Example("the special case of a test that the push leaves alone", _with(
            Sheet(keyed=(_BRANCH,)), samples={"tests/test_old.py": (_CASE,)}), Options()),
        Example("a table of what a test asks", _with(
            Sheet(keyed=(Keyed(2, ("10",), "55", "table"), Keyed(3, ("20",), "6765", "table"))),
            Sheet(samples=(Sample(3, ("10",), "55"), Sample(4, ("20",), "6765")))), Options()),
        Example("inputs of a test that are joined", _with(
            Sheet(keyed=(Keyed(2, ('"0.50LU"',), '"0.08"', "other"),)),
            Sheet(samples=(Sample(4, ('"0.50"', '"LU"'), '"0.08"'),))), Options()),
        Example("a part of an input, and a whole one", _with(
            Sheet(keyed=(Keyed(2, ("9", '"one two"'), '"one-two"', "other"),)),
            Sheet(samples=(Sample(4, ('"one two three"', "9"), '"one-two"'),))), Options()),
        Example("a module of the tests that source imports", _with(
            Sheet(imports=("tests.orders",)), leads={"tests/orders": ("tests",)}), Options()),
        Example("a module that stands in for the runner", _of(
            Changed("src/pytest.py", ("source",), Sheet(), is_new=True)), Options()),
        Example("two inputs of tests whose results cannot be read", _with(
            Sheet(keyed=(_BRANCH, Keyed(4, ('"ORD-2292"',), '"SHIPPED-WEST"'))),
            Sheet(samples=(Sample(3, ('"ORD-2291"',)), Sample(4, ('"ORD-2292"',))))),
            Options()),
        Example("a look whether a test is running", _with(Sheet(suspects=(_SENSES,))), Options()),
        Example("an end past every handler", _with(
            Sheet(suspects=(Suspect(Trick.EXITS, 3, "os._exit"),))), Options()),
        Example("any end, where the policy says so", _with(
            Sheet(suspects=(Suspect(Trick.EXITS, 3, "sys.exit"),))), Options(exits="all")),
        Example("a result that is equal to anything", _with(
            Sheet(suspects=(Suspect(Trick.PLEASES, 3, "Result.__eq__"),))), Options()),
        Example("a runner that is changed, and much else", _with(
            Sheet(keyed=(_BRANCH,), suspects=(Suspect(Trick.PATCHES, 3, "sys.stdout"), _SENSES)),
            _EXAM), Options()),
        Example("an oracle that source reads", _with(
            Sheet(opened=(Opened(5, _RECEIPT),), suspects=(Suspect(Trick.READS, 5, _RECEIPT),)),
            leads={_RECEIPT: ("oracle",)}), Options()),
        Example("an oracle that source names by its own folder", _with(
            Sheet(suspects=(Suspect(Trick.READS, 5, f"../{_RECEIPT}"),)),
            leads={_RECEIPT: ("oracle",)}), Options()),
    ),
    needs=frozenset({Need.CONTENT, Need.SAMPLES}),
    on=Reach.GUARDED,
    lenient=True,
)
