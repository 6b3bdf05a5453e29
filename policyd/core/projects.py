"""What two claims have in common that are about different things of one project."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field

from policyd.core.modules import is_library
from policyd.core.sheet import Assertion, Test
from policyd.core.strength import LITERAL
from policyd.core.values import dataclass

_NAME = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_TELLING = re.compile(r"""[A-Za-z]?["'].*\w.*["']|-?\d[\w.]{2,}""", re.DOTALL)
_SELF = "self.py"


@dataclass(frozen=True, slots=True)
class Shared:
    """`was` and `now`: by name, the top of the project's modules that a test takes it from."""

    was: dict[str, str] = field(default_factory=dict)
    now: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, before: Test, after: Test) -> Shared:
        tops = _own_tops((*before.uses, *after.uses))
        return cls(_names(before, tops), _names(after, tops))

    def has_both(self, was: Assertion, now: Assertion) -> bool:
        """Whether something of one project is given the same inputs, that say something."""
        given = _inputs(was)
        return bool(given) and given == _inputs(now) and not _tops(was, self.was).isdisjoint(
            _tops(now, self.now))


def _own_tops(uses: Iterable[str]) -> frozenset[str]:
    """A package is a project's own as well where a test takes something private from it."""
    own = set()
    for use in uses:
        top, *inner = use.split(".")
        if top and (not is_library(use, _SELF) or any(
                name.startswith("_") and not name.startswith("__") for name in inner[:1])):
            own.add(top)
    return frozenset(own)


def _names(test: Test, tops: frozenset[str]) -> dict[str, str]:
    return {name: top for use in test.uses if (top := use.split(".")[0]) in tops
            for name in (top, use.rpartition(".")[2])}


def _tops(claim: Assertion, names: dict[str, str]) -> set[str]:
    return {names[name] for name in _NAME.findall(LITERAL.sub("#", claim.subject))
            if name in names}


def _inputs(claim: Assertion) -> tuple[str, ...]:
    """All literals of the subject, if one of them is more than a small number or a sign."""
    found = tuple(LITERAL.findall(claim.subject))
    return found if any(map(_TELLING.fullmatch, found)) else ()
