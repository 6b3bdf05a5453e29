"""The only door to yaml: turns bytes into nodes by the YAML 1.2 core schema.

What makes a file mean something else than it seems to is refused, all of it at once: duplicate
keys, anchors, aliases, merge keys, tags. `core.decoding` builds typed values from the nodes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from policyd.core.errors import Fault, FileInvalid
from policyd.core.nodes import Mapping, Node, Scalar, Sequence, in_order, shown

MAX_BYTES = 1_048_576
MAX_DEPTH = 64

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NON_PRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NON_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_CONSTANTS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}
_BAD: Any = object()


def parse(data: bytes, source: str, *, max_bytes: int = MAX_BYTES) -> Node:
    """The single document of a file. Raises FileInvalid with every fault that could be found."""
    if len(data) > max_bytes:
        raise FileInvalid((Fault(source, 1, 1, f"larger than {max_bytes} bytes"),))
    composer = _Composer(source)
    composer.compose(_text(data, source))
    if composer.root is None and not composer.faults:
        composer.faults.append(Fault(source, 1, 1, "the file is empty"))
    if composer.root is None or composer.faults:
        raise FileInvalid(in_order(composer.faults))
    return composer.root


def _text(data: bytes, source: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _line_column(data[:error.start].decode("utf-8", "replace"))
        raise FileInvalid((Fault(source, line, column, "not valid UTF-8"),)) from error
    if (odd := _NON_PRINTABLE.search(text)) is not None:
        line, column = _line_column(text[:odd.start()])
        message = f"the character U+{ord(odd.group()):04X} is not allowed"
        raise FileInvalid((Fault(source, line, column, message),))
    return text


def _line_column(before: str) -> tuple[int, int]:
    lines = re.split(r"\r\n|[\n\r\x85\u2028\u2029]", before)
    return len(lines), len(lines[-1]) + 1


class _TooDeep(Exception):
    """Ends composing: what is deeper is not looked at."""


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end was not seen yet; a mapping's keys and values alternate."""

    mapping: bool
    line: int
    column: int
    children: list[Node] = field(default_factory=list)

    @property
    def wants_key(self) -> bool:
        return self.mapping and len(self.children) % 2 == 0


class _Composer:
    """Composes without recursion, so that hostile depth ends in a fault and not in a crash."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.root: Node | None = None
        self.faults: list[Fault] = []
        self._open: list[_Open] = []
        self._documents = 0

    def compose(self, text: str) -> None:
        try:
            for event in yaml.parse(text, Loader=_Loader):
                self._take(event)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            what = ", ".join(filter(None, (error.context, error.problem)))
            self._fault(mark, f"not valid YAML: {what}")
        except (yaml.YAMLError, RecursionError) as error:
            self._fault(None, f"not valid YAML: {type(error).__name__}")
        except _TooDeep:
            pass

    def _take(self, event: Any) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents == 2:
                self._fault(event.start_mark, "a second document; one file holds one document")
        elif isinstance(event, yaml.AliasEvent):
            self._fault(event.start_mark, f"alias {shown(f'*{event.anchor}')}; write it out")
            self._add(self._scalar(event.start_mark, "", None))
        elif isinstance(event, yaml.NodeEvent):
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()

    def _begin(self, event: Any) -> None:
        mark = event.start_mark
        if event.anchor is not None:
            self._fault(mark, f"anchor {shown('&' + event.anchor)}; write it out where it is used")
        if event.tag is not None:
            self._fault(mark, f"tag {shown(event.tag)}; tags are not used here")
        if isinstance(event, yaml.ScalarEvent):
            self._add(self._resolved(event))
            return
        if len(self._open) >= MAX_DEPTH:
            self._fault(mark, f"nested deeper than {MAX_DEPTH} levels")
            raise _TooDeep
        mapping = isinstance(event, yaml.MappingStartEvent)
        self._open.append(_Open(mapping, mark.line + 1, mark.column + 1))

    def _end(self) -> None:
        done = self._open.pop()
        if not done.mapping:
            self._add(Sequence(self.source, done.line, done.column, tuple(done.children)))
            return
        entries = tuple(self._entries(done.children))
        self._add(Mapping(self.source, done.line, done.column, entries))

    def _entries(self, children: list[Node]) -> Iterator[tuple[Scalar, Node]]:
        seen: dict[str, int] = {}
        for key, value in zip(children[::2], children[1::2], strict=True):
            if not isinstance(key, Scalar):
                self.faults.append(key.fault("a key is a single text"))
            elif key.text in seen:
                first = seen[key.text]
                self.faults.append(key.fault(
                    f"duplicate key {shown(key.text)}; it stands in line {first} already"))
            else:
                seen[key.text] = key.line
                yield key, value

    def _add(self, node: Node) -> None:
        if self._open:
            self._open[-1].children.append(node)
        elif self._documents == 1:
            absent = isinstance(node, Scalar) and node.value is None and not node.text
            self.root = None if absent else node

    def _resolved(self, event: Any) -> Scalar:
        text, plain, mark = event.value, not event.style, event.start_mark
        if self._open and self._open[-1].wants_key:
            if plain and text == "<<":
                self._fault(mark, "merge key '<<'; write the keys out")
            return self._scalar(mark, text, text)
        value = _core_schema(text) if plain else text
        if value is _BAD:
            self._fault(mark, f"the number {shown(text)} is not finite or too long")
            value = None
        return self._scalar(mark, text, value)

    def _scalar(self, mark: Any, text: str, value: Any) -> Scalar:
        return Scalar(self.source, mark.line + 1, mark.column + 1, text, value)

    def _fault(self, mark: Any, message: str) -> None:
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        self.faults.append(Fault(self.source, line, column, message))


def _core_schema(text: str) -> Any:
    """A plain scalar's value by the YAML 1.2 core schema; _BAD for a number that is none."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INT.fullmatch(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text, base) if len(text) <= 400 else _BAD
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else _BAD
    return _BAD if _NON_FINITE.fullmatch(text) else text
