"""What the records of a repository say: one model of a dated row, and what stands beside it.

Paths are those of the repository's files, lines start at 1. A row is known by its kind and its
subject, never by its id alone: removing it and adding it again under another id is the same row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import date
from enum import Enum

from policyd.core.errors import Fault
from policyd.core.values import dataclass


class Kind(Enum):
    """What a dated row is; the value is the word that people and the log read."""

    FLAKE = "flake"
    QUARANTINE = "quarantine"
    FREEZE = "freeze"
    LEASE = "lease"
    POLICY = "policy"
    """A relation that is listed and does not block, until its last day."""


class Record(Enum):
    """The kinds of record files; the value is the key under `records:` of a policy."""

    FLAKES = "flakes"
    QUARANTINE = "quarantine"
    FREEZES = "freezes"
    LEASES = "leases"
    RECEIPTS = "receipts"
    SEEDS = "seeds"
    RELATIONS = "relations"


DATED = frozenset({Record.FLAKES, Record.QUARANTINE, Record.FREEZES, Record.LEASES,
                   Record.RELATIONS})
"""Records that hold dated rows: one of these that cannot be read closes the gate."""

MAX_RECORD_BYTES = 8 * 1024 * 1024
"""Of one record file."""


@dataclass(frozen=True, slots=True)
class DatedRow:
    """An entry of a record that has an owner and, with one exception, a last day."""

    kind: Kind
    path: str
    line: int
    id: str
    """As its file names it; the node id or relation id where the file gives no other."""
    subject: str
    """What the row is about: a normalised node id, a relation's id, or a corpus's path."""
    owner: str
    reason: str = ""
    first: date | None = None
    """The first day, where the kind has one."""
    last: date | None = None
    """The last day, inclusive; None only for an open quarantine row, which is never due."""
    runs: int | None = None
    """For a flake: how often a test run may try the node, the first time included."""

    @property
    def identity(self) -> Identity:
        return self.kind, self.subject


Identity = tuple[Kind, str]
"""What stays the same when a row is re-dated, renamed, or removed and added again."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A pinned corpus. Its dates are those of the dated row with the same path and id."""

    id: str
    path: str
    """The record file."""
    line: int
    corpus: str
    """The path of the pinned file."""
    sha256: str
    """Lower-case hex."""
    relations: tuple[str, ...] = ()
    """The relations that may read it."""
    quantum: str | None = None
    """To what a relation on it rounds, as written; None where none rounds."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A row of a relation table, as far as the server looks at it without running anything."""

    id: str
    path: str
    line: int
    status: str
    """blocking or policy."""
    freezable: bool = False
    leases: tuple[str, ...] = ()
    """Ids of the leases whose corpora it reads."""
    functions: tuple[str, ...] = ()
    """Names that a Python file beside the table must define."""
    rounds: bool = False
    """Whether it says how it rounds, and so needs a quantum on the leases that it reads."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A recorded input and what must hold of it."""

    path: str
    line: int
    baseline: str
    """The commit that it was recorded from, 40 hex digits."""
    baseline_line: int
    entry_point: str
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """One record file: what it says, and everything wrong with it at once."""

    rows: tuple[DatedRow, ...] = ()
    leases: tuple[Lease, ...] = ()
    relations: tuple[Relation, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    functions: tuple[str, ...] = ()
    """For a Python file beside relation tables: the functions that it defines at the top."""
    faults: tuple[Fault, ...] = ()
    """`source` is the file's path in the repository."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A leased corpus that is not what the lease says."""

    lease: Lease
    found: str | None
    """The corpus's SHA-256; None where there is no such file."""


@dataclass(frozen=True, slots=True)
class Records:
    """All that the records of one tree say."""

    rows: tuple[DatedRow, ...] = ()
    leases: tuple[Lease, ...] = ()
    relations: tuple[Relation, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    seeds: tuple[str, ...] = ()
    """Paths of all files below the seeds' folder."""
    drifts: tuple[Drift, ...] = ()
    faults: tuple[Fault, ...] = ()
    """Of all files, and of what they say together, by file and line."""
    kinds: Mapping[str, Record] = field(default_factory=dict)
    """Every record file of the tree to its kind."""

    def by_identity(self) -> dict[Identity, DatedRow]:
        return {row.identity: row for row in self.rows}
