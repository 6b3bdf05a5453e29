"""Tests gain no mark that takes their edge off: a flake is a dated row, not a mark.

Looked at are the tests and the wiring that the net change touches, and the settings of test
runners. Marks are: skips and expected failures, in whatever way they are written; reruns; limits of
time and of difference that are raised, or that are gone or not known any more; and what keeps a
test from being found. A mark is not gained where its test was only moved or renamed with it, or
where another guarded branch has it, and a new test may be under a condition that its file had, or
that is one imported name which the change does not define. A lower limit passes, and so does the
first limit of a test, unless `usual_timeout` says what holds without one. A skip or an expected
failure passes under one of `conditions` that is not true everywhere, or where one of `packages` is
missing. A mark on a test with a row of the ledger or the quarantine that the target branch holds
already passes; a row about one set of parameters excuses no whole test. A file that cannot be read
is refused, unless it could not be read before. The first push of all gains nothing, and a
maintainer's push without source may say what is collected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from policyd.core import unread
from policyd.core.content import Changed, Content
from policyd.core.examples import MAIN, push
from policyd.core.facts import Need, Pusher, Situation, Unreadable, Update
from policyd.core.nodeids import normalised
from policyd.core.policy import Reach
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_zones as _undefined
from policyd.core.sheet import Mark, Marker, Setting, Sheet, Test
from policyd.core.values import dataclass

if TYPE_CHECKING:  # a push in which nothing is read needs none
    from policyd.core.markings import Gain

_CONDITIONS = ("platform", "version")
_PLAIN = re.compile(r"[A-Za-z0-9_./-]{1,40}")


@dataclass(frozen=True, slots=True)
class Options:
    """What is read, and which marks pass.

    `tests`: the zone of the tests.
    `wiring`: the zone of what decides how tests run.
    `source`: the zone of the code that they test.
    `settings`: globs of the files in which test runners are set.
    `conditions`: what a skip or an expected failure may depend on: platform, version.
    `packages`: the optional packages of the project: a test may skip itself where one is missing.
    `usual_timeout`: the seconds after which a test without a limit ends; 0 where none holds.
    """

    tests: str = "tests"
    wiring: str = "wiring"
    source: str = "source"
    settings: tuple[str, ...] = (
        "**/pyproject.toml", "**/pytest.ini", "**/.pytest.ini", "**/pytest.toml",
        "**/.pytest.toml", "**/tox.ini", "**/tox.toml", "**/setup.cfg", "**/package.json",
        "**/jest.config.json", "**/.mocharc.json", "**/.mocharc.jsonc")
    conditions: tuple[str, ...] = _CONDITIONS
    packages: tuple[str, ...] = ()
    usual_timeout: float = 0.0

    def reads(self) -> tuple[str, ...]:
        return (self.tests, self.wiring, *self.settings)

    def globs(self) -> tuple[str, ...]:
        """Each becomes a zone of its own name."""
        return self.settings

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        for zone in ("tests", "wiring", "source"):
            yield from _undefined((zone,), (getattr(self, zone),), zones)
        for name in self.conditions:
            if name not in _CONDITIONS:
                yield ("conditions", name), (
                    f"no condition named {name!r}; known: {', '.join(_CONDITIONS)}")
        if self.usual_timeout < 0:
            yield ("usual_timeout",), "seconds are 0 or more"

    def lets(self, marker: Marker) -> bool:
        """Whether a mark may stay for what it depends on."""
        from policyd.core.markings import holds_everywhere

        kind, _, package = marker.condition.partition(":")
        return marker.mark in (Mark.SKIP, Mark.XFAIL) and not holds_everywhere(marker) and (
            kind in self.conditions or (kind == "package" and package in self.packages))


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for update in given.updates:
        if update.content is None or update.revert or given.empty:
            continue
        files = tuple(file for file in update.content.files
                      if not set(options.reads()).isdisjoint(file.zones))
        lost = unread.newly(update.content, files)
        if lost:
            yield unread.finding(update.ref, lost, "a test, or what decides how tests run")
        if not files:
            continue
        is_apart = "maintainers" in given.pusher.groups and not any(
            options.source in touch.zones for touch in update.net)
        places = (*_marks(files, update.content, options, is_apart=is_apart), *_settings(files))
        if places:
            yield _finding(update, places, options)


def _marks(files: tuple[Changed, ...], content: Content, options: Options, *,
           is_apart: bool) -> Iterator[Place]:
    """`is_apart`: whether a maintainer changes how tests run, and no source."""
    from policyd.core.markings import gains, lifted

    marked = tuple(file for file in files if {options.tests, options.wiring} & set(file.zones))
    limited = any(one.key.rpartition(".")[2] == "timeout" for file in files if file.after
                  for one in file.after.settings)
    for gain in (*gains(marked, options.usual_timeout),
                 *(() if limited else lifted(marked, options.usual_timeout))):
        if not (options.lets(gain.marker) or _is_excused(gain, content.excused)
                or (is_apart and gain.marker.mark is Mark.UNCOLLECTED)):
            on = gain.marker.on and f" on {gain.marker.on.rpartition('::')[2]}"
            yield Place(path=gain.path, line=gain.marker.line, note=f"{gain.says}{on}")


def _is_excused(gain: Gain, excused: frozenset[str]) -> bool:
    ids = gain.ids or ((f"{gain.path}::{gain.marker.on}",) if gain.marker.on else ())
    return bool(ids) and all(_normal(nodeid) in excused for nodeid in ids)


def _normal(nodeid: str) -> str:
    try:
        return normalised(nodeid)
    except ValueError:
        return nodeid  # no row can be about it


def _settings(files: tuple[Changed, ...]) -> Iterator[Place]:
    from policyd.core.testsettings import loosened

    for file in files:
        sides = (*(file.before or (Sheet(),)), *file.elsewhere)
        changes = [tuple(loosened(side, file.after or Sheet())) for side in sides]
        for change in changes[0] if all(changes) else ():
            yield Place(path=file.path, line=change.line, note=change.says)


def _finding(update: Update, places: tuple[Place, ...], options: Options) -> Finding:
    first = places[0]
    at = f"{first.path}:{first.line}" if first.line else f"{first.path}"
    return Finding(
        ref=update.ref, says=f"{at} {first.note.partition(' on ')[0]}",
        scene="1 mark" if len(places) == 1 else f"{len(places)} marks", places=places,
        repair=Repair("edit", Next.EDIT, words=(
            "take it out in a commit on top, and push; then what fits:",
            "your change broke it: repair the source",
            "it flakes without it too: proposals/flake-NAME.yaml (kind: flake,",
            "  nodeid, reason); a maintainer dates it and adopts it",
            *_passing(options), *_question(update))))


def _passing(options: Options) -> tuple[str, ...]:
    names = (*options.conditions, *(("a missing package",) if options.packages else ()))
    return (f"these conditions pass unmarked: {', '.join(names)}",) if names else ()


def _question(update: Update) -> tuple[str, ...]:
    """How to ask before the next push, where the branch's name needs no quotes."""
    if update.branch is None or not _PLAIN.fullmatch(update.branch):
        return ()
    return (f"ask, nothing moves: git push origin HEAD:refs/check/{update.branch}",)


