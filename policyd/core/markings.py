"""Which marks tests gained: a mark is the same where its test only moved or got another name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence

from policyd.core.content import Changed
from policyd.core.kin import Placed, is_on, kin, tests_in
from policyd.core.sheet import Mark, Marker, Sheet
from policyd.core.values import dataclass

_STRING = re.compile(r"""[A-Za-z]{0,2}("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')""")
_REASON = re.compile(r"""\breason\s*=\s*[A-Za-z]?("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')""")
_STRICT = re.compile(r"\bstrict\s*=\s*True\b")
_ONLY = re.compile(r"only\b|f(it|describe|test)\b")
_OF_RUNNER = re.compile(r"\bmark\.timeout\(")
"""A limit without which none holds; other runners have one for all tests."""
_PLATFORMS = ("linux", "darwin", "mac", "win", "windows", "posix", "nt", "cpython", "pypy", "x86",
              "amd64", "arm", "aarch64", "bsd", "freebsd", "cygwin")
_ASKS = re.compile(r"platform|\bos\.name\b|\bsystem\(")
_NEGATED = re.compile(r"!=|\bnot\b|!\w|!\[|!\(")
_VERSION = re.compile(r"version_info(?:\[[:\d]*\]|\.major)?\s*([<>]=?)\s*[\[(]?(\d+)(?:,\s*(\d+))?")
_OLDEST = 3
"""Major version that all run."""
_NUMBER = re.compile(r"\d[\d_.]*")
_HEAD = re.compile(r"\s*[(=]")
_NO_WORD = re.compile(r"[\s,]+")

_SHORT = 24
"""Of a mark in the first line of a rejection."""

LIMITS = (Mark.TIMEOUT, Mark.TOLERANCE, Mark.RERUN)
"""What has an amount: less of it is no weaker."""


@dataclass(frozen=True, slots=True)
class Gain:
    """A mark that is new, or worse than it was; `ids` are the tests that it is on."""

    path: str
    marker: Marker
    says: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Before:
    """What was marked: by file, and where each test of today was."""

    sheets: Mapping[str, tuple[Sheet, ...]]
    origins: Mapping[str, Placed]
    defined: frozenset[str] = frozenset()
    """What the changed files define now."""

    @classmethod
    def of(cls, files: Sequence[Changed]) -> Before:
        return cls({file.path: (*file.before, *file.elsewhere) for file in files},
                   kin(files).origins(), frozenset(
                       one.name for file in files if file.after for one in file.after.defined))

    def at(self, path: str, marker: Marker) -> list[Sequence[Marker]]:
        """The markers on the same test, class or file, side by side."""
        return [[one for one in sheet.markers if one.mark is marker.mark and one.on == marker.on]
                for sheet in self.sheets.get(path, ())]

    def knows(self, file: Changed, marker: Marker) -> bool:
        """Whether other tests of the file were under the same condition, or it is a name that no
        changed file defines: a new one may be."""
        if marker.asks and marker.asks not in self.defined:
            return True
        return any(_is_no_worse(marker, (one,)) for sheet in self.sheets.get(file.path, ())
                   for one in sheet.markers if one.mark is marker.mark)

    def limits(self, test: Placed) -> list[float]:
        """What the runner's limits of a test were, in seconds, if all sides had one."""
        was = self.origins.get(test.nodeid)
        sides = [] if was is None else [
            [one.amount for one in sheet.markers if one.amount is not None and one.amount > 0
             and _OF_RUNNER.search(one.says) and is_on(was.test.name, one.on)]
            for sheet in self.sheets.get(was.path, ())]
        return [limit for side in sides for limit in side] if all(sides) else []

    def on(self, test: Placed, marker: Marker) -> list[Marker]:
        """The markers of the kind that the test had, whatever it was called and wherever."""
        was = self.origins.get(test.nodeid)
        return [] if was is None else [
            one for sheet in self.sheets.get(was.path, ()) for one in sheet.markers
            if one.mark is marker.mark and is_on(was.test.name, one.on)]


def gains(files: Sequence[Changed], usual: float) -> Iterator[Gain]:
    """The marks that changed files gained. `usual`: the seconds of a test without a limit."""
    before = Before.of(files)
    for file in files:
        sheet = file.after or Sheet()
        tests = tuple(tests_in(file.path, sheet))
        seen = Counter[Hashable]()
        for marker in dict.fromkeys(sheet.markers):
            covered = [test for test in tests if is_on(test.test.name, marker.on)]
            seen[_plain(marker), marker.on] += 1
            count = seen[_plain(marker), marker.on]
            says = _gained(file, marker, count, covered, before, usual)
            if says:
                yield Gain(file.path, marker, says, tuple(test.nodeid for test in covered))


def lifted(files: Sequence[Changed], usual: float) -> Iterator[Gain]:
    """The tests that had a limit of the runner's and have none now, if they end later so."""
    before = Before.of(files)
    for file in files:
        sheet = file.after or Sheet()
        for test in tests_in(file.path, sheet):
            had = before.limits(test)
            if had and not 0 < usual <= min(had) and not any(
                    one.mark is Mark.TIMEOUT and is_on(test.test.name, one.on)
                    for one in sheet.markers):
                marker = Marker(Mark.TIMEOUT, test.test.line, test.test.name)
                yield Gain(file.path, marker, f"timeout none, was {_amount(min(had))}",
                           (test.nodeid,))


