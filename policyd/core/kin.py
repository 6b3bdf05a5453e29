"""Which test after a push is which test before it: the same, moved, renamed, or left over."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from policyd.core.content import Changed
from policyd.core.sheet import Assertion, Sheet, Test
from policyd.core.values import dataclass

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_ALIKE = 0.6
"""Of all words of two names, those that both have."""
_INSIDE = ("::", " > ")
"""What stands between a class, or a block of tests, and what is in it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A test and its file."""

    path: str
    test: Test

    @property
    def nodeid(self) -> str:
        return f"{self.path}::{self.test.name}"

    @property
    def forms(self) -> frozenset[str]:
        return frozenset(claim.form for claim in self.test.assertions)


@dataclass(frozen=True, slots=True)
class Kin:
    """The tests of changed files: in pairs (before, after), and those that have no other."""

    pairs: tuple[tuple[Placed, Placed], ...]
    lost: tuple[Placed, ...]
    gained: tuple[Placed, ...]

    def origins(self) -> Mapping[str, Placed]:
        """Node id after to the test before."""
        return {after.nodeid: before for before, after in self.pairs}


def kin(files: Sequence[Changed]) -> Kin:
    """A lost test is a gained one with the same body, or its name, or all of its assertions.

    The body decides first, anywhere; then the name in another file or class; then what is
    claimed, in the same file, and at last a name there that is much alike.
    """
    before = [one for file in files for one in _held(file)]
    after = {one.nodeid: one for file in files for one in tests_in(file.path, file.after)}
    pairs = [(one, after[one.nodeid]) for one in before if one.nodeid in after]
    known = {one.nodeid for one, _ in pairs}
    lost = [one for one in before if one.nodeid not in known]
    left = {nodeid: one for nodeid, one in after.items() if nodeid not in known}
    for key in (lambda one: one.test.body or None, lambda one: one.test.name, _bare):
        lost = list(_matched(lost, left, key, pairs))
    lost = list(_claiming(lost, left, pairs))
    lost = list(_called_alike(lost, left, pairs))
    return Kin(tuple(pairs), tuple(lost), tuple(left.values()))


def tests_in(path: str, sheet: Sheet | None) -> Iterator[Placed]:
    return (Placed(path, test) for test in (sheet.tests if sheet is not None else ()))


def is_on(name: str, on: str) -> bool:
    """Whether what is on a test, a class or a whole file ("") is on the test of this name."""
    return not on or name == on or any(name.startswith(on + mark) for mark in _INSIDE)


def _held(file: Changed) -> Iterator[Placed]:
    """The tests that a file held before; where sides conflict, what all of them held."""
    sides = [{test.name: test for test in sheet.tests} for sheet in file.before]
    for name, test in (sides[0] if sides else {}).items():
        others = [side[name] for side in sides[1:] if name in side]
        if len(others) == len(sides) - 1:
            yield Placed(file.path, _common(test, others) if others else test)


def _common(test: Test, others: Sequence[Test]) -> Test:
    def held(claim: Assertion) -> bool:
        return all(any(claim.form == other.form for other in one.assertions) for one in others)

    return replace(test, assertions=tuple(filter(held, test.assertions)),
                   cases=min(test.cases, *(one.cases for one in others)))


def _bare(one: Placed) -> str:
    name = one.test.name
    for mark in _INSIDE:
        name = name.rpartition(mark)[2]
    return name


def _matched(lost: Iterable[Placed], left: dict[str, Placed],
             key: Callable[[Placed], Hashable],
             pairs: list[tuple[Placed, Placed]]) -> Iterator[Placed]:
    """Those of the lost that stay so; the others go to the pairs, the nearest first."""
    waiting: dict[Hashable, list[Placed]] = {}
    for one in left.values():
        waiting.setdefault(key(one), []).append(one)
    for one in lost:
        same = waiting.get(key(one), []) if key(one) is not None else []
        if not same:
            yield one
            continue
        found = min(same, key=lambda other: (other.path != one.path, _bare(other) != _bare(one)))
        same.remove(found)
        pairs.append((one, left.pop(found.nodeid)))


def _claiming(lost: Iterable[Placed], left: dict[str, Placed],
              pairs: list[tuple[Placed, Placed]]) -> Iterator[Placed]:
    by_path: dict[str, list[tuple[frozenset[str], Placed]]] = {}
    for one in left.values():
        by_path.setdefault(one.path, []).append((one.forms, one))
    for one in lost:
        same = by_path.get(one.path, [])
        found = next((pair for pair in same if one.forms and one.forms <= pair[0]), None)
        if found is None:
            yield one
        else:
            same.remove(found)
            pairs.append((one, left.pop(found[1].nodeid)))


def _called_alike(lost: Iterable[Placed], left: dict[str, Placed],
                  pairs: list[tuple[Placed, Placed]]) -> Iterator[Placed]:
    """To take one for the other is no risk: what it claims is compared, as if it kept its name."""
    by_path: dict[str, list[tuple[frozenset[str], Placed]]] = {}
    for one in left.values():
        by_path.setdefault(one.path, []).append((_words(one), one))
    for one in lost:
        words, same = _words(one), by_path.get(one.path, [])
        best = max(same, key=lambda other: _likeness(words, other[0]), default=None)
        if best is None or _likeness(words, best[0]) < _ALIKE:
            yield one
        else:
            same.remove(best)
            pairs.append((one, left.pop(best[1].nodeid)))


def _words(one: Placed) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(_bare(one))) - {"test"}


def _likeness(words: frozenset[str], others: frozenset[str]) -> float:
    return len(words & others) / len(words | others) if words | others else 0.0
