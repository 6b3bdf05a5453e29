"""One spelling for code that says the same, whatever its quotes, line breaks and locals are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from policyd.core.values import dataclass
from policyd.languages.javascript_constants import Constants
from policyd.languages.javascript_names import FUNCTIONS, parameters
from policyd.languages.javascript_tree import Node, walk
from policyd.languages.javascript_values import is_text_piece, signed
from policyd.languages.literal import Unparseable, bounded

_ALL_PIECES = 1_000_000
"""Pieces of text that all spellings of one file may take."""
_SPELLED_OUT = 400
"""Pieces after which a local is no longer replaced by what it is."""
_DEEPEST = 8

Part = Node | str
Maker = Callable[[Node], list[Part]]

_WORDY = frozenset({"typeof", "void", "delete", "in", "instanceof"})
_NAMES = frozenset({"identifier", "shorthand_property_identifier"})
_LOOSE = frozenset({"binary_expression", "ternary_expression", "arrow_function",
                    "assignment_expression", "sequence_expression", "await_expression"})


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of a test: what they are, where that is told once, else nothing."""

    known: Mapping[str, Part | None] = field(default_factory=dict)

    def wider(self, other: Scope) -> Scope:
        return Scope({**other.known, **self.known})


class Forms:
    """Spells the nodes of one file; bounded in all."""

    def __init__(self, constants: Constants) -> None:
        self._constants = constants
        self._left = _ALL_PIECES

    def of(self, node: Node, scope: Scope, numbers: dict[str, str] | None = None, *,
           spells_out: bool = True) -> str:
        """An expression or statement on one line of printable ASCII, short.

        `numbers` are what names are called instead; to be shared by parts of one whole.
        """
        numbers = {} if numbers is None else numbers
        return bounded(self._whole(node, scope, numbers, spells_out=spells_out))

    def _whole(self, node: Node, scope: Scope, numbers: dict[str, str], *,
               spells_out: bool) -> str:
        pieces: list[str] = []
        stack: list[tuple[Part, int]] = [(node, 0)]
        while stack:
            part, depth = stack.pop()
            if isinstance(part, str):
                pieces.append(part)
                continue
            self._left -= 1
            if self._left < 0:
                raise Unparseable(node.line, "its claims unfold to too much text")
            short = len(pieces) < _SPELLED_OUT and depth < _DEEPEST and spells_out
            if part.kind in _NAMES and part.text in scope.known:
                meant = scope.known[part.text] if short else None
                named = meant or numbers.setdefault(part.text, f"_{len(numbers) + 1}")
                inner = [f"{part.text}: ", named] if part.kind != "identifier" else [named]
                stack.extend((each, depth + 1) for each in reversed(inner))
                continue
            stack.extend((each, depth) for each in reversed(self._parts(part)))
        return ascii("".join(pieces))[1:-1].replace("\\'", "'").replace("\\\\", "\\")

    def _parts(self, node: Node) -> list[Part]:
        worth = self._constants.of(node)
        if worth is not None and node.kind not in ("array", "object"):
            return [signed(worth.value)]
        maker = _MAKERS.get(node.kind)
        if maker:
            return maker(node)
        return _generic(node) if node.children else [node.text or node.op or node.kind]


def _generic(node: Node) -> list[Part]:
    """What has no spelling of its own: its kind, and what is in it."""
    parts: list[Part] = [f"{node.kind}({node.op + ' ' if node.op else ''}"]
    return [*parts, *_between(node.children, " "), ")"]


def _between(nodes: Sequence[Node], sign: str) -> Iterator[Part]:
    for index, node in enumerate(nodes):
        if index:
            yield sign
        yield node


def _member(node: Node) -> list[Part]:
    return [*_each(node, "object"), ".", *_each(node, "property")]


def _subscript(node: Node) -> list[Part]:
    return [*_each(node, "object"), "[", *_each(node, "index"), "]"]


def _call(node: Node) -> list[Part]:
    return [*_each(node, "function"), *_each(node, "arguments")]


def _new(node: Node) -> list[Part]:
    return ["new ", *_each(node, "constructor"), *(_each(node, "arguments") or ["()"])]


def _binary(node: Node) -> list[Part]:
    op = {"===": "==", "!==": "!="}.get(node.op, node.op)
    return [*_held(node, "left"), f" {op} ", *_held(node, "right")]


def _held(node: Node, name: str) -> Iterator[Part]:
    """An operand, in brackets where it is an operation of its own."""
    for one in node.each(name):
        held: list[Part] = ["(", one, ")"] if one.kind in _LOOSE else [one]
        yield from held


