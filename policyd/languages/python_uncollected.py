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


_LOOPS: Final = frozenset(["asyncio", "anyio", "trio", "tornado", "twisted", "aiohttp", "curio",
                          "pytest_asyncio", "pytest_trio", "gevent", "asgiref", "django"])
_PLAIN_MARKS: Final = frozenset(["parametrize", "skip", "skipif", "xfail", "timeout", "slow",
                                 "usefixtures", "filterwarnings"])


class Uncollected:
    """One for a file. `tests`: the names of the tests that a function is, by its id."""

    def __init__(self, outline: Outline, tests: Mapping[int, Sequence[str]]) -> None:
        self._outline = outline
        self._tests = tests
        self._testing = {name for names in tests.values() for name in names}

    def found(self) -> Iterator[Marker]:
        is_plain = self._has_no_loop()
        for scope in self._outline.scopes:
            if scope.is_function:
                for name in self._tests.get(id(scope), ()):
                    if (says := self._never_run(scope, is_plain)):
                        yield self._marker(scope.node, name, says)
                if scope.name.startswith("pytest_") and scope.parent is self._outline.module:
                    yield from self._hook(scope)
                continue
            yield from self._twice(scope)
            for statement in scope.statements:
                yield from self._statement(statement, scope)
            if scope.is_class and scope.name.startswith("Test"):
                yield from self._made(scope)

    def _has_no_loop(self) -> bool:
        """Whether nothing in the file says that it knows of coroutines, tests apart."""
        roots = {name.partition(".")[0] for statement, _ in self._outline.imports
                 for name in _modules(statement)}
        return roots.isdisjoint(_LOOPS) and not any(
            isinstance(scope.node, ast.AsyncFunctionDef) and id(scope) not in self._tests
            for scope in self._outline.scopes) and not self._outline.awaiting

    def _never_run(self, scope: Scope, is_plain: bool) -> str:
        """A generator is only made, and so is a coroutine where nobody runs one.

        What is made async and awaits nothing, in a file in which nothing else is, is no
        coroutine of its author's need.
        """
        if any(map(self._may_run, scope.node.decorator_list)):
            return ""
        if id(scope) in self._outline.yielding:
            return "yield"
        is_only = is_plain and isinstance(scope.node, ast.AsyncFunctionDef) and any(
            isinstance(one.node, ast.FunctionDef) for one in self._outline.scopes
            if id(one) in self._tests)
        marked = any(last_name(node) in _LOOPS for node, _, _ in self._outline.marks)
        based = scope.parent is not None and any(
            "Async" in last_name(base) for base in getattr(scope.parent.node, "bases", ()))
        return "async def" if is_only and not marked and not based else ""

    def _may_run(self, node: ast.expr) -> bool:
        """Whether a decorator may run what a test makes: all but plain marks of pytest may."""
        made = node.func if isinstance(node, ast.Call) else node
        is_mark = any(made is mark for mark, _, _ in self._outline.marks)
        return not is_mark or last_name(made) not in _PLAIN_MARKS

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
                    elif (name := self._reached(target)):
                        yield self._marker(statement, name, f"del {name.replace('::', '.')}")
            case ast.Expr(value=ast.Call() as call):
                yield from self._called(statement, call)

    def _set(self, statement: ast.AST, target: ast.expr, value: ast.expr, scope: Scope
             ) -> Iterator[Marker]:
        """A name of the runner's, or the name of a test, that gets a value."""
        if isinstance(target, ast.Attribute) and target.attr == "__test__":
            if truth(value) is False:
                owner = finished(spelled(target.value)).replace(".", "::")
                yield self._marker(statement, _in(scope, owner), "__test__ = False")
            return
        if (reached := self._reached(target)) and not _mentions(value, last_name(target)):
            yield self._marker(statement, reached, f"{reached.replace('::', '.')} = "
                               f"{finished(spelled(value))}")
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

    def _called(self, statement: ast.AST, call: ast.Call) -> Iterator[Marker]:
        """`delattr(TestCart, "test_total")`, `setattr`, `globals().pop("test_total")`."""
        match call:
            case ast.Call(func=ast.Name(id="delattr" | "setattr" as name), args=[
                    ast.Name(id=owner), ast.Constant(value=str() as attr), *given]):
                wraps = any(_mentions(one, attr) for one in given)
                if f"{owner}::{attr}" in self._testing and not wraps:
                    yield self._marker(statement, f"{owner}::{attr}", f"{name} {owner}.{attr}")
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="globals")),
                                             attr="pop"), args=[ast.Constant(value=str() as attr),
                                                                *_]):
                if any(inner.name == attr for inner in self._outline.module.inner):
                    yield self._marker(statement, attr, f"globals().pop {attr}")

    def _reached(self, target: ast.expr) -> str:
        """The test that is named through its class, or as a name of the module."""
        match target:
            case ast.Attribute(value=ast.Name(id=owner), attr=attr):
                name = f"{owner}::{attr}"
            case ast.Subscript(value=ast.Call(func=ast.Name(id="globals")),
                               slice=ast.Constant(value=str() as name)):
                pass
            case _:
                return ""
        return name if name in self._testing else ""

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


def _modules(statement: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(statement, ast.ImportFrom):
        return [statement.module or ""]
    return [alias.name for alias in statement.names]


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
    return any(isinstance(node, ast.Name | ast.Attribute) and last_name(node) == name
               for node in ast.walk(value))
