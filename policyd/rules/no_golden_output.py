"""No push brings both the code and a recording of what that code prints.

A recording is a file below `golden`: a snapshot, a cassette, an expected output. Any change of one
counts, its removal, a submodule and a link in its place too, in the net change of an update that
changes source as well. Source code and tests below folders with such names are no recordings.
What is recorded apart from the source passes here; a zone of the same globs with writers makes it
theirs alone (protected-writers). Values that stand in the tests themselves: no-recorded-value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from policyd.core.examples import MAIN, push, touching
from policyd.core.facts import Situation, Touch, Update
from policyd.core.policy import Reach
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_zones as _undefined
from policyd.core.values import dataclass

_TEST = re.compile(r"(.*/)?(test_[^/]*|[^/]*_test|[^/]*\.(test|spec)|conftest|__init__)\.\w+")
_CODE = re.compile(
    r".*\.(py[iw]?|go|rs|java|kts?|scala|swift|c|cc|cpp|h|hpp|cs|rb|php|[cm]?[jt]sx?)")


@dataclass(frozen=True, slots=True)
class Options:
    """What is recorded, and what it is recorded from.

    `golden`: globs of recordings.
    `source`: the zone of the code.
    """

    golden: tuple[str, ...] = (
        "**/__snapshots__", "**/*.snap", "**/*.ambr", "**/cassettes", "**/golden", "**/goldens",
        "**/*.golden", "**/*.approved.*", "tests/**/expected", "tests/**/*.expected",
        "tests/**/*.expected.*", "tests/**/snapshots")
    source: str = "source"

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        yield from _undefined(("source",), (self.source,), zones)

    def globs(self) -> tuple[str, ...]:
        """Each becomes a zone of its own name."""
        return self.golden


def check(given: Situation, options: Options) -> Iterator[Finding]:
    """The steps of a merge queue are looked at one by one: each was a change of its own."""
    for update in given.updates:
        if update.revert:
            continue
        for step in update.steps or (update,):
            recorded = [touch.path for touch in step.net if is_recording(touch, options)]
            source = [touch.path for touch in step.net
                      if options.source in touch.zones and not is_recording(touch, options)]
            if recorded and source:
                yield _finding(update, tuple(recorded), source[0])


def is_recording(touch: Touch, options: Options) -> bool:
    if set(options.golden).isdisjoint(touch.zones):
        return False
    is_code = _CODE.fullmatch(touch.path) is not None
    return not (is_code and (options.source in touch.zones or _TEST.fullmatch(touch.path)))


def _finding(update: Update, recorded: tuple[str, ...], source: str) -> Finding:
    return Finding(
        ref=update.ref, says=f"{recorded[0]} + {source}",
        scene="1 recording" if len(recorded) == 1 else f"{len(recorded)} recordings",
        places=tuple(Place(path=path) for path in recorded),
        repair=Repair("drop", Next.EDIT, paths=recorded, words=(
            "put the recordings back as they were, in a commit on top;",
            "assert what stays true instead: f(f(x)) == f(x), sum(parts) == x",
            "output meant to change? propose it, as file proposals/NAME.yaml")))


_RULES = Options()
_CODE_TOUCH = Touch("src/bill.py", ("source",))
_DOCS = Touch("docs/bill.md", ())


def _golden(path: str, glob: str, *zones: str) -> Touch:
    return Touch(path, tuple(sorted((glob, *zones))))


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
        Example("expected code that a test compares with", push(touching(
            _CODE_TOUCH, _golden("tests/expected/out.py", "tests/**/expected", "tests"))),
            _RULES),
        Example("what the policy calls a recording", push(touching(
            _CODE_TOUCH, _golden("t/a.out", "t/*.out"))), Options(golden=("t/*.out",))),
        Example("one step of a merge queue", push(
            touching(_CODE_TOUCH, _SNAP), update=replace(MAIN, steps=(
                push(touching(_CODE_TOUCH, _SNAP)).updates[0],))), _RULES),
    ),
    on=Reach.GUARDED,
    lenient=True,
)
