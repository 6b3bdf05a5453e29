"""Constant expressions of a Python tree, folded to what they are worth. Nothing is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from policyd.core.values import dataclass
from policyd.languages.literal import Unparseable, bounded, number_form, text_form
from policyd.languages.python_uses import Spot
from policyd.languages.python_values import (
    Scalar,
    braced,
    difference,
    formatted,
    is_finite,
    is_number,
    joined,
    percented,
    product,
    total,
)

_ALL_TEXT = 16 << 20
"""Characters that folding may make of one file; written plainly, none comes near."""

_CONVERSIONS = {-1: "", 115: "s", 114: "r", 97: "a"}


@dataclass(frozen=True, slots=True)
class Display:
    """A tuple, list, set or dict made of constants only."""

    form: str
    size: int
    """How many constants it holds, those of inner displays included."""
    alike: str | None
    """The form of its constants where they are all the same."""


class Part(NamedTuple):
    """A constant, the node that it is the worth of, and how it stands."""

    key: int
    value: Scalar | Display
    line: int
    use: str


Piece = Part | None
"""A stretch of text under construction; None stands for what is known at run time only."""


def constants(spots: Sequence[Spot]) -> Iterable[Part]:
    """What the expressions are worth: wholes in place of the parts they are made of.

    The elements of a display stay beside it. Raises Unparseable where folding makes too much.
    """
    folding = _Folding({id(left) for spot in spots if (left := _left_of_sum(spot.node))})
    for spot in reversed(spots):
        folding.take(spot)
    return folding.kept.values()


class _Folding:
    """Goes from the leaves up; what a whole is made of leaves `kept` as it is used."""

    def __init__(self, inside_sums: set[int]) -> None:
        self.kept: dict[int, Part] = {}
        self._inside_sums = inside_sums
        self._pieces: dict[int, list[Piece]] = {}
        self._made = 0

    def take(self, spot: Spot) -> None:
        match spot.node:
            case ast.Constant() as node:
                self._constant(spot, node.value)
            case ast.BinOp() as node:
                self._operation(spot, node)
            case ast.Call() as node:
                self._call(spot, node)
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict() as node:
                self._display(spot, node)
            case ast.JoinedStr() as node:
                self._text(spot, [self.kept.get(id(value)) for value in node.values])
            case ast.FormattedValue() as node:
                self._field(spot, node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()) as node:
                self._sign(spot, node)

    def _become(self, spot: Spot, value: Scalar | Display, *parts: Part) -> None:
        """The whole takes the place of its parts."""
        self._drop(parts)
        self._keep(id(spot.node), value, spot.node.lineno, spot.use)

    def _drop(self, parts: Iterable[Part]) -> None:
        for part in parts:
            self.kept.pop(part.key, None)

    def _keep(self, key: int, value: Scalar | Display, line: int, use: str) -> Part:
        self._made += len(value) if isinstance(value, str | bytes) else 0
        if self._made > _ALL_TEXT:
            raise Unparseable(line, "its constants unfold to too much text")
        self.kept[key] = part = Part(key, value, line, use)
        return part

    def _constant(self, spot: Spot, value: Any) -> None:
        if type(value) is not complex and (type(value) is not float or is_finite(value)):
            key = id(spot.node)
            self.kept[key] = Part(key, value, spot.node.lineno, spot.use)

    def _operation(self, spot: Spot, node: ast.BinOp) -> None:
        match node.op:
            case ast.Add() if id(node) not in self._inside_sums:
                self._sum(spot, node)
            case ast.Mod():
                self._percent(spot, node)
            case ast.Mult():
                self._pair(spot, node, product)
            case ast.Sub():
                self._pair(spot, node, difference)

    def _pair(self, spot: Spot, node: ast.BinOp, worth: Callable[[object, object], Scalar]) -> None:
        left, right = self.kept.get(id(node.left)), self.kept.get(id(node.right))
        value = worth(left.value, right.value) if left and right else None
        if left and right and value is not None:
            self._become(spot, value, left, right)

    def _sign(self, spot: Spot, node: ast.UnaryOp) -> None:
        part = self.kept.get(id(node.operand))
        if part and is_number(part.value):
            value = -part.value if isinstance(node.op, ast.USub) else part.value
            self._become(spot, value, part)

    def _sum(self, spot: Spot, node: ast.BinOp) -> None:
        """A whole chain at once: in pairs, a long one would take quadratic time."""
        pieces: list[Piece] = []
        for operand in _operands(node):
            pieces += self._pieces.pop(id(operand), []) or [self.kept.get(id(operand))]
        numbers = [piece for piece in pieces if piece and is_number(piece.value)]
        if len(numbers) < len(pieces):
            self._text(spot, pieces)
        elif (value := total([part.value for part in numbers])) is not None:
            self._become(spot, value, *numbers)

    def _text(self, spot: Spot, pieces: Sequence[Piece]) -> None:
        """Neighbouring text becomes one. Of the rest only the ends can still grow."""
        merged: list[Piece] = []
        for _, group in groupby(pieces, _text_kind):
            merged += self._merged(spot, list(group))
        if not pieces:
            self._become(spot, "")
        elif len(merged) == 1 and _text_kind(merged[0]) and merged[0]:
            self._become(spot, merged[0].value, merged[0])
        else:
            self._pieces[id(spot.node)] = [merged[0], None, merged[-1]]

    def _merged(self, spot: Spot, group: list[Piece]) -> list[Piece]:
        parts = [part for part in group if part]
        whole = joined(_nothing(group[0]), [part.value for part in parts])
        if len(parts) < 2 or whole is None:
            return group
        self._drop(parts)
        return [self._keep(parts[0].key, whole, parts[0].line, spot.use)]

    def _call(self, spot: Spot, node: ast.Call) -> None:
        if not isinstance(node.func, ast.Attribute):
            return
        receiver = self.kept.get(id(node.func.value))
        if receiver and node.func.attr == "join" and len(node.args) == 1:
            self._join(spot, receiver, node.args[0])
        elif receiver and node.func.attr == "format":
            self._format(spot, receiver, node)

    def _join(self, spot: Spot, between: Part, given: ast.expr) -> None:
        if not isinstance(given, ast.List | ast.Tuple):
            return
        pieces = [self.kept.get(id(element)) for element in given.elts]
        parts = [piece for piece in pieces if piece]
        whole = joined(between.value, [part.value for part in parts])
        if len(parts) == len(pieces) and whole is not None:
            self.kept.pop(id(given), None)
            self._become(spot, whole, between, *parts)
        elif between.value in ("", b""):
            self._text(spot, pieces)

    def _percent(self, spot: Spot, node: ast.BinOp) -> None:
        template = self.kept.get(id(node.left))
        given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        parts = self._scalars(given)
        if not template or parts is None:
            return
        value = percented(template.value, [_scalar(part) for part in parts])
        if value is not None:
            self.kept.pop(id(node.right), None)
            self._become(spot, value, template, *parts)

    def _format(self, spot: Spot, template: Part, node: ast.Call) -> None:
        positional = self._scalars(node.args)
        named = self._scalars([keyword.value for keyword in node.keywords])
        if positional is None or named is None or not isinstance(template.value, str):
            return
        names = [keyword.arg or "" for keyword in node.keywords]
        value = braced(
            template.value,
            [_scalar(part) for part in positional],
            dict(zip(names, map(_scalar, named), strict=True)),
        )
        if value is not None:
            self._become(spot, value, template, *positional, *named)

    def _field(self, spot: Spot, node: ast.FormattedValue) -> None:
        parts = self._scalars([node.value, *([node.format_spec] if node.format_spec else [])])
        if not parts:
            return
        spec = _scalar(parts[1]) if len(parts) > 1 else ""
        conversion = _CONVERSIONS.get(node.conversion)
        if isinstance(spec, str) and conversion is not None:
            value = formatted(_scalar(parts[0]), conversion, spec)
            if value is not None:
                self._become(spot, value, *parts)

    def _scalars(self, nodes: Iterable[ast.expr]) -> list[Part] | None:
        """What each of the nodes is worth, or nothing where one is not a plain constant."""
        parts: list[Part] = []
        for node in nodes:
            part = self.kept.get(id(node))
            if not part or isinstance(part.value, Display):
                return None
            parts.append(part)
        return parts

    def _display(self, spot: Spot, node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> None:
        elements = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
        values: list[Scalar | Display] = []
        for element in elements:
            part = self.kept.get(id(element))
            if not part:
                return
            values.append(part.value)
        self._become(spot, _displayed(node, values))


def form(value: Scalar | Display) -> str:
    """The one spelling under which equal values meet."""
    if isinstance(value, Display):
        return value.form
    if isinstance(value, str | bytes):
        return form_of_text(value)
    return number_form(value) if is_number(value) else repr(value)


form_of_text = lru_cache(maxsize=4096)(text_form)
"""One text is asked for as a literal, as an answer and within a claim."""


def _displayed(
    node: ast.List | ast.Tuple | ast.Set | ast.Dict, values: Sequence[Scalar | Display]
) -> Display:
    forms = [form(value) for value in values]
    inner = [value for value in values if isinstance(value, Display)]
    alike = {value.alike if isinstance(value, Display) else form(value) for value in values}
    size = len(values) - len(inner) + sum(value.size for value in inner)
    return Display(_spelled(node, forms), size, alike.pop() if len(alike) == 1 else None)


def _spelled(node: ast.List | ast.Tuple | ast.Set | ast.Dict, forms: list[str]) -> str:
    """Lists and tuples alike; sets and dicts in an order of their own."""
    if isinstance(node, ast.Dict):
        half = len(forms) // 2
        pairs = sorted(zip(forms[:half], forms[half:], strict=True))
        return bounded("{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}")
    if isinstance(node, ast.Set):
        return bounded("{" + ", ".join(sorted(set(forms))) + "}")
    return bounded("[" + ", ".join(forms) + "]")


def _left_of_sum(node: ast.expr) -> ast.expr | None:
    return node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) else None


def _operands(node: ast.BinOp) -> Iterator[ast.expr]:
    """What a chain of `+` adds up, from the left."""
    rights: list[ast.expr] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
        rights.append(left.right)
        left = left.left
    yield left
    yield from reversed(rights)


def _text_kind(piece: Piece) -> type[str] | type[bytes] | None:
    if piece and isinstance(piece.value, str):
        return str
    return bytes if piece and isinstance(piece.value, bytes) else None


def _nothing(piece: Piece) -> str | bytes | None:
    """The empty text of the piece's kind."""
    kind = _text_kind(piece)
    return kind() if kind else None


def _scalar(part: Part) -> Scalar:
    assert not isinstance(part.value, Display)
    return part.value
