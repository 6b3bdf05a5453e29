"""Fields of typed YAML in the words of somebody who writes it: key, type, default, meaning."""

from __future__ import annotations

import types
import typing
from collections import abc
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from policyd.core.manual import meanings
from policyd.core.nodes import Node
from policyd.core.values import dataclass

_LEAVES = {str: "text", int: "whole number", float: "number", bool: "true or false",
           date: "date"}
REQUIRED = "none: it must be given"


@dataclass(frozen=True, slots=True)
class Word:
    """A field as a line of a table. `below` is the type of a mapping with keys of its own."""

    key: str
    kind: str
    default: str
    says: str
    below: type[Any] | None = None


def words(type_: type[Any]) -> Iterator[Word]:
    """The fields of a type, in their order."""
    hints = typing.get_type_hints(type_, include_extras=True)
    says = meanings(type_)
    for one in fields(type_):
        key, hint = one.metadata.get("key", one.name), _plain(hints[one.name])
        yield Word(key, _kind(hint), _default(one), says.get(key, ""),
                   hint if is_dataclass(hint) and isinstance(hint, type) else None)


def table(type_: type[Any], of: str = "key") -> Iterator[str]:
    """All of them as a table in Markdown."""
    yield f"| {of} | type | default | |"
    yield "|---|---|---|---|"
    for word in words(type_):
        yield f"| `{word.key}` | {word.kind} | {word.default} | {word.says} |"


def _plain(hint: Any) -> Any:
    """Without None and without what a value is compiled to."""
    origin, args = get_origin(hint), get_args(hint)
    if hint == Node:
        return dict
    if origin is Annotated:
        return _plain(args[0]) if args[0] in _LEAVES else str
    if origin in (Union, types.UnionType):
        return _plain(next(arg for arg in args if arg is not types.NoneType))
    return hint


def _kind(given: Any, *, many: bool = False) -> str:
    """A type in words; in lists and mappings, in the plural."""
    hint = _plain(given)
    origin, args = get_origin(hint), get_args(hint)
    if hint is dict or is_dataclass(hint):
        return "mapping"
    if origin is tuple:
        return f"{'lists' if many else 'list'} of {_kind(args[0], many=True)}"
    if origin in (dict, abc.Mapping):
        below = _kind(args[1], many=True)
        return f"mapping of {_kind(args[0], many=True)} to {below}"
    if origin is Literal:
        return " or ".join(f"`{one}`" for one in args)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return " or ".join(f"`{member.value}`" for member in hint)
    word = _LEAVES[hint]
    return f"{word}s" if many and word.endswith("number") else word


def _default(one: Field[Any]) -> str:
    if one.default_factory is not MISSING:
        value = one.default_factory()
    elif one.default is MISSING:
        return REQUIRED
    else:
        value = one.default
    # A mapping with keys of its own has their defaults.
    return "" if value is None or is_dataclass(value) else f"`{_yaml(value)}`"


def _yaml(value: Any) -> str:
    """A default as it would be written in a policy."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_yaml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
