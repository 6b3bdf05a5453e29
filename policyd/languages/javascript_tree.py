"""JavaScript or TypeScript in, a plain tree out: without types, remarks and needless brackets.

A tree of our own, so that what reads it need not know the grammars, and because asking theirs
for each child of each node takes ten times as long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import cache
from typing import NamedTuple

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Parser, Tree, TreeCursor

from policyd.languages.javascript_mending import is_hopeless, mended, without_ampersands
from policyd.languages.literal import Unparseable

_MOST_NODES = 1_500_000
_MENDINGS = 4

_SPOKEN = {"javascript": "JavaScript", "typescript": "TypeScript", "tsx": "TypeScript"}
_GRAMMARS = {
    "javascript": ("javascript", "tsx", "typescript"),
    "typescript": ("typescript", "javascript"),
    "tsx": ("tsx", "javascript"),
}
"""Those that are tried, in order. What is written for Flow, or newer than one grammar is, often
reads well in another."""

_LEFT_OUT = frozenset({
    "comment", "html_comment", "hash_bang_line", "optional_chain", "empty_statement",
    "type_annotation", "type_arguments", "type_parameters", "interface_declaration",
    "type_alias_declaration", "ambient_declaration", "implements_clause", "asserts_annotation",
    "type_predicate_annotation", "function_signature", "accessibility_modifier",
    "override_modifier", "abstract_method_signature", "method_signature", "index_signature",
    "import_attribute", "regex_flags"})  # fmt: skip
_SEEN_THROUGH = frozenset({
    "parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression",
    "type_assertion", "instantiation_expression", "template_substitution", "jsx_expression",
    "computed_property_name"})  # fmt: skip
_FIRST_COUNTS = frozenset({"as_expression", "satisfies_expression"})

_WORDS = frozenset({"get", "set", "static", "default"})
_SIGNS = frozenset({
    "+", "-", "*", "/", "%", "**", "++", "--", "<<", ">>", ">>>", "&", "|", "^", "&&", "||", "??",
    "!", "~", "<", "<=", ">", ">=", "==", "!=", "===", "!==", "+=", "-=", "*=", "/=", "%=", "**=",
    "<<=", ">>=", ">>>=", "&=", "|=", "^=", "&&=", "||=", "??=", "typeof", "void", "delete", "in",
    "of", "instanceof", "let", "const", "var"})  # fmt: skip


class _Way(Enum):
    """What becomes of a node of the grammar's."""

    NODE = 1
    THROUGH = 2
    WORD = 3
    SIGN = 4
    NONE = 5


_ESCAPED_NAME = re.compile(r"\\u(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))")


class Node:
    """`kind` is the grammar's word, `text` a leaf's; `op` is an operator, or const and let."""

    __slots__ = ("children", "field", "kind", "line", "op", "parent", "text")

    def __init__(self, kind: str, field: str, line: int, parent: Node | None) -> None:
        self.kind, self.field, self.line, self.parent = kind, field, line, parent
        self.children: list[Node] = []
        self.text = self.op = ""

    def get(self, field: str) -> Node | None:
        """The first child that the grammar calls so."""
        for child in self.children:
            if child.field == field:
                return child
        return None

    def each(self, field: str) -> Iterator[Node]:
        return (child for child in self.children if child.field == field)


class _Open(NamedTuple):
    """A node whose children are being read: to whom they go, and under which field."""

    owner: Node
    field: str
    first_only: bool
    had: int
    """How many children the owner had before."""


@contextmanager
def tree(source: bytes, dialect: str) -> Iterator[list[Node]]:
    """All nodes, parents before children, the file's own first. Raises Unparseable.

    They hold on to each other, so they are let go of at the end: nobody collects cycles here.
    """
    nodes = _nodes(source.removeprefix(b"\xef\xbb\xbf"), dialect)
    try:
        yield nodes
    finally:
        for node in nodes:
            node.parent = None


@cache
def grammar(name: str) -> Language:
    match name:
        case "javascript":
            return Language(tree_sitter_javascript.language())
        case "typescript":
            return Language(tree_sitter_typescript.language_typescript())
    return Language(tree_sitter_typescript.language_tsx())


def load(dialect: str) -> None:
    """What a process without files to open will need."""
    for name in _GRAMMARS[dialect]:
        grammar(name)


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in the order of the source."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        stack.extend(reversed(one.children))


