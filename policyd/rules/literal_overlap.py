"""A test may not paste what the same change gave the code.

Compared are the literals that tests gained with those that source gained in the net change:
held by a changed file after, by no changed file of that zone before. What source gained on the
target branch within the days of looking back counts too, so that a push of tests alone does not
paste it afterwards. Moves, cherry-picks and backports gain nothing, and a maintainer's return to
an earlier accepted state is no new paste. Constant expressions count with their value, text and
bytes alike; docstrings and annotations do not count. On the side of the tests a value counts where
a result is held against it (`roles: answers`): names, options and inputs that both sides use pass.
Text that the code only raises and the test only matches is a message that both sides name, and
passes too. To hold a result against a constant that is imported from the code is to paste it, where
the same update gained or changed the constant. Hidden constants (base64, chr, hex)
are a known gap: running the code is what answers them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from policyd.core import modules
from policyd.core.content import Changed, Content, gained
from policyd.core.examples import MAIN, push
from policyd.core.facts import Gained, Literals, Need, Occurrence, Situation, Unreadable, Update
from policyd.core.policy import Reach
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_zones as _undefined
from policyd.core.sheet import Assertion, Kind, Role, Sheet, Test
from policyd.core.sheet import Literal as Held
from policyd.core.unread import finding as cannot_read
from policyd.core.values import dataclass
from policyd.languages.literal import text_form

_CONSTANT = re.compile(r"(?:.*[ .])?([A-Z][A-Z0-9_]+)", re.DOTALL)
"""At the end of a claim: a name all in capitals, alone or of a module."""
_PLAIN = re.compile(r"[A-Za-z0-9_./-]{1,40}")


@dataclass(frozen=True, slots=True)
class Options:
    """What is compared, and what both sides may share.

    `min_length`: characters that a literal has at least, to count.
    `allow`: texts and numbers that both sides may share.
    `allow_file`: such a list in the repository, one a line, read from the target branch.
    `lookback_days`: what source gained on the target branch in that time counts as gained too.
    `source`: the zone of the code.
    `tests`: the zone of the tests.
    `roles`: `answers` counts what tests hold a result against and source does not only use as a
    name; `all` counts every literal.
    """

    min_length: int = 6
    allow: tuple[str, ...] = ()
    allow_file: str = "oracle/allow-literals.txt"
    lookback_days: int = 14
    source: str = "source"
    tests: str = "tests"
    roles: Literal["answers", "all"] = "answers"

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        yield from _undefined(("source",), (self.source,), zones)
        yield from _undefined(("tests",), (self.tests,), zones)
        if self.lookback_days < 0:
            yield ("lookback_days",), "days are 0 or more"
        if self.min_length < 1:
            yield ("min_length",), "a length is 1 or more"

    def reads(self) -> tuple[str, ...]:
        return (self.source, self.tests)


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for update in given.updates:
        if update.literals is None or update.revert:
            continue
        for unread in update.literals.unreadable:
            yield cannot_read(update.ref, (unread,), "a changed file whose literals are compared")
        yield from _pasted(update, update.literals, options)
        if update.content is not None:
            yield from _imported(update, update.content, update.literals, options)


def _pasted(update: Update, literals: Literals, options: Options) -> Iterator[Finding]:
    lately = literals.lately.get(options.source, Gained()).values
    code: _Values = {**lately, **literals.gained.get(options.source, Gained()).values}
    tests: _Values = literals.gained.get(options.tests, Gained()).values
    allowed = _allowed(literals, options)
    if options.roles == "answers":
        tests = _only(tests, lambda one: one.role is Role.ANSWER)
        code = _only(code, lambda one: one.role is not Role.NAME)
    shared = [value for value in tests if value in code and value not in allowed
              and not _is_message(code[value], tests[value])]
    for value in sorted(shared, key=lambda value: (tests[value][0].path, tests[value][0].line)):
        yield _finding(update, value, tests[value], code[value])


def _allowed(literals: Literals, options: Options) -> set[str]:
    listed = {*options.allow, *literals.allowed}
    return listed | set(map(text_form, listed))


def _imported(update: Update, content: Content, literals: Literals,
              options: Options) -> Iterator[Finding]:
    """Claims that tests gain, against constants that source gained by a name."""
    allowed = _allowed(literals, options)
    new = [(file, one) for file, one in gained(
        content.of(options.source), _constants, lambda one: (one.name, one.value))
        if one.value not in allowed]
    if not new:
        return
    for file, (test, claim) in gained(content.of(options.tests), _claims, lambda one: one[1].form):
        named = _CONSTANT.fullmatch(claim.form)
        held = [(source, one) for source, one in new if named and named[1] == one.name
                and any(modules.is_at(use, source.path, file.path) for use in test.uses)]
        for source, one in held[:1]:
            yield _finding(update, f"{one.name} = {one.value}",
                           (Occurrence(file.path, claim.line, "imported"),),
                           (Occurrence(source.path, one.line, one.use),))


def _constants(sheet: Sheet) -> Iterator[Held]:
    return (one for one in sheet.literals if one.name)


def _claims(sheet: Sheet) -> Iterator[tuple[Test, Assertion]]:
    return ((test, one) for test in sheet.tests for one in test.assertions
            if one.kind in (Kind.EQUAL, Kind.CLOSE) and one.against == "name")


_Values = Mapping[str, tuple[Occurrence, ...]]


def _only(values: _Values, counts: Callable[[Occurrence], bool]) -> _Values:
    kept = {value: tuple(filter(counts, places)) for value, places in values.items()}
    return {value: places for value, places in kept.items() if places}


def _is_message(code: tuple[Occurrence, ...], tests: tuple[Occurrence, ...]) -> bool:
    return all(o.use == "raised" for o in code) and all(o.use == "matched" for o in tests)


def _finding(update: Update, value: str, tests: tuple[Occurrence, ...],
             code: tuple[Occurrence, ...]) -> Finding:
    test, source = tests[0], code[0]
    return Finding(
        ref=update.ref,
        says=f"{test.path}:{test.line} pastes {source.path}:{source.line}",
        scene="a literal gained on both sides",
        places=(Place(path=test.path, line=test.line,
                      note=f"{test.use}; {source.path}:{source.line} {source.use}: {value}"),),
        repair=Repair("edit", Next.EDIT, words=(
            f"change {_lines(tests)} in a commit on top, one of:",
            "a) relate two calls: f(2 * x) against f(x), f(f(x)) against f(x)",
            "b) read the value from oracle/receipts/, which others recorded",
            "c) delete it; propose: proposals/NAME.yaml, kind: receipt or literal",
            "importing the constant from the code proves nothing either", *_question(update))))


def _question(update: Update) -> tuple[str, ...]:
    """How to ask before the next push, where the branch's name needs no quotes."""
    if update.branch is None or not _PLAIN.fullmatch(update.branch):
        return ()
    return (f"ask, nothing moves: git push origin HEAD:refs/check/{update.branch}",)


