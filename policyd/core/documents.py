"""The only door to yaml: turns bytes into nodes by the YAML 1.2 core schema.

What makes a file mean something else than it seems to is refused, all of it at once: duplicate
keys, anchors, aliases, merge keys, tags. Records may use aliases and merge keys, within bounds.
`core.decoding` builds typed values from the nodes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import field, replace
from typing import Any, NoReturn

import yaml

from policyd.core.errors import Fault, FileInvalid
from policyd.core.nodes import Mapping, Node, Scalar, Sequence, in_order, shown
from policyd.core.values import dataclass

MAX_BYTES = 1_048_576
MAX_DEPTH = 64
MAX_NODES = 1_000_000
"""Keys, values, lists and mappings, those that an alias stands for counted each time."""

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NON_PRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NON_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DIRECTIVE = re.compile("(?:\\A|(?<=[\n\r\x85\u2028\u2029]))%")
"""Refused before libyaml sees them: a megabyte of them costs it minutes."""
_CONSTANTS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}
_BAD: Any = object()
_MERGE: Any = object()


def parse(data: bytes, source: str, *, max_bytes: int = MAX_BYTES, aliases: bool = False) -> Node:
    """The single document of a file. Raises FileInvalid with every fault that could be found.

    With `aliases`, an alias is what its anchor marks (standing where the alias stands), `<<`
    brings in the keys that a mapping does not have itself, and a hash is text without quotes.
    """
    faults: list[Fault] = []
    node = read(data, source, faults, max_bytes=max_bytes, aliases=aliases)
    if node is None or faults:
        raise FileInvalid(in_order(faults))
    return node


def read(data: bytes, source: str, faults: list[Fault], *, max_bytes: int = MAX_BYTES,
         aliases: bool = False) -> Node | None:
    """Like `parse`, but adds what is wrong to `faults`; None where there is no whole document.

    Of a duplicate key the first stands in the node, and nothing in place of a number that is none.
    """
    if len(data) > max_bytes:
        faults.append(Fault(source, 1, 1, f"larger than {max_bytes} bytes"))
        return None
    if (text := _text(data, source, faults)) is None:
        return None
    if aliases and (directive := _DIRECTIVE.search(text)) is not None:
        line, column = _line_column(text[:directive.start()])
        faults.append(Fault(source, line, column, "a line with % at its start; directives are not "
                                                  "used here"))
        return None
    composer = (_AliasComposer if aliases else _Composer)(source, faults)
    composer.compose(text)
    if composer.root is None and not faults:
        faults.append(Fault(source, 1, 1, "the file is empty"))
    return composer.root


def _text(data: bytes, source: str, faults: list[Fault]) -> str | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _line_column(data[:error.start].decode("utf-8", "replace"))
        faults.append(Fault(source, line, column, "not valid UTF-8"))
        return None
    if (odd := _NON_PRINTABLE.search(text)) is not None:
        line, column = _line_column(text[:odd.start()])
        message = f"the character U+{ord(odd.group()):04X} is not allowed"
        faults.append(Fault(source, line, column, message))
        return None
    return text


def _line_column(before: str) -> tuple[int, int]:
    lines = re.split(r"\r\n|[\n\r\x85\u2028\u2029]", before)
    return len(lines), len(lines[-1]) + 1


class _TooMuch(Exception):
    """Ends composing: what follows is not looked at."""


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end was not seen yet; a mapping's keys and values alternate."""

    mapping: bool
    line: int
    column: int
    anchor: str | None = None
    before: int = 0
    """How many nodes began before this one."""
    height: int = 0
    """Levels of lists and mappings inside."""
    children: list[Node] = field(default_factory=list)

    @property
    def wants_key(self) -> bool:
        return self.mapping and len(self.children) % 2 == 0


