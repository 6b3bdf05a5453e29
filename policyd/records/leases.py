"""Leases: corpora pinned by their hash, each until a day, for the relations that may read it.

A YAML file that is one lease, or `{version: 1, leases: [...]}`; see `Leased` for a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

from policyd.core import documents, nodes
from policyd.core.decoding import attempt
from policyd.core.errors import Fault
from policyd.core.nodes import Mapping, Node, Sequence
from policyd.core.rows import MAX_RECORD_BYTES, DatedRow, Kind, Lease, Parsed
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
    quantum: fields.Name | None = None
    """To what a relation on it rounds, as written."""
    notes: str | None = None


def load(path: str, data: bytes, faults: list[Fault]) -> Parsed:
    node = documents.parse(data, path, max_bytes=MAX_RECORD_BYTES, aliases=True)
    listed = _listed(node, faults)
    leases, rows = [], []
    for item in listed:
        text = fields.as_written(item, "sha256", "quantum")
        if (leased := attempt(text, Leased, faults)) is not None:
            rows.append(_row(path, item.line, leased))
            leases.append(Lease(leased.id, path, item.line, leased.path, leased.sha256,
                                leased.allowed_relations, leased.quantum))
        allowed = nodes.get(item, "allowed_relations")
        if isinstance(allowed, Sequence) and not allowed.items:
            faults.append(allowed.fault("a lease names the relations that may read its corpus"))
    fields.unique(listed, "id", fields.Name, faults)
    fields.unique(listed, "path", fields.Inside, faults)
    return Parsed(rows=tuple(rows), leases=tuple(leases))


def _listed(node: Node, faults: list[Fault]) -> tuple[Node, ...]:
    if not (isinstance(node, Mapping) and (node.key("leases") or node.key("version"))):
        return (node,)
    attempt(node, Leases, faults)
    return fields.items(nodes.get(node, "leases"), faults)


def _row(path: str, line: int, leased: Leased) -> DatedRow:
    return DatedRow(Kind.LEASE, path, line, leased.id, leased.path, leased.owner,
                    " ".join((leased.notes or "").split()), last=leased.expires)
