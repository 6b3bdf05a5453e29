"""The rule of merges on flat dictionaries: slow, plain, and written apart from the product.

A tree is a flat dictionary of path to whatever stands there; absent is not in it. Ancestors are
sets of bits, one bit a commit, so that merge bases are arithmetic on whole numbers. Tests
compare the product with this, and `history.History` makes honest merges with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Files = Mapping[str, Any]


class Clash:
    """Both sides changed a path differently. It equals nothing, itself included."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


def three_way(ours: Files, theirs: Files, base: Files) -> dict[str, Any]:
    """What a merge leaves, path by path: the side that changed, or a Clash."""
    merged = {}
    for path in {*ours, *theirs, *base}:
        one, other, common = ours.get(path), theirs.get(path), base.get(path)
        if one == other or other == common:
            left = one
        elif one == common:
            left = other
        else:
            left = Clash()
        if left is not None:
            merged[path] = left
    return merged


def differing(before: Files, after: Files) -> set[str]:
    """Paths at which two flat trees differ."""
    return {path for path in {*before, *after} if before.get(path) != after.get(path)}


def clashes(files: Files) -> set[str]:
    return {path for path, left in files.items() if isinstance(left, Clash)}


@dataclass(frozen=True)
class Member:
    """A commit: its parents as given (one may stand twice), its flat tree, its ancestors."""

    parents: tuple[str, ...]
    files: Files
    line: int
    """Itself and its ancestors, a bit each."""


class Family:
    """Commits by name, parents before children."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}
        self._bits: dict[str, int] = {}
        self._names: list[str] = []
        self._merged: dict[tuple[str, ...], dict[str, Any]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def __getitem__(self, name: str) -> Member:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def add(self, name: str, parents: Sequence[str], files: Files) -> None:
        if name in self._members:
            return
        bit = self._bits[name] = 1 << len(self._names)
        self._names.append(name)
        for parent in parents:
            bit |= self._members[parent].line
        self._members[name] = Member(tuple(parents), dict(files), bit)

    def reaches(self, name: str, other: str) -> bool:
        """Whether `other` is `name` or one of its ancestors."""
        return bool(self._members[name].line & self._bits[other])

    def behind(self, tips: Iterable[str], without: Iterable[str] = ()) -> set[str]:
        """What the tips reach and `without` does not."""
        return set(self._named(self._line(tips) & ~self._line(without)))

    def bases(self, one: str, others: Sequence[str]) -> list[str]:
        """The best common ancestors of `one` with a merge of all `others`, sorted."""
        common = list(self._named(self._line([one]) & self._line(others)))
        return [c for c in sorted(common)
                if not any(c != d and self.reaches(d, c) for d in common)]

    def independent(self, names: Iterable[str]) -> list[str]:
        """Those that no other one reaches, in the order given."""
        kept = list(dict.fromkeys(names))
        return [c for c in kept if not any(c != d and self.reaches(d, c) for d in kept)]

    def merged(self, names: Sequence[str]) -> dict[str, Any]:
        """The path-level merge of commits: folded left to right, their bases merged likewise."""
        key = tuple(names)
        if key not in self._merged:
            alone = self.independent(names)
            files = dict(self[alone[0]].files) if alone else {}
            for count, name in enumerate(alone[1:], 1):
                base = self.merged(self.bases(name, alone[:count]))
                files = three_way(files, self[name].files, base)
            self._merged[key] = files
        return self._merged[key]

    def touched(self, name: str) -> set[str]:
        """The paths that a commit decides."""
        return differing(self.merged(self[name].parents), self[name].files)

    def _line(self, names: Iterable[str]) -> int:
        line = 0
        for name in names:
            line |= self._members[name].line
        return line

    def _named(self, bits: int) -> Iterator[str]:
        while bits:
            low = bits & -bits
            yield self._names[low.bit_length() - 1]
            bits ^= low
