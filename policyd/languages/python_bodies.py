"""A digest of what a Python function does: the same wherever it stands, whatever it is called."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, Final

from policyd.languages.python_outline import Scope

_PASSED_BY = frozenset(["ctx", "annotation", "returns", "type_comment", "kind", "type_params"])
_FIELDS: Final[Mapping[type, tuple[str, ...]]] = {
    kind: tuple(name for name in reversed(kind._fields) if name not in _PASSED_BY)
    for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)}
_NAMING = frozenset(["name", "arg", "asname", "rest"])
_NAMED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.arg, ast.ExceptHandler,
                 ast.MatchAs, ast.MatchStar, ast.MatchMapping)


def body_of(scope: Scope, free: Iterable[str]) -> str:
    """Of a test, without decorators and docstring; locals count by where they first appear.

    `free`: parameters that are as good as locals.
    """
    locals_ = {name: "" for name in free}
    stack = [scope]
    while stack:
        one = stack.pop()
        locals_.update(dict.fromkeys(one.stored, ""))
        if one is not scope:
            locals_.update(dict.fromkeys(one.params, ""))
        stack += one.inner
    body = scope.node.body
    is_told = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    told = "\0".join(_told(body[is_told and isinstance(body[0].value.value, str):], locals_))
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _told(body: list[ast.stmt], locals_: dict[str, str]) -> list[str]:
    """The tree as one row of words, without recursion. `locals_` takes in their numbers."""
    done: list[str] = []
    seen = 0
    stack: list[Any] = list(reversed(body))
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is str:
            done.append(node)
        elif kind is ast.Name:
            number = locals_.get(node.id)
            if number == "":
                seen += 1
                number = locals_[node.id] = f"\1{seen}"
            done.append(number or node.id)
        elif kind is ast.Constant:
            done.append(f"{node.value.__class__.__name__} {node.value!r}")
        else:
            done.append(kind.__name__)
            for field in _FIELDS.get(kind, ()):
                child = getattr(node, field, None)
                if child.__class__ is list:
                    if child:
                        stack += reversed(child)
                        stack.append(f"{field}{len(child)}")
                elif child is not None:
                    is_name = child.__class__ is str and field in _NAMING and kind in _NAMED
                    stack.append(ast.Name(child) if is_name else child)
    return done
