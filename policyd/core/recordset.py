"""The record files of one tree put together, and what is wrong between them. Hot: each push."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from operator import attrgetter
from typing import TypeVar

from policyd.core import nodeids
from policyd.core.errors import Fault
from policyd.core.nodes import in_order, shown
from policyd.core.policy import Places
from policyd.core.rows import (
    DatedRow,
    Drift,
    Identity,
    Kind,
    Lease,
    Parsed,
    Record,
    Records,
    Relation,
)
from policyd.core.values import dataclass

Placed = TypeVar("Placed", DatedRow, Lease, Relation)


@dataclass(frozen=True, slots=True)
class _Said:
    """All that the files say, by file and line; of what is said twice, the first."""

    rows: tuple[DatedRow, ...]
    leases: Mapping[str, Lease]
    relations: Mapping[str, Relation]
    functions: frozenset[str]
    tables: bool
    """Whether there is a relation table, and every one of them could be read."""
    all_leases: bool
    """Whether every file of leases could be read."""


def together(parsed: Sequence[Parsed], *, kinds: Mapping[str, Record], seeds: Sequence[str],
             hashes: Mapping[str, str | None], places: Places) -> Records:
    """The records of a tree.

    `hashes` are the SHA-256 of leased corpora by path, None where there is no such file; one that
    is absent was never worked out. Of two rows with one identity the one that ends first is kept.
    What depends on a file that has faults itself is not looked at.
    """
    leases = _placed(lease for one in parsed for lease in one.leases)
    relations = _placed(relation for one in parsed for relation in one.relations)
    rows = _placed(row for one in parsed for row in one.rows)
    broken = {kinds.get(fault.source) for one in parsed for fault in one.faults}
    tables = any(kind is Record.RELATIONS and not _is_python(path)
                 for path, kind in kinds.items())
    said = _Said(rows, _first(leases), _first(relations),
                 frozenset(name for one in parsed for name in one.functions),
                 tables and Record.RELATIONS not in broken, Record.LEASES not in broken)
    found = (*_again(leases, _id, "lease"), *_again(leases, _corpus, "the corpus"),
             *_again(relations, _id, "relation"), *_unhashed(leases, hashes),
             *_of_leases(said), *_of_relations(said), *_of_freezes(said),
             *_misplaced(rows, places))
    drifts = tuple(Drift(lease, hashes[lease.corpus]) for lease in leases
                   if lease.corpus in hashes and hashes[lease.corpus] != lease.sha256)
    receipts = sorted((receipt for one in parsed for receipt in one.receipts),
                      key=attrgetter("path", "line"))
    return Records(_soonest(rows), leases, relations, tuple(receipts), tuple(sorted(seeds)),
                   drifts, in_order((*(fault for one in parsed for fault in one.faults), *found)),
                   dict(kinds))


def _placed(items: Iterable[Placed]) -> tuple[Placed, ...]:
    return tuple(sorted(items, key=attrgetter("path", "line", "id")))


def _first(items: Iterable[Placed]) -> dict[str, Placed]:
    found: dict[str, Placed] = {}
    for item in items:
        found.setdefault(item.id, item)
    return found


def _soonest(rows: Iterable[DatedRow]) -> tuple[DatedRow, ...]:
    """One row for each identity: never the later date of two."""
    kept: dict[Identity, DatedRow] = {}
    for row in rows:
        there = kept.get(row.identity)
        if there is None or (row.last or date.max) < (there.last or date.max):
            kept[row.identity] = row
    return tuple(kept.values())


def _again(items: Iterable[Placed], key: Callable[[Placed], str], what: str) -> Iterator[Fault]:
    """What two files say; within one file its loader says so."""
    seen: dict[str, Placed] = {}
    for item in items:
        first = seen.setdefault(key(item), item)
        if first.path != item.path:
            yield _fault(item, f"{what} {shown(key(item))} again; it stands in {first.path}:"
                               f"{first.line} already")


def _unhashed(leases: Iterable[Lease], hashes: Mapping[str, str | None]) -> Iterator[Fault]:
    for lease in leases:
        if lease.corpus not in hashes:
            yield _fault(lease, f"{shown(lease.corpus)}: its hash is not known yet; `policyd "
                                "lease warm REPO`")


def _of_leases(said: _Said) -> Iterator[Fault]:
    for lease in said.leases.values():
        for name in lease.relations if said.tables else ():
            if name not in said.relations:
                yield _fault(lease, f"lease {shown(lease.id)} allows the relation {shown(name)}, "
                                    "which no table has")


def _of_relations(said: _Said) -> Iterator[Fault]:
    for relation in said.relations.values():
        for name in relation.leases:
            yield from _reading(relation, name, said)
        for name in relation.functions if said.tables else ():
            if name not in said.functions:
                yield _fault(relation, f"relation {shown(relation.id)}: no Python file beside the "
                                       f"table defines the function {shown(name)}")


def _reading(relation: Relation, name: str, said: _Said) -> Iterator[Fault]:
    lease = said.leases.get(name)
    if lease is None:
        if said.all_leases:
            yield _fault(relation, f"relation {shown(relation.id)} reads the lease {shown(name)}, "
                                   "which no file has")
        return
    if relation.id not in lease.relations:
        yield _fault(relation, f"relation {shown(relation.id)} is not among the "
                               f"allowed_relations of the lease {shown(name)}")
    if relation.rounds and lease.quantum is None:
        yield _fault(lease, f"lease {shown(name)} has no quantum; the relation "
                            f"{shown(relation.id)}, which reads it, rounds")


def _of_freezes(said: _Said) -> Iterator[Fault]:
    for row in said.rows:
        if row.kind is not Kind.FREEZE or not said.tables:
            continue
        relation = said.relations.get(row.subject)
        if relation is None:
            yield _fault(row, f"no table has the relation {shown(row.subject)}")
        elif not relation.freezable:
            yield _fault(row, f"the relation {shown(row.subject)} is not freezable")


def _misplaced(rows: Iterable[DatedRow], places: Places) -> Iterator[Fault]:
    for row in rows:
        if row.kind in (Kind.FLAKE, Kind.QUARANTINE) \
                and nodeids.is_below(row.subject, places.relations):
            yield _fault(row, f"{shown(row.subject)} is a relation; relations never stand here, "
                              "only in the freezes")


def _id(item: Lease | Relation) -> str:
    return item.id


def _corpus(lease: Lease) -> str:
    return lease.corpus


def _is_python(path: str) -> bool:
    return path.lower().endswith(".py")


def _fault(item: DatedRow | Lease | Relation, message: str) -> Fault:
    return Fault(item.path, item.line, 1, message)
