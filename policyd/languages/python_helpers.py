"""Which functions of a Python file a test calls, and which of them assert something."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from policyd.languages.python_dotted import last_name
from policyd.languages.python_expecting import RAISING
from policyd.languages.python_outline import Outline, Scope

DEEPEST = 3
"""Calls from a test to a helper, and from that to the next."""
_MOST_BASES = 20
_MOST_REACHED = 200


class Helpers:
    """The functions and classes of a file, by the names that its own code calls them."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self.functions: dict[str, Scope] = {}
        self.classes: dict[str, Scope] = {}
        for scope in outline.scopes:
            if scope.parent is outline.module:
                (self.functions if scope.is_function else self.classes)[scope.name] = scope
        self._methods: dict[int, dict[str, Scope]] = {}
        self._likeness: dict[int, frozenset[int]] = {}
        self._asserting: dict[tuple[int, int], bool] = {}

    def bases(self, scope: Scope) -> list[Scope]:
        """A class and those of its bases that stand in the file, nearest first."""
        found = [scope]
        for one in found:
            for node in one.node.bases:
                base = self.classes.get(last_name(node))
                if base is not None and base not in found and len(found) < _MOST_BASES:
                    found.append(base)
        return found

    def methods(self, scope: Scope) -> dict[str, Scope]:
        """The methods of a class by name, those of its bases in the file too."""
        if id(scope) not in self._methods:
            self._methods[id(scope)] = {
                inner.name: inner for one in reversed(self.bases(scope)) for inner in one.inner
                if inner.is_function}
        return self._methods[id(scope)]

    def likeness(self, scope: Scope | None) -> frozenset[int]:
        """The same for classes with the same methods, tests apart: inherited tests do the same."""
        if scope is None:
            return frozenset()
        if id(scope) not in self._likeness:
            self._likeness[id(scope)] = frozenset(
                id(method) for name, method in self.methods(scope).items()
                if not name.startswith("test"))
        return self._likeness[id(scope)]

    def called(self, call: ast.Call, scope: Scope, owner: Scope | None) -> Scope | None:
        """The function of the file that a call in a scope calls. `owner`: what `self` is of."""
        func = call.func
        if isinstance(func, ast.Name):
            return self.functions.get(func.id) if func.id not in scope.stored else None
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            name = func.value.id
            if owner is not None and (name in ("self", "cls") or name == scope.self_name):
                return self.methods(owner).get(func.attr)
            if name in self.classes:
                return self.methods(self.classes[name]).get(func.attr)
        return None

    def asserts(self, scope: Scope, owner: Scope | None) -> bool:
        """Whether a function claims something, by itself or by what it calls."""
        key = id(scope), id(owner)
        if key not in self._asserting:
            self._asserting[key] = any(
                self._claims(statement) for one in self._reached(scope, owner)
                for statement in self._all(one))
        return self._asserting[key]

    def _reached(self, scope: Scope, owner: Scope | None) -> Iterator[Scope]:
        """A function, and those that it calls, and so on."""
        waiting, seen = [scope], {id(scope)}
        while waiting and len(seen) < _MOST_REACHED:
            one = waiting.pop()
            yield one
            for helper in self._helpers(one, owner):
                if id(helper) not in seen:
                    seen.add(id(helper))
                    waiting.append(helper)

    def _all(self, scope: Scope) -> Iterator[ast.AST]:
        """The statements of a function and of those within it."""
        stack = [scope]
        while stack:
            one = stack.pop()
            yield from one.statements
            stack += one.inner

    def _claims(self, statement: ast.AST) -> bool:
        if isinstance(statement, ast.Assert):
            return True
        for call in self._outline.calls.get(id(statement), ()):
            name = last_name(call.func)
            if name.startswith("assert") or name in RAISING or name in ("check", "fail"):
                return True
        return False

    def _helpers(self, scope: Scope, owner: Scope | None) -> Iterator[Scope]:
        for statement in scope.statements:
            for call in self._outline.calls.get(id(statement), ()):
                helper = self.called(call, scope, owner)
                if helper is not None:
                    yield helper


def is_fixture(scope: Scope) -> bool:
    names = (last_name(node.func if isinstance(node, ast.Call) else node)
             for node in scope.node.decorator_list)
    return any(name in ("fixture", "async_fixture", "yield_fixture") for name in names)


def returned(scope: Scope) -> ast.expr | None:
    """What a function gives back if that is all it does."""
    body: Sequence[ast.stmt] = scope.node.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    match body:
        case [ast.Return(value=ast.expr() as value)]:
            return value
        case [ast.Expr(value=ast.Yield(value=ast.expr() as value))]:
            return value
    return None
