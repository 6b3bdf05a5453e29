"""Branches of JavaScript functions that answer a known input with a known result.

Not found: what a helper makes of the input, what another file holds, and tables whose keys or
results are worked out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

from policyd.core.sheet import Keyed
from policyd.core.values import dataclass
from policyd.languages.javascript_composed import marks_of, taken_apart
from policyd.languages.javascript_names import (
    arguments,
    callee,
    member,
)
from policyd.languages.javascript_tests import File
from policyd.languages.javascript_tree import Node
from policyd.languages.javascript_values import Worth, signed
from policyd.languages.literal import Unparseable

_MOST = 50_000
_DEEPEST = 40
_MOST_ALTERNATIVES = 200
_REST = 100
"""Statements at the end of a block among which the answer behind an `if` is looked for."""
_EQUALS = frozenset({"===", "=="})
_DIFFERS = frozenset({"!==", "!="})
_TRIVIAL = frozenset({"None", "True", "False", '""', ""})
_ALIKE = frozenset({"isEqual", "equals", "deepEqual", "eq", "is", "isDeepStrictEqual", "equal"})
_PARTLY = frozenset({"startsWith", "endsWith", "match", "test", "includes"})


@dataclass(frozen=True, slots=True)
class _Met:
    """Values that the input has for one alternative of a condition to hold."""

    values: tuple[str, ...] = ()
    is_bare: bool = True
    """Held against as they are, not by a part of them."""


Alternatives = tuple[_Met, ...]


def keyed(file: File) -> tuple[Keyed, ...]:
    """Each of them once. Raises Unparseable where there are far too many."""
    found: dict[tuple[tuple[str, ...], str], Keyed] = {}
    tables: set[Node] = set()
    for node in file.nodes:
        for one in _of(file, node, tables):
            found.setdefault((one.given, one.result), one)
            if len(found) > _MOST:
                raise Unparseable(one.line, "answers too many known inputs to be looked at")
    return tuple(sorted(found.values(), key=lambda one: (one.line, one.given, one.result)))


def _of(file: File, node: Node, tables: set[Node]) -> Iterator[Keyed]:
    match node.kind:
        case "if_statement":
            yield from _if(file, node)
        case "ternary_expression":
            for side, holds in (("consequence", True), ("alternative", False)):
                result = file.constants.form(node.get(side))
                yield from _told(_when(file, node.get("condition"), holds), result, node.line)
        case "binary_expression" if node.op == "&&" and not _is_term(node):
            result = file.constants.form(node.get("right"))
            yield from _told(_when(file, node.get("left"), True), result, node.line)
        case "switch_statement":
            yield from _switch(file, node)
        case "subscript_expression":
            index = node.get("index")
            if index is not None and file.constants.of(index) is None:
                yield from _table(file, node.get("object"), index, tables)
        case "call_expression" if member(node.get("function") or node) == "get":
            called = node.get("function")
            given = arguments(node)
            if called is not None and given and file.constants.of(given[0]) is None:
                yield from _table(file, called.get("object"), given[0], tables)


def _told(met: Alternatives, result: str, line: int, how: str = "if") -> Iterator[Keyed]:
    if not result:
        return
    for one in met:
        yield Keyed(line, one.values, result, how if one.is_bare else "other")


def _if(file: File, node: Node) -> Iterator[Keyed]:
    condition = node.get("condition")
    yes, no = _when(file, condition, True), _when(file, condition, False)
    if yes:
        for result, line in _results(file, node.get("consequence")):
            yield from _told(yes, result, line)
    if no:
        behind = node.get("alternative") or _next(node)
        for result, line in _results(file, behind):
            yield from _told(no, result, line)


def _is_term(node: Node) -> bool:
    above = node.parent
    return above is not None and above.kind == "binary_expression" and above.op == "&&"


def _next(node: Node) -> Node | None:
    """The statement behind one, where it is near enough to the block's end to be the rest."""
    beside = node.parent.children[-_REST:] if node.parent is not None else []
    for one, behind in pairwise(beside):
        if one is node:
            return behind
    return None


def _results(file: File, block: Node | None) -> Iterator[tuple[str, int]]:
    """The constants that a block returns, or gives to a variable, at its own level."""
    while block is not None and block.kind == "else_clause":
        block = block.children[0] if block.children else None
    if block is None:
        return
    for one in block.children if block.kind == "statement_block" else [block]:
        value: Node | None = None
        if one.kind == "return_statement" and one.children:
            value = one.children[0]
        elif one.kind == "expression_statement" and one.children:
            value = one.children[0].get("right") if one.children[0].kind == \
                "assignment_expression" else None
        if value is not None:
            meant = file.bindings.value(value)
            yield file.constants.form(_awaited(meant)), value.line


def _awaited(node: Node) -> Node:
    """What a promise is resolved with, and what a value is wrapped in."""
    if callee(node) in ("Promise.resolve", "Object.freeze", "String", "Number", "BigInt"):
        given = arguments(node)
        return given[0] if given else node
    return node


