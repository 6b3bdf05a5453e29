"""Constant expressions of a JavaScript tree, folded to what they are worth. Nothing is run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from policyd.languages.javascript_tree import Node
from policyd.languages.javascript_values import (
    Display,
    Worth,
    array,
    is_number,
    is_text_piece,
    number_of,
    operated,
    paired,
    pieces_text,
    regex_text,
    signed,
    table,
    text_of,
    total,
)
from policyd.languages.literal import Unparseable

_ALL_TEXT = 16 << 20
"""Characters that folding may make of one file; written plainly, none comes near."""
_LONGEST = 65_536

_WORDS: dict[str, Worth] = {"true": True, "false": False, "null": None, "undefined": None}


class Part(NamedTuple):
    """A constant and the node that it begins at."""

    node: Node
    value: Worth


Piece = Part | None
"""A stretch of a sum; None stands for what is known at run time only."""


class Constants:
    """What each expression of a file is worth, and which of them are no part of a larger text."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.kept: dict[Node, Part] = {}
        """By the node that is worth it, or that a stretch begins at."""
        self._worth: dict[Node, Worth] = {}
        self._ends: dict[Node, list[Piece]] = {}
        self._made = 0
        for node in reversed(nodes):
            self._take(node)

    def of(self, node: Node | None) -> Part | None:
        """What the whole of an expression is worth, where that is constant."""
        return Part(node, self._worth[node]) if node is not None and node in self._worth else None

    def form(self, node: Node | None) -> str:
        """That as `Literal.value`, with signs; empty where it is not constant."""
        part = self.of(node)
        return signed(part.value) if part else ""

    def _take(self, node: Node) -> None:
        match node.kind:
            case "string" | "template_string":
                self._string(node)
            case "number":
                self._keep(node, number_of(node.text))
            case "regex":
                self._stretch(node, regex_text(node))
            case "jsx_text":
                self._stretch(node, " ".join(node.text.split()))
            case "true" | "false" | "null" | "undefined":
                self._worth[node] = _WORDS[node.kind]
                self.kept[node] = Part(node, _WORDS[node.kind])
            case "unary_expression":
                self._sign(node)
            case "binary_expression":
                self._binary(node)
            case "call_expression":
                self._call(node)
            case "array":
                self._array(node)
            case "object":
                self._object(node)

    def _keep(self, node: Node, value: Worth, *parts: Part) -> None:
        """The whole takes the place of its parts."""
        if value is None:
            return
        for part in parts:
            self.kept.pop(part.node, None)
        self._worth[node] = value
        self._stretch(node, value)

    def _stretch(self, node: Node, value: Worth) -> Part:
        self._made += len(value) if isinstance(value, str) else 0
        if self._made > _ALL_TEXT:
            raise Unparseable(node.line, "its constants unfold to too much text")
        self.kept[node] = part = Part(node, value)
        return part

    def _string(self, node: Node) -> None:
        text = text_of(node)
        if text is not None:
            self._keep(node, text)
            return
        pieces: list[Piece] = []
        for is_text, group in _runs(node.children):
            if is_text:
                pieces.append(self._stretch(group[0], pieces_text(group)))
            else:
                pieces += [piece for each in group for piece in self._pieces_of(each)]
        self._text(node, pieces, starts_as_text=True)

    def _pieces_of(self, node: Node) -> list[Piece]:
        return self._ends.pop(node, None) or [self.of(node)]

    def _sign(self, node: Node) -> None:
        part = self.of(node.get("argument"))
        if part and is_number(part.value) and node.op in "-+":
            self._keep(node, -part.value if node.op == "-" else part.value, part)

    def _binary(self, node: Node) -> None:
        left, right = node.get("left"), node.get("right")
        if node.op == "+" and not _inside_sum(node):
            pieces = [piece for each in operands(node) for piece in self._pieces_of(each)]
            self._text(node, pieces, starts_as_text=False)
        elif node.op in ("-", "*"):
            one, other = self.of(left), self.of(right)
            if one and other:
                self._keep(node, operated(one.value, node.op, other.value), one, other)

    def _text(self, node: Node, pieces: Sequence[Piece], *, starts_as_text: bool) -> None:
        """Neighbouring text becomes one. Of the rest only the ends can still grow."""
        parts = [piece for piece in pieces if piece]
        numbers = [part.value for part in parts if is_number(part.value)]
        if len(numbers) == len(pieces) and not starts_as_text:
            self._keep(node, total(numbers), *parts)
            return
        merged = self._merged(pieces, starts_as_text)
        if len(merged) == 1 and merged[0] and isinstance(merged[0].value, str):
            self._keep(node, merged[0].value, merged[0])
        elif merged:
            self._ends[node] = [merged[0], None, merged[-1]]

    def _merged(self, pieces: Sequence[Piece], is_text: bool) -> list[Piece]:
        """A number joins the text before it; before any text it may be a term of a sum."""
        merged: list[Piece] = []
        run: list[Part] = []
        for piece in [*pieces, None]:
            spelled = _spelled(piece, is_text or bool(run))
            if piece and spelled is not None:
                run.append(Part(piece.node, spelled))
                self.kept.pop(piece.node, None)
                continue
            if run:
                whole = paired("".join(str(part.value) for part in run))
                merged.append(self._stretch(run[0].node, whole))
                run = []
            merged.append(piece)
        return merged[:-1]

    def _call(self, node: Node) -> None:
        callee, given = node.get("function"), node.get("arguments")
        if callee is None or given is None or callee.kind != "member_expression":
            return
        receiver, name = callee.get("object"), callee.get("property")
        method = name.text if name else ""
        if method == "join" and receiver is not None and receiver.kind == "array":
            self._join(node, receiver, given)
        elif method in ("concat", "repeat"):
            own = self.of(receiver)
            parts = [self.of(each) for each in given.children]
            if own and isinstance(own.value, str):
                self._made_of(node, own, own.value, [part for part in parts if part], len(parts))

    def _made_of(self, node: Node, own: Part, text: str, parts: list[Part], count: int) -> None:
        if len(parts) < count or not parts:
            return
        if all(isinstance(part.value, str) for part in parts):
            self._keep(node, paired(text + "".join(str(part.value) for part in parts)),
                       own, *parts)
        elif len(parts) == 1 and isinstance(times := parts[0].value, int) and times >= 0 \
                and len(text) * times <= _LONGEST:
            self._keep(node, text * times, own, *parts)

    def _join(self, node: Node, receiver: Node, given: Node) -> None:
        between = self.of(given.children[0]) if given.children else None
        if between is None or not isinstance(between.value, str):
            return
        pieces = [self.of(each) for each in receiver.children]
        texts = [_spelled(piece, True) for piece in pieces]
        plain = [text for text in texts if text is not None]
        if len(plain) == len(texts):
            size = sum(map(len, plain)) + len(between.value) * len(plain)
            if size <= _LONGEST:
                parts = [piece for piece in pieces if piece]
                self.kept.pop(receiver, None)
                self._keep(node, paired(between.value.join(plain)), between, *parts)
        elif between.value == "":
            self._text(node, pieces, starts_as_text=True)

    def _array(self, node: Node) -> None:
        parts = [self.of(each) for each in node.children]
        values = [part.value for part in parts if part]
        if len(values) == len(parts):
            self._worth[node] = value = array(values)
            self.kept[node] = Part(node, value)

    def _object(self, node: Node) -> None:
        keys: list[Worth] = []
        values: list[Worth] = []
        for pair in node.children:
            key, part = pair.get("key"), self.of(pair.get("value"))
            if pair.kind != "pair" or key is None or part is None:
                return
            held = self.of(key)
            if held is None and key.kind != "property_identifier":
                return
            keys.append(held.value if held else key.text)
            values.append(part.value)
        self._worth[node] = value = table(keys, values)
        self.kept[node] = Part(node, value)


