"""What Python tests put stand-ins in the place of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from policyd.core.sheet import Mock
from policyd.languages.literal import bounded
from policyd.languages.python_dotted import Dotted, ascii_name, last_name
from policyd.languages.python_outline import Outline, Scope

UNKNOWN: Final = "*"
_PATCHING: Final = frozenset(["patch", "object", "dict", "multiple", "setattr", "delattr",
                              "setitem", "delitem", "update"])
_MOCKS: Final = frozenset(["Mock", "MagicMock", "AsyncMock", "NonCallableMock", 
                           "NonCallableMagicMock", "create_autospec", "SimpleNamespace"])
_ANSWERS: Final = frozenset(["return_value", "side_effect"])
_DEFINING: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Mocks:
    """One for a file. `tests`: the names of the tests that a function is, by its id."""

    def __init__(self, outline: Outline, dotted: Dotted, tests: Mapping[int, Sequence[str]]
                 ) -> None:
        self._outline = outline
        self._dotted = dotted
        self._tests = tests

    def found(self) -> Iterator[Mock]:
        for scope in self._outline.scopes:
            ons = self._ons(scope)
            for statement in scope.statements:
                yield from self._statement(statement, scope, ons)
            for call in self._outline.calls.get(id(scope.node), ()):
                yield from self._called(call, ons)

    def _ons(self, scope: Scope) -> Sequence[str]:
        one: Scope | None = scope
        while one is not None and one.parent is not None:
            if id(one) in self._tests:
                return self._tests[id(one)]
            if one.is_class:
                return [ascii_name(one.path)]
            one = one.parent
        return [""]

    def _statement(self, statement: ast.AST, scope: Scope, ons: Sequence[str]) -> Iterator[Mock]:
        if type(statement) is ast.Assign and not scope.is_class:
            for target in statement.targets:
                if not isinstance(target, ast.Name):
                    yield from self._assigned(target, ons)
                    yield from self._own(target, statement.value, scope, ons)
        if type(statement) not in _DEFINING:
            for call in self._outline.calls.get(id(statement), ()):
                if last_name(call.func) in _PATCHING:
                    yield from self._called(call, ons)

    def _assigned(self, target: ast.expr, ons: Sequence[str]) -> Iterator[Mock]:
        """`app.total = ...` for a module that is imported, and `sys.modules[...] = ...`."""
        match target:
            case ast.Attribute(value=ast.Name(id=name)) if name in self._dotted.bound:
                yield from _each(target, self._dotted.of(target), ons)
            case ast.Subscript(value=value, slice=ast.Constant(value=str() as module)):
                if self._dotted.of(value) == "sys.modules":
                    yield from self._module(target, ascii_name(module), ons)

    def _own(self, target: ast.expr, value: ast.expr, scope: Scope, ons: Sequence[str]
             ) -> Iterator[Mock]:
        """`self.store = MagicMock()`, where the class has `self.store = Store()` elsewhere; and
        `self.store.count.return_value = ...`, where it is one."""
        names: list[str] = []
        while isinstance(target, ast.Attribute):
            names.insert(0, target.attr)
            target = target.value
        if not (isinstance(target, ast.Name) and target.id == scope.self_name and names):
            return
        sets = list(_own_values(scope, names[0]))
        if names[1:] and names[-1] in _ANSWERS and any(map(_is_mock, sets)):
            rest = names[1:-1]
        elif not names[1:] and _is_mock(value):
            rest = []
        else:
            return
        for made in self._made(scope, names[0]):
            yield from _each(target, ".".join((made, *map(ascii_name, rest))), ons)

    def _made(self, scope: Scope, name: str) -> Iterator[str]:
        """What is imported and called for an attribute in other methods of the class."""
        for other in scope.parent.inner if scope.parent is not None else ():
            for value in _own_values(other, name) if other is not scope else ():
                if isinstance(value, ast.Call) and not _is_mock(value):
                    made = self._dotted.of(value.func)
                    if "." in made and not made.startswith("self."):
                        yield made

    def _called(self, call: ast.Call, ons: Sequence[str]) -> Iterator[Mock]:
        name = last_name(call.func)
        if name in ("dict", "update"):
            yield from self._updated(call, name, ons)
        if name not in _PATCHING or name == "update" or not call.args:
            return
        whole = self._dotted.of(call.func)
        owner = whole.rpartition(".")[0]
        if name == "patch" and (not owner or "mock" in owner.lower() or owner == "self"):
            yield from _each(call, self._named(call.args[0]), ons)
        elif owner == "patch" or owner.endswith(".patch"):
            for target in self._patched(call, name):
                yield from _each(call, target, ons)
        elif name in ("setattr", "delattr", "setitem", "delitem"):
            yield from _each(call, self._set(call, name), ons)

    def _updated(self, call: ast.Call, name: str, ons: Sequence[str]) -> Iterator[Mock]:
        whole = self._dotted.of(call.func)
        patches = name == "dict" and bool(call.args) and "patch" in whole and (
            self._named(call.args[0]) == "sys.modules")
        if patches or whole == "sys.modules.update":
            yield from self._modules(call, ons)

    def _modules(self, call: ast.Call, ons: Sequence[str]) -> Iterator[Mock]:
        """`sys.modules.update(clock=...)`, `patch.dict(sys.modules, {"clock": ...})`."""
        for node in call.args:
            for key in node.keys if isinstance(node, ast.Dict) else ():
                text = _text(key) if key is not None else None
                yield from self._module(call, UNKNOWN if text is None else ascii_name(text), ons)
        for keyword in call.keywords:
            if keyword.arg and keyword.arg not in ("clear", "values"):
                yield from self._module(call, ascii_name(keyword.arg), ons)

    def _module(self, node: ast.expr, module: str, ons: Sequence[str]) -> Iterator[Mock]:
        """A module as a whole, and what the file takes from it."""
        yield from _each(node, module, ons)
        for name in self._dotted.bound.values():
            if name.startswith(f"{module}."):
                yield from _each(node, name, ons)

    def _patched(self, call: ast.Call, name: str) -> Iterator[str]:
        holder = self._named(call.args[0])
        if name == "object":
            yield self._part(holder, call.args[1:2])
        elif name == "multiple":
            yield from (f"{holder}.{ascii_name(one.arg)}" for one in call.keywords
                        if one.arg and one.arg not in ("spec", "create", "spec_set", "autospec"))
        else:
            yield holder

    def _set(self, call: ast.Call, name: str) -> str:
        """`monkeypatch.setattr`, with a dotted text or with an object and a name."""
        text = _text(call.args[0])
        if text is not None:
            return ascii_name(text)
        holder = self._named(call.args[0])
        is_item = name.endswith("item")
        return holder if is_item and holder != "sys.modules" else self._part(
            "" if is_item else holder, call.args[1:2])

    def _part(self, holder: str, names: Sequence[ast.expr]) -> str:
        text = _text(names[0]) if names else None
        part = ascii_name(text) if text is not None else UNKNOWN
        return f"{holder}.{part}" if holder else part

    def _named(self, node: ast.expr) -> str:
        """The dotted name of what is imported, or written as text."""
        text = _text(node)
        if text is not None:
            return ascii_name(text)
        base = node
        while isinstance(base, ast.Attribute):
            base = base.value
        if isinstance(base, ast.Name) and (base.id in self._dotted.bound
                                           or base.id in self._dotted.assigned):
            return self._dotted.of(node) or UNKNOWN
        return UNKNOWN


def _own_values(scope: Scope, name: str) -> Iterator[ast.expr]:
    """What a method sets an attribute of its object to."""
    for statement in scope.statements if scope.self_name else ():
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Attribute) and target.attr == name and isinstance(
                        target.value, ast.Name) and target.value.id == scope.self_name:
                    yield statement.value


def _is_mock(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in _MOCKS


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _each(node: ast.expr, target: str, ons: Sequence[str]) -> Iterator[Mock]:
    return (Mock(node.lineno, bounded(target), on) for on in ons)
