"""First-order mutants of a function: one small change each, to see which relations notice.

Arithmetic, comparisons and their boundaries, constants, branches, boolean operators, returns and
left-out statements (DeMillo, Lipton, Sayward, Hints on Test Data Selection, 1978). Pure.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy

from policyd.core.values import dataclass

MOST = 60
"""Of one function; where there are more, they are taken evenly."""

_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift}
_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,)}

_Change = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed module. `what` says the change in a few words."""

    line: int
    what: str
    text: str


def mutants(source: str, function: str, most: int = MOST) -> list[Mutant]:
    """The mutants of a function (dotted for a method) and of what it calls in the same module.

    Raises SyntaxError where the source has no such function or does not parse.
    """
    tree = ast.parse(source)
    places = [at for at, node in enumerate(ast.walk(tree)) if isinstance(node, _FUNCTIONS)
              and node.name in _reached(tree, function)]
    if not places:
        raise SyntaxError(f"no function {function}")
    count = sum(1 for _ in _changes(tree, places))
    chosen = range(count) if count <= most else [at * count // most for at in range(most)]
    found = [_mutant(tree, places, number) for number in chosen]
    same = ast.unparse(tree)
    return list({one.text: one for one in found if one.text != same}.values())


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _reached(tree: ast.Module, function: str) -> set[str]:
    """The function and those of the same module that it calls, by their plain names."""
    defined = {node.name: node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)}
    reached: set[str] = set()
    waiting = [function.rpartition(".")[2]]
    while waiting:
        name = waiting.pop()
        if name in defined and name not in reached:
            reached.add(name)
            waiting += (node.id if isinstance(node, ast.Name) else node.attr
                        for node in ast.walk(defined[name])
                        if isinstance(node, ast.Name | ast.Attribute))
    return reached


def _mutant(tree: ast.Module, places: Sequence[int], number: int) -> Mutant:
    changed = deepcopy(tree)
    for at, (line, what, change) in enumerate(_changes(changed, places)):
        if at == number:
            change()
            return Mutant(line, what, ast.unparse(ast.fix_missing_locations(changed)))
    raise IndexError(number)


def _changes(tree: ast.Module, places: Sequence[int]) -> Iterator[tuple[int, str, _Change]]:
    """Every change that can be made, in one order; each acts on the tree when it is called."""
    nodes = list(ast.walk(tree))
    seen: set[int] = set()
    for place in places:
        for node in ast.walk(nodes[place]):
            if id(node) in seen:
                continue
            seen.add(id(node))
            for what, change in _of(node):
                yield getattr(node, "lineno", 0), what, change


def _of(node: ast.AST) -> Iterator[tuple[str, _Change]]:
    match node:
        case ast.BinOp() | ast.AugAssign():
            yield from _of_arithmetic(node)
        case ast.Compare():
            yield from _of_comparison(node)
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and for or", _set(node, "op", other)
        case ast.Constant(value=value) if not isinstance(value, str | bytes):
            yield from _of_constant(node)
        case ast.If() | ast.IfExp() | ast.While():
            yield "never", _set(node, "test", ast.Constant(value=False))
            if not isinstance(node, ast.While):
                yield "always", _set(node, "test", ast.Constant(value=True))
        case ast.Return(value=ast.expr()):
            yield "returns None", _set(node, "value", ast.Constant(value=None))
        case ast.UnaryOp(operand=operand):
            yield "without its sign", _set(node, "op", ast.UAdd()) if not isinstance(
                node.op, ast.Not) else _set(node, "operand", ast.UnaryOp(ast.Not(), operand))
        case _:
            pass
    yield from _of_body(node)


def _set(node: ast.AST, name: str, value: object) -> _Change:
    return lambda: setattr(node, name, value)


def _of_arithmetic(node: ast.BinOp | ast.AugAssign) -> Iterator[tuple[str, _Change]]:
    other = _ARITHMETIC.get(type(node.op))
    if other is not None:
        yield f"{other.__name__} for {type(node.op).__name__}", _set(node, "op", other())


def _of_comparison(node: ast.Compare) -> Iterator[tuple[str, _Change]]:
    for at, operator in enumerate(node.ops):
        for other in _COMPARED.get(type(operator), ()):
            changed = [*node.ops[:at], other(), *node.ops[at + 1:]]
            yield f"{other.__name__} for {type(operator).__name__}", _set(node, "ops", changed)


def _of_constant(node: ast.Constant) -> Iterator[tuple[str, _Change]]:
    value = node.value
    if isinstance(value, bool):
        yield f"{not value}", _set(node, "value", not value)
    elif isinstance(value, int | float):
        for other in (value + 1, value - 1):
            yield f"{other} for {value}", _set(node, "value", other)


def _of_body(node: ast.AST) -> Iterator[tuple[str, _Change]]:
    """Statements of which one is left out: assignments in place, and calls."""
    for name in ("body", "orelse"):
        body = getattr(node, name, None)
        if not isinstance(body, list):
            continue
        for at, one in enumerate(body):
            if isinstance(one, ast.AugAssign | ast.Raise) or (
                    isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)):
                left = [*body[:at], ast.Pass(), *body[at + 1:]]
                yield "left out", _set(node, name, left)
