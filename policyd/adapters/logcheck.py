"""Read a whole decision log and say whether it is the one that was written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from itertools import islice

from policyd.adapters import logfiles, logrotate, repoindex, statefolder
from policyd.adapters.logfiles import Reading, Rotated
from policyd.adapters.statefolder import StrPath, because
from policyd.core.chaincheck import Checker, LogReport
from policyd.core.errors import CannotJudge

Expected = Mapping[int, Sequence[tuple[str, str]]]


def verify(path: StrPath) -> LogReport:
    """Check STATE/decisions.jsonl and the rotated files, as one chain, and against the indexes.

    Streams, so that its size does not matter; pushes go on meanwhile, and entries written after
    the start are left out. An absent file is a log without entries. Raises CannotJudge where it
    cannot be read.
    """
    state = os.path.dirname(os.path.abspath(path))
    try:
        log, expected, resumable = _look(state)
        with closing(log):
            return _checked(log, expected, resumable=resumable)
    except OSError as error:
        raise CannotJudge(f"decision log {os.fspath(path)} cannot be read: "
                          f"{because(error)}") from error


def verify_oldest(state: StrPath, count: int) -> LogReport:
    """Check the `count` oldest rotated files and that the next file follows. Raises CannotJudge."""
    try:
        log, expected, _ = _look(os.fspath(state))
        with closing(log):
            return _checked_oldest(log, expected, count)
    except OSError as error:
        raise CannotJudge(f"decision log in {os.fspath(state)} cannot be read: "
                          f"{because(error)}") from error


def _look(state: str) -> tuple[Reading, Expected, bool]:
    """The files, what the indexes hold, and whether a rotation waits to be finished: as of now."""
    os.stat(state)
    with statefolder.undisturbed(state):
        log, expected = logfiles.reading(state), _positions(state)
        resumable = (log.present is None and bool(log.rotated)
                     and logrotate.is_interrupted(state, log.rotated[-1]))
    return log, expected, resumable


def _checked(log: Reading, expected: Expected, *, resumable: bool) -> LogReport:
    checker = Checker(expected)
    for closed in log.rotated:
        _feed_rotated(checker, log, closed)
    checker.begin(logfiles.NAME)
    _feed(checker, log.of_present())
    if log.rotated and resumable:
        checker.note("a rotation was interrupted: the next push finishes it")
    elif log.rotated:
        checker.demand_entries()
    return checker.report()


def _checked_oldest(log: Reading, expected: Expected, count: int) -> LogReport:
    last = log.rotated[count - 1].last
    checker = Checker({n: told for n, told in expected.items() if n <= last})
    for closed in log.rotated[:count]:
        _feed_rotated(checker, log, closed)
    if log.rotated[count:]:
        checker.begin(log.rotated[count].name)
        _feed(checker, islice(log.of(log.rotated[count]), 1))
    else:
        checker.begin(logfiles.NAME)
        _feed(checker, islice(log.of_present(), 1))
    checker.demand_entries()
    return checker.report()


def _feed_rotated(checker: Checker, log: Reading, closed: Rotated) -> None:
    checker.begin(closed.name, named=(closed.first, closed.last))
    _feed(checker, log.of(closed))


def _feed(checker: Checker, lines: Iterable[bytes]) -> None:
    for line in lines:
        checker.feed(line.removesuffix(b"\n"), ended=line.endswith(b"\n"))


def _positions(state: str) -> dict[int, list[tuple[str, str]]]:
    """Entry number to (hash, repository), as each readable index holds it."""
    found: dict[int, list[tuple[str, str]]] = {}
    for key in repoindex.keys(state):
        try:
            applied = repoindex.load(state, key).applied
        except CannotJudge:
            continue  # it refuses its own pushes, and says why
        if applied.n:
            found.setdefault(applied.n, []).append((applied.hash, f"repository {key}"))
    return found
