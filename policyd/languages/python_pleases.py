"""Python classes that answer every comparison alike, whatever they are compared with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from policyd.core.sheet import Suspect, Trick
from policyd.languages.python_names import Function, Names, Scope, called

_COMPARISONS = frozenset(["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
                          "__contains__", "__instancecheck__", "__subclasscheck__"])
_DEEPEST = 20


def pleases(names: Names) -> Iterator[Suspect]:
    """The methods, by name; ANY and its like, by their dotted name."""
    for node, scope in names.nodes:
        match node:
            case ast.ClassDef():
                yield from _of_class(names, node, scope)
            case ast.Call() if called(node) == "type" and len(node.args) == 3:
                yield from _of_members(names, node, scope)
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=value):
                if _is_blind(names, name, value, scope):
                    yield Suspect(Trick.PLEASES, node.lineno, name)
            case ast.Name() | ast.Attribute():
                if names.dotted(node, scope).endswith(("unittest.mock.ANY", "mock.ANY")):
                    yield Suspect(Trick.PLEASES, node.lineno, "unittest.mock.ANY")


def _of_class(names: Names, node: ast.ClassDef, scope: Scope) -> Iterator[Suspect]:
    methods: dict[str, ast.expr | Function] = {}
    for each in node.body:
        match each:
            case ast.FunctionDef(name=name):
                methods[name] = each
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                methods[name] = value
    for name, method in methods.items():
        if _is_blind(names, name, method, scope):
            yield Suspect(Trick.PLEASES, method.lineno, name)
        elif name == "__hash__" and "__eq__" in methods and isinstance(method, Function):
            answers = _answers(names, method)
            alike = bool(answers) and all(_is_constant(names, one) for one in answers)
            yield from [Suspect(Trick.PLEASES, method.lineno, name)] * alike


def _of_members(names: Names, node: ast.Call, scope: Scope) -> Iterator[Suspect]:
    """`type("Anything", (), {"__eq__": lambda self, other: True})`."""
    members = names.aim(node.args[2], scope)
    if isinstance(members, ast.Dict):
        for key, value in zip(members.keys, members.values, strict=True):
            name = names.text(key) or ""
            if _is_blind(names, name, value, scope):
                yield Suspect(Trick.PLEASES, value.lineno, name)


def _is_blind(names: Names, name: str, value: ast.expr | Function, scope: Scope) -> bool:
    """Whether a comparison answers without a look at what it compares with."""
    if name not in _COMPARISONS:
        return False
    if isinstance(value, ast.Name) and len(names.functions.get(value.id, [])) == 1:
        value = names.functions[value.id][0]
    elif isinstance(value, ast.expr) and not isinstance(value, ast.Lambda):
        value = names.aim(value, scope)
    if not isinstance(value, Function):
        return False
    answers = _answers(names, value)
    given = [each.arg for each in (*value.args.posonlyargs, *value.args.args)][1:2]
    other = given[0] if given else value.args.vararg.arg if value.args.vararg else ""
    if all(_is_constant(names, answer) for answer in answers):
        return bool(answers) and len({_truth(names, answer) for answer in answers}) == 1
    return not _mentions(value, other)


def _answers(names: Names, function: Function) -> list[ast.expr]:
    """What it returns, but for NotImplemented."""
    found = [function.body] if isinstance(function, ast.Lambda) \
        else names.results.get(function, [])
    return [each for each in found
            if not (isinstance(each, ast.Name) and each.id == "NotImplemented")]


def _is_constant(names: Names, node: ast.expr) -> bool:
    return _truth(names, node) is not None


def _truth(names: Names, node: ast.expr, depth: int = 0) -> bool | None:
    """What it always comes out as; None where that depends."""
    part = names.part(node)
    if part is not None:
        return bool(part.value)
    if depth > _DEEPEST:
        return None
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            truth = _truth(names, inner, depth + 1)
            return None if truth is None else not truth
        case ast.BoolOp(op=op, values=values):
            decides = isinstance(op, ast.Or)
            each = [_truth(names, value, depth + 1) for value in values]
            return decides if decides in each else None if None in each else not decides
        case ast.Call(func=ast.Name(id="bool"), args=[inner]):
            return _truth(names, inner, depth + 1)
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id="object")]):
            return True
        case ast.Compare(left=ast.Name(id=one), ops=[ast.Eq() | ast.Is()],
                         comparators=[ast.Name(id=other)]) if one == other:
            return True
    return None


def _mentions(function: Function, name: str) -> bool:
    """Whether it reads a parameter at all."""
    body: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else [*function.body]
    if not isinstance(function, ast.Lambda) and not any(
            isinstance(each, ast.Return) for each in ast.walk(function)):
        return True
    return any(isinstance(each, ast.Name) and each.id in (name, "locals", "super")
               and isinstance(each.ctx, ast.Load) for one in body for each in ast.walk(one))