_FILE, _NODE = "tests/test_api.py", "tests/test_api.py::test_rates"


def _with(after: Sheet | None, *before: Sheet, path: str = _FILE, zone: str = "tests",
          excused: tuple[str, ...] = ()) -> Situation:
    file = Changed(path, (zone,), after, before, is_new=not before)
    return _pushed(Content((file,), excused=frozenset(excused)))


def _pushed(content: Content) -> Situation:
    return push(update=replace(MAIN, content=content))


def _sheet(*markers: Marker, name: str = "test_rates") -> Sheet:
    return Sheet(tests=(Test(name, 40, "4e1c"),), markers=markers)


def _on(mark: Mark, says: str, condition: str = "", amount: float | None = None,
        on: str = "test_rates") -> Marker:
    return Marker(mark, 39, on, says, condition, amount)


def _ini(key: str, value: str, was: str) -> Situation:
    after, before = (Sheet(settings=(Setting(key, text, 3),)) for text in (value, was))
    return _with(after, before, path="pytest.ini", zone="wiring")


def _skip() -> Marker:
    return _on(Mark.SKIP, "@pytest.mark.skip")


def _linux() -> Marker:
    return _on(Mark.SKIP, "@skipif(sys.platform == 'win32')", "platform")


def _numpy() -> Marker:
    return _on(Mark.SKIP, "importorskip('numpy')", "package:numpy")


def _strict() -> Marker:
    return _on(Mark.XFAIL, "@pytest.mark.xfail(strict=True)")


def _unfound() -> Marker:
    return _on(Mark.UNCOLLECTED, "__test__ = False")


def _broken() -> Unreadable:
    return Unreadable(_FILE, 3, "invalid syntax")


def _moved() -> Content:
    return Content((
        Changed("tests/old.py", ("tests",), None, (_sheet(_skip()),)),
        Changed(_FILE, ("tests",), _sheet(
            replace(_skip(), on="test_all_rates"), name="test_all_rates"), is_new=True)))


def _limit(amount: float | None) -> Marker:
    said = "factor" if amount is None else f"{amount:g}"
    return _on(Mark.TIMEOUT, f"@pytest.mark.timeout({said})", amount=amount)