def _nodes(source: bytes, dialect: str) -> list[Node]:
    if b"\0" in source:
        raise Unparseable(source[: source.index(b"\0")].count(b"\n") + 1, "holds a NUL byte")
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unparseable(source[: error.start].count(b"\n") + 1, "not in UTF-8") from None
    parsed = _parsed(source, dialect)
    return _converted(source, parsed, _plans(parsed.language))


def _parsed(source: bytes, dialect: str) -> Tree:
    first, *others = (Parser(grammar(name)) for name in _GRAMMARS[dialect])
    parsed = first.parse(source)
    if not parsed.root_node.has_error:
        return parsed
    line = _first_error(parsed.walk())
    if is_hopeless(parsed):
        raise Unparseable(line, f"invalid syntax for {_SPOKEN[dialect]}")
    for parser in others:
        other = parser.parse(source)
        if not other.root_node.has_error:
            return other
    for text in mended(source):
        for _ in range(_MENDINGS):
            parsed = first.parse(text)
            if not parsed.root_node.has_error:
                return parsed
            better = without_ampersands(text, parsed)
            if better == text:
                break
            text = better
    raise Unparseable(line, f"invalid syntax for {_SPOKEN[dialect]}")


def _first_error(cursor: TreeCursor) -> int:
    """The line of the first node that is wrong or missing: down by what says that it has one."""
    while True:
        node = cursor.node
        if node is None or node.is_error or node.is_missing or not cursor.goto_first_child():
            return node.start_point.row + 1 if node else 1
        while cursor.node is not None and not cursor.node.has_error:
            if not cursor.goto_next_sibling():
                return node.start_point.row + 1


@cache
def _plans(language: Language) -> tuple[tuple[str, _Way], ...]:
    """What is done with each kind of node, by the number that the grammar gives it."""
    return tuple((name, _way(name, language.node_kind_is_named(number)))
                 for number in range(language.node_kind_count)
                 for name in [language.node_kind_for_id(number) or ""])


def _way(name: str, is_named: bool) -> _Way:
    if not is_named:
        return _Way.WORD if name in _WORDS else _Way.SIGN if name in _SIGNS else _Way.NONE
    if name in _LEFT_OUT:
        return _Way.NONE
    return _Way.THROUGH if name in _SEEN_THROUGH else _Way.NODE


def _converted(source: bytes, parsed: Tree, plans: Sequence[tuple[str, _Way]]) -> list[Node]:
    """Without recursion, and in one place: this loop is most of the time that reading takes."""
    root, cursor = Node("program", "", 1, None), parsed.walk()
    nodes, stack = [root], [_Open(root, "", False, 0)]
    starts = [found.start() for found in re.finditer(b"\n", source)]
    starts.append(len(source) + 1)
    line = 0
    down, onwards, up = (cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent)
    goes_on = down()
    while goes_on:
        raw, (owner, outer, first_only, had) = cursor.node, stack[-1]
        assert raw is not None
        kind, way = plans[raw.kind_id] if raw.kind_id < len(plans) else ("ERROR", _Way.NODE)
        inner = None
        if way is _Way.WORD or (way is _Way.SIGN and cursor.field_name in ("operator", "kind")):
            owner.op = owner.op if way is _Way.WORD and owner.op else kind
        elif way is _Way.THROUGH and not (first_only and len(owner.children) > had):
            inner = _Open(owner, outer or cursor.field_name or "", kind in _FIRST_COUNTS,
                          len(owner.children))
        elif way is _Way.NODE and not (first_only and len(owner.children) > had):
            start = raw.start_byte
            while starts[line] < start:
                line += 1
            node = Node(kind, outer or cursor.field_name or "", line + 1, owner)
            if raw.named_child_count == 0:
                node.text = _text(source[start : raw.end_byte])
            owner.children.append(node)
            nodes.append(node)
            inner = _Open(node, "", False, 0)
        if inner is not None and down():
            stack.append(inner)
            if len(nodes) > _MOST_NODES:
                raise Unparseable(line + 1, "too large to be read")
            continue
        while not onwards():
            if not up():
                return nodes
            stack.pop()
    return nodes


def _text(raw: bytes) -> str:
    text = raw.decode("utf-8")
    if "\\u" in text and text[0] not in "\"'`\\":
        return _ESCAPED_NAME.sub(lambda found: _character(found[1] or found[2]), text)
    return text


def _character(digits: str) -> str:
    code = int(digits, 16)
    return chr(code) if code < 0x110000 else "?"
