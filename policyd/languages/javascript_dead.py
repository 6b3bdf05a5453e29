"""What in a JavaScript test is never reached: loops over nothing, conditions that never hold."""

from __future__ import annotations

from collections.abc import Sequence

from policyd.languages.javascript_bindings import Bindings
from policyd.languages.javascript_constants import Constants
from policyd.languages.javascript_names import FUNCTIONS, arguments, callee, member
from policyd.languages.javascript_tree import Node
from policyd.languages.javascript_values import Display, is_number

_GOES_ROUND = frozenset({"forEach", "map", "every", "some", "flatMap", "filter", "find", "reduce",
                         "findIndex", "forAwait"})
_EMPTY = frozenset({"Array", "Set", "Map", "Array.of", "Array.from"})
_LISTS = frozenset({"Object.keys", "Object.values", "Object.entries", "Array.from"})
_STEPS = 6


class Dead:
    """What is known of a file's conditions and lists before it runs."""

    def __init__(self, constants: Constants, bindings: Bindings) -> None:
        self._constants = constants
        self._bindings = bindings

    def truth(self, node: Node | None) -> bool | None:
        """Of what is constant, through names and `!`; None where it cannot be told."""
        holds = True
        for _ in range(_STEPS):
            if node is None:
                return None
            node = self._bindings.value(node)
            part = self._constants.of(node)
            if part is not None and isinstance(part.value, Display):
                return holds
            if part is not None:
                return bool(part.value) is holds
            if node.kind != "unary_expression" or node.op != "!":
                return self._compared(node, holds)
            node, holds = node.get("argument"), not holds
        return None

    def never(self, node: Node) -> Sequence[Node]:
        """The parts of an expression or statement that never run."""
        match node.kind:
            case "if_statement" | "ternary_expression":
                truth = self.truth(node.get("condition"))
                return [] if truth is None else list(
                    node.each("alternative" if truth else "consequence"))
            case "while_statement":
                return self._body(node) if self.truth(node.get("condition")) is False else []
            case "for_statement":
                return self._body(node) if self._never_starts(node) else []
            case "for_in_statement":
                return self._body(node) if self.is_empty(node.get("right")) else []
            case "binary_expression" if node.op in ("&&", "||", "??"):
                truth = self.truth(node.get("left"))
                if truth is not None and (node.op == "&&") != truth and node.op != "??":
                    return list(node.each("right"))
            case "call_expression":
                return self._handed(node)
            case "expression_statement":
                return [one for one in node.children if one.kind in FUNCTIONS]
        return []

    def is_empty(self, node: Node | None) -> bool:
        """A list that nothing is in; one with a name may have been filled since."""
        for _ in range(_STEPS):
            if node is None:
                return False
            if node.kind in ("array", "object"):
                return not node.children
            if node.kind == "string":
                return self._constants.form(node) == '""'
            name, given = callee(node), arguments(node)
            if name in _LISTS and len(given) > 0:
                node = given[0]
                continue
            return name in _EMPTY and (not given or (
                name == "Array" and self._constants.form(given[0]) == "0"))
        return False

    def _handed(self, node: Node) -> Sequence[Node]:
        """What a loop over nothing would call."""
        called = node.get("function")
        if called is None or member(called) not in _GOES_ROUND:
            return []
        return arguments(node) if self.is_empty(called.get("object")) else []

    def _body(self, node: Node) -> Sequence[Node]:
        return list(node.each("body"))

    def _never_starts(self, node: Node) -> bool:
        """`for (let i = 0; i < 0; i++)`, `for (; false; )`."""
        condition = node.get("condition")
        while condition is not None and condition.kind == "expression_statement":
            condition = condition.children[0] if condition.children else None
        if condition is None:
            return False
        if self.truth(condition) is False:
            return True
        start = node.get("initializer")
        first = next((one for one in start.children if one.kind == "variable_declarator"),
                     None) if start is not None else None
        left, name = condition.get("left"), first.get("name") if first is not None else None
        if left is None or name is None or first is None or left.text != name.text:
            return False
        return self._holds(first.get("value"), condition.op, condition.get("right")) is False

    def _compared(self, node: Node, holds: bool) -> bool | None:
        found = self._holds(node.get("left"), node.op, node.get("right")) \
            if node.kind == "binary_expression" else None
        return None if found is None else found is holds

    def _holds(self, left: Node | None, sign: str, right: Node | None) -> bool | None:
        one, other = (self._constants.of(self._bindings.value(side)) if side is not None else None
                      for side in (left, right))
        if one is None or other is None:
            return None
        a, b = one.value, other.value
        if sign in ("===", "=="):
            return a == b if type(a) is type(b) else None
        if sign in ("!==", "!="):
            return a != b if type(a) is type(b) else None
        if not (is_number(a) and is_number(b)):
            return None
        return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}.get(sign)