RULE = Rule(
    id="unmarked-tests",
    why="a mark hides the failure; a flake is a dated row, not a mark.",
    fix="Repair the source, or propose a row of the flake ledger; the test stays unmarked.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("no test changed", push(), Options()),
        Example("a mark that was there", _with(_sheet(_skip()), _sheet(_skip())), Options()),
        Example("a test that is moved and renamed with its mark", _pushed(_moved()), Options()),
        Example("a skip that depends on the platform", _with(_sheet(_linux()), _sheet()),
                Options()),
        Example("a package that the policy calls optional", _with(_sheet(_numpy()), _sheet()),
                Options(packages=("numpy",))),
        Example("a row that the target branch holds already",
                _with(_sheet(_skip()), _sheet(), excused=(_NODE,)), Options()),
        Example("a lower timeout", _with(_sheet(_limit(2)), _sheet(_limit(10))), Options()),
        Example("the first timeout of a test", _with(_sheet(_limit(60)), _sheet()), Options()),
        Example("a mark that goes", _with(_sheet(), _sheet(_skip())), Options()),
        Example("an expected failure that becomes strict", _with(
            _sheet(_strict()), _sheet(_on(Mark.XFAIL, "@pytest.mark.xfail"))), Options()),
        Example("a file that could not be read before", _pushed(Content(
            (Changed(_FILE, ("tests",), Sheet()),), (_broken(),))), Options()),
        Example("a maintainer says what is collected", replace(_with(
            _sheet(_unfound()), _sheet()), pusher=Pusher("mei", frozenset({"maintainers"}))),
            Options()),
        Example("a maintainer's return to an earlier accepted state", push(update=replace(
            MAIN, revert=True, content=_with(_sheet(_skip()), _sheet()).updates[0].content)),
            Options()),
    ),
    rejects=lambda: (
        Example("a skip", _with(_sheet(_skip()), _sheet()), Options()),
        Example("a skip in a new test", _with(_sheet(_skip())), Options()),
        Example("a skip that depends on something else", _with(
            _sheet(_on(Mark.SKIP, "@skipif(os.environ.get('CI'))", "other")), _sheet()),
            Options()),
        Example("a package that nobody called optional", _with(_sheet(_numpy()), _sheet()),
                Options()),
        Example("a platform, where the policy lets none pass",
                _with(_sheet(_linux()), _sheet()), Options(conditions=())),
        Example("an expected failure that is strict no more", _with(
            _sheet(_on(Mark.XFAIL, "@pytest.mark.xfail")), _sheet(_strict())), Options()),
        Example("reruns", _with(_sheet(_on(Mark.RERUN, "@flaky(reruns=5)", amount=5)), _sheet()),
                Options()),
        Example("a raised timeout", _with(_sheet(_limit(10)), _sheet(_limit(2))), Options()),
        Example("a timeout that nobody can know", _with(
            _sheet(_limit(None)), _sheet(_limit(5))), Options()),
        Example("a timeout that is taken off", _with(_sheet(), _sheet(replace(
            _limit(5), says="@pytest.mark.timeout(5)"))), Options()),
        Example("a platform that nobody has", _with(_sheet(replace(
            _linux(), says='@skipif(sys.platform != "aix")')), _sheet()), Options()),
        Example("a first timeout above what holds without one", _with(
            _sheet(_limit(60)), _sheet()), Options(usual_timeout=10)),
        Example("a raised tolerance", _with(
            _sheet(_on(Mark.TOLERANCE, "EPSILON = 0.5", amount=0.5, on="")),
            _sheet(_on(Mark.TOLERANCE, "EPSILON = 0.01", amount=0.01, on=""))), Options()),
        Example("what keeps a test from being found", _with(_sheet(_unfound()), _sheet()),
                Options()),
        Example("a row for one of two tests", _with(
            Sheet(tests=(Test("test_rates", 40, "1"), Test("test_login", 50, "2")),
                  markers=(_skip(), replace(_skip(), on="test_login", line=49))),
            Sheet(tests=(Test("test_rates", 40, "1"), Test("test_login", 50, "2"))),
            excused=(_NODE,)), Options()),
        Example("a timeout in the settings", _ini("pytest.timeout", "20", "2"), Options()),
        Example("retries in the settings", _ini("pytest.addopts", "-q --retries=2", "-q"),
                Options()),
        Example("a file that cannot be read", _pushed(Content(
            (Changed(_FILE, ("tests",), Sheet(), (_sheet(),)),), (_broken(),))), Options()),
    ),
    needs=frozenset({Need.CONTENT}),
    on=Reach.GUARDED,
    lenient=True,
)
