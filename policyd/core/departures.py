"""What goes from the source with its tests: whole modules, and names that a module defined.

A name of a module goes with what imports it while no name comes; a name that nothing says any more
goes with what is about it (`core.vanished`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from policyd.core.content import Changed
from policyd.core.kin import Placed
from policyd.core.modules import is_at, is_library
from policyd.core.sheet import Kind, Sheet
from policyd.core.values import dataclass
from policyd.core.vanished import is_of

_INDEXES = frozenset({"__init__.py", "index.js"})


@dataclass(frozen=True, slots=True)
class Departures:
    """`modules`: paths. `names`: by path, what is not defined there any more. `vanished`: what
    no file says any more."""

    modules: tuple[str, ...]
    names: tuple[tuple[str, frozenset[str]], ...]
    vanished: frozenset[str] = frozenset()

    def takes(self, one: Placed) -> bool:
        """Whether all that a test uses of the project is gone, or all that it claims a thing of."""
        if is_of(one.test, self.vanished):
            return True
        own = [use for use in one.test.uses if not is_library(use, one.path)]
        gone = [use for use in own if self._is_gone(use, one.path)]
        if not gone:
            return False
        return len(gone) == len(own) or _is_about(one, gone)

    def _is_gone(self, use: str, at: str) -> bool:
        return any(is_at(use, path, at) for path in self.modules) or any(
            use.rpartition(".")[2] in names and is_at(use.rpartition(".")[0], path, at)
            for path, names in self.names)


def departures(source: Sequence[Changed], vanished: frozenset[str] = frozenset()) -> Departures:
    """A file that comes with the same name or content is one that goes, moved; and while names
    come, it cannot be told which of those that go are only called otherwise."""
    came = [file for file in source if file.after is not None and not file.before]
    names = {file.path.rpartition("/")[2] for file in came}
    contents = {_content(file.after) for file in came}
    modules = tuple(file.path for file in source
                    if file.after is None and file.before
                    and file.path.rpartition("/")[2] not in names - _INDEXES
                    and _content(file.before[0]) not in contents)
    return Departures(modules, () if any(map(_comes, source)) else tuple(
        (file.path, gone) for file in source
        if file.after is not None and (gone := _defined(file) - {*file.after.defines})), vanished)


def _defined(file: Changed) -> frozenset[str]:
    """On all sides."""
    sides = [frozenset(sheet.defines) for sheet in file.before]
    return frozenset.intersection(*sides) if sides else frozenset()


def _comes(file: Changed) -> bool:
    known = {name for sheet in (*file.before, *file.elsewhere) for name in sheet.defines}
    return file.after is not None and not known.issuperset(file.after.defines)


def _content(sheet: Sheet | None) -> object:
    """What tells one source file from another, as far as a sheet does."""
    if sheet is None:
        return None
    return tuple(one.value for one in sheet.literals), sheet.imports, tuple(
        (one.given, one.result) for one in sheet.keyed)


def _is_about(one: Placed, gone: Sequence[str]) -> bool:
    names = "|".join(re.escape(use.rpartition(".")[2]) for use in gone)
    named = re.compile(rf"(?<![\w$])({names})(?![\w$])")
    claims = [claim for claim in one.test.assertions if claim.kind is not Kind.NOTHING]
    return bool(claims) and all(named.search(claim.subject or claim.form) for claim in claims)
