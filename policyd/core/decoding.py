"""Builds frozen dataclasses from the nodes of a document, and reports every fault at its place."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections import abc
from collections.abc import Callable
from datetime import date
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

import msgspec

from policyd.core.errors import Fault, FileInvalid
from policyd.core.nodes import Located, Mapping, Node, Scalar, Sequence, in_order, shown

_EXPECTED = {str: "text", int: "a whole number", float: "a number", bool: "true or false",
             date: "a date written YYYY-MM-DD"}
_BAD: Any = object()

T = TypeVar("T")


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


def form(node: Node, type_: type[Any]) -> tuple[Fault, ...]:
    """What is wrong with a part of a document, in which any key may be absent."""
    faults: list[Fault] = []
    _Decoder(faults, whole=False).value(node, type_)
    return tuple(faults)


class _Decoder:
    """Builds values by the annotations of dataclasses; `_BAD` stands for what had a fault."""

    def __init__(self, faults: list[Fault], *, whole: bool = True) -> None:
        self._faults = faults
        self._whole = whole

    def value(self, node: Node, type_: Any) -> Any:
        return _builder_of(type_)(self, node, type_)

    def _node(self, node: Node, _: Any) -> Any:
        return node

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
        fields, hints = _shape(type_)
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
                values[""] = _BAD
                if self._whole:
                    self._bad(node, f"missing key {shown(key_text)}")
        return _BAD if any(v is _BAD for v in values.values()) else type_(**values)


_Builder = Callable[[_Decoder, Node, Any], Any]
_BUILDERS: tuple[tuple[Callable[[Any, Any], bool], _Builder], ...] = (
    (lambda t, _: t in (Node, Node | None), _Decoder._node),
    (lambda t, _: t in _EXPECTED, _Decoder._leaf),
    (lambda _, origin: origin is Annotated, _Decoder._refined),
    (lambda _, origin: origin in (Union, types.UnionType), _Decoder._optional),
    (lambda _, origin: origin is Literal, _Decoder._choice),
    (lambda _, origin: origin is tuple, _Decoder._sequence),
    (lambda _, origin: origin in (dict, abc.Mapping), _Decoder._mapping),
    (lambda t, _: isinstance(t, type) and issubclass(t, Enum), _Decoder._choice),
    (lambda t, _: dataclasses.is_dataclass(t), _Decoder._record),
)


@lru_cache(maxsize=1024)
def _builder_of(type_: Any) -> _Builder:
    """How values of a type are built. Kept: a record file holds tens of thousands of them."""
    origin = get_origin(type_)
    for applies, build in _BUILDERS:
        if applies(type_, origin):
            return build
    raise TypeError(f"no way to decode {type_!r}")


@lru_cache(maxsize=256)
def _shape(type_: Any) -> tuple[dict[str, dataclasses.Field[Any]], dict[str, Any]]:
    """The fields of a dataclass by their keys, and their types by their names."""
    fields = {f.metadata.get("key", f.name): f for f in dataclasses.fields(type_) if f.init}
    return fields, typing.get_type_hints(type_, include_extras=True)


def unknown(what: str, name: str, known: list[str]) -> str:
    """The message for a name that is none of the known ones, with the nearest or all of them."""
    hint = _suggestion(name, known) or f"; known: {', '.join(known) or 'none'}"
    return f"unknown {what} {shown(name)}{hint}"


def _suggestion(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name[:60], known, n=1)
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
