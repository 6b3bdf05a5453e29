"""Receipts: an input that was recorded from a known commit, and what must hold of it.

A JSON file is one receipt; see `Recorded`. What its input gives is not in it.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated

from policyd.core import nodes
from policyd.core.decoding import attempt
from policyd.core.errors import Fault
from policyd.core.nodes import Mapping, Node, shown
from policyd.core.rows import Parsed, Receipt
from policyd.core.values import dataclass
from policyd.records import fields

_COMMIT = re.compile(r"[0-9a-f]{40}")


def commit(text: str) -> str:
    """The full id of a commit."""
    if not _COMMIT.fullmatch(text):
        raise ValueError(f"{shown(text)} is no commit: 40 lower-case hexadecimal digits")
    if not text.strip("0"):
        raise ValueError("all zeros are no commit; name the one that this was recorded from")
    return text


@dataclass(frozen=True, slots=True)
class Recorded:
    baseline: Annotated[str, commit]
    input: Node
    constraints: Node
    entry_point: fields.EntryPoint
    owner: fields.Name | None = None
    recorded: date | None = None
    notes: str | None = None


def load(path: str, node: Node, faults: list[Fault]) -> Parsed:
    found = fields.rows(fields.alone(node), _read, faults)
    return Parsed(receipts=tuple(_receipt(path, item, recorded) for item, recorded in found))


def _read(item: Node, faults: list[Fault]) -> Recorded | None:
    constraints = nodes.get(item, "constraints")
    if constraints is not None and not (isinstance(constraints, Mapping) and constraints.entries):
        faults.append(constraints.fault("constraints are a mapping that says what must hold"))
    return attempt(item, Recorded, faults)


def _receipt(path: str, item: Node, recorded: Recorded) -> Receipt:
    line = nodes.find(item, ("baseline",)).line
    return Receipt(path, item.line, recorded.baseline, line, recorded.entry_point, recorded.owner)
