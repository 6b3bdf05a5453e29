"""No push removes, weakens or leaves out the tests that are there.

Compared are the tests before and after the net change. A test is kept where it has the same name or
the same body, or makes all of the same claims in the same file. A claim is kept where it stands in
any changed test, or where one takes its place that is no weaker: equal, close, ordered, a part,
raised, called, true, nothing, in that order, with no wider tolerance or bound and no broader error,
of no mere part of the value. So a test may be moved, renamed, split, or merged into cases, and
another value may be expected of it (no-recorded-value tells where that came from). Weaker are:
fewer claims or cases, a claim that cannot fail, an expectation that is computed by what is tested,
and a stand-in for what the test makes a claim about, or for what the module under test uses. While
source changes, a test's table keeps its inputs. Left out are tests by settings of the runner (a
deselection, narrower patterns) and by a file name that runners do not look for. A test may go with
all modules and names that it uses, if no others come, and so may a test or a claim of a name which
source defined and no file of source or tests says any more, if nothing like it comes. Who is no
maintainer changes nothing that runs tests, in a definition of the checks, together with source: a
job or a target with no word of tests, and the versions of interpreters and of others' steps, are no
such thing. A maintainer's push without source passes whole. Marks are what unmarked-tests is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from policyd.core import unread
from policyd.core.content import Changed, Content
from policyd.core.examples import MAIN, push, touching
from policyd.core.facts import Need, Situation, Touch, Unreadable, Update
from policyd.core.policy import Reach
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_zones as _undefined
from policyd.core.sheet import Assertion, Kind, Mock, Sample, Setting, Sheet, Test
from policyd.core.values import dataclass

if TYPE_CHECKING:  # a push in which nothing is read needs none
    from policyd.core.weakening import Loss


@dataclass(frozen=True, slots=True)
class Options:
    """What is compared.

    `tests`: the zone of the tests.
    `source`: the zone of the code that they test.
    `wiring`: the zone of what decides how tests run.
    `settings`: globs of the files in which test runners are set.
    `ci`: globs of the files that define the checks.
    """

    tests: str = "tests"
    source: str = "source"
    wiring: str = "wiring"
    settings: tuple[str, ...] = (
        "**/pyproject.toml", "**/pytest.ini", "**/.pytest.ini", "**/pytest.toml",
        "**/.pytest.toml", "**/tox.ini", "**/tox.toml", "**/setup.cfg", "**/package.json",
        "**/jest.config.json", "**/.mocharc.json", "**/.mocharc.jsonc")
    ci: tuple[str, ...] = (
        ".github/workflows/**", ".gitlab-ci.yml", ".ci/**", ".circleci/**", "Jenkinsfile",
        "azure-pipelines.yml", "noxfile.py", "Makefile", "makefile", "GNUmakefile", "justfile",
        "**/jest.config.?js", "**/jest.config.[jt]s", "**/vitest.config.*",
        "**/playwright.config.*", "**/.mocharc.[cm]js", "**/.mocharc.js")

    def reads(self) -> tuple[str, ...]:
        return (self.tests, self.source, self.wiring, *self.settings, *self.ci)

    def globs(self) -> tuple[str, ...]:
        """Each becomes a zone of its own name."""
        return (*self.settings, *self.ci)

    def is_code(self, touch: Touch) -> bool:
        """Whether it is source by itself: a zone of all files has tests and settings in it too."""
        return self.source in touch.zones and {self.tests, *self.globs()}.isdisjoint(touch.zones)

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        for name in ("tests", "source", "wiring"):
            yield from _undefined((name,), (getattr(self, name),), zones)


def check(given: Situation, options: Options) -> Iterator[Finding]:
    trusted = "maintainers" in given.pusher.groups
    for update in given.updates:
        has_source = any(options.source in touch.zones for touch in update.net)
        has_code = any(options.is_code(touch) for touch in update.net)
        if update.content is None or update.revert or (trusted and not has_source):
            continue
        hidden = unread.newly(update.content, [
            file for file in update.content.of(options.tests) if not file.is_new])
        if hidden:
            yield unread.finding(update.ref, hidden, "a test that was there")
        found = (*_lost(update.content, options),
                 *(() if trusted or not has_code else _checks(update, options)))
        if found:
            yield _finding(update, found, trusted=trusted)


def _lost(content: Content, options: Options) -> Iterator[Loss]:
    if not content.files:
        return
    from policyd.core.collecting import patterns
    from policyd.core.weakening import losses, unset

    unreadable = frozenset(one.path for one in content.unreadable)
    tests, source = tuple(content.of(options.tests)), tuple(content.of(options.source))
    yield from losses(tests, [file for file in source if file not in tests], unreadable,
                      patterns(content.files), content.vanished)
    set_in = {options.wiring, options.tests, *options.settings}
    yield from unset([file for file in content.files
                      if not set_in.isdisjoint(file.zones) and file.path not in unreadable])


def _checks(update: Update, options: Options) -> Iterator[Loss]:
    """What runs tests, in the definitions of the checks, that comes with source."""
    defining = [touch for touch in update.net if not set(options.ci).isdisjoint(touch.zones)]
    if not defining:
        return
    from policyd.core.checks import touched
    from policyd.core.weakening import Loss

    read = {file.path: file for file in update.content.files} if update.content else {}
    for touch in defining:
        line = touched(read.get(touch.path))
        if line is not None:
            yield Loss(touch.path, line if touch.path in read else 0, "comes with source",
                       "defines the checks", "", (touch.path,))


def _finding(update: Update, found: tuple[Loss, ...], *, trusted: bool) -> Finding:
    first = found[0]
    tests = len({(loss.path, loss.of) for loss in found})
    back = tuple(dict.fromkeys(path for loss in found for path in loss.back))
    at = f"{first.path}:{first.line}" if first.line else first.path
    return Finding(
        ref=update.ref, says=f"{at} {first.says}",
        scene="1 place" if tests == 1 else f"{tests} places",
        places=tuple(Place(path=loss.path, line=loss.line or None,
                           note=loss.note if loss.of else f"{loss.says}: {loss.note}")
                     for loss in found),
        repair=_repair(update, back, trusted=trusted))


def _repair(update: Update, back: tuple[str, ...], *, trusted: bool) -> Repair:
    if trusted:
        return Repair("apart", Next.SPLIT, paths=back)
    if all(touch.path in back for touch in update.net):
        return Repair("give-back", Next.SPLIT, paths=back)
    return Repair("drop", Next.EDIT, paths=back, words=(
        "put these files back as they were, in a commit on top;",
        "new tests go into new files",
        "behaviour meant to change? a maintainer pushes the test first, alone"))


_FILE = "tests/test_tax.py"
_SRC = Touch("src/tax.py", ("source",))

def _sum() -> Assertion:
    return Assertion(22, Kind.EQUAL, "total($0) == sum($0)", "total($0)", "call")


def _bad() -> Assertion:
    return Assertion(31, Kind.RAISES, "raises(ValueError, total($0))", "total($0)",
                     types=("ValueError",))


def _near() -> Assertion:
    return Assertion(24, Kind.CLOSE, "rate($0) ~ 0.19", "rate($0)", "literal", "0.19", 0.01)


def _test(*claims: Assertion, name: str = "test_total", cases: int = 1, body: str = "") -> Test:
    return Test(name, 20, body or f"{name}{len(claims)}", claims, ("tax",), cases)


def _of(*tests: Test, mocks: tuple[Mock, ...] = ()) -> Sheet:
    return Sheet(tests=tests, mocks=mocks, imports=("tax",))


def _file(after: Sheet | None, *before: Sheet, path: str = _FILE, zone: str = "tests") -> Changed:
    return Changed(path, (zone,), after, before, is_new=not before)


def _pushed(*files: Changed, touched: tuple[Touch, ...] = (_SRC,), name: str = "agent-7",
            groups: frozenset[str] = frozenset({"agents"})) -> Situation:
    mine = tuple(Touch(file.path, file.zones) for file in files)
    listed = {touch.path: touch for touch in (*touched, *mine)}
    return push(touching(*listed.values()), update=replace(MAIN, content=Content(files)),
                name=name, groups=groups)


def _claims(before: Assertion, *after: Assertion) -> Situation:
    return _pushed(_file(_of(_test(*after, body="now")), _of(_test(before))))


def _ini(key: str, value: str, was: str) -> Situation:
    after, before = (Sheet(settings=(Setting(key, text, 4),)) for text in (value, was))
    return _pushed(_file(after, before, path="pyproject.toml", zone="**/pyproject.toml"))


def _defining(runs: str) -> Sheet:
    """A definition of the checks, as it was read."""
    return Sheet(settings=(Setting("checks:", "commands", 1), Setting("checks:test", runs, 3)))


def _as_maintainer(given: Situation, *touched: Touch) -> Situation:
    return push(touching(*touched, Touch(_FILE, ("tests",))), update=replace(
        MAIN, content=given.updates[0].content), name="mei", groups=frozenset({"maintainers"}))


def _gone(vanished: frozenset[str] = frozenset()) -> Situation:
    test = replace(_test(_sum(), name="test_add_gift"), names=("add_gift",))
    given = _pushed(_file(_of(), _of(test)))
    update, = given.updates
    content = replace(update.content or Content(), vanished=vanished)
    return replace(given, updates=(replace(update, content=content),))


def _value() -> Assertion:
    return Assertion(22, Kind.EQUAL, "total($0) == 3", "total($0)", "literal", "3")


def _cases() -> Test:
    return _test(replace(_sum(), form="total($1) == sum($1)", subject="total($1)"),
                 name="test_totals", cases=2)


def _table(given: str) -> Sheet:
    return Sheet(tests=(_cases(),), samples=(
        Sample(17, ("1", "2"), "3"), Sample(18, (given, "1"), given)))


RULE = Rule(
    id="kept-tests",
    why="a push may not soften the tests of the code that it changes.",
    fix="Put the tests back and add new ones; a maintainer changes a test first, alone.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("no test changed", push(touching(_SRC)), Options()),
        Example("a test that is renamed", _pushed(_file(
            _of(_test(_sum(), name="test_sum", body="b")), _of(_test(_sum(), body="b")))),
            Options()),
        Example("a test that moves to another file", _pushed(
            _file(None, _of(_test(_sum()))),
            _file(_of(_test(_sum())), path="tests/test_totals.py")), Options()),
        Example("an assertion that moves to another test", _pushed(_file(
            _of(_test(_bad(), body="a"), _test(_sum(), name="test_sum")),
            _of(_test(_sum(), _bad())))), Options()),
        Example("two tests that become cases of one", _pushed(_file(
            _of(_cases()), _of(_test(_sum()), _test(_sum(), name="test_more")))), Options()),
        Example("another value that is expected", _claims(_value(), replace(
            _value(), form="total($0) == 4", answer="4")), Options()),
        Example("a stronger assertion", _claims(_bad(), _sum()), Options()),
        Example("a function that is called by another name", _claims(_sum(), replace(
            _sum(), form="total_of($0) == sum($0)", subject="total_of($0)")), Options()),
        Example("a test that goes with its module", _pushed(
            _file(None, _of(_test(_sum()))),
            _file(None, Sheet(), path="src/tax.py", zone="source")), Options()),
        Example("the checks and a settings file in a source zone of all files", _pushed(touched=(
            Touch("package.json", ("source", "**/package.json")),
            Touch(".ci/run", ("source", ".ci/**")))), Options()),
        Example("a definition of the checks in which what runs tests stays", _pushed(
            _file(_defining("a"), _defining("a"), path=".ci/run", zone=".ci/**")), Options()),
        Example("a test that goes with its function", _pushed(
            _file(_of(), _of(replace(_test(_sum()), uses=("tax.total",)))),
            _file(Sheet(defines=("rate",)), Sheet(defines=("rate", "total")), path="src/tax.py",
                  zone="source")), Options()),
        Example("a test of a member that nothing says any more", _gone(frozenset({"add_gift"})),
                Options()),
        Example("claims that become rows of a table", _pushed(_file(
            _of(replace(_cases(), name="test_total")), _of(_test(
                replace(_value(), form="total([1]) == 1", subject="total([1])"),
                replace(_value(), form="total([2]) == 2", subject="total([2])"))))), Options()),
        Example("a maintainer's push of tests alone", _as_maintainer(_gone()), Options()),
        Example("a maintainer's return to an earlier accepted state", push(
            touching(_SRC), update=replace(MAIN, revert=True, content=_gone().updates[0].content)),
            Options()),
        Example("more that is collected", _ini("pytest.testpaths", "tests unit", "tests"),
                Options()),
        Example("a stand-in for what is not under test", _pushed(_file(
            _of(_test(_sum()), mocks=(Mock(19, "requests.get", "test_total"),)),
            _of(_test(_sum())))), Options()),
    ),
    rejects=lambda: (
        Example("a test that cannot be read any more", push(touching(_SRC), update=replace(
            MAIN, content=Content((_file(Sheet(), _of(_test(_sum()))),), (
                Unreadable(_FILE, 3, "invalid syntax"),)))), Options()),
        Example("a test that is removed", _gone(), Options()),
        Example("a test that is removed without source", replace(_gone(), updates=(replace(
            _gone().updates[0], net=(Touch(_FILE, ("tests",)),)),)), Options()),
        Example("one goes, another one comes", _pushed(_file(
            _of(_test(Assertion(9, Kind.TRUTH, "total([])", "total([])"), name="test_trivial")),
            _of(_test(_sum())))), Options()),
        Example("an assertion that is removed", _pushed(_file(
            _of(_test(_sum(), body="a")), _of(_test(_sum(), _bad())))), Options()),
        Example("a test that asserts nothing any more", _claims(_sum()), Options()),
        Example("an assertion that cannot fail", _claims(_sum(), replace(
            _sum(), kind=Kind.NOTHING)), Options()),
        Example("a weaker assertion", _claims(_sum(), replace(
            _sum(), kind=Kind.TRUTH, form="total($0)")), Options()),
        Example("a wider tolerance", _claims(_near(), replace(_near(), tolerance=0.5)), Options()),
        Example("a broader error", _claims(_bad(), replace(
            _bad(), types=("Exception",), form="raises(Exception, total($0))")), Options()),
        Example("fewer cases", _pushed(_file(
            _of(_test(_sum())), _of(_test(_sum(), cases=3)))), Options()),
        Example("a stand-in for what is tested", _pushed(_file(
            _of(_test(_sum()), mocks=(Mock(19, "tax.total", "test_total"),)), _of(_test(_sum())))),
            Options()),
        Example("a stand-in for what the module under test uses", _pushed(_file(
            _of(_test(_sum()), mocks=(Mock(19, "tax.rates", "test_total"),)), _of(_test(_sum())))),
            Options()),
        Example("a test in a file that no runner looks for", _pushed(
            _file(None, _of(_test(_sum()))),
            _file(_of(_test(_sum())), path="tests/tax_checks.py")), Options()),
        Example("a part of what was claimed", _claims(_value(), replace(
            _value(), form="total($0)[0] == 1", subject="total($0)[0]", answer="1")), Options()),
        Example("an expectation that is computed by what is tested", _claims(_value(), replace(
            _value(), form="total($0) == total($0)", against="call", answer="")), Options()),
        Example("an easier row of a table", _pushed(
            _file(_table("0"), _table("19.25")),
            _file(Sheet(), Sheet(), path="src/tax.py", zone="source")), Options()),
        Example("a deselection in the settings", _ini(
            "pytest.addopts", f"-q --deselect {_FILE}::test_total", "-q"), Options()),
        Example("narrower settings", _ini("pytest.testpaths", "tests/unit", "tests"), Options()),
        Example("the checks and the source", _pushed(touched=(_SRC, Touch(
            ".ci/run", (".ci/**",)))), Options()),
        Example("what runs tests and the source", _pushed(
            _file(_defining("b"), _defining("a"), path=".ci/run", zone=".ci/**")), Options()),
        Example("a maintainer's push of both", _as_maintainer(_gone(), _SRC), Options()),
    ),
    needs=frozenset({Need.CONTENT}),
    on=Reach.GUARDED,
    lenient=True,
)
