"""The flake ledger: tests that a test run may try more than once, each until its last day.

A JSON file `{"schema": "flake_ledger.v1", "entries": [...]}`; see `Entry` for a row.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from policyd.core import nodes
from policyd.core.decoding import attempt
from policyd.core.errors import Fault
from policyd.core.nodes import Node
from policyd.core.rows import DatedRow, Kind, Parsed
from policyd.core.values import dataclass
from policyd.records import fields


@dataclass(frozen=True, slots=True)
class Ledger:
    schema: Literal["flake_ledger.v1"]
    entries: Node


@dataclass(frozen=True, slots=True)
class Entry:
    id: fields.Name
    nodeid: fields.NodeId
    reason: fields.Reason
    first_seen: date
    expires_on: date
    owner: fields.Name
    max_runs: Annotated[int, fields.at_least(1)]
    """How often a run may try the test, the first time included."""


def load(path: str, node: Node, faults: list[Fault]) -> Parsed:
    attempt(node, Ledger, faults)
    listed = nodes.get(node, "entries")
    rows = [_row(path, item.line, entry) for item, entry in fields.rows(listed, _read, faults)]
    fields.unique(listed, "id", fields.Name, faults)
    fields.unique(listed, "nodeid", fields.NodeId, faults)
    return Parsed(rows=tuple(rows))


def _read(item: Node, faults: list[Fault]) -> Entry | None:
    fields.in_order_of_days(item, "first_seen", "expires_on", faults)
    return attempt(item, Entry, faults)


def _row(path: str, line: int, entry: Entry) -> DatedRow:
    return DatedRow(Kind.FLAKE, path, line, entry.id, entry.nodeid, entry.owner, entry.reason,
                    entry.first_seen, entry.expires_on, entry.max_runs)
