"""What a push does to the insides of its files: sheets before and after, as rules compare them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import field
from posixpath import dirname, join, normpath
from typing import TypeVar

from policyd.core.facts import Unreadable
from policyd.core.sheet import Sample, Sheet
from policyd.core.values import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Changed:
    """A file that an update's net change touches, or that it returns to where it came from.

    A file that is moved is two: one that goes and one that comes.
    """

    path: str
    zones: tuple[str, ...]
    after: Sheet | None
    """None: the update leaves no file there."""
    before: tuple[Sheet, ...] = ()
    """What a merge of the accepted sides would leave there: nothing, one sheet, or the sheets of
    the sides that conflict. A rewrite of a guarded branch counts what the branch held."""
    elsewhere: tuple[Sheet, ...] = ()
    """What the sides and the other guarded branches hold there: to have it is no gain."""
    is_new: bool = False
    """Whether no side before held a file there."""
    leads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The zones of what the sheet after names by path, each path as `leads_to` makes it; of
    source also those of what it imports, as `modules.place_of` makes it."""


@dataclass(frozen=True, slots=True)
class Content:
    """The changed files that can hold something to read, sorted by path."""

    files: tuple[Changed, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    """Files after the update that a reader should have read and could not."""
    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)
    """Of unchanged tests, by path: those that give an input which gained branches answer."""
    excused: frozenset[str] = frozenset()
    """The node ids with a row of the ledger or the quarantine that the target branch holds
    already and that is not over."""
    vanished: frozenset[str] = frozenset()
    """Names that changed source defined, and that no file of source or tests says any more."""

    def of(self, zone: str) -> Iterator[Changed]:
        return (file for file in self.files if zone in file.zones)


def gained(files: Iterable[Changed], items: Callable[[Sheet], Iterable[T]],
           key: Callable[[T], Hashable]) -> Iterator[tuple[Changed, T]]:
    """What some file holds after and none of them held on any side before, by a key.

    So what only moves, or comes from another guarded branch, gains nothing.
    """
    every = tuple(files)
    known = {key(item) for file in every for sheet in (*file.before, *file.elsewhere)
             for item in items(sheet)}
    for file in every:
        for item in items(file.after) if file.after is not None else ():
            if key(item) not in known:
                yield file, item


def lost(files: Iterable[Changed], items: Callable[[Sheet], Iterable[T]],
         key: Callable[[T], Hashable]) -> Iterator[tuple[Changed, T]]:
    """What files held before and none of them holds after, by a key.

    Where sides conflict, what all of them held.
    """
    every = tuple(files)
    kept = {key(item) for file in every if file.after is not None for item in items(file.after)}
    for file in every:
        sides = [{key(item): item for item in items(sheet)} for sheet in file.before]
        for name, item in (sides[0] if sides else {}).items():
            if name not in kept and all(name in side for side in sides):
                yield file, item


def leads_to(file: str, path: str, base: str = "unknown") -> tuple[str, ...]:
    """Where a path that a file names may lead, from the repository's root; `Opened.base` as there.

    Nothing where that is outside of the repository, or cannot be told at all.
    """
    starts = {"file": (dirname(file),), "root": ("",), "": ("",)}.get(base, ("", dirname(file)))
    found = [_normal(join(start, path)) for start in starts]
    if path.startswith("**/"):
        found.append(_normal(path.removeprefix("**/")))
    return tuple(dict.fromkeys(one for one in found if one))


def _normal(path: str) -> str:
    """Empty where the path leaves the repository, or turns back behind a name that is unknown."""
    names = path.split("/")
    unknown = next((number for number, name in enumerate(names) if "*" in name), len(names))
    normal = normpath(path)
    return "" if path.startswith("/") or ".." in (*names[unknown:], normal.split("/")[0]) \
        else normal
