"""All that a Python module defines and others can say, and which names a test says."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from policyd.core.sheet import Defined
from policyd.languages.python_outline import Scope

_MOST = 1500
_MOST_WORDS = 80
_MOST_NODES = 1200
"""Of one definition: what is longer is told by how it begins."""
_LONGEST = 40
_OWN = frozenset({"self", "cls", "None", "True", "False"})

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def defined(tree: ast.Module) -> tuple[Defined, ...]:
    """Sorted by name. Of functions within functions nothing."""
    found: dict[Defined, None] = {}
    waiting: list[ast.stmt] = list(tree.body)
    while waiting and len(found) < _MOST:
        statement = waiting.pop()
        found.update(dict.fromkeys(one for one in _of(statement) if one.name.isascii()))
        if isinstance(statement, ast.ClassDef | ast.If | ast.Try | ast.With):
            for branch in ("body", "orelse", "finalbody", "handlers"):
                for one in getattr(statement, branch, ()):
                    waiting += one.body if isinstance(one, ast.ExceptHandler) else [one]
    return tuple(sorted(found, key=lambda one: (one.name, one.words)))


def names_of(scope: Scope, known: Iterable[str]) -> tuple[str, ...]:
    """What a test says that it does not define itself, sorted; `known` are names that it binds."""
    own = {*known, *scope.stored, *scope.params}
    found = set()
    for node in ast.walk(scope.node):
        match node:
            case ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                found.add(name)
            case ast.Name(id=name) if name not in own:
                found.add(name)
    return tuple(sorted(name for name in found - _OWN if name.isascii()))[:_MOST]


def _of(statement: ast.stmt) -> Iterator[Defined]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            words = _words(statement)
            yield Defined(name, words)
            yield from (Defined(one, words) for one in _parameters(statement) if one not in _OWN)
            yield from (Defined(one) for one in _members(statement))
        case ast.ClassDef(name=name):
            yield Defined(name, _words(statement))
        case ast.Assign(targets=targets, value=value):
            words = _words(value)
            yield from (Defined(node.id, words) for target in targets for node in ast.walk(target)
                        if isinstance(node, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=held):
            yield Defined(name, _words(held) if held is not None else ())


def _parameters(function: _Function) -> Iterator[str]:
    given = function.args
    yield from (one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs))


def _members(function: _Function) -> Iterator[str]:
    """What a method sets on its object."""
    first = function.args.args[:1]
    for node in ast.walk(function) if first and first[0].arg == "self" else ():
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) \
                and isinstance(node.value, ast.Name) and node.value.id == "self":
            yield node.attr


def _words(node: ast.AST) -> tuple[str, ...]:
    found: set[str] = set()
    for count, one in enumerate(ast.walk(node)):
        if count > _MOST_NODES:
            break
        match one:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(
                    arg=str(name)):
                found.add(name)
            case ast.Constant(value=value) if isinstance(value, str | int | float | bytes):
                found.add(ascii(value)[:_LONGEST])
    return tuple(sorted(name for name in found - _OWN if name.isascii()))[:_MOST_WORDS]
