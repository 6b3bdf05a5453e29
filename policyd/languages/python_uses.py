"""Which expressions of a Python tree count, and how each of them stands there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, cast

Standing = tuple[ast.AST, str]
"""A node and how it stands."""

_AS_PARENT = ""


class Spot(NamedTuple):
    """An expression that may be or become constant, and how it stands."""

    node: ast.expr
    use: str


_MAY_BE_CONSTANT: frozenset[type[ast.AST]] = frozenset(
    {ast.Constant, ast.BinOp, ast.UnaryOp, ast.JoinedStr, ast.FormattedValue, ast.Call}
    | {ast.List, ast.Tuple, ast.Set, ast.Dict}
)

_USES: Mapping[type[ast.AST], Mapping[str, str]] = {
    ast.Compare: {"left": "compared", "comparators": "compared"},
    ast.MatchValue: {"value": "compared"},
    ast.MatchMapping: {"keys": "compared"},
    ast.Return: {"value": "returned"},
    ast.Yield: {"value": "returned"},
    ast.Lambda: {"body": "returned"},
    ast.Assign: {"value": "assigned"},
    ast.AnnAssign: {"value": "assigned"},
    ast.AugAssign: {"value": "assigned"},
    ast.NamedExpr: {"value": "assigned"},
    ast.arguments: {"defaults": "default", "kw_defaults": "default"},
    ast.Assert: {"msg": "raised"},
    ast.Call: {"func": _AS_PARENT, "args": "argument", "keywords": "argument"},
    ast.ClassDef: {"keywords": "argument"},
    ast.keyword: {"value": _AS_PARENT},
    ast.List: {"elts": "element"},
    ast.Tuple: {"elts": "element"},
    ast.Set: {"elts": "element"},
    ast.Dict: {"keys": "element", "values": "element"},
    ast.ListComp: {"elt": "element"},
    ast.SetComp: {"elt": "element"},
    ast.GeneratorExp: {"elt": "element"},
    ast.DictComp: {"key": "element", "value": "element"},
    ast.Attribute: {"value": _AS_PARENT},
    ast.Await: {"value": _AS_PARENT},
    ast.BinOp: {"left": _AS_PARENT, "right": _AS_PARENT},
    ast.BoolOp: {"values": _AS_PARENT},
    ast.FormattedValue: {"value": _AS_PARENT, "format_spec": _AS_PARENT},
    ast.IfExp: {"body": _AS_PARENT, "orelse": _AS_PARENT},
    ast.JoinedStr: {"values": _AS_PARENT},
    ast.Starred: {"value": _AS_PARENT},
    ast.Subscript: {"value": _AS_PARENT},
    ast.UnaryOp: {"operand": _AS_PARENT},
}
"""How a child stands, by its parent and field; `used` where nothing is said."""

_ANNOTATIONS = frozenset(["annotation", "returns", "type_comment", "type_params"])
_MARKS = frozenset(["ctx", "op", "ops", "kind", "conversion"])
_NOTHING_BELOW = frozenset(["Constant", "Name", "Import", "ImportFrom", "TypeAlias"])


def _plan(kind: type[ast.AST]) -> tuple[tuple[str, str], ...]:
    """The fields of a node that may hold values, each with the use that it gives."""
    if kind.__name__ in _NOTHING_BELOW:
        return ()
    uses = _USES.get(kind, {})
    passed_by = _ANNOTATIONS | _MARKS
    return tuple((name, uses.get(name, "used")) for name in kind._fields if name not in passed_by)


_PLANS: Mapping[type[ast.AST], tuple[tuple[str, str], ...]] = {
    kind: _plan(kind)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def spots(tree: ast.Module) -> list[Spot]:
    """Every expression that may be constant; a parent always before its children.

    Left out: annotations, `Literal[...]`, `__all__`, and constants that are statements of their
    own, docstrings first among them. A stack, not recursion: the tree is as deep as its author
    likes.
    """
    found: list[Spot] = []
    stack: list[tuple[ast.AST, str]] = [(tree, "used")]
    while stack:
        node, use = stack.pop()
        kind = node.__class__
        if kind in _MAY_BE_CONSTANT:
            found.append(Spot(cast(ast.expr, node), use))
        if kind in _SPECIAL:
            stack.extend(_SPECIAL[kind](node, use))
            continue
        for name, child_use in _PLANS[kind]:
            child = getattr(node, name)
            if child.__class__ is list:
                given = child_use or use
                stack += [(item, given) for item in child if isinstance(item, ast.AST)]
            elif isinstance(child, ast.AST):
                stack.append((child, child_use or use))
    return found


def _children(node: ast.AST, use: str) -> Iterator[Standing]:
    for name, child_use in _PLANS[type(node)]:
        child = getattr(node, name, None)
        if isinstance(child, list):
            for item in child:
                if isinstance(item, ast.AST):
                    yield item, child_use or use
        elif isinstance(child, ast.AST):
            yield child, child_use or use


def _of_statement(node: ast.Expr, use: str) -> Iterator[Standing]:
    """A constant alone does nothing, and `__all__.append(...)` lists names."""
    match node.value:
        case ast.Constant() | ast.Call(func=ast.Attribute(value=ast.Name(id="__all__"))):
            return
        case value:
            yield value, use


def _of_assignment(
    node: ast.Assign | ast.AnnAssign | ast.AugAssign, use: str
) -> Iterator[Standing]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if not any(map(_is_all, targets)):
        yield from _children(node, use)


def _of_raise(node: ast.Raise, use: str) -> Iterator[Standing]:
    """What an exception is made of is raised; calls further in are calls like any other."""
    for made in (node.exc, node.cause):
        if isinstance(made, ast.Call):
            yield made.func, use
            yield from ((given, "raised") for given in made.args)
            yield from ((given.value, "raised") for given in made.keywords)
        elif made:
            yield made, "raised"


def _of_call(node: ast.Call, use: str) -> Iterator[Standing]:
    """`match=` says which error is meant, also through `re.escape`."""
    if use == "matched" and _last_name(node.func) == "escape":
        yield from ((given, use) for given in node.args)
    else:
        yield from _children(node, use)


def _of_keyword(node: ast.keyword, use: str) -> Iterator[Standing]:
    yield node.value, "matched" if node.arg == "match" else use


def _of_subscript(node: ast.Subscript, use: str) -> Iterator[Standing]:
    yield node.value, use
    if _last_name(node.value) != "Literal":
        yield node.slice, "used"


def _is_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "__all__"


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


_SPECIAL: Mapping[type[ast.AST], Callable[[Any, str], Iterator[Standing]]] = {
    ast.Expr: _of_statement,
    ast.Assign: _of_assignment,
    ast.AnnAssign: _of_assignment,
    ast.AugAssign: _of_assignment,
    ast.Raise: _of_raise,
    ast.Call: _of_call,
    ast.keyword: _of_keyword,
    ast.Subscript: _of_subscript,
}