def telling_size(value: Worth) -> int:
    """How many constants a display holds that are not all the same; 0 for anything else."""
    return value.size if isinstance(value, Display) and value.alike is None else 0


def _runs(children: Iterable[Node]) -> Iterator[tuple[bool, list[Node]]]:
    """Text in stretches, everything else one by one."""
    run: list[Node] = []
    for child in children:
        if is_text_piece(child):
            run.append(child)
            continue
        if run:
            yield True, run
        run = []
        yield False, [child]
    if run:
        yield True, run


def _spelled(piece: Piece, after_text: bool) -> str | None:
    if piece is None:
        return None
    value = piece.value
    if isinstance(value, str):
        return value
    if after_text and type(value) is int:
        return str(value)
    return repr(value) if after_text and type(value) is float else None


def _inside_sum(node: Node) -> bool:
    above = node.parent
    return (above is not None and above.kind == "binary_expression" and above.op == "+"
            and node.field == "left")


def operands(node: Node) -> Iterator[Node]:
    """What a chain of `+` adds up, from the left."""
    rights: list[Node] = []
    left: Node | None = node
    while left is not None and left.kind == "binary_expression" and left.op == "+":
        right = left.get("right")
        if right is not None:
            rights.append(right)
        left = left.get("left")
    if left is not None:
        yield left
    yield from reversed(rights)
