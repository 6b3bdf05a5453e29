"""The names that a Python module defines at its top, or passes on from a neighbour."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_MOST = 2000


def defines(tree: ast.Module) -> tuple[str, ...]:
    """Sorted; those inside of top-level conditions too."""
    found: set[str] = set()
    waiting: list[ast.stmt] = list(tree.body)
    while waiting and len(found) < _MOST:
        statement = waiting.pop()
        found.update(name for name in _names(statement) if name.isascii())
        for branch in ("body", "orelse", "finalbody", "handlers"):
            if isinstance(statement, ast.If | ast.Try | ast.With):
                for one in getattr(statement, branch, ()):
                    waiting += one.body if isinstance(one, ast.ExceptHandler) else [one]
    return tuple(sorted(found))


def _names(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (node.id for target in targets for node in ast.walk(target)
                        if isinstance(node, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.ImportFrom(level=level, names=names) if level:
            yield from (one.asname or one.name for one in names)
