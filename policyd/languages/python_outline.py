"""One walk through a Python tree: its scopes, and which calls stand in which statement."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES: Final = (*_FUNCTIONS, ast.ClassDef)

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_PASSED_BY = frozenset([
    "annotation", "returns", "type_comment", "type_params", "ctx", "op", "ops", "kind", "name",
    "conversion", "rest", "arg", "attr", "id", "names", "module", "level", "simple", "is_async",
])
_LEAVES = frozenset(["Constant", "Name", "arg", "Import", "ImportFrom", "Global", "Nonlocal"])
_CHANGING = frozenset([
    "append", "add", "update", "extend", "insert", "setdefault", "pop", "popitem", "remove",
    "discard", "clear", "sort", "reverse", "appendleft", "put", "put_nowait", "__setitem__",
])


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a node that hold expressions, what stands last first."""
    if kind.__name__ in _LEAVES:
        return ()
    left_out = {*_PASSED_BY, *_blocks(kind)}
    return tuple(name for name in reversed(kind._fields) if name not in left_out)


def _blocks(kind: type[ast.AST]) -> tuple[str, ...]:
    holds = issubclass(kind, ast.stmt | ast.mod | ast.ExceptHandler | ast.match_case)
    return tuple(name for name in kind._fields if name in _BLOCKS) if holds else ()


_KINDS = [kind for kind in vars(ast).values()
          if isinstance(kind, type) and issubclass(kind, ast.AST)]
FIELDS: Final[Mapping[type, tuple[str, ...]]] = {kind: _fields(kind) for kind in _KINDS}
BLOCKS: Final[Mapping[type, tuple[str, ...]]] = {
    kind: tuple(reversed(blocks)) for kind in _KINDS if (blocks := _blocks(kind))}


class Scope:
    """The module, a class or a function, and what stands in it and in no scope within it.

    Decorators, defaults and bases belong to the scope that they make.
    """

    __slots__ = ("attributes", "changed", "inner", "name", "names", "node", "params", "parent",
                 "self_name", "statements", "stored")

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node: Any = node
        self.parent = parent
        self.name: str = getattr(node, "name", "")
        self.params: tuple[str, ...] = _params(node.args) if isinstance(node, _FUNCTIONS) else ()
        """The parameters of a function in order, without * and **."""
        self.self_name = self.params[0] if self.params and parent and parent.is_class else ""
        """What a method calls the object that it is of."""
        self.statements: list[ast.AST] = []
        """All of its blocks, in order; handlers and cases count as statements."""
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.stored: dict[str, int] = {}
        """How many times a name is bound; those of comprehensions too."""
        self.changed: set[str] = set()
        """Names of which the value is changed in place, and names that inner functions set."""
        self.inner: list[Scope] = []

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, _FUNCTIONS)

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def path(self) -> str:
        """As a node id has it: `TestCart::test_total`."""
        above = self.parent.path if self.parent is not None else ""
        return f"{above}::{self.name}" if above else self.name

    def all_changed(self) -> set[str]:
        """Names that are changed here or in functions within."""
        found, stack = set(self.changed), list(self.inner)
        while stack:
            one = stack.pop()
            found |= one.changed
            stack += one.inner
        return found

    def bind(self, name: str) -> None:
        self.stored[name] = self.stored.get(name, 0) + 1


def _params(args: ast.arguments) -> tuple[str, ...]:
    return tuple(one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs))


