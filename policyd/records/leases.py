"""Leases: corpora pinned by their hash, each until a day, for the relations that may read it.

A YAML file that is one lease, or `{version: 1, leases: [...]}`; see `Leased` for a row.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from policyd.core import nodes
from policyd.core.decoding import attempt
from policyd.core.errors import Fault
from policyd.core.nodes import Mapping, Node, Sequence
from policyd.core.rows import DatedRow, Kind, Lease, Parsed
from policyd.core.values import dataclass
from policyd.records import fields


@dataclass(frozen=True, slots=True)
class Leases:
    version: Literal[1]
    leases: Node
    defaults: Node | None = None


@dataclass(frozen=True, slots=True)
class Leased:
    id: fields.Name
    path: fields.Inside
    """The pinned file."""
    sha256: Annotated[str, fields.sha256]
    expires: date
    owner: fields.Name
    allowed_relations: tuple[fields.Name, ...]
    quantum: fields.Quantum | None = None
    """To what a relation on it rounds, as written."""
    notes: str | None = None


def load(path: str, node: Node, faults: list[Fault]) -> Parsed:
    listed: Node | None = fields.alone(node)
    if isinstance(node, Mapping) and (node.key("leases") or node.key("version")):
        attempt(node, Leases, faults)
        listed = node.get("leases")
    found = tuple(fields.rows(listed, _read, faults))
    fields.unique(listed, "id", fields.Name, faults)
    fields.unique(listed, "path", fields.Inside, faults)
    return Parsed(rows=tuple(_row(path, item.line, leased) for item, leased in found),
                  leases=tuple(_lease(path, item.line, leased) for item, leased in found))


def _read(item: Node, faults: list[Fault]) -> Leased | None:
    allowed = nodes.get(item, "allowed_relations")
    if isinstance(allowed, Sequence) and not allowed.items:
        faults.append(allowed.fault("a lease names the relations that may read its corpus"))
    return attempt(fields.as_written(item, "sha256", "quantum"), Leased, faults)


def _lease(path: str, line: int, leased: Leased) -> Lease:
    return Lease(leased.id, path, line, leased.path, leased.sha256, leased.allowed_relations,
                 leased.quantum)


def _row(path: str, line: int, leased: Leased) -> DatedRow:
    return DatedRow(Kind.LEASE, path, line, leased.id, leased.path, leased.owner,
                    " ".join((leased.notes or "").split()), last=leased.expires)
