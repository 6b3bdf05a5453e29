"""The record files of a repository: bytes in; rows, and all that is wrong at once, out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from policyd.core import documents, jsondocs
from policyd.core.errors import Fault
from policyd.core.nodes import Node, in_order
from policyd.core.rows import MAX_RECORD_BYTES, Parsed, Record
from policyd.records import flakes, freezes, functions, leases, quarantine, receipts, relations
from policyd.records.fields import MAX_FAULTS, Enough, Faults


def load(record: Record, path: str, data: bytes) -> Parsed:
    """What a record file says. Total: whatever is wrong is a fault whose source is `path`.

    A file that has faults gives the rows that could be read as well. Seeds hold no rows, and
    Python files beside relation tables are not parsed.
    """
    if len(data) > MAX_RECORD_BYTES:
        return Parsed(faults=(Fault(path, 1, 1, f"larger than {MAX_RECORD_BYTES:,} bytes"),))
    if record is Record.SEEDS:
        return Parsed()
    try:
        if record is Record.RELATIONS and path.lower().endswith(".py"):
            return functions.load(data)
        return _loaded(record, path, data)
    except Exception as error:  # memory, recursion: the file was not read, whatever it is
        return Parsed(faults=(Fault(path, 1, 1, f"cannot be read: {type(error).__name__}"),))


def _loaded(record: Record, path: str, data: bytes) -> Parsed:
    """What is wrong with the text of a file comes first; what that leads to is not told again."""
    read, rows_of = _LOADERS[record]
    of_text, of_rows, parsed = Faults(), Faults(), Parsed()
    try:
        if (node := read(data, path, of_text)) is not None:
            parsed = rows_of(path, node, of_rows)
    except Enough:
        pass
    told = {(fault.line, fault.column) for fault in of_text}
    faults = in_order((*of_text, *(f for f in of_rows if (f.line, f.column) not in told)))
    return replace(parsed, faults=faults if len(faults) < MAX_FAULTS else _cut(faults))


def _cut(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """As many as anybody reads, and a word on the rest."""
    rest = "more is wrong than is told, and not all was looked at"
    return (*faults[:MAX_FAULTS - 1], replace(faults[MAX_FAULTS - 1], message=rest))


def _json(data: bytes, path: str, faults: list[Fault]) -> Node | None:
    return jsondocs.read(data, path, faults)


def _yaml(data: bytes, path: str, faults: list[Fault]) -> Node | None:
    return documents.read(data, path, faults, max_bytes=MAX_RECORD_BYTES, aliases=True)


_Read = Callable[[bytes, str, list[Fault]], Node | None]
_Rows = Callable[[str, Node, list[Fault]], Parsed]
_LOADERS: Mapping[Record, tuple[_Read, _Rows]] = {
    Record.FLAKES: (_json, flakes.load),
    Record.QUARANTINE: (_yaml, quarantine.load),
    Record.FREEZES: (_json, freezes.load),
    Record.LEASES: (_yaml, leases.load),
    Record.RECEIPTS: (_json, receipts.load),
    Record.RELATIONS: (_yaml, relations.load),
}