class _Composer:
    """Composes without recursion, so that hostile depth ends in a fault and not in a crash."""

    def __init__(self, source: str, faults: list[Fault]) -> None:
        self.source = source
        self.root: Node | None = None
        self.faults = faults
        self._open: list[_Open] = []
        self._documents = 0
        self._count = 0

    def compose(self, text: str) -> None:
        try:
            for event in yaml.parse(text, Loader=_Loader):
                self._take(event)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            what = ", ".join(filter(None, (error.context, error.problem)))
            # libyaml ends a last line that has no end, and points behind it
            place = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
            place = min(place, _line_column(text))
            self.faults.append(Fault(self.source, *place, f"not valid YAML: {what}"))
        except (yaml.YAMLError, RecursionError) as error:
            self.faults.append(Fault(
                self.source, 1, 1, f"not valid YAML: {type(error).__name__}"))
        except _TooMuch:
            pass

    def _take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._counted(event.start_mark, 1)
            self._checked(event)
            self._add(self._resolved(event))
        elif isinstance(event, yaml.CollectionStartEvent):
            self._counted(event.start_mark, 1)
            self._checked(event)
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._add(self._aliased(event))
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents == 2:
                self._fault(event.start_mark, "a second document; one file holds one document")

    def _checked(self, event: Any) -> None:
        if event.anchor is not None:
            self._anchored(event)
        if event.tag is not None:
            self._fault(event.start_mark, f"tag {shown(event.tag)}; tags are not used here")

    def _anchored(self, event: Any) -> None:
        self._fault(event.start_mark,
                    f"anchor {shown('&' + event.anchor)}; write it out where it is used")

    def _aliased(self, event: Any) -> Node:
        """What an alias stands for."""
        self._fault(event.start_mark, f"alias {shown(f'*{event.anchor}')}; write it out")
        return self._scalar(event.start_mark, "", None)

    def _begin(self, event: Any) -> None:
        mark = event.start_mark
        self._deep(mark, 1)
        mapping = isinstance(event, yaml.MappingStartEvent)
        self._open.append(
            _Open(mapping, mark.line + 1, mark.column + 1, event.anchor, self._count - 1))

    def _end(self) -> None:
        done = self._open.pop()
        if self._open:
            self._open[-1].height = max(self._open[-1].height, done.height + 1)
        self._closed(done, self._mapping(done) if done.mapping else Sequence(
            self.source, done.line, done.column, tuple(done.children)))

    def _closed(self, _done: _Open, node: Node) -> None:
        self._add(node)

    def _mapping(self, done: _Open) -> Mapping:
        return Mapping(self.source, done.line, done.column, tuple(self._entries(done.children)))

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
                return self._merge_key(mark)
            return self._scalar(mark, text, text)
        value = self._value(text) if plain else text
        if value is _BAD:
            self._fault(mark, f"the number {shown(text)} is not finite or too long")
            value = None
        return self._scalar(mark, text, value)

    def _value(self, text: str) -> Any:
        """What a plain scalar means."""
        return _core_schema(text)

    def _merge_key(self, mark: Any) -> Scalar:
        self._fault(mark, "merge key '<<'; write the keys out")
        return self._scalar(mark, "<<", "<<")

    def _counted(self, mark: Any, nodes: int) -> None:
        self._count += nodes
        if self._count > MAX_NODES:
            self._end_with(mark, f"more than {MAX_NODES} values, aliases written out")

    def _deep(self, mark: Any, levels: int) -> None:
        if len(self._open) + levels > MAX_DEPTH:
            self._end_with(mark, f"nested deeper than {MAX_DEPTH} levels")

    def _scalar(self, mark: Any, text: str, value: Any) -> Scalar:
        return Scalar(self.source, mark.line + 1, mark.column + 1, text, value)

    def _fault(self, mark: Any, message: str) -> None:
        self.faults.append(Fault(self.source, mark.line + 1, mark.column + 1, message))

    def _end_with(self, mark: Any, message: str) -> NoReturn:
        self._fault(mark, message)
        raise _TooMuch


@dataclass(frozen=True, slots=True)
class _Marked:
    """What an anchor marks, with its size written out and its height."""

    node: Node
    size: int = 1
    height: int = 0


class _AliasComposer(_Composer):
    """Composes what uses aliases and merge keys; what they stand for is shared, not copied."""

    def __init__(self, source: str, faults: list[Fault]) -> None:
        super().__init__(source, faults)
        self._marked: dict[str, _Marked | None] = {}
        """None for an anchor whose list or mapping is still open."""

    def _anchored(self, event: Any) -> None:
        if event.anchor in self._marked:
            self._fault(event.start_mark, f"anchor {shown('&' + event.anchor)} again; "
                                          "an alias could mean either")
        self._marked[event.anchor] = None

    def _resolved(self, event: Any) -> Scalar:
        node = super()._resolved(event)
        if event.anchor is not None:
            self._marked[event.anchor] = _Marked(node)
        return node

    def _closed(self, done: _Open, node: Node) -> None:
        if done.anchor is not None:
            self._marked[done.anchor] = _Marked(node, self._count - done.before, done.height + 1)
        super()._closed(done, node)

    def _aliased(self, event: Any) -> Node:
        mark, name = event.start_mark, shown(f"*{event.anchor}")
        marked = self._marked.get(event.anchor)
        if marked is None:
            inside = event.anchor in self._marked
            self._fault(mark, f"alias {name} stands inside of what it means" if inside
                        else f"alias {name} before any such anchor")
            return Mapping(self.source, mark.line + 1, mark.column + 1, ())
        if self._open and self._open[-1].wants_key:
            self._fault(mark, f"alias {name} as a key; write it out")
        self._counted(mark, marked.size)
        self._deep(mark, marked.height)
        if self._open:
            self._open[-1].height = max(self._open[-1].height, marked.height)
        return replace(marked.node, line=mark.line + 1, column=mark.column + 1)

    def _merge_key(self, mark: Any) -> Scalar:
        return self._scalar(mark, "<<", _MERGE)

    def _value(self, text: str) -> Any:
        return text if _HASH.fullmatch(text) else super()._value(text)

    def _mapping(self, done: _Open) -> Mapping:
        """The mapping with what `<<` brings in behind its own keys."""
        whole = super()._mapping(done)
        merge = next((e for e in whole.entries if e[0].value is _MERGE), None)
        if merge is None:
            return whole
        entries = {key.text: (key, value) for key, value in whole.entries if key is not merge[0]}
        sources = merge[1].items if isinstance(merge[1], Sequence) else (merge[1],)
        for source in sources:
            if not isinstance(source, Mapping):
                self.faults.append(source.fault("'<<' takes in mappings, nothing else"))
                continue
            for key, value in source.entries:
                entries.setdefault(key.text, (key, value))
        return replace(whole, entries=tuple(entries.values()))


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
