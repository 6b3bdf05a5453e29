"""The only door to yaml: turns bytes into strict values that know where they stand.

Two steps. `parse` composes a tree of nodes by the YAML 1.2 core schema and refuses what makes a
file mean something else than it seems to: duplicate keys, anchors, aliases, merge keys, tags.
`decode` builds frozen dataclasses from the tree. Both report every fault they can find at once.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
import types
import typing
from collections import abc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

import msgspec
import yaml

from policyd.core.errors import Fault, FileInvalid

MAX_BYTES = 1_048_576
MAX_DEPTH = 64

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NON_PRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NON_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_CONSTANTS: abc.Mapping[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}
_EXPECTED = {str: "text", int: "a whole number", float: "a number", bool: "true or false",
             date: "a date written YYYY-MM-DD"}
_BAD: Any = object()

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Located:
    """Where a node begins; line and column start at 1."""

    source: str
    line: int
    column: int

    def fault(self, message: str) -> Fault:
        return Fault(self.source, self.line, self.column, message)


@dataclass(frozen=True, slots=True)
class Scalar(Located):
    """`text` as written (without quotes), `value` by the core schema; quoted values are text."""

    text: str
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Sequence(Located):
    """A list."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping(Located):
    """A mapping in the file's order. Keys are text whatever they look like, and unique."""

    entries: tuple[tuple[Scalar, Node], ...]

    def get(self, key: str) -> Node | None:
        return next((value for name, value in self.entries if name.text == key), None)

    def key(self, key: str) -> Scalar | None:
        return next((name for name, _ in self.entries if name.text == key), None)


Node = Mapping | Sequence | Scalar


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


def decode(node: Node, type_: type[T]) -> T:
    """Builds `type_` from a node, or raises FileInvalid with every fault found.

    Understands frozen dataclasses (a field's `metadata["key"]` overrides its name as the key),
    tuple[X, ...], Mapping[str, X], X | None, enums by value, bool, int, float, str, date, nodes
    as they are, and Annotated[X, f]: `f` is handed the plain value and raises ValueError.
    """
    faults: list[Fault] = []
    value = attempt(node, type_, faults)
    if faults:
        raise FileInvalid(in_order(faults))
    return cast(T, value)


def attempt(node: Node, type_: type[T], faults: list[Fault]) -> T | None:
    """Like `decode`, but adds what is wrong to `faults`; None when anything was."""
    before = len(faults)
    value = _Decoder(faults).value(node, type_)
    return cast(T, value) if len(faults) == before else None


def find(node: Node, path: tuple[str | int, ...]) -> Located:
    """The place that a path of keys leads to, or the nearest one above it.

    A last name of a mapping gives the key itself; in a list a name means the item that reads so.
    """
    here: Node = node
    for depth, step in enumerate(path):
        last = depth == len(path) - 1
        if isinstance(here, Mapping) and (key := here.key(str(step))) is not None:
            if last:
                return key
            here = cast(Node, here.get(str(step)))
        elif isinstance(here, Sequence) and (item := _item(here, step)) is not None:
            here = item
        else:
            return here
    return here


def in_order(faults: abc.Iterable[Fault]) -> tuple[Fault, ...]:
    """Faults by file, line and column."""
    return tuple(sorted(faults, key=lambda f: (f.source, f.line, f.column)))


