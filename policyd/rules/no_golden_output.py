"""No push brings both the code and a recording of what that code prints.

A recording is a file below `golden`: a snapshot, a cassette, an expected output. Any change of one
counts, its removal, a submodule and a link in its place too, in the net change of an update that
changes source as well. Source code and tests below folders with such names are no recordings.
So is what JSON below the tests wants: objects with a key such as `expected`, or `output` beside
`input`, that the update adds, changes or takes away; a file without such keys is an input. And so
is a snapshot that a test spells out (`snapshot(...)`, `toMatchInlineSnapshot`). Not seen are
results in YAML and CSV and under other keys, which `golden` may name. A recording that goes
together with the one module of its name, while no source is added, is no change of it.
What is recorded apart from the source passes here; a zone of the same globs with writers makes it
theirs alone (protected-writers). Values that stand in the tests themselves: no-recorded-value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from policyd.core.content import Changed, Content, gained, lost
from policyd.core.examples import MAIN, push, touching
from policyd.core.facts import Need, Situation, Touch, Update
from policyd.core.policy import Reach
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_zones as _undefined
from policyd.core.sheet import Assertion, Kind, Sample, Sheet, Test
from policyd.core.values import dataclass

_TEST = re.compile(r"(.*/)?(test_[^/]*|[^/]*_test|[^/]*\.(test|spec)|conftest|__init__)\.\w+")
_CODE = re.compile(
    r".*\.(py[iw]?|go|rs|java|kts?|scala|swift|c|cc|cpp|h|hpp|cs|rb|php|[cm]?[jt]sx?)")
_DATA = re.compile(r".*\.json")
_FILE = re.compile(r'"[\w./-]*\.\w{1,6}"')
"""The name of a recording instead of one: `snapshot("report.txt")`."""
TESTS = "tests"


@dataclass(frozen=True, slots=True)
class Options:
    """What is recorded, and what it is recorded from.

    `golden`: globs of recordings.
    `source`: the zone of the code.
    `tests`: the zone of the tests, whose data and inline snapshots count.
    """

    golden: tuple[str, ...] = (
        "**/__snapshots__", "**/*.snap", "**/*.ambr", "**/cassettes", "**/golden", "**/goldens",
        "**/*.golden", "**/*.approved.*", "tests/**/expected", "tests/**/*.expected",
        "tests/**/*.expected.*", "tests/**/snapshots")
    source: str = "source"
    tests: str = TESTS

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        yield from _undefined(("source",), (self.source,), zones)
        if self.tests != TESTS:  # a policy need not have the usual one
            yield from _undefined(("tests",), (self.tests,), zones)

    def globs(self) -> tuple[str, ...]:
        """Each becomes a zone of its own name."""
        return self.golden

    def reads(self) -> tuple[str, ...]:
        return (self.source, self.tests)


@dataclass(frozen=True, slots=True)
class _Inside:
    """What only reading shows. `lines` are those of inline snapshots, by path."""

    data: frozenset[str] = frozenset()
    lines: tuple[Place, ...] = ()
    adds_source: bool = False


def check(given: Situation, options: Options) -> Iterator[Finding]:
    """The steps of a merge queue are looked at one by one: each was a change of its own."""
    for update in given.updates:
        if update.revert:
            continue
        inside = _inside(update.content, options) if update.content is not None else _Inside()
        for step in update.steps or (update,):
            source = [touch.path for touch in step.net
                      if options.source in touch.zones and not is_recording(touch, options)]
            places = tuple(_places(update, step, inside, options)) if source else ()
            if places:
                yield _finding(update, places, source[0])


def _places(update: Update, step: Update, inside: _Inside, options: Options) -> Iterator[Place]:
    paths = {touch.path for touch in step.net}
    gone = () if inside.adds_source else [
        _stem(touch.path) for touch in step.net
        if options.source in touch.zones and touch.path in update.gone]
    for touch in step.net:
        if (is_recording(touch, options) or touch.path in inside.data) and not (
                touch.path in update.gone and _stem(touch.path) in gone):
            yield Place(path=touch.path)
    yield from (place for place in inside.lines if place.path in paths)


def is_recording(touch: Touch, options: Options) -> bool:
    if set(options.golden).isdisjoint(touch.zones):
        return False
    is_code = _CODE.fullmatch(touch.path) is not None
    return not (is_code and (options.source in touch.zones or _TEST.fullmatch(touch.path)))


def _stem(path: str) -> str:
    """What a file is about, by its name: `report` of test_report.ambr and report.test.ts.snap."""
    return path.rpartition("/")[2].partition(".")[0].removeprefix("test_").removesuffix("_test")


def _inside(content: Content, options: Options) -> _Inside:
    tests = tuple(content.of(options.tests))
    data = tuple(file for file in tests if _DATA.fullmatch(file.path))
    moved = (*gained(data, _wanted, _sample), *lost(data, _wanted, _sample))
    lines = tuple(Place(path=file.path, line=one.line, note="a snapshot")
                  for file, one in gained(tests, _inline, lambda one: one.answer))
    return _Inside(frozenset(file.path for file, _ in moved), lines, any(
        file.is_new and file.after is not None for file in content.of(options.source)))


def _wanted(sheet: Sheet) -> Iterator[Sample]:
    return (sample for sample in sheet.samples if sample.result)


def _sample(one: Sample) -> tuple[tuple[str, ...], str]:
    return one.given, one.result


def _inline(sheet: Sheet) -> Iterator[Assertion]:
    return (one for test in sheet.tests for one in test.assertions
            if one.against == "snapshot" and one.answer and not _FILE.fullmatch(one.answer))


def _finding(update: Update, places: tuple[Place, ...], source: str) -> Finding:
    files = tuple(dict.fromkeys(place.path for place in places if place.path and not place.line))
    first = places[0]
    at = f"{first.path}:{first.line}" if first.line else f"{first.path}"
    if files and len(files) == len(places):
        repair = Repair("drop", Next.EDIT, paths=files, words=(
            "put the recordings back as they were, in a commit on top;", *_INSTEAD))
    else:
        repair = Repair("edit", Next.EDIT, words=(
            "put the recordings back as they were, in a commit on top;", *_INSTEAD))
    return Finding(
        ref=update.ref, says=f"{at} + {source}",
        scene="1 recording" if len(places) == 1 else f"{len(places)} recordings",
        places=places, repair=repair)


_INSTEAD = ("assert what stays true instead: f(f(x)) == f(x), sum(parts) == x",
            "output meant to change? proposals/NAME.yaml: kind: golden, path, why")


_RULES = Options()
_CODE_TOUCH = Touch("src/bill.py", ("source",))
_DOCS = Touch("docs/bill.md", ())


def _golden(path: str, glob: str, *zones: str) -> Touch:
    return Touch(path, tuple(sorted((glob, *zones))))


_CASES = "tests/data/bill.json"
_CASE = Sample(1, ("3",), "19")


def _with(*files: Changed, gone: tuple[str, ...] = (),
          code: tuple[str, ...] = ("src/bill.py",)) -> Situation:
    touches = [Touch(file.path, file.zones) for file in files]
    return push(touching(*touches, *(Touch(path, ("source",)) for path in code)),
                update=replace(MAIN, content=Content(files), gone=frozenset(gone)))


def _data(after: Sheet | None, *before: Sheet, path: str = _CASES) -> Changed:
    return Changed(path, ("tests",), after, before, is_new=not before)


def _spelled(answer: str) -> Sheet:
    claim = Assertion(5, Kind.EQUAL, f"bill(3) == {answer}", "bill(3)", "snapshot", answer)
    return Sheet(tests=(Test("test_bill", 4, "", (claim,)),))


def _of_gone(*gone: str, new: bool = False) -> Situation:
    """The module goes, and the recording with it."""
    module = Changed("src/bill.py", ("source",), None, (Sheet(),))
    other = Changed("src/till.py", ("source",), Sheet(), is_new=new)
    touches = (_SNAP, *(Touch(one.path, one.zones) for one in (module, other)))
    return push(touching(*touches), update=replace(
        MAIN, content=Content((module, other)), gone=frozenset(gone)))


_SNAP = _golden("tests/snapshots/bill.ambr", "**/*.ambr", "tests/**/snapshots", "tests")

RULE = Rule(
    id="no-golden-output",
    why="an output recorded by the patch agrees with its bugs.",
    fix="Give the recordings back and assert what stays true of any output.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("source alone", push(touching(_CODE_TOUCH, _DOCS)), _RULES),
        Example("recordings alone", push(touching(_SNAP)), _RULES),
        Example("a recording that was changed and changed back",
                push(touching(_CODE_TOUCH), touching(_SNAP), net=(_CODE_TOUCH,)), _RULES),
        Example("source below a folder with such a name", push(touching(
            _golden("src/golden/retriever.py", "**/golden", "source"), _CODE_TOUCH)), _RULES),
        Example("a test below such a folder", push(touching(
            _golden("tests/golden/test_bill.py", "**/golden", "tests"), _CODE_TOUCH)), _RULES),
        Example("two steps of a merge queue, each by itself", push(
            touching(_CODE_TOUCH), touching(_SNAP), update=replace(MAIN, steps=(
                push(touching(_CODE_TOUCH)).updates[0], push(touching(_SNAP)).updates[0]))),
            _RULES),
        Example("a recording that goes with its module",
                _of_gone("src/bill.py", _SNAP.path), _RULES),
        Example("data of tests that wants nothing", _with(_data(Sheet())), _RULES),
        Example("data of tests without source", _with(
            _data(Sheet(samples=(_CASE,))), code=()), _RULES),
        Example("data of tests that moves", _with(
            _data(Sheet(samples=(_CASE,)), path="tests/data/tax/bill.json"),
            _data(None, Sheet(samples=(replace(_CASE, line=7),)))), _RULES),
        Example("an inline snapshot of what is recorded in another test", _with(
            _data(_spelled("19"), _spelled("19"), path="tests/test_bill.py")), _RULES),
        Example("the name of a recording", _with(
            _data(_spelled('"bill.txt"'), path="tests/test_bill.py")), _RULES),
        Example("a maintainer's return to an earlier accepted state", push(
            touching(_CODE_TOUCH, _SNAP), update=replace(MAIN, revert=True)), _RULES),
    ),
    rejects=lambda: (
        Example("a snapshot with the code", push(touching(_CODE_TOUCH, _SNAP)), _RULES),
        Example("a snapshot in a commit of its own",
                push(touching(_CODE_TOUCH), touching(_SNAP)), _RULES),
        Example("many of them", push(touching(_CODE_TOUCH, *(
            _golden(f"tests/golden/{n}.txt", "**/golden") for n in range(12)))), _RULES),
        Example("a recording beside the code that it records", push(touching(
            _CODE_TOUCH, _golden("src/__snapshots__/a.snap", "**/*.snap", "source"))), _RULES),
        Example("a recording that goes, and its module stays", _of_gone(_SNAP.path), _RULES),
        Example("a recording that goes with its module, for which another one comes",
                _of_gone("src/bill.py", _SNAP.path, new=True), _RULES),
        Example("a result in data of tests that becomes another one", _with(_data(
            Sheet(samples=(_CASE,)), Sheet(samples=(replace(_CASE, result="20"),)))), _RULES),
        Example("a new case in data of tests", _with(_data(Sheet(samples=(_CASE,)))), _RULES),
        Example("a link in the place of a case", _with(
            _data(None, Sheet(samples=(_CASE,)))), _RULES),
        Example("an inline snapshot", _with(
            _data(_spelled("19"), path="tests/test_bill.py")), _RULES),
        Example("expected code that a test compares with", push(touching(
            _CODE_TOUCH, _golden("tests/expected/out.py", "tests/**/expected", "tests"))),
            _RULES),
        Example("what the policy calls a recording", push(touching(
            _CODE_TOUCH, _golden("t/a.out", "t/*.out"))), Options(golden=("t/*.out",))),
        Example("one step of a merge queue", push(
            touching(_CODE_TOUCH, _SNAP), update=replace(MAIN, steps=(
                push(touching(_CODE_TOUCH, _SNAP)).updates[0],))), _RULES),
    ),
    needs=frozenset({Need.CONTENT, Need.GONE}),
    on=Reach.GUARDED,
    lenient=True,
)
