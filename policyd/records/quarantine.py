"""The quarantine: tests that are skipped until a day (frozen), or only watched (open).

A YAML file `{version: 1, rules: [...]}`; see `Rule` for a row. What stands under `defaults` is
there to be used by `<<: *name` in the rows.
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


def load(path: str, node: Node, faults: list[Fault]) -> Parsed:
    attempt(node, Quarantine, faults)
    listed = nodes.get(node, "rules")
    rows = [_row(path, item, rule) for item, rule in fields.rows(listed, _read, faults)]
    fields.unique(listed, "nodeid", fields.NodeId, faults)
    return Parsed(rows=tuple(rows))


def _read(item: Node, faults: list[Fault]) -> Rule | None:
    status, dated = fields.peek(item, "status", str), fields.has(item, "expires_on")
    if status == "frozen" and not dated:
        faults.append(fields.value_of(item, "expires_on").fault(
            "a frozen row has its last day in expires_on"))
    elif status == "open" and dated:
        faults.append(nodes.find(item, ("expires_on",)).fault(
            "an open row is tracked and never skipped; drop expires_on, or make it frozen"))
    fields.in_order_of_days(item, "since", "expires_on", faults)
    return attempt(item, Rule, faults)


def _row(path: str, item: Node, rule: Rule) -> DatedRow:
    return DatedRow(Kind.QUARANTINE, path, item.line, fields.peek(item, "nodeid", str),
                    rule.nodeid, rule.owner, rule.reason, rule.since, rule.expires_on)
