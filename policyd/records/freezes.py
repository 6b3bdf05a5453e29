"""Freezes: relations whose broken pair is tried again, a counted number of times, until a day.

A JSON file: a list of rows, or `{"schema": "freezes.v1", "freezes": [...]}`; see `Freeze`.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from policyd.core import jsondocs, nodes
from policyd.core.decoding import attempt
from policyd.core.errors import Fault
from policyd.core.nodes import Node, Sequence
from policyd.core.rows import DatedRow, Kind, Parsed
from policyd.core.values import dataclass
from policyd.records import fields

_NO_SKIP = ("a freeze skips nothing: the same pair runs again, `reruns` times, and passes "
            "`pass_needed` times")


@dataclass(frozen=True, slots=True)
class Freezes:
    schema: Literal["freezes.v1"]
    freezes: Node


@dataclass(frozen=True, slots=True)
class Freeze:
    relation_id: fields.Name
    expires: date
    reruns: Annotated[int, fields.at_least(5)]
    pass_needed: Annotated[int, fields.at_least(1)]
    reason: fields.Reason
    owner: fields.Name
    since: date | None = None


def load(path: str, node: Node, faults: list[Fault]) -> Parsed:
    listed: Node | None = node
    if not isinstance(node, Sequence):
        attempt(node, Freezes, faults)
        listed = nodes.get(node, "freezes")
    rows = [_row(path, item.line, freeze) for item, freeze in fields.rows(listed, _read, faults)]
    fields.unique(listed, "relation_id", fields.Name, faults)
    return Parsed(rows=tuple(rows))


def authored(data: bytes, path: str, faults: list[Fault]) -> tuple[Freeze, ...]:
    """The freezes of a file, each as it was written."""
    listed: Node | None = jsondocs.read(data, path, faults)
    if listed is not None and not isinstance(listed, Sequence):
        attempt(listed, Freezes, faults)
        listed = nodes.get(listed, "freezes")
    return tuple(freeze for _, freeze in fields.rows(listed, _read, faults))


def _read(item: Node, faults: list[Fault]) -> Freeze | None:
    reruns, needed = fields.peek(item, "reruns", int), fields.peek(item, "pass_needed", int)
    if reruns is not None and needed is not None and needed > reruns:
        faults.append(fields.value_of(item, "pass_needed").fault(
            f"{needed} passes of {reruns} runs cannot be had"))
    fields.in_order_of_days(item, "since", "expires", faults)
    return attempt(fields.refused(item, ("skip", "skipped"), _NO_SKIP, faults), Freeze, faults)


def _row(path: str, line: int, freeze: Freeze) -> DatedRow:
    return DatedRow(Kind.FREEZE, path, line, freeze.relation_id, freeze.relation_id,
                    freeze.owner, freeze.reason, freeze.since, freeze.expires)