def _unary(node: Node) -> list[Part]:
    return [node.op + (" " if node.op in _WORDY else ""), *_held(node, "argument")]


def _arrow(node: Node) -> list[Part]:
    return ["(", *_between(list(parameters(node)), ", "), ") => ", *_each(node, "body")]


def _each(node: Node, name: str) -> list[Part]:
    return list(node.each(name))


def _listed(opens: str, closes: str) -> Maker:
    return lambda node: [opens, *_between(node.children, ", "), closes]


def _template(node: Node) -> list[Part]:
    parts: list[Part] = ["`"]
    for child in node.children:
        parts += [child.text] if is_text_piece(child) else ["${", child, "}"]
    return [*parts, "`"]


def _block(node: Node) -> list[Part]:
    return ["{ ", *_between(node.children, " "), " }"]


def _declaration(node: Node) -> list[Part]:
    return ["let ", *_between(node.children, ", "), ";"]


def _assigned(node: Node) -> list[Part]:
    return [node.children[0], f" {node.op or '='} ", *node.children[1:]]


_MAKERS: Mapping[str, Maker] = {
    "member_expression": _member,
    "subscript_expression": _subscript,
    "call_expression": _call,
    "new_expression": _new,
    "binary_expression": _binary,
    "unary_expression": _unary,
    "arrow_function": _arrow,
    "function_expression": _arrow,
    "generator_function": _arrow,
    "arguments": _listed("(", ")"),
    "array": _listed("[", "]"),
    "object": _listed("{", "}"),
    "pair": lambda node: [*_each(node, "key"), ": ", *_each(node, "value")],
    "await_expression": lambda node: ["await ", *node.children],
    "spread_element": lambda node: ["...", *node.children],
    "return_statement": lambda node: ["return ", *node.children, ";"],
    "template_string": _template,
    "statement_block": _block,
    "expression_statement": lambda node: [*node.children, ";"],
    "regex": lambda node: ["/", *(child.text for child in node.children), "/"],
    "lexical_declaration": _declaration,
    "variable_declaration": _declaration,
    "variable_declarator": _assigned,
    "assignment_expression": _assigned,
    "augmented_assignment_expression": _assigned,
}


def scope_of(body: Node, own: Sequence[Node] = ()) -> Scope:
    """The names that a function declares, its parameters among them.

    What is declared once and never assigned again is what it is declared to be.
    """
    known: dict[str, Part | None] = {}
    for pattern in own:
        _declare(pattern, None, known)
    for node in walk(body):
        match node.kind:
            case "variable_declarator":
                name = node.get("name")
                if name is not None:
                    _declare(name, node.get("value"), known)
            case "assignment_expression" | "augmented_assignment_expression":
                _spoil(node.get("left"), known)
            case "update_expression":
                _spoil(node.get("argument"), known)
            case "for_in_statement" | "catch_clause":
                target = node.get("left") or node.get("parameter")
                if target is not None and (node.op or node.kind == "catch_clause"):
                    _declare(target, None, known)
            case kind if kind in FUNCTIONS:
                for pattern in parameters(node):
                    _declare(pattern, None, known)
    return Scope(known)


def _declare(pattern: Node, value: Node | None, known: dict[str, Part | None]) -> None:
    """The names of a pattern; of a simple one, and of `{a}`, it is known what they are."""
    if pattern.kind == "identifier":
        known[pattern.text] = None if pattern.text in known else value
        return
    for node in walk(pattern):
        if node.kind == "shorthand_property_identifier_pattern":
            plain = node.parent is pattern and value is not None and node.text not in known
            known[node.text] = _property(value, node) if plain and value is not None else None
        elif node.kind == "identifier" and node.field != "right":
            known[node.text] = None


def _property(value: Node, name: Node) -> Node:
    made = Node("member_expression", "", name.line, None)
    for fieldname, kind, of in (("object", "", value), ("property", "property_identifier", name)):
        if not kind:
            made.children.append(_seen_as(of, fieldname))
            continue
        last = Node(kind, fieldname, of.line, None)
        last.text = of.text
        made.children.append(last)
    return made


def _seen_as(node: Node, fieldname: str) -> Node:
    """The same node in another place."""
    copy = Node(node.kind, fieldname, node.line, None)
    copy.children, copy.text, copy.op = node.children, node.text, node.op
    return copy


def _spoil(target: Node | None, known: dict[str, Part | None]) -> None:
    if target is not None and target.kind == "identifier" and target.text in known:
        known[target.text] = None
