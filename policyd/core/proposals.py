"""What a push does to proposals: what it asks for, who asked before, and what it adopts. Pure.

A proposal is a file by which somebody asks for what they may not write. Whoever brought it is
known by name and blob, so that moving the file changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from policyd.core.errors import Fault
from policyd.core.facts import Books, Update
from policyd.core.index import Proposed
from policyd.core.rowchanges import changed
from policyd.core.rows import Kind
from policyd.core.values import dataclass

SUFFIXES = (".yaml", ".yml")
"""Of files below the folder for proposals that are read."""
PATCH_SUFFIX = ".patch"


class Asks(Enum):
    """What is asked for; the value stands under `kind`."""

    FLAKE = "flake"
    QUARANTINE = "quarantine"
    RECEIPT = "receipt"
    LEASE = "lease"
    LITERAL = "literal"
    RELATION = "relation"
    GOLDEN = "golden"
    PATCH = "patch"
    """A change of protected files as git writes it, from a block of a rejection; no YAML."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal that can be read."""

    kind: Asks
    path: str
    subjects: tuple[str, ...]
    """What it is about: a node id, a corpus, an entry point, a relation's id, or paths."""


@dataclass(frozen=True, slots=True)
class Unfit:
    """A file that is no proposal, with all that is wrong in it."""

    path: str
    faults: tuple[Fault, ...]
    shape: str = ""
    """What such a proposal says, in a line."""


@dataclass(frozen=True, slots=True)
class Intake:
    """The proposals of one update."""

    unfit: tuple[Unfit, ...] = ()
    """Of the files that it brings or changes."""
    proposed: tuple[Proposed, ...] = ()
    """Of the files that it brings, those that nobody brought before."""
    own: tuple[Proposal, ...] = ()
    """What its pusher brought earlier and what stands on the branch before it."""
    allowlist: str = ""
    """The path of the literals that may be shared."""


def adopted(update: Update, proposal: Proposal, allowlist: str) -> tuple[str, ...]:
    """The files by which an update records what a proposal asks for; none where it does not."""
    if proposal.kind in (Asks.GOLDEN, Asks.PATCH, Asks.LITERAL):
        paths = (allowlist,) if proposal.kind is Asks.LITERAL else proposal.subjects
        return _touched(update, paths)
    if update.books is None:
        return ()
    return tuple(sorted({path for about, path in _recorded(update.books, proposal.kind)
                         if about in proposal.subjects}))


def _touched(update: Update, paths: tuple[str, ...]) -> tuple[str, ...]:
    touched = {touch.path for _, touch in update.touched()}
    return tuple(path for path in paths if path in touched)


_ROWS = {Asks.FLAKE: Kind.FLAKE, Asks.QUARANTINE: Kind.QUARANTINE, Asks.LEASE: Kind.LEASE}


def _recorded(books: Books, kind: Asks) -> Iterator[tuple[str, str]]:
    """What an update records of a kind, as (subject, path)."""
    if kind is Asks.RECEIPT:
        before = {receipt.path: receipt for receipt in books.before.receipts}
        yield from ((one.entry_point, one.path) for one in books.after.receipts
                    if before.get(one.path) != one and one.path in books.changed)
    elif kind is Asks.RELATION:
        were = {relation.id: relation.status for relation in books.before.relations}
        yield from ((one.id, one.path) for one in books.after.relations
                    if were.get(one.id) != one.status)
    else:
        yield from ((row.subject, row.path) for row in changed(books)
                    if row.kind is _ROWS[kind])