class Outline:
    """What the walk has found."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope(tree, None)
        self.scopes: list[Scope] = [self.module]
        self.scope_of: dict[int, Scope] = {}
        """The scope that a statement makes, by the statement's id."""
        self.calls: dict[int, list[ast.Call]] = {}
        """The calls in a statement's own expressions, by its id, as they are written."""
        self.names: dict[int, set[str]] = {}
        """The names in a statement of the module, by its id."""
        self.inside: dict[int, ast.AST] = {}
        """What a statement stands in, within its scope."""
        self.imports: list[tuple[ast.Import | ast.ImportFrom, Scope]] = []
        self.compares: list[tuple[ast.Compare, Scope]] = []
        self.dicts: list[ast.Dict] = []
        self.subscripts: list[ast.Subscript] = []
        self.marks: list[tuple[ast.Attribute, ast.AST, Scope]] = []
        """What is taken from `pytest.mark`, in which statement of which scope."""
        self.yielding: set[int] = set()
        """The scopes that are generators, by their ids."""
        self.awaiting: set[int] = set()
        self._statement: ast.AST = tree
        self._mark_names = {"mark"}
        self._called: list[ast.Call] = []
        self._notes: dict[type, Callable[[Any, Scope], None]] = {
            ast.Attribute: self._take_attribute,
            ast.Call: self._take_call,
            ast.Compare: lambda node, scope: self.compares.append((node, scope)),
            ast.Subscript: self._take_subscript,
            ast.Dict: lambda node, _: self.dicts.append(node),
            ast.Lambda: self._take_lambda,
            ast.MatchAs: self._take_pattern,
            ast.MatchStar: self._take_pattern,
            ast.Yield: lambda _, scope: self.yielding.add(id(scope)),
            ast.YieldFrom: lambda _, scope: self.yielding.add(id(scope)),
            ast.Await: lambda _, scope: self.awaiting.add(id(scope)),
            ast.AsyncFor: lambda _, scope: self.awaiting.add(id(scope)),
            ast.AsyncWith: lambda _, scope: self.awaiting.add(id(scope)),
        }
        self._walk(tree)

    def outer(self, statement: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Each statement around another, innermost first, with the one in it on the way."""
        while (around := self.inside.get(id(statement))) is not None:
            yield around, statement
            statement = around

    def _walk(self, tree: ast.Module) -> None:
        stack: list[tuple[ast.AST, Scope]] = [
            (statement, self.module) for statement in reversed(tree.body)]
        while stack:
            statement, scope = stack.pop()
            scope.statements.append(statement)
            kind = type(statement)
            inner, is_scope = scope, kind in _SCOPES
            if is_scope:
                inner = self._enter(statement, scope)
            elif kind is ast.Import or kind is ast.ImportFrom:
                self._import(statement, scope)
                continue
            elif kind is ast.ExceptHandler and (name := getattr(statement, "name", None)):
                scope.bind(name)
            elif kind is ast.Nonlocal or kind is ast.Global:
                self._share(statement, scope)
            self._look(statement, inner)
            for field in BLOCKS.get(kind, ()):
                block: list[ast.AST] = getattr(statement, field)
                stack.extend([(item, inner) for item in reversed(block)])
                if not is_scope:
                    for item in block:
                        self.inside[id(item)] = statement

    def _enter(self, statement: Any, scope: Scope) -> Scope:
        inner = Scope(statement, scope)
        scope.bind(statement.name)
        scope.inner.append(inner)
        self.scopes.append(inner)
        self.scope_of[id(statement)] = inner
        return inner

    def _import(self, statement: Any, scope: Scope) -> None:
        self.imports.append((statement, scope))
        for alias in statement.names:
            scope.bind(alias.asname or alias.name.split(".")[0])
            if alias.name == "mark" and alias.asname:
                self._mark_names.add(alias.asname)

    def _share(self, statement: Any, scope: Scope) -> None:
        """Names that are set elsewhere than where they are."""
        owner = self.module if isinstance(statement, ast.Global) else scope.parent or scope
        for name in statement.names:
            owner.bind(name)
            owner.bind(name)
            owner.changed.add(name)

    def _look(self, statement: ast.AST, scope: Scope) -> None:
        """The expressions of one statement. This loop is most of what the walk costs."""
        names = scope.names
        if scope is self.module:
            names = self.names[id(statement)] = set()
        self._statement = statement
        fields, notes = FIELDS, self._notes
        node: Any = statement
        kind: type = type(statement)
        stack: list[Any] = []
        while True:
            if kind is ast.Name:
                names.add(node.id)
                if node.ctx.__class__ is not ast.Load:
                    scope.bind(node.id)
            else:
                if (note := notes.get(kind)) is not None:
                    note(node, scope)
                for name in fields.get(kind, ()):
                    child = getattr(node, name)
                    if child.__class__ is list:
                        stack += reversed(child)
                    elif child is not None:
                        stack.append(child)
            if not stack:
                break
            node = stack.pop()
            kind = node.__class__
        if self._called:
            self.calls[id(statement)] = self._called
            self._called = []

    def _take_attribute(self, node: ast.Attribute, scope: Scope) -> None:
        scope.attributes.add(node.attr)
        value: Any = node.value
        is_mark = (value.attr == "mark" if value.__class__ is ast.Attribute else
                   value.__class__ is ast.Name and value.id in self._mark_names)
        if is_mark:
            self.marks.append((node, self._statement, scope))
        elif value.__class__ is ast.Name and node.attr in _CHANGING:
            scope.changed.add(value.id)
        elif node.attr == "mark" and isinstance(self._statement, ast.Assign):
            self._mark_names |= {last.id for last in self._statement.targets
                                 if isinstance(last, ast.Name)}

    def _take_call(self, node: ast.Call, _: Scope) -> None:
        self._called.append(node)

    def _take_subscript(self, node: ast.Subscript, scope: Scope) -> None:
        self.subscripts.append(node)
        if node.ctx.__class__ is not ast.Load and node.value.__class__ is ast.Name:
            scope.changed.add(getattr(node.value, "id", ""))

    def _take_pattern(self, node: ast.MatchAs | ast.MatchStar, scope: Scope) -> None:
        if node.name:
            scope.bind(node.name)

    def _take_lambda(self, node: ast.Lambda, scope: Scope) -> None:
        args = node.args
        for one in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
            if one is not None:
                scope.bind(one.arg)