def _gained(file: Changed, marker: Marker, count: int, covered: Sequence[Placed],
            before: Before, usual: float) -> str:
    """What to say of the `count`-th mark of its kind; nothing where it was there."""
    if marker.mark in LIMITS and (marker.mark is not Mark.RERUN or marker.amount is not None):
        return _raised(file, marker, covered, before, usual)
    if marker.mark is Mark.UNCOLLECTED and not _takes_away(marker, covered, before, file.path):
        return ""
    had = [Counter(map(_plain, side))[_plain(marker)] for side in before.at(file.path, marker)]
    if any(number >= count and _is_no_worse(marker, side) for number, side in zip(
            had, before.at(file.path, marker), strict=True)):
        return ""
    if covered and not any(had) and all(
            _is_no_worse(marker, before.on(test, marker)) for test in covered):
        return ""
    if covered and marker.condition == "other" and marker.mark in (Mark.SKIP, Mark.XFAIL) and all(
            test.nodeid not in before.origins for test in covered) and before.knows(file, marker):
        return ""
    was_strict = not _is_strict(marker) and any(
        _is_strict(one) for side in before.at(file.path, marker) for one in side)
    return "xfail is strict no more" if was_strict else f"gains {_short(marker)}"


def _is_no_worse(marker: Marker, had: Sequence[Marker]) -> bool:
    """Whether some mark says the same, as strictly, of no fewer names."""
    return any(_plain(one) == _plain(marker)
               and (_is_strict(marker) or not _is_strict(one))
               and (marker.mark is not Mark.UNCOLLECTED
                    or {*_strings(marker)} <= {*_strings(one)}) for one in had)


def _takes_away(marker: Marker, covered: Sequence[Placed], before: Before, path: str) -> bool:
    """Whether there were tests that are not collected any more; `only` is about all others."""
    if not marker.on or _ONLY.match(marker.says) or ".only" in marker.says:
        return True
    held = (test for sheet in before.sheets.get(path, ()) for test in sheet.tests)
    return any(is_on(test.name, marker.on) for test in held) or any(
        test.nodeid in before.origins for test in covered)


def _raised(file: Changed, marker: Marker, covered: Sequence[Placed], before: Before,
            usual: float) -> str:
    sides = before.at(file.path, marker)
    if any(marker.says == one.says and marker.amount == one.amount
           for side in sides for one in side):
        return ""
    had = [one for side in sides for one in side] or [
        one for test in covered for one in before.on(test, marker)]
    same = [one for one in had if _label(one) == _label(marker)] or had
    if marker.mark is Mark.RERUN:
        most: float | None = max((one.amount or 0.0 for one in same), default=0.0)
    elif same:
        most = None if any(one.amount is None for one in same) else max(
            one.amount or 0.0 for one in same)
    else:
        return _first(file, marker, covered, before, usual)
    if marker.amount is None:
        return f"{_what(marker)} not known, was {_amount(most)}"
    no_limit = marker.mark is Mark.TIMEOUT and marker.amount <= 0
    if no_limit or (most is not None and marker.amount > most):
        return f"{_what(marker)} {_amount(marker.amount)}, was {_amount(most)}"
    return ""


def holds_everywhere(marker: Marker) -> bool:
    """Whether a condition about platforms or versions is none: it names none that is in use."""
    if marker.condition == "platform":
        named = {one[1].strip("\"'").lower() for one in _STRING.finditer(marker.says)}
        usual = any(name and (one.startswith(name) or name.startswith(one))
                    for name in named for one in _PLATFORMS)
        return (bool(named) and not usual and _NEGATED.search(marker.says) is not None
                and _ASKS.search(marker.says) is not None)
    if marker.condition == "version":
        return any((int(major) < _OLDEST or (int(major) == _OLDEST and minor in ("", "0")))
                   if sign[0] == ">" else int(major) > _OLDEST
                   for sign, major, minor in _VERSION.findall(marker.says))
    return False


def _first(file: Changed, marker: Marker, covered: Sequence[Placed], before: Before,
           usual: float) -> str:
    """A limit where there was none: it is one of its own where the tests are new."""
    is_new = file.is_new or (covered and not any(t.nodeid in before.origins for t in covered))
    if marker.mark is not Mark.TIMEOUT:
        return ""
    if marker.amount is not None and marker.amount <= 0:
        return "gains a timeout of none"
    if is_new and not usual:
        return ""
    if marker.amount is None:
        return "gains a timeout that is not known"
    return f"gains a timeout of {_amount(marker.amount)}" if 0 < usual < marker.amount else ""


def _plain(marker: Marker) -> tuple[Mark, str, str]:
    """What a mark is, without its reason, its strictness and spaces."""
    says = marker.says
    if marker.condition in ("", "other"):
        says = _REASON.sub("", says)
    if not marker.condition:
        says = _STRING.sub("", says)
    says = _NO_WORD.sub("", _STRICT.sub("", says)).removeprefix("@").removesuffix("()")
    return marker.mark, says, marker.condition


def _is_strict(marker: Marker) -> bool:
    return marker.mark is Mark.XFAIL and _STRICT.search(marker.says) is not None


def _strings(marker: Marker) -> Iterator[str]:
    return (found[1] for found in _STRING.finditer(marker.says))


def _label(marker: Marker) -> str:
    """A limit without its numbers, so that several of them are told apart."""
    return _NUMBER.sub("#", marker.says)


def _short(marker: Marker) -> str:
    """As it was written, without what is in brackets where that is long."""
    says = marker.says.strip().removeprefix("@") or marker.mark.value
    return says if len(says) <= _SHORT else _HEAD.split(says)[0][:_SHORT]


def _what(marker: Marker) -> str:
    return {Mark.TIMEOUT: "timeout", Mark.TOLERANCE: "tolerance"}.get(marker.mark, "reruns")


def _amount(amount: float | None) -> str:
    return "not known" if amount is None else f"{amount:g}"
