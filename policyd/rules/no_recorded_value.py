"""No test that comes with the code it tests holds a value that the code seems to have given it.

Looked at are the claims of equality that tests gain in an update that changes source too: an
expected value that becomes another one, a comparison with a file outside of what maintainers
write, and literals too long to have been thought of. Snapshots: no-golden-output. A new test of a
new function with a small value in it is honest work, and passes. Since nobody can tell all of
these apart by reading, the shipped policy only warns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policyd.core.content import Changed, Content, gained, leads_to, lost
from policyd.core.examples import MAIN, push
from policyd.core.facts import Need, Situation, Touch, Update
from policyd.core.policy import Reach
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_zones as _undefined
from policyd.core.sheet import Assertion, Kind, Opened, Sheet, Test
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """What seems to be recorded.

    `min_length`: characters from which on a literal in a test does.
    `min_digits`: digits from which on a number does.
    `source`: the zone of the code.
    `tests`: the zone of the tests.
    """

    min_length: int = 40
    min_digits: int = 7
    source: str = "source"
    tests: str = "tests"

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        yield from _undefined(("source",), (self.source,), zones)
        yield from _undefined(("tests",), (self.tests,), zones)
        for name in ("min_length", "min_digits"):
            if getattr(self, name) < 1:
                yield (name,), "a length is 1 or more"

    def reads(self) -> tuple[str, ...]:
        return (self.tests,)


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for update in given.updates:
        if update.content is None or update.revert:
            continue
        if any(options.source in touch.zones for touch in update.net):
            places = tuple(_places(update.content, given.protected, options))
            if places:
                yield _finding(update, places)


def _places(content: Content, protected: frozenset[str], options: Options) -> Iterator[Place]:
    tests = tuple(content.of(options.tests))
    was = {one.subject: one.answer
           for _, one in lost(tests, _claims, _form) if one.subject and one.answer}
    for file, one in gained(tests, _claims, _form):
        note = _note(file, one, was.get(one.subject, ""), protected, options)
        if note:
            yield Place(path=file.path, line=one.line, note=note)


def _claims(sheet: Sheet) -> Iterator[Assertion]:
    return (one for test in sheet.tests for one in test.assertions
            if one.kind in (Kind.EQUAL, Kind.CLOSE) and one.against in _RECORDED)


def _form(one: Assertion) -> str:
    return one.form


_RECORDED = ("literal", "file")


def _note(file: Changed, one: Assertion, was: str, protected: frozenset[str],
          options: Options) -> str:
    if one.answer and was and one.answer != was:
        return f"expected {_short(was)}, now {_short(one.answer)}"
    if one.against == "file" and not _reads_protected(file, protected):
        return "compared with a file"
    return f"expects {_short(one.answer)}" if _is_long(one.answer, options) else ""


def _reads_protected(file: Changed, protected: frozenset[str]) -> bool:
    """Whether all that the file opens lies where others write; which of it is compared is not
    known."""
    opened = file.after.opened if file.after is not None else ()
    return bool(opened) and all(
        protected.intersection(file.leads.get(where, ()))
        for one in opened if not one.writes
        for where in leads_to(file.path, one.path, one.base) or ("",))


def _is_long(answer: str, options: Options) -> bool:
    digits = answer.removeprefix("-")
    if digits[:1].isdigit():
        return sum(map(str.isdigit, digits.lstrip("0."))) >= options.min_digits
    return len(answer) >= options.min_length


def _short(value: str) -> str:
    return value if len(value) <= 30 else f"{value[:27]}..."


def _finding(update: Update, places: tuple[Place, ...]) -> Finding:
    first = places[0]
    return Finding(
        ref=update.ref, says=f"{first.path}:{first.line} is recorded",
        scene="1 value, and source in the same push" if len(places) == 1 else
        f"{len(places)} values, and source in the same push",
        places=places, repair=Repair("edit", Next.EDIT, words=(
            "change these lines in a commit on top, one of:",
            "a) relate two calls: f(2 * x) against f(x), f(f(x)) against f(x)",
            "b) read the value from oracle/receipts/, which others recorded",
            "c) assert the small part that you know without running the code")))


def _with(after: Assertion, *before: Assertion, opened: tuple[Opened, ...] = (),
          zones: tuple[str, ...] = ("source",)) -> Situation:
    def sheet(*held: Assertion) -> Sheet:
        return Sheet(tests=(Test("test_bill", 3, "", held),), opened=opened)
    file = Changed("tests/test_bill.py", ("tests",), sheet(after), (sheet(*before),),
                   leads={one.path: ("oracle",) for one in opened if "oracle" in one.path})
    given = push(update=replace(MAIN, content=Content((file,))), net=(Touch("src/bill.py", zones),))
    return replace(given, protected=frozenset({"oracle"}))


def _equal(answer: str, against: str = "literal", line: int = 5) -> Assertion:
    return Assertion(line, Kind.EQUAL, f"total(x) == {answer}", "total(x)", against, answer)


_LONG = '"' + "EUR 19.25 net, " * 4 + '"'

RULE = Rule(
    id="no-recorded-value",
    why="a value that the code has given its test agrees with its bugs.",
    fix="Relate two calls, read a receipt, or assert what you know without running the code.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("a small value in a new test", _with(_equal("19")), Options()),
        Example("a value that stood there before", _with(
            _equal(_LONG, line=9), _equal(_LONG)), Options()),
        Example("tests alone", _with(_equal("20"), _equal("19"), zones=()), Options()),
        Example("a comparison with a receipt", _with(
            _equal("", "file"), opened=(Opened(2, "oracle/receipts/tax.json", "root"),)),
            Options()),
        Example("a snapshot, which is another rule's", _with(_equal('"a"', "snapshot")),
                Options()),
        Example("an order instead of a value", _with(Assertion(
            5, Kind.ORDER, "total(x) < 20", "total(x)", "literal", "20"), _equal("19")),
            Options()),
        Example("a maintainer's return to an earlier accepted state", push(update=replace(
            _with(_equal("20"), _equal("19")).updates[0], revert=True)), Options()),
    ),
    rejects=lambda: (
        Example("an expected value that becomes another one",
                _with(_equal("20"), _equal("19")), Options()),
        Example("a long text", _with(_equal(_LONG)), Options()),
        Example("a number of many digits", _with(_equal("0.84729132")), Options()),
        Example("a number of many digits below zero", _with(_equal("-0.84729132")), Options()),
        Example("a file that anybody may write", _with(
            _equal("", "file"), opened=(Opened(2, "tests/data/bill.txt", "root"),)), Options()),
        Example("a file that is not told", _with(_equal("", "file")), Options()),
    ),
    needs=frozenset({Need.CONTENT}),
    on=Reach.GUARDED,
    lenient=True,
)