def _switch(file: File, node: Node) -> Iterator[Keyed]:
    body = node.get("body")
    if body is None or file.constants.of(node.get("value")) is not None:
        return
    asked = node.get("value")
    marks = marks_of(file.bindings.value(asked), file.constants) if asked is not None else ()
    waiting: list[tuple[str, ...]] = []
    for case in body.children:
        part = file.constants.of(case.get("value"))
        value = signed(part.value) if part is not None else ""
        if part is not None and value not in _TRIVIAL:
            waiting.append(taken_apart(part.value, marks) or (value,))
        behind = list(case.each("body"))
        for one in behind:
            for result, line in _results(file, one):
                met = tuple(_Met(each) for each in waiting[:_MOST_ALTERNATIVES])
                yield from _told(met, result, line, "match")
        if behind:
            waiting = []


def _table(file: File, node: Node | None, index: Node, tables: set[Node]) -> Iterator[Keyed]:
    table = file.bindings.value(node) if node is not None else None
    if table is not None and callee(table) == "Object.freeze" and arguments(table):
        table = arguments(table)[0]
    if table is None or table in tables:
        return
    tables.add(table)
    marks = marks_of(file.bindings.value(index), file.constants)
    for key, value, line in _entries(file, table):
        result = file.constants.form(value)
        if result and signed(key) not in _TRIVIAL:
            yield Keyed(line, taken_apart(key, marks) or (signed(key),), result, "table")


def _entries(file: File, table: Node) -> Iterator[tuple[Worth, Node | None, int]]:
    if table.kind == "new_expression" and callee(table) == "Map" and arguments(table):
        table = file.bindings.value(arguments(table)[0])
        if callee(table) == "Object.entries" and arguments(table):
            table = file.bindings.value(arguments(table)[0])
    if table.kind == "object":
        for pair in table.children:
            key = pair.get("key")
            if key is not None:
                held = file.constants.of(key)
                plain = key.text if key.kind == "property_identifier" else None
                yield held.value if held else plain, pair.get("value"), pair.line
    elif table.kind == "array":
        for row in table.children:
            if row.kind == "array" and len(row.children) == 2:
                held = file.constants.of(row.children[0])
                yield held.value if held else None, row.children[1], row.line


def _when(file: File, node: Node | None, holds: bool, depth: int = 0) -> Alternatives:
    """What is known of the input where a condition holds, or where it does not."""
    if node is None or depth > _DEEPEST:
        return ()
    if node.kind == "unary_expression" and node.op == "!":
        return _when(file, node.get("argument"), not holds, depth + 1)
    if node.kind == "call_expression":
        return _asked(file, node) if holds else ()
    if node.kind != "binary_expression":
        return ()
    left, right = node.get("left"), node.get("right")
    if node.op in ("&&", "||"):
        sides = [_when(file, side, holds, depth + 1) for side in (left, right)]
        return _both(*sides) if (node.op == "&&") == holds else (
            sides[0] + sides[1])[:_MOST_ALTERNATIVES]
    if node.op in (_EQUALS if holds else _DIFFERS) and left is not None and right is not None:
        return _equal(file, left, right)
    return ()


def _equal(file: File, left: Node, right: Node) -> Alternatives:
    for one, other in ((left, right), (right, left)):
        value = file.constants.form(file.bindings.value(other))
        if value in _TRIVIAL or file.constants.of(file.bindings.value(one)) is not None:
            continue
        part = file.constants.of(file.bindings.value(other))
        marks = marks_of(file.bindings.value(one), file.constants)
        if part is not None and (apart := taken_apart(part.value, marks)):
            return (_Met(apart),)
        if one.kind != "unary_expression":
            return (_Met((value,), one.kind in ("identifier", "member_expression",
                                                "subscript_expression")),)
    return ()


def _both(one: Alternatives, other: Alternatives) -> Alternatives:
    if not one or not other:
        return one or other
    pairs = list(product(one, other))[:_MOST_ALTERNATIVES]
    return tuple(_Met((*a.values, *b.values)[:50], a.is_bare and b.is_bare) for a, b in pairs)


def _asked(file: File, node: Node) -> Alternatives:
    """`["a", "b"].includes(x)`, `isEqual(x, [1, 2])`, `/^a$/.test(x)`."""
    called, given = node.get("function"), arguments(node)
    if called is None or not given:
        return ()
    name, holder = member(called) or callee(node), called.get("object")
    if name in _ALIKE and len(given) > 1:
        return _equal(file, given[0], given[1])
    if name not in _PARTLY or holder is None:
        return ()
    holder = file.bindings.value(holder)
    if name == "includes" and holder.kind == "array":
        return tuple(_Met((value,)) for one in holder.children[:_MOST_ALTERNATIVES]
                     if (value := file.constants.form(one)) not in _TRIVIAL)
    if name == "test" and holder.kind == "regex":
        pattern = holder.get("pattern")
        return (_Met((f'"{ascii(pattern.text)[1:-1][:200]}"',), False),) if pattern else ()
    value = file.constants.form(given[0])
    return (_Met((value,), False),) if value not in _TRIVIAL else ()
