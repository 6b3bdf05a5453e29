"""What a change takes from the tests: each loss with its place, before any rule judges it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from policyd.core import claims
from policyd.core.collecting import collected
from policyd.core.content import Changed
from policyd.core.departures import departures
from policyd.core.kin import Kin, Placed, is_on, kin, tests_in
from policyd.core.modules import is_at, is_library
from policyd.core.sheet import Kind, Mark, Mock, Sheet
from policyd.core.tables import changes, rows
from policyd.core.testsettings import narrowed
from policyd.core.values import dataclass
from policyd.core.vanished import is_said

_LONGEST = 44
"""Of what was claimed, as it is told."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Where it is after, or was before; what happened, in a few words; what puts it back.

    `of` is the test, or empty.
    """

    path: str
    line: int
    says: str
    note: str
    of: str
    back: tuple[str, ...]


def losses(tests: Sequence[Changed], source: Sequence[Changed],
           unread: frozenset[str], patterns: tuple[str, ...] = (),
           vanished: frozenset[str] = frozenset()) -> Iterator[Loss]:
    """What the tests lost; `unread` are files after the change that nobody could read, and
    `patterns` what its settings say that test files are called; `vanished` as in `Content`."""
    readable = [file for file in tests if file.path not in unread]
    for file in tests:
        held = sum(len(sheet.tests) for sheet in file.before[:1])
        if file.path in unread and held:
            yield Loss(file.path, 1, "cannot be read", f"held {held} tests", "", (file.path,))
    run = collected(kin(readable), patterns)
    for before, after in run.away:
        yield Loss(after.path, after.test.line, "is not collected", f"{before.test.name} is in a "
                   f"file that no runner reads", before.test.name, (before.path, after.path))
    yield from _of_tests(run.kin, readable, source, vanished)


def _of_tests(found: Kin, files: Sequence[Changed], source: Sequence[Changed],
              vanished: frozenset[str]) -> Iterator[Loss]:
    gone = departures(source, vanished)
    lost = [one for one in found.lost if not gone.takes(one)]
    left = claims.gone([*(before.test for before, _ in found.pairs), *(one.test for one in lost)],
                       [*(after.test for _, after in found.pairs),
                        *(one.test for one in found.gained)])
    room = claims.Room(found.gained, found.pairs)
    stilled = _stilled(files)
    for before, after in found.pairs:
        yield from _of_pair(_without(before, vanished), after, left, room,
                            is_stilled=after.nodeid in stilled)
    for one in lost:
        if not (claims.is_still_claimed(one.test, left) or room.takes(one.test, one.test.cases)):
            yield Loss(one.path, one.test.line, f"loses {_bare(one)}", f"was {one.test.name}",
                       one.test.name, (one.path,))
    yield from _mocked(found, files, source)
    if source:
        yield from _exchanged(found, files)


def _exchanged(found: Kin, files: Sequence[Changed]) -> Iterator[Loss]:
    """Rows of tests that stay, while source changes."""
    sheets = {file.path: file for file in files}
    given = Counter(one.given for file in files if file.after is not None
                    for one in file.after.samples)
    for before, after in found.pairs:
        if before.test.cases > 1 < after.test.cases:
            was = rows(sheets[before.path].before[0], before.test)
            now = rows(sheets[after.path].after, after.test)
            for line, says, row in changes((before, was), (after, now), given):
                yield Loss(after.path, line, says, f"{after.test.name} was given {_short(row)}",
                           after.test.name, tuple(dict.fromkeys((before.path, after.path))))


def unset(files: Sequence[Changed]) -> Iterator[Loss]:
    """Settings that leave out tests which were collected."""
    for file in files:
        sides = file.before or (Sheet(),)
        changes = [tuple(narrowed(side, file.after or Sheet())) for side in sides]
        for change in changes[0] if all(changes) else ():
            yield Loss(file.path, change.line or 0, change.says, "tests are left out", "",
                       (file.path,))


def _stilled(files: Sequence[Changed]) -> frozenset[str]:
    """The tests that a mark keeps from failing, always: rules about marks judge those."""
    return frozenset(
        one.nodeid for file in files for one in tests_in(file.path, file.after)
        for marker in (file.after.markers if file.after is not None else ())
        if marker.mark in (Mark.SKIP, Mark.XFAIL) and not marker.condition
        and is_on(one.test.name, marker.on))


def _of_pair(before: Placed, after: Placed, left: claims.Counted, room: claims.Room, *,
             is_stilled: bool) -> Iterator[Loss]:
    was, now = before.test, after.test
    back = tuple(dict.fromkeys((before.path, after.path)))
    if was.assertions and not now.assertions:
        known = list(claims.losses(was, now, left, room))
        if known:
            yield Loss(after.path, now.line, "asserts nothing", f"{now.name} lost all of "
                       f"{len(was.assertions)} assertions", now.name, back)
    else:
        for loss in claims.losses(was, now, left, room):
            if is_stilled and loss.is_stilled:
                continue
            yield Loss(after.path, loss.line or now.line, loss.says,
                       f"{now.name} was: {_short(loss.was.form)}", now.name, back)
    if was.uses and not now.uses and not was.assertions and not now.assertions:
        yield Loss(after.path, now.line, "tests nothing", f"{now.name} used {was.uses[0]}",
                   now.name, back)
    fewer = was.cases - now.cases
    if fewer > 0 and not room.takes(was, fewer):
        yield Loss(after.path, now.line, "loses cases",
                   f"{now.name} runs {now.cases} of {was.cases} cases", now.name, back)


def _without(before: Placed, vanished: frozenset[str]) -> Placed:
    """A test but for the claims that say what nothing says any more."""
    kept = tuple(claim for claim in before.test.assertions if not is_said(claim, vanished))
    return before if len(kept) == len(before.test.assertions) else replace(
        before, test=replace(before.test, assertions=kept))


def _mocked(found: Kin, files: Sequence[Changed], source: Sequence[Changed]) -> Iterator[Loss]:
    """Stand-ins, gained by tests that were there, for what these tests assert something of."""
    sheets = {file.path: file for file in files}
    for before, after in found.pairs:
        file, old = sheets[after.path], sheets[before.path]
        had = {mock.target for sheet in old.before for mock in sheet.mocks
               if is_on(before.test.name, mock.on)}
        imported = (*after.test.uses, *(file.after.imports if file.after is not None else ()))
        for mock in _new_on(file, after, had):
            is_tested = _is_subject(mock, after) and _is_own(
                mock.target, after, imported, source)
            if is_tested or _is_all(mock, after) or _is_inside(mock, after):
                yield Loss(after.path, mock.line, "mocks what it tests",
                           f"{after.test.name} replaces {_short(mock.target)}", after.test.name,
                           tuple(dict.fromkeys((before.path, after.path))))


def _new_on(file: Changed, test: Placed, had: set[str]) -> Iterator[Mock]:
    return (mock for mock in (file.after.mocks if file.after is not None else ())
            if is_on(test.test.name, mock.on) and mock.target not in had)


def _is_all(mock: Mock, test: Placed) -> bool:
    """Whether the only module of the project that the test uses is replaced as a whole."""
    own = {use for use in test.test.uses if not is_library(use, test.path)}
    return own == {mock.target}


def _is_inside(mock: Mock, test: Placed) -> bool:
    """Whether it is what a module has at hand of which the test uses something itself."""
    home = mock.target.rpartition(".")[0]
    return bool(home) and not is_library(home, test.path) and any(
        use == home or use.startswith(home + ".") for use in test.test.uses)


def _is_subject(mock: Mock, test: Placed) -> bool:
    """Whether the test claims something of a call of what is replaced."""
    name = mock.target.rpartition(".")[2]
    if not name.strip("*"):
        return False
    call = re.compile(rf"(?<![\w$]){re.escape(name)}\(")
    return any(claim.kind not in (Kind.CALLED, Kind.NOTHING) and call.search(claim.subject)
               for claim in test.test.assertions)


def _is_own(target: str, test: Placed, imported: Sequence[str],
            source: Sequence[Changed]) -> bool:
    """Whether it lies in a module of the project, which the test imports or the change holds."""
    home = target.rpartition(".")[0]
    if not home or is_library(home, test.path):
        return False
    last = home.rpartition(".")[2]
    return any(re.split(r"[./]", use)[-1] == last or use == home or use.startswith(home + ".")
               or home.startswith(use + ".") for use in imported) or any(
        is_at(home, file.path, test.path) for file in source)


def _bare(one: Placed) -> str:
    return re.split(r"::| > ", one.test.name)[-1][:40]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST - 3] + "..."
