"""Python classes that answer every comparison alike, whatever they are compared with."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from policyd.core.sheet import Suspect, Trick
from policyd.languages.python_names import Function, Names, Scope, called, printable

_ORDERS = {"__lt__": "__gt__", "__gt__": "__lt__", "__le__": "__ge__", "__ge__": "__le__"}
"""What is largest answers one of them with True and the other with False."""
_EQUALS = frozenset(["__eq__", "__ne__"])
_AGREES = frozenset(["__contains__", "__instancecheck__", "__subclasscheck__"])
"""To say no is no answer that anybody is after."""
_DEEPEST = 20


def pleases(names: Names) -> Iterator[Suspect]:
    """The methods, by name; ANY and its like, by their dotted name."""
    for node, scope in names.of(ast.ClassDef):
        yield from _of_class(names, node, scope)
    for call, scope in names.of(ast.Call):
        if len(call.args) == 3 and called(call) == "type":
            yield from _of_members(names, call, scope)
    for assign, scope in names.of(ast.Assign):
        match assign.targets:
            case [ast.Attribute(attr=name)] if name in _EQUALS:
                if _blind(names, assign.value, scope) is not None:
                    yield Suspect(Trick.PLEASES, assign.lineno, name)
    yield from _anything(names)


def _anything(names: Names) -> Iterator[Suspect]:
    known = {name for name, of in names.imported.items() if of.endswith(".ANY")} | {"ANY"}
    asked: list[tuple[ast.expr, Scope]] = [
        pair for pair in names.of(ast.Name) if pair[0].id in known]
    asked += [pair for pair in names.of(ast.Attribute) if pair[0].attr in known]
    for node, scope in asked:
        if names.dotted(node, scope).endswith("mock.ANY"):
            yield Suspect(Trick.PLEASES, node.lineno, "unittest.mock.ANY")


def _of_class(names: Names, node: ast.ClassDef, scope: Scope) -> Iterator[Suspect]:
    methods: dict[str, ast.expr | Function] = {}
    for each in node.body:
        match each:
            case ast.FunctionDef(name=name):
                methods[name] = each
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                methods[name] = value
    yield from _of_methods(names, node.name, methods, scope)
    hashes = methods.get("__hash__")
    if "__eq__" in methods and isinstance(hashes, Function) and (
            _blind(names, hashes, scope) is not None):
        yield Suspect(Trick.PLEASES, hashes.lineno, printable(f"{node.name}.__hash__"))


def _of_members(names: Names, node: ast.Call, scope: Scope) -> Iterator[Suspect]:
    """`type("Anything", (), {"__eq__": lambda self, other: True})`."""
    members = names.aim(node.args[2], scope)
    if isinstance(members, ast.Dict):
        names.again(len(members.keys))
        keys = [names.text(key) or "" for key in members.keys]
        yield from _of_methods(names, names.text(node.args[0]) or "type",
                               dict(zip(keys, members.values, strict=True)), scope)


def _of_methods(names: Names, owner: str, methods: Mapping[str, ast.expr | Function],
                scope: Scope) -> Iterator[Suspect]:
    answers = {name: answer for name, method in methods.items()
               if name in _EQUALS | _AGREES | set(_ORDERS)
               and (answer := _blind(names, method, scope)) is not None}
    for name, answer in answers.items():
        opposite = _ORDERS.get(name, "")
        agrees = answer and (opposite not in methods or answers.get(opposite, False))
        if name in _EQUALS or (name in _ORDERS and "__eq__" in answers) or agrees:
            yield Suspect(Trick.PLEASES, methods[name].lineno, printable(f"{owner}.{name}"))


def _blind(names: Names, value: ast.expr | Function, scope: Scope) -> bool | None:
    """What it answers whatever it is compared with; None where it looks."""
    if isinstance(value, ast.Name) and len(names.functions.get(value.id, [])) == 1:
        value = names.functions[value.id][0]
    elif isinstance(value, ast.expr) and not isinstance(value, ast.Lambda):
        value = names.aim(value, scope)
    if not isinstance(value, Function):
        return None
    answers = _answers(names, value)
    truths = {_truth(names, answer) for answer in answers}
    if not isinstance(value, ast.Lambda) and answers and _ends(value.body):
        truths.add(False)
    if len(truths) == 1 and None not in truths:
        return truths.pop()
    given = [each.arg for each in (*value.args.posonlyargs, *value.args.args)][1:2]
    other = given[0] if given else value.args.vararg.arg if value.args.vararg else ""
    return None if not (answers and other) or _mentions(value, other) else True


def _answers(names: Names, function: Function) -> list[ast.expr]:
    """What it returns, but for NotImplemented."""
    found = [function.body] if isinstance(function, ast.Lambda) \
        else names.results.get(function, [])
    return [each for each in found
            if not (isinstance(each, ast.Name) and each.id == "NotImplemented")]


def _ends(body: Sequence[ast.stmt]) -> bool:
    """Whether it may come to its end, where None is returned."""
    match body[-1]:
        case ast.Return() | ast.Raise():
            return False
        case ast.If(body=yes, orelse=[_, *_] as no):
            return _ends(yes) or _ends(no)
        case ast.With(body=inner) | ast.Try(body=inner):
            return _ends(inner)
    return True


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
    return any(isinstance(each, ast.Name) and each.id in (name, "locals", "super")
               and isinstance(each.ctx, ast.Load) for one in body for each in ast.walk(one))
