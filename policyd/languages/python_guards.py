"""On what a claim of a Python test depends: conditions around it, and loops that may be empty."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

from policyd.languages.python_conditions import OTHER, Conditions
from policyd.languages.python_outline import Scope
from policyd.languages.python_spelling import finished
from policyd.languages.python_worth import CONSTANT, STORED, Ground, Names, truth

_DEEPEST: Final = 8
_MOST: Final = 200
"""Nodes of one condition that are looked at."""
_MOST_GUARDS: Final = 20
_BUILT_IN: Final = frozenset([
    "abs", "aiter", "all", "anext", "any", "ascii", "bin", "bool", "breakpoint", "bytearray",
    "bytes", "callable", "chr", "classmethod", "compile", "complex", "copyright", "credits",
    "delattr", "dict", "dir", "divmod", "enumerate", "eval", "exec", "exit", "filter", "float",
    "format", "frozenset", "getattr", "globals", "hasattr", "hash", "help", "hex", "id", "input",
    "int", "isinstance", "issubclass", "iter", "len", "license", "list", "locals", "map", "max",
    "memoryview", "min", "next", "object", "oct", "open", "ord", "pow", "print", "property",
    "quit", "range", "repr", "reversed", "round", "set", "setattr", "slice", "sorted",
    "staticmethod", "str", "sum", "super", "tuple", "type", "vars", "zip", "Exception",
    "ValueError", "TypeError", "KeyError", "None", "True", "False", "__debug__"])
_MAKING: Final = frozenset(["list", "tuple", "set", "dict", "frozenset", "sorted", "reversed",
                            "enumerate", "iter", "zip", "map", "filter"])
_VIEWS: Final = frozenset(["items", "keys", "values", "copy"])
_LEAVING: Final = (ast.Return, ast.Continue, ast.Break)
_COMPARING: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge}
_PLAIN: Final = (bool, int, float, str, bytes)


class Guard(NamedTuple):
    """What has to hold, or not to hold, for a claim to be made; a text where it is no condition."""

    test: ast.expr | str
    holds: bool = True


class Guards:
    """One for a file."""

    def __init__(self, conditions: Conditions) -> None:
        self._conditions = conditions

    def told(self, guards: Sequence[Guard], names: Names, free: Set[str]) -> list[str] | None:
        """Those that are telling, as they are told; None where they cannot all be met."""
        found: list[str] = []
        for guard in guards[:_MOST_GUARDS]:
            if isinstance(guard.test, str):
                found.append(guard.test)
                continue
            sure = decided(guard.test, names)
            if sure is not None and sure is not guard.holds:
                return None
            if sure is None and self._is_telling(guard.test, names, free):
                found.append(_said(guard.test, guard.holds, names))
        return found

    def _is_telling(self, test: ast.expr, names: Names, free: Set[str]) -> bool:
        """Whether it depends on more than where the test runs and what its own tables give it."""
        return depends(test, names, free) and self._conditions.of(test) in (OTHER, "", None)


def _said(test: ast.expr, holds: bool, names: Names) -> str:
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    return ("" if holds else "not ") + finished(names.spelled(test))


def depends(node: ast.expr, names: Names, free: Set[str]) -> bool:
    """Whether an expression holds more than constants, `free` names and plain parameters."""
    stack: list[ast.AST] = [node]
    for _ in range(_MOST):
        if not stack:
            return False
        one = stack.pop()
        match one:
            case ast.Name(id=name):
                if not (name in free or name in names.params or _is_known(name, names)):
                    return True
            case ast.Attribute(value=ast.Name(id=name)) | ast.Subscript(value=ast.Name(id=name)):
                if name in names.params and name not in free:
                    return True
            case ast.Call(func=func) if _is_foreign(func, names):
                return True
        stack += ast.iter_child_nodes(one)
    return True


def _is_known(name: str, names: Names) -> bool:
    worth = names.held(name)
    if worth is None:
        known = name in _BUILT_IN or name in names.ground.dotted.bound
        return known and name not in names.texts
    return worth.weight <= STORED


def _is_foreign(func: ast.expr, names: Names) -> bool:
    """Whether a call is one of what is imported."""
    while isinstance(func, ast.Attribute):
        func = func.value
    return isinstance(func, ast.Name) and func.id in names.ground.dotted.bound


def decided(test: ast.expr, names: Names, depth: int = _DEEPEST) -> bool | None:
    """Of a condition that always holds, or never does, which."""
    match test:
        case ast.Name(id="TYPE_CHECKING"):
            return False
        case ast.Name(id=name):
            worth = names.held(name)
            return worth.truth if worth else None
        case ast.UnaryOp(op=ast.Not(), operand=operand) if depth:
            inner = decided(operand, names, depth - 1)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=values) if depth:
            decides = isinstance(op, ast.Or)
            inside = {decided(value, names, depth - 1) for value in values}
            return decides if decides in inside else None if None in inside else not decides
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return _compared([left, *comparators], ops, names)
    return truth(test)


def _compared(sides: Sequence[ast.expr], ops: Sequence[ast.cmpop], names: Names) -> bool | None:
    values = [_value(side, names) for side in sides]
    if None in values or any(type(op) not in _COMPARING for op in ops):
        return None
    try:
        return all(_COMPARING[type(op)](left, right)
                   for op, left, right in zip(ops, values, values[1:], strict=False))
    except TypeError:
        return None


def _value(node: ast.AST, names: Names) -> Any:
    """What is a number or a text, if need be through a name that is set once; None: it is not."""
    if isinstance(node, ast.Name):
        worth = names.held(node.id)
        if worth is None or worth.weight != CONSTANT or worth.truth is None or worth.node is None:
            return None
        node = worth.node
    part = names.ground.parts.get(id(node))
    return part.value if part is not None and type(part.value) in _PLAIN else None


def is_nothing(node: ast.expr, names: Names, depth: int = _DEEPEST) -> bool:
    """Whether a loop over an expression never runs."""
    match node:
        case ast.List() | ast.Tuple() | ast.Dict() | ast.Constant():
            return truth(node) is False
        case ast.Name(id=name):
            worth = names.held(name)
            if worth is not None:
                return worth.truth is False
            held = names.ground.unchanged(name)
            known = name in names.texts or name in names.params
            return not known and bool(depth) and isinstance(
                held, ast.List | ast.Dict) and truth(held) is False
        case ast.Subscript(slice=ast.Slice(lower=lower, upper=ast.expr() as upper)):
            start = 0 if lower is None else _value(lower, names)
            end = _value(upper, names)
            return type(start) is type(end) is int and 0 <= end <= start
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp() if depth:
            return any(is_nothing(one.iter, names, depth - 1) for one in node.generators)
        case ast.Call(func=ast.Name(id="range"), args=args):
            return _is_no_range([_value(arg, names) for arg in args])
        case ast.Call(func=ast.Name(id=name)) if name in names.ground.barren:
            return name not in names.texts
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if depth:
            given = args[1:] if name in ("map", "filter") else args
            return name in _MAKING and name not in names.texts and (not args or any(
                is_nothing(arg, names, depth - 1) for arg in given[:_DEEPEST]))
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[]) if depth:
            return attr in _VIEWS and is_nothing(value, names, depth - 1)
    return False


def _is_no_range(bounds: Sequence[Any]) -> bool:
    if not 1 <= len(bounds) <= 3 or any(type(one) is not int for one in bounds) or 0 in bounds[2:]:
        return False
    return not range(*bounds)


def is_barren(scope: Scope, ground: Ground, result: ast.expr | None) -> bool:
    """Whether a generator, or what a function returns and does no more, holds nothing."""
    names = Names(ground, scope)
    names.know(scope.names)
    if result is not None and not isinstance(result, ast.Yield):
        return is_nothing(result, names)
    running = [one for one in scope.node.body if not (
        isinstance(one, ast.For | ast.AsyncFor) and not one.orelse
        and is_nothing(one.iter, names))]
    return not any(isinstance(node, ast.Yield | ast.YieldFrom) for one in running
                   for node in ast.walk(one))


def left_by(statement: ast.If) -> Iterator[Guard]:
    """What has to hold where a branch of it leaves the block: behind it."""
    if any(isinstance(one, _LEAVING) for one in statement.body):
        yield Guard(statement.test, False)
    elif any(isinstance(one, _LEAVING) for one in statement.orelse):
        yield Guard(statement.test)
