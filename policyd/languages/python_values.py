"""What operators and formatting make of constants; no result, and no step to one, grows huge."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any, TypeGuard, TypeVar

Scalar = str | bytes | int | float | None | EllipsisType
"""What a constant node holds; True and False are integers."""

Text = TypeVar("Text", str, bytes)

LONGEST = 65_536
"""Characters of the longest text that is worked out; what would be longer stays in its parts."""

_WIDEST = 4096
"""Bits of the largest integer that takes part."""

_BRACES = re.compile(r"\{\{|\}\}|\{(\w*)(?:!([rsa]))?(?::([^{}]*))?\}|[{}]", re.ASCII)
_PERCENT = re.compile(
    r"%(?:%|[-+ #0]*[0-9]{0,4}(?:\.[0-9]{0,3})?[hlL]?[diouxXeEfFgGcrsab]|)", re.ASCII
)
_SPEC = re.compile(
    r"(?:[^{}]?[<>=^])?[-+ ]?#?0?[0-9]{0,4}[,_]?(?:\.[0-9]{1,3})?[bcdeEfFgGosxX%]?",
    re.ASCII | re.DOTALL,
)
_CONVERSIONS: Mapping[str, Callable[[object], str]] = {"s": str, "r": repr, "a": ascii}


class _NotPlain(Exception):
    """A template that asks for more than values put into plain fields."""


def is_number(value: object) -> TypeGuard[int | float]:
    return type(value) is int or type(value) is float


def is_finite(value: int | float) -> bool:
    """math.isfinite cannot take every integer."""
    return isinstance(value, int) or math.isfinite(value)


def product(left: object, right: object) -> str | bytes | int | float | None:
    """`left * right` of numbers, or of text and a number."""
    if isinstance(right, str | bytes):
        left, right = right, left
    if isinstance(left, str | bytes):
        short = type(right) is int and len(left) * right <= LONGEST
        return left * right if short and type(right) is int else None
    return _combined(operator.mul, left, right)


def difference(left: object, right: object) -> int | float | None:
    """`left - right` of numbers."""
    return _combined(operator.sub, left, right)


def total(values: Sequence[object]) -> int | float | None:
    """The sum of numbers, from the left."""
    result = values[0] if is_number(values[0]) else None
    for value in values[1:]:
        result = _combined(operator.add, result, value)
    return result


def joined(between: object, values: Sequence[object]) -> str | bytes | None:
    """`between.join(values)`, where all are text or all are bytes."""
    if isinstance(between, str):
        texts = [value for value in values if isinstance(value, str)]
        return _glued(_alternating(between, texts), "") if len(texts) == len(values) else None
    if isinstance(between, bytes):
        rows = [value for value in values if isinstance(value, bytes)]
        return _glued(_alternating(between, rows), b"") if len(rows) == len(values) else None
    return None


def formatted(value: Scalar, conversion: str, spec: str) -> str | None:
    """`format(value, spec)` after `!r`, `!s`, `!a` or nothing; widths have four digits at most."""
    if not _is_tame(value) or not _SPEC.fullmatch(spec):
        return None
    shown = _CONVERSIONS[conversion](value) if conversion else value
    try:
        return format(shown, spec)
    except (TypeError, ValueError, OverflowError):
        return None


def braced(template: str, positional: Sequence[Scalar], named: Mapping[str, Scalar]) -> str | None:
    """`template.format(...)` for plain fields: `{}`, `{0}`, `{name}`, with `!r` and a width."""
    try:
        return _glued(_brace_pieces(template, positional, named), "")
    except (_NotPlain, LookupError):
        return None


def percented(template: object, values: Sequence[Scalar]) -> str | bytes | None:
    """`template % values` without `*` and without keys."""
    if not all(map(_is_tame, values)):
        return None
    try:
        if isinstance(template, str):
            return _glued(_percent_pieces(template, template, values), "")
        if isinstance(template, bytes):
            return _glued(_percent_pieces(template, template.decode("latin-1"), values), b"")
        return None
    except (_NotPlain, LookupError, TypeError, ValueError, OverflowError):
        return None


def _is_tame(value: object) -> bool:
    return not isinstance(value, int) or value.bit_length() <= _WIDEST


def _combined(
    operation: Callable[[Any, Any], Any], left: object, right: object
) -> int | float | None:
    if not (is_number(left) and is_number(right) and _is_tame(left) and _is_tame(right)):
        return None
    try:
        result = operation(left, right)
    except OverflowError:
        return None
    return result if is_number(result) and is_finite(result) else None


def _glued(pieces: Iterable[Text], empty: Text) -> Text | None:
    """The pieces in one, or nothing as soon as they are longer than LONGEST."""
    held: list[Text] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > LONGEST:
            return None
        held.append(piece)
    return empty.join(held)


def _alternating(between: Text, values: Sequence[Text]) -> Iterator[Text]:
    for index, value in enumerate(values):
        if index:
            yield between
        yield value


def _brace_pieces(
    template: str, positional: Sequence[Scalar], named: Mapping[str, Scalar]
) -> Iterator[str]:
    end = 0
    numberings: set[bool] = set()
    automatic = list(reversed(positional))
    for match in _BRACES.finditer(template):
        yield template[end : match.start()]
        end = match.end()
        name = match[1]
        if name is None:
            yield _escaped_brace(match[0])
            continue
        if not name or name.isdigit():
            numberings.add(not name)
        value = automatic.pop() if not name else _field(name, positional, named)
        piece = formatted(value, match[2] or "", match[3] or "")
        if piece is None or len(numberings) > 1:
            raise _NotPlain
        yield piece
    yield template[end:]


def _escaped_brace(found: str) -> str:
    if len(found) == 1:
        raise _NotPlain
    return found[0]


def _field(name: str, positional: Sequence[Scalar], named: Mapping[str, Scalar]) -> Scalar:
    if not name.isdigit():
        return named[name]
    if len(name) > 5:
        raise _NotPlain
    return positional[int(name)]


def _percent_pieces(template: Text, plain: str, values: Sequence[Scalar]) -> Iterator[Text]:
    left = list(reversed(values))
    end = 0
    for match in _PERCENT.finditer(plain):
        yield template[end : match.start()]
        end = match.end()
        field = template[match.start() : end]
        if len(field) == 1:
            raise _NotPlain
        yield field % (() if match[0] == "%%" else (left.pop(),))
    if left:
        raise _NotPlain
    yield template[end:]