def _lines(tests: tuple[Occurrence, ...]) -> str:
    """Lines of the first file; the others are found when that one is mended."""
    path = tests[0].path
    numbers = sorted({o.line for o in tests if o.path == path})[:4]
    return f"line {', '.join(map(str, numbers))} of {path}"


def _with(code: dict[str, str], tests: dict[str, str], *, named: Role = Role.PLAIN,
          asked: Role = Role.ANSWER, **more: Any) -> Situation:
    gained = {"source": _at("src/tax.py", 31, code, named),
              "tests": _at("tests/test_tax.py", 14, tests, asked)}
    return push(update=replace(MAIN, literals=Literals(gained, **more)))


def _at(path: str, line: int, values: dict[str, str], role: Role = Role.PLAIN) -> Gained:
    return Gained({value: (Occurrence(path, line, use, role),) for value, use in values.items()})


_RATE = '"EUR 19.25"'


def _naming(claim: str, uses: str = "tax.RATE", *, before: str = "", name: str = "RATE"
            ) -> Situation:
    """A test that holds `rate()` against a name, and a constant in the code."""
    said = Assertion(14, Kind.EQUAL, f"rate() == {claim}", "rate()", "name")
    constant = Held(_RATE, 31, "assigned", name=name)
    old = Sheet(literals=(replace(constant, value=before),)) if before else Sheet()
    return push(update=replace(MAIN, literals=Literals(), content=Content((
        Changed("src/tax.py", ("source",), Sheet(literals=(constant,)), (old,)),
        Changed("tests/test_tax.py", ("tests",),
                Sheet(tests=(Test("test_rate", 13, "", (said,), (uses,)),)))))))

RULE = Rule(
    id="literal-overlap",
    why="a test that repeats the patch's constant cannot fail.",
    fix="Relate two calls, or read the value from a receipt that somebody else recorded.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("nothing shared", _with({_RATE: "returned"}, {'"EUR 7.00"': "compared"}),
                Options()),
        Example("an allowed text", _with({'"application/json"': "returned"},
                                         {'"application/json"': "compared"}),
                Options(allow=("application/json",))),
        Example("a message that is raised and matched",
                _with({'"must be positive"': "raised"}, {'"must be positive"': "matched"}),
                Options()),
        Example("a text that the repository's own list allows",
                _with({_RATE: "returned"}, {_RATE: "compared"},
                      allowed=frozenset({"EUR 19.25"})), Options()),
        Example("an input that a test gives", _with(
            {_RATE: "compared"}, {_RATE: "argument"}, asked=Role.PLAIN), Options()),
        Example("a key of a result, which the code only names", _with(
            {'"order_total"': "element"}, {'"order_total"': "compared"}, named=Role.NAME),
            Options()),
        Example("a constant that stands there already", _naming("RATE", before=_RATE), Options()),
        Example("a constant of another module", _naming("RATE", "rates.RATE"), Options()),
        Example("a member of what is imported", _naming("Rate.RATE", "tax.Rate", name=""),
                Options()),
        Example("a constant that the policy allows", _naming("RATE"),
                Options(allow=("EUR 19.25",))),
        Example("no file of either side changed", push(), Options()),
        Example("a maintainer's return to an earlier accepted state", push(update=replace(
            MAIN, revert=True, literals=_with(
                {_RATE: "returned"}, {_RATE: "compared"}).updates[0].literals)), Options()),
    ),
    rejects=lambda: (
        Example("the patch's own constant", _with({_RATE: "returned"}, {_RATE: "compared"}),
                Options()),
        Example("a constant that the patch brings, imported", _naming("RATE"), Options()),
        Example("a constant that the patch changes, by its module",
                _naming("tax.RATE", "tax", before='"EUR 7.00"'), Options()),
        Example("what source gained on the target branch lately",
                _with({}, {_RATE: "compared"},
                      lately={"source": _at("src/tax.py", 31, {_RATE: "returned"})}), Options()),
        Example("any shared text, where the policy counts all", _with(
            {_RATE: "compared"}, {_RATE: "argument"}, named=Role.NAME, asked=Role.PLAIN),
            Options(roles="all")),
        Example("a message that is compared",
                _with({'"must be positive"': "raised"}, {'"must be positive"': "compared"}),
                Options()),
        Example("a test file that does not parse",
                _with({}, {}, unreadable=(Unreadable("tests/test_x.py", 3, "invalid syntax"),)),
                Options()),
    ),
    needs=frozenset({Need.LITERALS, Need.CONTENT}),
    on=Reach.GUARDED,
    lenient=True,
)
