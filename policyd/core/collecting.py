"""Whether runners look for tests in a file of some name, as far as names tell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from policyd.core.content import Changed
from policyd.core.kin import Kin, Placed
from policyd.core.values import dataclass

_PYTHON = ("test_*.py", "*_test.py")
_SCRIPT = re.compile(r"(^|/)__tests__/|[._-](test|spec)s?\.[cm]?[jt]sx?$")
_QUOTED = re.compile(r"[^\s\"',\[\]]+")


@dataclass(frozen=True, slots=True)
class Collected:
    """`kin` without the tests that nobody runs any more, and those, where they are now."""

    kin: Kin
    away: tuple[tuple[Placed, Placed], ...]


def collected(kin: Kin, patterns: tuple[str, ...]) -> Collected:
    """A test that is moved out of the files that runners read is none; nor is a new one there.

    `patterns` are those of settings that the change holds. Where tests stood in files of other
    names already, names tell nothing.
    """
    away = tuple((before, after) for before, after in kin.pairs if before.path != after.path
                 and is_found(before.path, patterns) and not is_found(after.path, patterns))
    if not away and not any(is_found(one.path, patterns) for one in kin.lost):
        return Collected(kin, ())
    return Collected(Kin(tuple(pair for pair in kin.pairs if pair not in away), kin.lost,
                         tuple(one for one in kin.gained if is_found(one.path, patterns))), away)


def is_found(path: str, patterns: tuple[str, ...]) -> bool:
    name = path.rpartition("/")[2]
    if not name.endswith(".py"):
        return _SCRIPT.search(path) is not None
    return any(fnmatchcase(name, pattern) for pattern in (*_PYTHON, *patterns))


def patterns(files: Iterable[Changed]) -> tuple[str, ...]:
    """What the settings of a change say that test files are called."""
    return tuple(pattern for file in files if file.after is not None
                 for one in file.after.settings if one.key.endswith("python_files")
                 for pattern in _QUOTED.findall(one.value))
