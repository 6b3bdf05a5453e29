"""What is in force as bytes and back: read by every push, so only the standard library's json.

Two lines of JSON. The first holds the format's number and the SHA-256 of the second, which holds
the settings and the policies. Types are read from the annotations of the dataclasses, so a new
field needs nothing here; a changed meaning needs a new FORMAT.
"""

from __future__ import annotations

import json
import types
import typing
from collections import abc
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from functools import cache
from hashlib import sha256
from typing import Any, TypeVar, Union, cast, get_args, get_origin

from policyd.core.errors import CannotJudge
from policyd.core.policy import Active, Clause, Policy, Settings
from policyd.core.values import dataclass

FORMAT = 4
T = TypeVar("T")
_REMEDY = "the operator repairs it with `policyd policy apply`"


@dataclass(frozen=True, slots=True)
class _Body:
    settings: Settings
    policies: tuple[Policy, ...]


def put_together(settings: Settings, policies: tuple[Policy, ...]) -> Active:
    """What these would be in force, with the digest that `to_json` will write."""
    return Active(sha256(_body(settings, policies)).hexdigest(), settings, policies)


def to_json(active: Active) -> bytes:
    """The file's bytes. The digest is counted anew; that of `active` is not looked at."""
    body = _body(active.settings, active.policies)
    head = _dumped({"format": FORMAT, "sha256": sha256(body).hexdigest()})
    return head + b"\n" + body + b"\n"


def from_json(data: bytes, options: Mapping[str, type]) -> Active:
    """What was written. `options` are the options types of the known rules, by rule id.

    Raises CannotJudge where the bytes are damaged, of another format, or name unknown rules.
    """
    head, _, rest = data.partition(b"\n")
    digest, body = _checked(head), rest.removesuffix(b"\n")
    if sha256(body).hexdigest() != digest:
        raise CannotJudge(f"the policy in force is damaged: its digest does not match; {_REMEDY}")
    try:
        read = cast(_Body, _Thaw(options).value(json.loads(body), _Body))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CannotJudge(f"the policy in force was written by another policyd "
                          f"({type(error).__name__}: {error}); {_REMEDY}") from error
    return Active(digest, read.settings, read.policies)


def _checked(head: bytes) -> str:
    """The digest that the first line promises."""
    try:
        promised = json.loads(head)
        number, digest = promised["format"], promised["sha256"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CannotJudge(f"the policy in force is damaged: no first line; {_REMEDY}") from error
    if number != FORMAT:
        raise CannotJudge(f"the policy in force has format {number!r} and this policyd reads "
                          f"format {FORMAT}; {_REMEDY}")
    return str(digest)


def _body(settings: Settings, policies: tuple[Policy, ...]) -> bytes:
    return _dumped(plain(_Body(settings, policies)))


def _dumped(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def thawed(raw: Any, type_: type[T]) -> T:
    """What `plain` made of a value of this type, as that value again.

    Raises ValueError, TypeError, KeyError or AttributeError where it is none.
    """
    return cast(T, _Thaw({}).value(raw, type_))


def plain(value: Any) -> Any:
    """A compiled value in what JSON knows: mappings, lists, texts, numbers."""
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, abc.Mapping):
        return {key: plain(item) for key, item in value.items()}
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"no way to write {type(value).__name__}")


class _Thaw:
    """Builds values again by the annotations that they were written from."""

    def __init__(self, options: Mapping[str, type]) -> None:
        self._options = options

    def value(self, raw: Any, type_: Any) -> Any:
        if type_ is Clause:
            hints = {**_hints(Clause), "options": self._known(raw["rule"])}
            return Clause(**{key: self.value(item, hints[key]) for key, item in raw.items()})
        if is_dataclass(type_):
            hints = _hints(cast(type, type_))
            return cast(type, type_)(**{key: self.value(item, hints[key])
                                        for key, item in raw.items()})
        origin = get_origin(type_)
        if origin is not None:
            return self._generic(raw, origin, get_args(type_))
        if type_ is date:
            return date.fromisoformat(raw)
        if isinstance(type_, type) and issubclass(type_, Enum):
            return type_(raw)
        return self._leaf(raw, type_)

    def _known(self, rule: str) -> type:
        if rule not in self._options:
            raise KeyError(f"unknown rule {rule}")
        return self._options[rule]

    def _generic(self, raw: Any, origin: Any, args: tuple[Any, ...]) -> Any:
        if origin is typing.Annotated:
            return self.value(raw, args[0])
        if origin is typing.Literal:
            return raw
        if origin is tuple and args[-1:] == (Ellipsis,):
            return tuple(self.value(item, args[0]) for item in raw)
        if origin is tuple:
            return tuple(self.value(item, one) for item, one in zip(raw, args, strict=True))
        if origin in (dict, abc.Mapping):
            return {key: self.value(item, args[1]) for key, item in raw.items()}
        if origin in (Union, types.UnionType):
            inner = next(arg for arg in args if arg is not types.NoneType)
            return None if raw is None else self.value(raw, inner)
        raise TypeError(f"no way to read {origin!r}")

    def _leaf(self, raw: Any, type_: Any) -> Any:
        if type_ is float and type(raw) is int:
            return float(raw)
        if type(raw) is not type_:
            raise TypeError(f"{type(raw).__name__} stands for {type_}")
        return raw


@cache
def _hints(type_: type) -> dict[str, Any]:
    return typing.get_type_hints(type_, include_extras=True)
