"""Turns the bytes of a JSON file into nodes, strictly: what another reader may read otherwise goes.

Duplicate keys, numbers that are none, a byte order mark and lone surrogates are faults, all of
them at once; a syntax error ends the reading. Nothing recurses, so that depth is only a fault.
"""

from __future__ import annotations

import math
import re
from dataclasses import field
from itertools import chain
from json import JSONDecodeError, JSONDecoder
from typing import Any, NoReturn

from policyd.core.errors import Fault, FileInvalid
from policyd.core.nodes import Mapping, Node, Scalar, Sequence, in_order, shown
from policyd.core.rows import MAX_RECORD_BYTES
from policyd.core.values import dataclass

MAX_DEPTH = 64
MAX_NODES = 1_000_000
"""Keys, values, lists and mappings: about what a file of the largest size holds of real rows."""

_SPACE = re.compile(r"[ \t\n\r]*")
_KEY = re.compile(r'"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*')
_TEXT = re.compile(r'"([^"\\\x00-\x1f]*)"')
_NEXT = re.compile(r"[ \t\n\r]*([,\]}])[ \t\n\r]*")
_WORD = re.compile(r"[-+.0-9A-Za-z_]+")
_INT = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_NON_FINITE = re.compile(r"-?(?:NaN|Infinity)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONSTANTS = {"true": True, "false": False, "null": None}
_HINTS = {"'": "; text stands in double quotes", "/": "; JSON has no comments",
          "#": "; JSON has no comments"}
_STRICT = JSONDecoder()
_BAD: Any = object()


def parse(data: bytes, source: str, *, max_bytes: int = MAX_RECORD_BYTES) -> Node:
    """The value that a file holds. Raises FileInvalid with every fault that could be found."""
    faults: list[Fault] = []
    node = read(data, source, faults, max_bytes=max_bytes)
    if node is None or faults:
        raise FileInvalid(in_order(faults))
    return node


def read(data: bytes, source: str, faults: list[Fault], *,
         max_bytes: int = MAX_RECORD_BYTES) -> Node | None:
    """Like `parse`, but adds what is wrong to `faults`; None where the value cannot be told.

    Of a duplicate key the first stands in the node, and nothing in place of a number that is none.
    """
    if len(data) > max_bytes:
        faults.append(Fault(source, 1, 1, f"larger than {max_bytes} bytes"))
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        lines = _LINE_END.split(data[:error.start].decode("utf-8"))
        faults.append(Fault(source, len(lines), len(lines[-1]) + 1, "not valid UTF-8"))
        return None
    try:
        return _Reader(source, text, faults).read()
    except _Ends:
        return None


class _Ends(Exception):
    """Ends the reading: what follows is not looked at."""


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end was not read yet."""

    end: str
    line: int
    column: int
    values: list[Node] = field(default_factory=list)
    keys: list[Scalar] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    """Where in `keys` each one stands first."""


class _Reader:
    """Reads one text, from its beginning to its end or to what is no JSON."""

    def __init__(self, source: str, text: str, faults: list[Fault]) -> None:
        self._source, self._text, self._faults = source, text, faults
        self._open: list[_Open] = []
        self._pos = self._count = 0
        self._line, self._start = 1, 0
        self._starts = chain((match.end() for match in _LINE_END.finditer(text)), (len(text) + 1,))
        self._next = next(self._starts)

    def read(self) -> Node:
        if self._text.startswith("\ufeff"):
            self._fault(0, "a byte order mark; save the file without it")
            self._pos = self._start = 1
        self._skip()
        if self._pos == len(self._text):
            self._end_with(0, "the file is empty")
        whole = None
        while whole is None:
            node = self._value()
            whole = None if node is None else self._put(node)
        self._skip()
        if self._pos < len(self._text):
            self._end_with(self._pos, "text after the end of the value")
        return whole

    def _value(self) -> Node | None:
        """The value that begins here; None where a list or mapping was opened instead."""
        self._count += 1
        if self._count > MAX_NODES:
            self._end_with(self._pos, f"more than {MAX_NODES} values")
        start = self._text[self._pos:self._pos + 1]
        if start == '"':
            line, column = self._at(self._pos)
            text = self._string()
            return Scalar(self._source, line, column, text, text)
        if start in ("{", "["):
            return self._begin("}" if start == "{" else "]")
        return self._bare()

    def _put(self, node: Node) -> Node | None:
        """Put a finished value where it belongs; the whole when that is finished by it."""
        while self._open:
            top = self._open[-1]
            top.values.append(node)
            after = _NEXT.match(self._text, self._pos)
            if after is None or after[1] not in (",", top.end):
                self._skip()
                self._unexpected(f"',' or '{top.end}'")
            self._pos = after.end()
            if after[1] == ",":
                if top.end == "}":
                    self._key(top)
                return None
            node = self._closed()
        return node

    def _begin(self, end: str) -> Node | None:
        """Open a list or mapping; it is returned when nothing stands in it."""
        if len(self._open) >= MAX_DEPTH:
            self._end_with(self._pos, f"nested deeper than {MAX_DEPTH} levels")
        self._open.append(_Open(end, *self._at(self._pos)))
        self._pos += 1
        self._skip()
        if self._text.startswith(end, self._pos):
            self._pos += 1
            return self._closed()
        if end == "}":
            self._key(self._open[-1])
        return None

    def _closed(self) -> Node:
        done = self._open.pop()
        if done.end == "]":
            return Sequence(self._source, done.line, done.column, tuple(done.values))
        entries = tuple(zip(done.keys, done.values, strict=True))
        if len(done.seen) < len(entries):
            entries = tuple(entries[first] for first in done.seen.values())
        return Mapping(self._source, done.line, done.column, entries)

    def _key(self, top: _Open) -> None:
        self._count += 1
        pos = self._pos
        match = _KEY.match(self._text, pos)
        if match is not None:
            text, self._pos = match[1], match.end()
        else:
            text = self._escaped_key()
        line, column = self._at(pos)
        top.keys.append(Scalar(self._source, line, column, text, text))
        if top.seen.setdefault(text, len(top.keys) - 1) != len(top.keys) - 1:
            first = top.keys[top.seen[text]].line
            self._fault(pos, f"duplicate key {shown(text)}; it stands in line {first} already")

    def _escaped_key(self) -> str:
        """A key that is not as plain as most, or none at all."""
        if not self._text.startswith('"', self._pos):
            self._unexpected("a key in double quotes")
        text = self._string()
        self._skip()
        if not self._text.startswith(":", self._pos):
            self._unexpected("':'")
        self._pos += 1
        self._skip()
        return text

    def _string(self) -> str:
        if (match := _TEXT.match(self._text, self._pos)) is not None:
            self._pos = match.end()
            return match[1]
        begin = self._pos
        try:
            text: str
            text, self._pos = _STRICT.raw_decode(self._text, begin)
        except JSONDecodeError as error:
            what = error.msg.removesuffix(" at").removesuffix(" starting")
            self._end_with(error.pos, f"not valid JSON: {what[0].lower()}{what[1:]}")
        if _SURROGATE.search(text):
            self._fault(begin, "half a surrogate pair, which is no character")
        return text

    def _bare(self) -> Scalar:
        """A number or a constant."""
        match = _WORD.match(self._text, self._pos)
        text = match[0] if match else ""
        value = _value_of(text)
        if value is _BAD and not _NON_FINITE.fullmatch(text) and not _FLOAT.fullmatch(text):
            self._unexpected("a value")
        line, column = self._at(self._pos)
        if value is _BAD:
            self._fault(self._pos, f"the number {shown(text)} is not finite or too long")
            value = None
        self._pos += len(text)
        return Scalar(self._source, line, column, text, value)

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._pos)
        self._pos = match.end() if match else self._pos

    def _at(self, pos: int) -> tuple[int, int]:
        """Line and column; asked for in the order of the text."""
        while pos >= self._next:
            self._line, self._start = self._line + 1, self._next
            self._next = next(self._starts)
        return self._line, pos - self._start + 1

    def _fault(self, pos: int, message: str) -> None:
        self._faults.append(Fault(self._source, *self._at(pos), message))

    def _end_with(self, pos: int, message: str) -> NoReturn:
        self._fault(pos, message)
        raise _Ends

    def _unexpected(self, wanted: str) -> NoReturn:
        if self._pos >= len(self._text):
            self._end_with(self._pos, f"not valid JSON: expected {wanted}, found the end")
        word = _WORD.match(self._text, self._pos)
        found = word[0] if word else self._text[self._pos]
        self._end_with(self._pos, f"not valid JSON: expected {wanted}, found {shown(found)}"
                                  + _HINTS.get(found, ""))


def _value_of(text: str) -> Any:
    """What a bare word means; _BAD where it means nothing or no number that can be held."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INT.fullmatch(text):
        return int(text) if len(text) <= 400 else _BAD
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else _BAD
    return _BAD