def shown(text: str) -> str:
    """Text from a file, quoted and cut, safe for a terminal."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _item(node: Sequence, step: str | int) -> Node | None:
    if isinstance(step, int):
        return node.items[step] if 0 <= step < len(node.items) else None
    return next((item for item in node.items
                 if isinstance(item, Scalar) and item.text == step), None)


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


class _Decoder:
    """Builds values by the annotations of dataclasses; `_BAD` stands for what had a fault."""

    def __init__(self, faults: list[Fault]) -> None:
        self._faults = faults

    def value(self, node: Node, type_: Any) -> Any:
        origin = get_origin(type_)
        for applies, build in self._builders():
            if applies(type_, origin):
                return build(node, type_)
        raise TypeError(f"no way to decode {type_!r}")

    def _builders(self) -> tuple[tuple[Callable[[Any, Any], bool],
                                       Callable[[Node, Any], Any]], ...]:
        return (
            (lambda t, _: t == Node, lambda node, _: node),
            (lambda t, _: t in _EXPECTED, self._leaf),
            (lambda _, origin: origin is Annotated, self._refined),
            (lambda _, origin: origin in (Union, types.UnionType), self._optional),
            (lambda _, origin: origin is Literal, self._choice),
            (lambda _, origin: origin is tuple, self._sequence),
            (lambda _, origin: origin in (dict, abc.Mapping), self._mapping),
            (lambda t, _: isinstance(t, type) and issubclass(t, Enum), self._choice),
            (lambda t, _: dataclasses.is_dataclass(t), self._record),
        )

    def _bad(self, node: Located, message: str) -> Any:
        self._faults.append(node.fault(message))
        return _BAD

    def _leaf(self, node: Node, type_: Any) -> Any:
        expected = _EXPECTED[type_]
        if not isinstance(node, Scalar):
            return self._bad(node, f"expected {expected}, found {_described(node)}")
        try:
            return msgspec.convert(node.value, type_, strict=True)
        except msgspec.ValidationError:
            hint = "; quote it" if type_ is str and node.text else ""
            return self._bad(node, f"expected {expected}, found {_described(node)}{hint}")

    def _refined(self, node: Node, type_: Any) -> Any:
        base, refine = get_args(type_)
        plain = self.value(node, base if base in _EXPECTED else str)
        try:
            return _BAD if plain is _BAD else refine(plain)
        except ValueError as error:
            return self._bad(node, str(error))

    def _optional(self, node: Node, type_: Any) -> Any:
        inner = [t for t in get_args(type_) if t is not types.NoneType]
        if len(inner) != 1 or len(get_args(type_)) != 2:
            raise TypeError(f"no way to decode {type_!r}")
        if isinstance(node, Scalar) and node.value is None:
            return None
        return self.value(node, inner[0])

    def _choice(self, node: Node, type_: Any) -> Any:
        literal = get_origin(type_) is Literal
        allowed = {v: v for v in get_args(type_)} if literal else {m.value: m for m in type_}
        value = node.value if isinstance(node, Scalar) else None
        for candidate, member in allowed.items():
            if type(candidate) is type(value) and candidate == value:
                return member
        listed = ", ".join(str(a) for a in allowed)
        return self._bad(node, f"expected one of {listed}; found {_described(node)}"
                               + _suggestion(str(value), [str(a) for a in allowed]))

    def _sequence(self, node: Node, type_: Any) -> Any:
        if not isinstance(node, Sequence):
            return self._bad(node, f"expected a list, found {_described(node)}")
        items = [self.value(item, get_args(type_)[0]) for item in node.items]
        return _BAD if any(item is _BAD for item in items) else tuple(items)

    def _mapping(self, node: Node, type_: Any) -> Any:
        if not isinstance(node, Mapping):
            return self._bad(node, f"expected a mapping, found {_described(node)}")
        key_type, value_type = get_args(type_)
        pairs = [(self.value(key, key_type), self.value(value, value_type))
                 for key, value in node.entries]
        return _BAD if any(_BAD in pair for pair in pairs) else dict(pairs)

    def _record(self, node: Node, type_: Any) -> Any:
        if not isinstance(node, Mapping):
            return self._bad(node, f"expected a mapping, found {_described(node)}")
        fields = {f.metadata.get("key", f.name): f for f in dataclasses.fields(type_) if f.init}
        hints = typing.get_type_hints(type_, include_extras=True)
        values: dict[str, Any] = {}
        for key, value in node.entries:
            if key.text in fields:
                name = fields[key.text].name
                values[name] = self.value(value, hints[name])
            else:
                self._bad(key, unknown("key", key.text, list(fields)))
                values[""] = _BAD
        for key_text, one in fields.items():
            if one.name not in values and not _has_default(one):
                values[""] = self._bad(node, f"missing key {shown(key_text)}")
        return _BAD if any(v is _BAD for v in values.values()) else type_(**values)


def unknown(what: str, name: str, known: list[str]) -> str:
    """The message for a name that is none of the known ones, with the nearest or all of them."""
    hint = _suggestion(name, known) or f"; known: {', '.join(known) or 'none'}"
    return f"unknown {what} {shown(name)}{hint}"


def _suggestion(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _has_default(one: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return one.default is not missing or one.default_factory is not missing


def _described(node: Located) -> str:
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Scalar):
        if node.value is None:
            return "nothing"
        return shown(node.value) if isinstance(node.value, str) else shown(node.text).strip("'")
    return "a list"
