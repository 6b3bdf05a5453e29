"""Read a whole decision log and say whether it is the one that was written."""

from __future__ import annotations

import os
from collections.abc import Iterator

from policyd.adapters import repoindex, statefolder
from policyd.adapters.statefolder import StrPath, because
from policyd.core.chaincheck import Checker, LogReport
from policyd.core.errors import CannotJudge


def verify(path: StrPath) -> LogReport:
    """Check STATE/decisions.jsonl against itself and against the indexes beside it.

    Streams, so that its size does not matter; pushes go on meanwhile, and entries written after
    the start are left out. An absent file is a log without entries. Raises CannotJudge where it
    cannot be read.
    """
    state = os.path.dirname(os.path.abspath(path))
    try:
        os.stat(state)
        with statefolder.undisturbed(state):
            expected, size = _positions(state), _size(path)
        checker = Checker(expected)
        for line in _lines(path, size):
            checker.feed(line.removesuffix(b"\n"), ended=line.endswith(b"\n"))
        return checker.report()
    except OSError as error:
        raise CannotJudge(f"decision log {os.fspath(path)} cannot be read: "
                          f"{because(error)}") from error


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


def _size(path: StrPath) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0


def _lines(path: StrPath, size: int) -> Iterator[bytes]:
    if not size:
        return
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(fd, "rb") as file:
        while size > 0:
            line = file.readline(size)
            if not line:
                return
            size -= len(line)
            yield line
