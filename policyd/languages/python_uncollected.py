"""What keeps Python tests from being collected, or changes what became of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from policyd.core.sheet import Mark, Marker
from policyd.languages.literal import bounded
from policyd.languages.python_dotted import ascii_name, last_name
from policyd.languages.python_outline import BLOCKS, Outline, Scope
from policyd.languages.python_spelling import Texts, finished, local, spelled
from policyd.languages.python_worth import truth

_IGNORING: Final = frozenset(["collect_ignore", "collect_ignore_glob"])
_DROPPING: Final = frozenset(["remove", "clear", "pop", "__delitem__", "__setitem__"])
_TELLING: Final = frozenset(["pytest_deselected"])
_OUTCOMES: Final = frozenset(["outcome", "exitstatus", "excinfo", "wasxfail", "longrepr",
                              "testsfailed", "passed", "failed", "skipped", "obj", "runtest"])
_FORCING: Final = frozenset(["force_result", "force_exception"])
_DECIDING: Final = frozenset(["pytest_ignore_collect", "pytest_runtest_protocol",
                              "pytest_pyfunc_call", "pytest_runtest_call", "pytest_collect_file",
                              "pytest_pycollect_makeitem", "pytest_runtestloop",
                              "pytest_report_teststatus", "pytest_collect_directory"])
"""Hooks where an answer takes the place of what pytest would do."""


class Uncollected:
    """One for a file. `tests`: the names of the tests that a function is, by its id."""

    def __init__(self, outline: Outline, tests: Mapping[int, Sequence[str]]) -> None:
        self._outline = outline
        self._tests = tests
        self._testing = {name for names in tests.values() for name in names}

    def found(self) -> Iterator[Marker]:
        for scope in self._outline.scopes:
            if scope.is_function:
                if scope.name.startswith("pytest_") and scope.parent is self._outline.module:
                    yield from self._hook(scope)
                continue
            yield from self._twice(scope)
            for statement in scope.statements:
                yield from self._statement(statement, scope)
            if scope.is_class and scope.name.startswith("Test"):
                yield from self._made(scope)

    def _marker(self, node: Any, on: str, says: str) -> Marker:
        return Marker(Mark.UNCOLLECTED, node.lineno, ascii_name(on), bounded(says))

    def _statement(self, statement: ast.AST, scope: Scope) -> Iterator[Marker]:
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from self._set(statement, target, value, scope)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(
                    target=target, value=value):
                yield from self._set(statement, target, value, scope)
            case ast.Expr(value=ast.Call(func=ast.Attribute(
                    value=ast.Name(id=name), attr="append" | "extend"), args=[given, *_])):
                if name in _IGNORING:
                    yield self._marker(statement, "", f"{name} = {finished(spelled(given))}")
            case ast.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Name) and self._is_test(target.id, scope):
                        yield self._marker(statement, _in(scope, target.id), f"del {target.id}")

    def _set(self, statement: ast.AST, target: ast.expr, value: ast.expr, scope: Scope
             ) -> Iterator[Marker]:
        """A name of the runner's, or the name of a test, that gets a value."""
        if isinstance(target, ast.Attribute) and target.attr == "__test__":
            if truth(value) is False:
                owner = finished(spelled(target.value)).replace(".", "::")
                yield self._marker(statement, _in(scope, owner), "__test__ = False")
            return
        name = last_name(target)
        if name == "__test__" and truth(value) is False:
            yield self._marker(statement, scope.path, "__test__ = False")
        elif name in _IGNORING and scope is self._outline.module:
            yield self._marker(statement, "", f"{name} = {finished(spelled(value))}")
        elif name == "__unittest_skip__" and truth(value) is not False:
            yield Marker(Mark.SKIP, value.lineno, ascii_name(scope.path), name)
        elif isinstance(target, ast.Name) and self._is_test(name, scope) and not _mentions(
                value, name):
            yield self._marker(statement, _in(scope, name),
                               f"{name} = {finished(spelled(value))}")

    def _is_test(self, name: str, scope: Scope) -> bool:
        """Whether a function or class of this name, which would be collected, stands there."""
        return name.startswith(("test", "Test")) and any(
            inner.name == name for inner in scope.inner)

    def _twice(self, scope: Scope) -> Iterator[Marker]:
        """Of two tests with one name in one block, the first is never found."""
        seen: dict[tuple[int, str, str], Scope] = {}
        for inner in scope.inner:
            if not inner.name.startswith(("test", "Test")) or inner.node.decorator_list:
                continue
            around = self._outline.inside.get(id(inner.node))
            key = id(around), _block(around, inner.node), inner.name
            if key in seen:
                yield self._marker(seen[key].node, inner.path, "defined again")
            seen[key] = inner

    def _made(self, scope: Scope) -> Iterator[Marker]:
        for inner in scope.inner:
            if inner.name in ("__init__", "__new__") and not any(
                    last_name(base).endswith("TestCase") for base in scope.node.bases):
                yield self._marker(inner.node, scope.path, f"def {inner.name}")

    def _hook(self, scope: Scope) -> Iterator[Marker]:
        """A hook of pytest that drops items or changes an outcome, one marker for each place."""
        names = Texts({name: local(name) for name in (*scope.params, *scope.stored)})
        for statement in (each for one in _all(scope) for each in one.statements):
            if self._changes(statement, scope):
                yield self._marker(statement, "",
                                   f"{scope.name}: {finished(spelled(statement, names))}")

    def _changes(self, statement: ast.AST, scope: Scope) -> bool:
        for call in self._outline.calls.get(id(statement), ()):
            if not isinstance(statement, ast.stmt) or _has_block(statement):
                break
            name = last_name(call.func)
            if name in _TELLING or name in _FORCING or (
                    name in _DROPPING and scope.name == "pytest_collection_modifyitems"):
                return True
        match statement:
            case ast.Assign(targets=[ast.Attribute(attr=attr)]):
                return attr in _OUTCOMES
            case ast.Assign(targets=[ast.Subscript(slice=ast.Slice())]) | ast.Delete(
                    targets=[ast.Subscript()]):
                return scope.name == "pytest_collection_modifyitems"
            case ast.Return(value=ast.expr() as value):
                return scope.name in _DECIDING and truth(value) is not False and not _is_wrapper(
                    scope)
        return False


def _is_wrapper(scope: Scope) -> bool:
    """Whether a hook lets others run in its middle."""
    return any(isinstance(node, ast.Yield) for node in ast.walk(scope.node))


def _block(around: ast.AST | None, node: ast.AST) -> str:
    """In which of its blocks a statement holds another."""
    return next((name for name in BLOCKS.get(type(around), ())
                 if any(one is node for one in getattr(around, name))), "")


def _has_block(statement: ast.AST) -> bool:
    return isinstance(getattr(statement, "body", None), list)


def _all(scope: Scope) -> Iterator[Scope]:
    stack = [scope]
    while stack:
        one = stack.pop()
        yield one
        stack += one.inner


def _in(scope: Scope, name: str) -> str:
    return f"{scope.path}::{name}" if scope.path else name


def _mentions(value: ast.expr, name: str) -> bool:
    """Whether a test is only wrapped."""
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(value))
