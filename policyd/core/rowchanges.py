"""What an update does to the rows of the records: added, changed, re-dated, gone. Pure.

A row is the same row by its identity, whatever file, line or id it has; a relation by its id.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum

from policyd.core.facts import Books, Past
from policyd.core.rows import DatedRow, Kind, Relation
from policyd.core.values import dataclass

BLOCKING = "blocking"
"""The status of a relation that refuses."""


@dataclass(frozen=True, slots=True)
class Redated:
    """A row that has another last day than before, or that came back after it was removed."""

    was: DatedRow | None
    """None: it is back, and stood in the history before."""
    now: DatedRow
    past: Past
    """What the history says of it; zero and none where it was not asked."""

    @property
    def later(self) -> bool:
        """Whether that renews it: it is let pass longer than was promised.

        A quarantine row that gets its first date begins to be skipped; no promise was made.
        """
        if self.now.last is None:
            return False
        if self.was is None:
            return True
        if self.was.last is None:
            return self.past.times > 0
        return self.now.last > self.was.last


class How(Enum):
    """What happened to a row that counts less than before."""

    REMOVED = "removed"
    WEAKENED = "weakened"


@dataclass(frozen=True, slots=True)
class Left:
    """A dated row or a relation that is gone or counts less; the place is where it last stood."""

    how: How
    kind: str
    """A `Kind`'s value, or `relation`."""
    id: str
    path: str
    line: int
    note: str = ""
    """What became weaker: `blocking to policy`."""


def added(books: Books) -> tuple[DatedRow, ...]:
    """The rows that were not there before, those that came back among them."""
    before = books.before.by_identity()
    return tuple(row for row in books.after.rows if row.identity not in before)


def changed(books: Books) -> tuple[DatedRow, ...]:
    """The rows that are new or say anything else than before; moving one changes nothing."""
    before = {_words(row) for row in books.before.rows}
    return tuple(row for row in books.after.rows if _words(row) not in before)


def redated(books: Books) -> tuple[Redated, ...]:
    """The rows with another last day, earlier or later, and those that came back.

    That a row came back, and its past, is only known where `books.past` was gathered.
    """
    before = books.before.by_identity()
    return tuple(Redated(before.get(row.identity), row, books.past.get(row.identity, Past(0)))
                 for row in books.after.rows if _is_redated(before.get(row.identity), row, books))


def left(books: Books) -> tuple[Left, ...]:
    """The rows and relations that are gone, and the relations that count less than before.

    A policy row that is gone while its relation stands blocks again: that is no loss.
    """
    return (*_gone_rows(books), *_relations(books))


def logged(books: Books) -> dict[str, list[str]]:
    """What the decision log says of an update's rows; nothing of what did not happen."""
    told = {
        "added": [f"{row.kind.value} {row.id}" for row in added(books)],
        "redated": [f"{one.now.kind.value} {one.now.id} to {one.now.last}"
                    for one in redated(books)],
        "left": [f"{one.how.value} {one.kind} {one.id}" for one in left(books)]}
    return {what: found for what, found in told.items() if found}


def _words(row: DatedRow) -> DatedRow:
    return replace(row, path="", line=0)


def _is_redated(was: DatedRow | None, now: DatedRow, books: Books) -> bool:
    if was is not None:
        return was.last != now.last
    past = books.past.get(now.identity)
    return past is not None and (past.times > 0 or bool(past.reasons))


def _gone_rows(books: Books) -> Iterator[Left]:
    after = books.after.by_identity()
    for identity, row in books.before.by_identity().items():
        if identity not in after and row.kind is not Kind.POLICY:
            yield Left(How.REMOVED, row.kind.value, row.id, row.path, row.line)


def _relations(books: Books) -> Iterator[Left]:
    after = {relation.id: relation for relation in books.after.relations}
    for was in books.before.relations:
        now = after.get(was.id)
        if now is None:
            yield Left(How.REMOVED, "relation", was.id, was.path, was.line)
        elif note := ", ".join(_weaker(was, now)):
            yield Left(How.WEAKENED, "relation", now.id, now.path, now.line, note)


def _weaker(was: Relation, now: Relation) -> Iterator[str]:
    if was.status == BLOCKING != now.status:
        yield f"{was.status} to {now.status}"
    if now.freezable and not was.freezable:
        yield "freezable now"
