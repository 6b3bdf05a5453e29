"""Branches of Python functions that answer a known input with a known result.

Not found: what a helper makes of the input and what another file holds, and tables whose keys or
results are worked out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from policyd.core.sheet import Keyed
from policyd.languages.literal import Unparseable
from policyd.languages.python_inputs import Alternatives, Inputs, Met, both
from policyd.languages.python_names import Function, Names, called, display

_MOST = 50_000
_MOST_MET = 10 * _MOST
"""Of one function, those that stand twice counted twice."""
_DEEPEST = 40
_TOO_MANY = "answers too many known inputs to be looked at"
_LOOKUPS = frozenset(["get", "pop", "setdefault", "__getitem__"])
_ADDS = frozenset(["append", "add", "extend", "insert", "write", "appendleft"])
_KINDS: Sequence[type[ast.AST]] = (
    ast.Return, ast.Yield, ast.Subscript, ast.Call, ast.For, ast.comprehension)
"""What is looked for anywhere in a function."""
_MAKES = re.compile(r"_*[A-Z]\w*|str|int|float|tuple|list|set|frozenset|bytes|date|datetime")


def keyed(names: Names) -> tuple[Keyed, ...]:
    """Each of them once. Raises Unparseable where there are far too many."""
    found: dict[tuple[tuple[str, ...], str], Keyed] = {}
    of: dict[Function, list[ast.AST]] = {}
    for kind in _KINDS:
        for node, scope in names.of(kind):
            if scope is not None:
                of.setdefault(scope, []).append(node)
    for function in names.outer:
        nodes = of.get(function, ())
        for one in _Branches(names, function, nodes).all():
            found.setdefault((one.given, one.result), one)
            if len(found) > _MOST:
                raise Unparseable(one.line, _TOO_MANY)
    return tuple(sorted(found.values(), key=lambda one: (one.line, one.given, one.result)))


class _Branches:
    """Those of one function; functions inside it are looked at on their own."""

    def __init__(self, names: Names, function: Function, nodes: Sequence[ast.AST]) -> None:
        self._names, self._function, self._nodes = names, function, nodes
        self._inputs = Inputs(names, function)
        self._found: dict[tuple[tuple[str, ...], str], Keyed] = {}
        self._met = 0
        self._tables: set[tuple[ast.expr, int, int]] = set()
        self._returned = {
            each.id for node in nodes if isinstance(node, ast.Return | ast.Yield) and node.value
            for each in _direct(node.value) if isinstance(each, ast.Name)
        }

    def all(self) -> Iterable[Keyed]:
        if isinstance(self._function, ast.Lambda):
            self._answer(self._function.body, ())
        else:
            self._block(self._function.body, ())
        for node in self._nodes:
            self._table(node)
            self._rows(node)
        return self._found.values()

    def _emit(self, line: int, met: Alternatives, result: str, how: str = "if") -> None:
        self._met += len(met)
        if self._met > _MOST_MET:
            raise Unparseable(line, _TOO_MANY)
        for each in met:
            self._found.setdefault((each.values, result), Keyed(
                line, each.values, result, how if each.is_bare else "other"))

    def _block(self, body: Sequence[ast.stmt], met: Alternatives, how: str = "if") -> None:
        for statement in body:
            match statement:
                case ast.If():
                    met = self._if(statement, met, how)
                case ast.Match():
                    self._match(statement, met)
                case ast.Return(value=ast.expr() as value):
                    self._answer(value, met, how)
                case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr():
                    self._kept(statement, met, how)
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    pass
                case _:
                    for inner in _bodies(statement):
                        self._block(inner, met, how)

    def _kept(self, statement: ast.stmt, met: Alternatives, how: str) -> None:
        """What a variable becomes that is returned later, what is added to it, what is yielded."""
        match statement:
            case ast.Assign(value=value) if any(map(self._is_returned, statement.targets)):
                self._answer(value, met, how)
            case ast.AnnAssign(value=ast.expr() as value) | ast.AugAssign(value=value):
                if self._is_returned(statement.target):
                    self._answer(value, met, how)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=of, attr=attr), args=args)):
                if attr in _ADDS and args and self._is_returned(of):
                    self._answer(args[-1], met, how)
            case ast.Expr(value=ast.Yield(value=ast.expr() as value)):
                self._answer(value, met, how)

    def _is_returned(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Name) and target.id in self._returned

    def _if(self, node: ast.If, met: Alternatives, how: str) -> Alternatives:
        """What is known of the input behind it. A loop: `elif` is an `if` in an `else`."""
        rest, leaves = met, True
        while True:
            yes = self._inputs.when(node.test)
            self._block(node.body, both(rest, yes), how)
            rest = both(rest, self._inputs.when(node.test, False))
            leaves = leaves and _leaves(node.body)
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                break
            node = node.orelse[0]
        self._block(node.orelse, rest, how)
        return rest if leaves and not node.orelse else met

    def _match(self, node: ast.Match, met: Alternatives) -> None:
        for case in node.cases:
            found = self._inputs.matched(case.pattern, node.subject)
            if case.guard is not None:
                found = both(found, self._inputs.when(case.guard))
            self._block(case.body, both(met, found), "match" if found else "if")

    def _answer(self, value: ast.expr, met: Alternatives, how: str = "if", depth: int = 0) -> None:
        """What is returned where `met` holds; conditions inside of it count with it."""
        if depth > _DEEPEST:
            return
        match value:
            case ast.IfExp(test=test, body=yes, orelse=no):
                self._answer(yes, both(met, self._inputs.when(test)), how, depth + 1)
                self._answer(no, both(met, self._inputs.when(test, False)), how, depth + 1)
            case ast.BoolOp(op=ast.And(), values=[*tests, last]):
                found = both(met, *map(self._inputs.when, tests))
                self._answer(last, found, how, depth + 1)
            case ast.BoolOp(values=values):
                for each in values:
                    self._answer(each, met, how, depth + 1)
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                if found := self._inputs.when(value):
                    self._emit(value.lineno, both(met, found), "True", how)
            case ast.Lambda():
                pass
            case _:
                self._constant(value, met, how, depth)

    def _constant(self, value: ast.expr, met: Alternatives, how: str, depth: int) -> None:
        result = self._result(value) if met else None
        if result is not None:
            self._emit(value.lineno, met, result, how)
        elif isinstance(value, ast.Call | ast.Tuple | ast.BinOp | ast.Await):
            for inner in ast.iter_child_nodes(value):
                if isinstance(inner, ast.IfExp | ast.Call | ast.Tuple | ast.BinOp):
                    self._answer(inner, () if depth else met, how, depth + 1)

    def _result(self, node: ast.expr, depth: int = 0) -> str | None:
        """A constant, or a value that is made of constants only, as what it is made of."""
        found = self._names.worth(node, self._function)
        if found is not None or depth > _DEEPEST:
            return found
        match node:
            case ast.Call(args=args) if args and _MAKES.fullmatch(called(node)):
                given = [*args, *(each.value for each in node.keywords)]
                forms = [self._result(each, depth + 1) for each in given]
                return forms[0] if len(forms) == 1 else _shown(forms)
            case ast.Tuple(elts=elements) | ast.List(elts=elements) if elements:
                return _shown([self._result(each, depth + 1) for each in elements])
        return None

    def _table(self, node: ast.AST) -> None:
        """A literal table in which the input is looked up."""
        match node:
            case ast.Subscript(value=table, slice=key):
                pass
            case ast.Call(func=ast.Attribute(value=table, attr=attr), args=[key, *_]):
                if attr not in _LOOKUPS:
                    return
            case _:
                return
        level = self._inputs.level(key)
        seen = (self._aim_of_table(table), level or 0,
                len(key.elts) if isinstance(key, ast.Tuple) else 0)
        if level and seen not in self._tables:
            self._tables.add(seen)
            for name, value in self._entries(table):
                result = self._result(value)
                if result is not None:
                    self._emit(value.lineno, self._key(key, name), result, "table")

    def _key(self, key: ast.expr, name: ast.expr | str) -> Alternatives:
        if isinstance(name, str):
            return (Met((name,), self._inputs.level(key) == 1),)
        return self._inputs.equal(key, name)

    def _entries(self, table: ast.expr) -> Iterator[tuple[ast.expr | str, ast.expr]]:
        aimed = self._aim_of_table(table)
        match aimed:
            case ast.Dict(keys=keys, values=values):
                yield from ((key, value) for key, value in zip(keys, values, strict=True) if key)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                yield from ((str(index), each) for index, each in enumerate(elements))
            case ast.Call(keywords=given) if called(aimed) == "dict" and given:
                yield from ((f'"{each.arg}"', each.value) for each in given if each.arg)
            case ast.Call(args=[ast.List(elts=rows) | ast.Tuple(elts=rows)]):
                if called(aimed) in ("dict", "OrderedDict"):
                    yield from ((row.elts[0], row.elts[1]) for row in rows
                                if isinstance(row, ast.Tuple | ast.List) and len(row.elts) == 2)

    def _aim_of_table(self, table: ast.expr) -> ast.expr:
        """Also a default: `def f(x, _table={...})`; also `MappingProxyType({...})`."""
        aimed = self._names.aim(table, self._function)
        if isinstance(aimed, ast.Name) and (default := self._default(aimed.id)) is not None:
            aimed = default
        match aimed:
            case ast.Call(args=[ast.Dict() as inner]) | ast.Call(args=[_, ast.Dict() as inner]):
                return inner
        return aimed

    def _default(self, name: str) -> ast.expr | None:
        return self._names.default(name, self._function)

    def _rows(self, node: ast.AST) -> None:
        """A loop over a literal table that compares the input with one of its columns."""
        match node:
            case ast.For(target=ast.Tuple(elts=columns), iter=table):
                tests = [each.test for each in node.body if isinstance(each, ast.If)]
            case ast.comprehension(target=ast.Tuple(elts=columns), iter=table, ifs=tests):
                pass
            case _:
                return
        for test in tests:
            for index, column in enumerate(columns):
                if self._holds_against(test, column):
                    self._columns(table, index)

    def _holds_against(self, test: ast.expr, column: ast.expr) -> bool:
        match test:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.In()], comparators=[right]):
                sides = [left, right]
                return any(
                    isinstance(one, ast.Name) and isinstance(column, ast.Name)
                    and one.id == column.id and bool(self._inputs.level(other))
                    for one, other in (sides, sides[::-1]))
        return False

    def _columns(self, table: ast.expr, index: int) -> None:
        for row in self._literal_rows(table):
            given = self._form(row[index]) if index < len(row) else None
            for each in row if given is not None else ():
                result = self._form(each)
                if result not in (None, given) and given and result and isinstance(each, ast.expr):
                    self._emit(each.lineno, (Met((given,)),), result, "table")

    def _form(self, cell: ast.expr | str) -> str | None:
        return cell if isinstance(cell, str) else self._result(cell)

    def _literal_rows(self, table: ast.expr) -> Iterator[Sequence[ast.expr | str]]:
        aimed = self._names.aim(table, self._function)
        match aimed:
            case ast.Call(func=ast.Attribute(value=of, attr="items")):
                yield from self._entries(of)
            case ast.List(elts=rows) | ast.Tuple(elts=rows) | ast.Set(elts=rows):
                yield from (row.elts for row in rows if isinstance(row, ast.Tuple | ast.List))


def _shown(forms: Sequence[str | None]) -> str | None:
    known = [each for each in forms if each is not None]
    return display(known) if len(known) == len(forms) else None


def _direct(value: ast.expr) -> Iterator[ast.expr]:
    """What is returned, or a part of what is returned."""
    yield value
    match value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Call(args=parts):
            yield from parts
        case ast.IfExp(body=yes, orelse=no):
            yield yes
            yield no


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for handler in getattr(statement, "handlers", []):
        yield handler.body


def _leaves(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)
