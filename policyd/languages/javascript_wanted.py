"""What the names of a JavaScript file are set to that something is held against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policyd.languages.javascript_names import (
    FUNCTIONS,
    arguments,
    callee,
    is_runner,
    member,
    parameters,
)
from policyd.languages.javascript_tree import Node

_MOST_CELLS = 200_000
"""Cells of tables that are given to names, in one file."""
_OUTWARDS = 40
"""Functions around a name that are asked what it is, beside the file itself."""
_NO_VALUE = frozenset({"object", "function", "index", "condition", "constructor", "property"})
NAMES = frozenset({"identifier", "shorthand_property_identifier"})
_THROUGH = frozenset({"array", "object", "binary_expression", "template_string", "unary_expression",
                      "spread_element", "await_expression"})
_COMPARING = frozenset({"==", "===", "!=", "!==", "<", ">", "<=", ">=", "in", "instanceof"})
_MAKING = frozenset({"Object.freeze", "String", "Number", "BigInt", "JSON.parse", "structuredClone",
                     "Promise.resolve", "Array.of", "String.raw"})
_SPELLING = frozenset({"join", "concat", "repeat", "trim", "toString", "flat", "slice"})
_GOES_ROUND = frozenset({"forEach", "map", "every", "some", "flatMap", "filter"})
_TABLES = frozenset({"each", "for", "cases"})

Place = tuple[Node, str]
"""A name, and the function that it stands in; the file itself outside of all."""


class Wanted:
    """One for a file. `nodes` are all of it, parents first."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._root = nodes[0]
        self._around: dict[Node, Node] = {}
        self._set: dict[Place, list[Node]] = {}
        self._cells = _MOST_CELLS
        loops: list[tuple[Node, Node, Node]] = []
        for node in nodes:
            inside = node if node.kind in FUNCTIONS else self._around.get(node, self._root)
            for child in node.children:
                self._around[child] = inside
            match node.kind:
                case "variable_declarator":
                    self._bind(node.get("name"), node.get("value"), inside)
                case "assignment_expression":
                    self._bind(node.get("left"), node.get("right"), inside)
                case "for_in_statement" | "call_expression":
                    loops += _loop(node, inside)
        for pattern, rows, inside in loops:
            self._go_round(pattern, rows, inside)

    def answers(self, held: Sequence[Node]) -> set[Node]:
        """All that the names among `held` nodes are, through other names too."""
        found: set[Node] = set()
        seen: set[Place] = set()
        stack = [node for node in held if _is_name(node)]
        while stack:
            node = stack.pop()
            for value in self._values(node, seen):
                more = [value]
                while more:
                    one = more.pop()
                    if one in found:
                        continue
                    found.add(one)
                    if _is_name(one):
                        stack.append(one)
                    more.extend(_made_of(one))
        return found

    def rows(self, node: Node) -> Sequence[Node]:
        """Those of a table that stands there, or that a name is set to."""
        if node.kind == "array":
            return node.children
        if node.kind == "identifier":
            for value in self._values(node, set()):
                if value.kind == "array":
                    return value.children
        return ()

    def _values(self, node: Node, seen: set[Place]) -> Sequence[Node]:
        scope = self._around.get(node, self._root)
        for _ in range(_OUTWARDS):
            place = (scope, node.text)
            if place in seen:
                return ()
            seen.add(place)
            if place in self._set:
                return self._set[place]
            if scope is self._root:
                return ()
            scope = self._around.get(scope, self._root)
        return self._set.get((self._root, node.text), ())

    def _go_round(self, pattern: Node, rows: Node, inside: Node) -> None:
        for row in self.rows(rows):
            if pattern.kind == "formal_parameters":
                own = list(parameters(inside))
                cells = row.children if row.kind == "array" else [row]
                for name, cell in zip(own, cells, strict=False):
                    self._bind(name, cell, inside)
            else:
                self._bind(pattern, row, inside)

    def _bind(self, pattern: Node | None, value: Node | None, inside: Node) -> None:
        if pattern is None or value is None or self._cells <= 0:
            return
        self._cells -= 1
        if pattern.kind == "identifier":
            self._set.setdefault((inside, pattern.text), []).append(value)
        elif pattern.kind == "array_pattern" and value.kind == "array":
            for one, cell in zip(pattern.children, value.children, strict=False):
                if one.kind == "identifier":
                    self._bind(one, cell, inside)
        elif pattern.kind == "object_pattern" and value.kind == "object":
            cells = {key.text: pair.get("value") for pair in value.children
                     if (key := pair.get("key")) is not None}
            for field, name in _fields(pattern):
                held = cells.get(field)
                if held is not None:
                    self._cells -= 1
                    self._set.setdefault((inside, name), []).append(held)


def _loop(node: Node, inside: Node) -> Iterator[tuple[Node, Node, Node]]:
    """What is given the rows of a table one by one: the pattern, the table, the function."""
    if node.kind == "for_in_statement":
        pattern, rows = node.get("left"), node.get("right")
        if pattern is not None and rows is not None and node.op != "in":
            yield pattern, rows, inside
        return
    called = node.get("function")
    function = next((one for one in arguments(node) if one.kind in FUNCTIONS), None)
    if called is None or function is None:
        return
    table = called.get("object")
    if member(called) in _GOES_ROUND and table is not None:
        for pattern in list(parameters(function))[:1]:
            yield pattern, table, function
    elif called.kind == "call_expression" and is_table(called) and arguments(called):
        whole = function.get("parameters")
        if whole is not None:
            yield whole, arguments(called)[0], function


def is_table(node: Node) -> bool:
    """`it.each(rows)`."""
    called = node.get("function")
    return called is not None and member(called) in _TABLES and is_runner(node)


def _fields(pattern: Node) -> Iterator[tuple[str, str]]:
    """The keys of `{a, b: c, d = 1}` with the names that they get."""
    for one in pattern.children:
        if one.kind == "shorthand_property_identifier_pattern":
            yield one.text, one.text
        elif one.kind == "pair_pattern":
            key, name = one.get("key"), one.get("value")
            if key is not None and name is not None and name.kind == "identifier":
                yield key.text, name.text
        elif one.kind == "object_assignment_pattern":
            left = one.get("left")
            if left is not None:
                yield left.text, left.text


def _is_name(node: Node) -> bool:
    return node.kind in NAMES and node.field not in _NO_VALUE


def _made_of(node: Node) -> Iterator[Node]:
    """The parts of a value that are as much wanted as it is."""
    if node.kind in _THROUGH and node.op not in _COMPARING:
        for child in node.children:
            value = child.get("value") if child.kind == "pair" else child
            if value is not None:
                yield value
    elif node.kind == "ternary_expression":
        yield from (*node.each("consequence"), *node.each("alternative"))
    elif node.kind == "new_expression" or callee(node) in _MAKING:
        yield from arguments(node)
    elif node.kind == "call_expression":
        called = node.get("function")
        if called is not None and member(called) in _SPELLING:
            yield from (*called.each("object"), *arguments(node))
