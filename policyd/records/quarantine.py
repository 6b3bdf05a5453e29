"""The quarantine: tests that are skipped until a day (frozen), or only watched (open).

A YAML file `{version: 1, rules: [...]}`; see `Rule` for a row. What stands under `defaults` is
there to be used by `<<: *name` in the rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

from policyd.core import documents, nodes
from policyd.core.decoding import attempt
from policyd.core.errors import Fault
from policyd.core.nodes import Node
from policyd.core.rows import MAX_RECORD_BYTES, DatedRow, Kind, Parsed
from policyd.records import fields


@dataclass(frozen=True, slots=True)
class Quarantine:
    version: Literal[1]
    rules: Node
    defaults: Node | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    nodeid: fields.NodeId
    status: Literal["open", "frozen"]
    reason: Annotated[str, fields.long_reason]
    owner: fields.Name
    expires_on: date | None = None
    """The last day of the skip; a frozen row has one, an open row has none."""
    since: date | None = None


def load(path: str, data: bytes, faults: list[Fault]) -> Parsed:
    node = documents.parse(data, path, max_bytes=MAX_RECORD_BYTES, aliases=True)
    attempt(node, Quarantine, faults)
    listed = nodes.get(node, "rules")
    rows = [_row(path, item, rule) for item, rule in fields.rows(listed, Rule, faults)]
    _check(fields.items(listed, []), faults)
    fields.unique(fields.items(listed, []), "nodeid", fields.NodeId, faults)
    return Parsed(rows=tuple(rows))


def _check(listed: Iterable[Node], faults: list[Fault]) -> None:
    for row in listed:
        status, dated = fields.peek(row, "status", str), nodes.get(row, "expires_on")
        absent = dated is None or (isinstance(dated, nodes.Scalar) and dated.value is None)
        if status == "frozen" and absent:
            faults.append(fields.value_of(row, "expires_on").fault(
                "a frozen row has its last day in expires_on"))
        elif status == "open" and not absent:
            faults.append(nodes.find(row, ("expires_on",)).fault(
                "an open row is tracked and never skipped; drop expires_on, or make it frozen"))
        fields.in_order_of_days(row, "since", "expires_on", faults)


def _row(path: str, item: Node, rule: Rule) -> DatedRow:
    last = rule.expires_on if rule.status == "frozen" else None
    return DatedRow(Kind.QUARANTINE, path, item.line, fields.peek(item, "nodeid", str),
                    rule.nodeid, rule.owner, rule.reason, rule.since, last)
