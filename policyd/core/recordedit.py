"""Edits one row of a record file as text: every other byte stays as it was. Pure.

    at = position(data, Record.FLAKES, "nodeid", "tests/test_api.py::test_rates")
    data = added(data, Record.FLAKES, {"id": "api.rates", "expires_on": date(2027, 1, 31), ...})
    data = changed(data, Record.LEASES, at, {"expires": date(2027, 6, 30)})
    data = removed(data, Record.QUARANTINE, at)

Order, comments, indentation, line ends and the absence of a last one are kept; a new row stands
last and looks like its neighbours. For a file that is not there yet, begin with `EMPTY`. Each
function reads its result again, and raises CannotEdit where that does not say exactly what was
asked for and nothing else: rows that use aliases, or flow lists that are no JSON, are edited by
hand. Whether the rows are right, each and together, is for `policyd.records` and
`core.recordset` to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from policyd.core import documents, jsondocs, jsonedit, yamledit
from policyd.core.errors import FileInvalid, PolicydError
from policyd.core.nodes import Located, Node, Scalar, Sequence
from policyd.core.nodes import Mapping as MappingNode
from policyd.core.rows import MAX_RECORD_BYTES, Record
from policyd.core.rowtext import Row, plain
from policyd.core.values import dataclass

EMPTY: Mapping[Record, bytes] = {
    Record.FLAKES: b'{\n  "schema": "flake_ledger.v1",\n  "entries": []\n}\n',
    Record.QUARANTINE: b"version: 1\nrules: []\n",
    Record.FREEZES: b'{\n  "schema": "freezes.v1",\n  "freezes": []\n}\n',
    Record.LEASES: b"version: 1\nleases: []\n",
    Record.RELATIONS: b"version: 1\nrelations: []\n",
}
"""Files without a row, to add the first one to."""

_KEYS = {Record.FLAKES: "entries", Record.QUARANTINE: "rules", Record.FREEZES: "freezes",
         Record.LEASES: "leases", Record.RELATIONS: "relations"}
_JSON = frozenset({Record.FLAKES, Record.FREEZES, Record.RECEIPTS})
_BOM = "\ufeff"
_LINE_END = {True: re.compile(r"\r\n|\n|\r"), False: re.compile("\r\n|[\n\r\x85\u2028\u2029]")}


class CannotEdit(PolicydError):
    """A row cannot be edited by a program; the sentence says why."""


@dataclass(frozen=True, slots=True)
class _File:
    """A record file as text, with where its lines begin and what stands in it."""

    record: Record
    text: str
    bom: str
    starts: tuple[int, ...]
    root: Node
    listed: Sequence | None
    """None for a file that is one row."""

    @property
    def rows(self) -> tuple[Node, ...]:
        return (self.root,) if self.listed is None else self.listed.items

    @property
    def is_flow(self) -> bool:
        """Whether the rows are written as JSON, in a JSON file or in brackets in YAML."""
        if self.listed is None:
            return self.at(self.root, "{")
        return self.at(self.listed, "[")

    def at(self, node: Located, text: str) -> bool:
        return self.text.startswith(text, self.offset(node))

    def offset(self, node: Located) -> int:
        return self.starts[node.line - 1] + node.column - 1

    def row(self, at: int) -> Node:
        if not 0 <= at < len(self.rows):
            raise CannotEdit(f"there is no row {at}; there are {len(self.rows)}")
        return self.rows[at]


def rows(data: bytes, record: Record) -> tuple[Node, ...]:
    """The rows of a file in its order. Raises FileInvalid where it cannot be read."""
    return _read(data, record).rows


def position(data: bytes, record: Record, key: str, text: str) -> int | None:
    """Which row has this text under a key; None where none has. Raises FileInvalid."""
    for at, row in enumerate(rows(data, record)):
        value = row.get(key) if isinstance(row, MappingNode) else None
        if isinstance(value, Scalar) and value.text == text:
            return at
    return None


def added(data: bytes, record: Record, row: Row, *, above: tuple[str, ...] = ()) -> bytes:
    """The file with a row more, the last. `above`: lines of a comment on it, only in YAML.

    Raises FileInvalid and CannotEdit; so do the other functions.
    """
    file = _read(data, record)
    if file.listed is None:
        raise CannotEdit("this file is one row; another one goes into a file of its own")
    offsets = tuple(map(file.offset, file.rows))
    try:
        if file.is_flow and (file.rows or record in _JSON or not _alone_on_line(file)):
            if above:
                raise ValueError("rows in brackets take no comments; edit it by hand")
            text = jsonedit.added(file.text, file.offset(file.listed), offsets, row)
        else:
            text = yamledit.added(file.text, file.offset(file.listed), offsets, row, above)
    except ValueError as error:
        raise CannotEdit(str(error)) from None
    return _checked(file, text, [*_said(file), plain(row)])


def removed(data: bytes, record: Record, at: int) -> bytes:
    """The file without the row at this place; comments above it stay."""
    file = _read(data, record)
    file.row(at)
    if file.listed is None:
        raise CannotEdit("this file is one row; remove the file")
    offsets = tuple(map(file.offset, file.rows))
    try:
        edit = jsonedit.removed if file.is_flow else yamledit.removed
        text = edit(file.text, file.offset(file.listed), offsets, at)
    except ValueError as error:
        raise CannotEdit(str(error)) from None
    return _checked(file, text, [one for n, one in enumerate(_said(file)) if n != at])


def replaced(data: bytes, record: Record, at: int, row: Row) -> bytes:
    """The file with another row in place of one; comments inside of that one go with it."""
    file = _read(data, record)
    start = file.offset(file.row(at))
    try:
        if file.is_flow:
            text = jsonedit.replaced(file.text, start, row)
        elif file.listed is None:
            raise ValueError("this file is one row; write the file")
        else:
            offsets = tuple(map(file.offset, file.rows))
            text = yamledit.replaced(file.text, file.offset(file.listed), offsets, at, row)
    except ValueError as error:
        raise CannotEdit(str(error)) from None
    return _checked(file, text, [plain(row) if n == at else one
                                 for n, one in enumerate(_said(file))])


def changed(data: bytes, record: Record, at: int, values: Row) -> bytes:
    """The file with other values under keys of one row; a key that it has not is put last."""
    for key, value in values.items():
        file = _read(data, record)
        try:
            text = _changed(file, at, key, value)
        except ValueError as error:
            raise CannotEdit(str(error)) from None
        data = _checked(file, text, [{**one, key: plain(value)} if n == at else one
                                     for n, one in enumerate(_said(file))])
    return data


def _changed(file: _File, at: int, key: str, value: Any) -> str:
    row = file.row(at)
    if not isinstance(row, MappingNode):
        raise ValueError(f"the row in line {row.line} is no mapping")
    there = row.get(key)
    flow = file.is_flow or file.at(row, "{")
    if there is None:
        if flow:
            return jsonedit.more(file.text, file.offset(row), {key: value})
        offsets = tuple(map(file.offset, file.rows))
        listed = None if file.listed is None else file.offset(file.listed)
        return yamledit.more(file.text, listed, offsets, at, {key: value})
    start = file.offset(there)
    if file.record in _JSON:
        return jsonedit.replaced(file.text, start, value)
    if not isinstance(there, Scalar):
        raise ValueError(f"line {there.line}: {key} is no single text; edit it by hand")
    return yamledit.value(file.text, start, there.text, value)


def _alone_on_line(file: _File) -> bool:
    """Whether an empty list of a YAML file stands behind its key, in a file in block style."""
    return isinstance(file.root, MappingNode) and not file.at(file.root, "{")


def _read(data: bytes, record: Record) -> _File:
    if record in _JSON:
        root = jsondocs.parse(data, record.value)
    else:
        root = documents.parse(data, record.value, max_bytes=MAX_RECORD_BYTES, aliases=True)
    text = data.decode("utf-8")
    bom, text = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    starts = (0, *(end.end() for end in _LINE_END[record in _JSON].finditer(text)))
    return _File(record, text, bom, starts, root, _listed(root, record))


def _listed(root: Node, record: Record) -> Sequence | None:
    """The list of rows; None where the file is one row."""
    if isinstance(root, Sequence):
        return root
    if record not in _KEYS or (record is Record.LEASES and isinstance(root, MappingNode)
                               and not (root.key("leases") or root.key("version"))):
        return None
    listed = root.get(_KEYS[record]) if isinstance(root, MappingNode) else None
    if not isinstance(listed, Sequence):
        raise FileInvalid((root.fault(f"there is no list of rows under {_KEYS[record]!r}"),))
    return listed


def _checked(file: _File, text: str, wanted: list[Any]) -> bytes:
    """The new text as bytes, when it says what was wanted and the rest as before."""
    data = (file.bom + text).encode("utf-8")
    by_hand = "the result would say something else than was asked for; edit this row by hand"
    try:
        after = _read(data, file.record)
    except FileInvalid as error:
        raise CannotEdit(f"{by_hand} ({error.faults[0].message})") from None
    if _said(after) != wanted or _around(after) != _around(file):
        raise CannotEdit(by_hand)
    return data


def _said(file: _File) -> list[Any]:
    return [_value(row) for row in file.rows]


def _around(file: _File) -> Any:
    """What the file says beside its rows."""
    whole = _value(file.root)
    if file.listed is None:
        return None
    return {key: one for key, one in cast("dict[str, Any]", whole).items()
            if key != _KEYS[file.record]} if isinstance(whole, dict) else []


def _value(node: Node) -> Any:
    if isinstance(node, MappingNode):
        return {key.text: _value(value) for key, value in node.entries}
    if isinstance(node, Sequence):
        return [_value(item) for item in node.items]
    return node.value
