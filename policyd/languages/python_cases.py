"""How often parameters make a Python test run, and what their tables give it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from policyd.core.values import dataclass
from policyd.languages.python_dotted import Dotted, last_name
from policyd.languages.python_outline import Scope

_MOST_CASES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Table:
    """One `parametrize`: its columns, and its rows where they are written out."""

    columns: tuple[str, ...]
    rows: Sequence[ast.expr] | None
    count: int


def tables(scope: Scope, dotted: Dotted) -> Iterator[Table]:
    """Those on a function and on the classes around it."""
    one: Scope | None = scope
    while one is not None and one.parent is not None:
        for node in one.node.decorator_list:
            if isinstance(call := dotted.seen(node), ast.Call) and last_name(
                    call.func) == "parametrize":
                yield _table(call, dotted)
        one = one.parent if one.parent.is_class else None


def looped(statement: ast.For | ast.AsyncFor, dotted: Dotted) -> Iterator[Table]:
    """`for text, number in [("a", 1)]` is a table too."""
    match statement.target:
        case ast.Name(id=name):
            columns: tuple[str, ...] = (name,)
        case ast.Tuple(elts=elts) if all(isinstance(one, ast.Name) for one in elts):
            columns = tuple(last_name(one) for one in elts)
        case _:
            return
    rows = _rows(dotted.seen(statement.iter), dotted)
    if rows is not None:
        yield Table(columns, rows, len(rows))


def cases_of(found: Sequence[Table]) -> int:
    cases = 1
    for table in found:
        cases = min(cases * table.count, _MOST_CASES)
    return cases


def _table(call: ast.Call, dotted: Dotted) -> Table:
    given = dict(zip(("argnames", "argvalues"), call.args, strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg}
    columns = tuple(_columns(given.get("argnames"), dotted))
    values = given.get("argvalues")
    rows = _rows(dotted.seen(values), dotted) if values is not None else None
    return Table(columns, rows, _count(rows, values, dotted))


def _columns(node: ast.expr | None, dotted: Dotted) -> Iterator[str]:
    match dotted.seen(node) if node is not None else None:
        case ast.Constant(value=str() as names):
            yield from (name.strip() for name in names.split(",") if name.strip())
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            yield from (one.value for one in elts
                        if isinstance(one, ast.Constant) and isinstance(one.value, str))


def _rows(node: ast.expr, dotted: Dotted) -> Sequence[ast.expr] | None:
    """What is written out; of `[*A, b]` the rows of A too, where they are."""
    match node:
        case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
            found: list[ast.expr] = []
            for one in elts:
                inner = dotted.seen(one.value) if isinstance(one, ast.Starred) else None
                known = isinstance(inner, ast.List | ast.Tuple)
                found += inner.elts if known and isinstance(inner, ast.List | ast.Tuple) else [one]
            return found
        case ast.Call(func=ast.Attribute(value=value, attr="items")):
            table = dotted.seen(value)
            if isinstance(table, ast.Dict) and all(table.keys):
                return [ast.Tuple([key, value]) for key, value in zip(
                    table.keys, table.values, strict=True) if key is not None]
        case ast.Call(func=ast.Name(id="list" | "sorted" | "tuple"), args=[inner]):
            return _plain_rows(dotted.seen(inner))
        case ast.Dict(keys=keys) if all(keys):
            return [key for key in keys if key is not None]
    return None


def _plain_rows(node: ast.expr) -> Sequence[ast.expr] | None:
    return node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else None


def _count(rows: Sequence[ast.expr] | None, values: ast.expr | None, dotted: Dotted) -> int:
    if rows is not None:
        return len(rows)
    match dotted.seen(values) if values is not None else None:
        case ast.Call(func=ast.Name(id="range"), args=args):
            bounds = [one.value for one in args
                      if isinstance(one, ast.Constant) and type(one.value) is int]
            if len(bounds) == len(args) and 1 <= len(bounds) <= 3 and bounds[2:] != [0]:
                return min(len(range(*(min(one, _MOST_CASES) for one in bounds))), _MOST_CASES)
        case ast.Constant(value=str() as text):
            return len(text)
    return 1


def cells(row: ast.expr, columns: Sequence[str]) -> Sequence[ast.expr]:
    """The values of one row, in the order of the columns; none where they do not fit."""
    if isinstance(row, ast.Call) and last_name(row.func) == "param":
        found: Sequence[ast.expr] = row.args
    elif len(columns) == 1:
        found = [row]
    else:
        found = row.elts if isinstance(row, ast.Tuple | ast.List) else ()
    return found if len(found) == len(columns) else ()
