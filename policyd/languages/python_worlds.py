"""Whether a condition on platform and version holds wherever tests are run: in each usual world."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, Final, NamedTuple

from policyd.languages.python_dotted import Dotted

_DEEPEST: Final = 8
_OLDEST, _NEWEST = 8, 16
_SYSTEMS: Final = (("linux", "posix", "Linux"), ("darwin", "posix", "Darwin"),
                   ("win32", "nt", "Windows"))
_COMPARING: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.eq, ast.IsNot: operator.ne,
    ast.In: lambda one, other: one in other, ast.NotIn: lambda one, other: one not in other}


class _World(NamedTuple):
    platform: str
    name: str
    system: str
    version: tuple[int, ...]


_WORLDS: Final = [_World(*system, (3, minor, 3)) for system, minor in product(
    _SYSTEMS, range(_OLDEST, _NEWEST + 1))]


class _UnknownError(Exception):
    """What depends on more than the world."""


def everywhere(test: ast.expr, dotted: Dotted) -> bool | None:
    """Whether a condition holds in all worlds, or in none; None where it depends."""
    if not _may_tell(test, dotted):
        return None
    found = set()
    for world in _WORLDS:
        try:
            found.add(bool(_value(test, world, dotted, _DEEPEST)))
        except (_UnknownError, TypeError, IndexError, AttributeError):
            return None
        if len(found) > 1:
            return None
    return found.pop()


def _may_tell(test: ast.expr, dotted: Dotted) -> bool:
    """A quick look, before each world is tried."""
    return isinstance(test, ast.Compare | ast.Call | ast.BoolOp | ast.UnaryOp) and any(
        isinstance(node, ast.Name | ast.Attribute)
        and dotted.of(node).startswith(("sys.", "os.name", "platform."))
        for node in ast.walk(test))


def _value(node: ast.AST, world: _World, dotted: Dotted, depth: int) -> Any:
    if not depth:
        raise _UnknownError
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
            return tuple(_value(one, world, dotted, depth - 1) for one in elts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, world, dotted, depth - 1)
        case ast.BoolOp(op=op, values=values):
            each = (_value(one, world, dotted, depth - 1) for one in values)
            return any(each) if isinstance(op, ast.Or) else all(each)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            one, other = (_value(side, world, dotted, depth - 1) for side in (left, right))
            return _COMPARING[type(op)](one, other)
        case ast.Subscript(value=value, slice=ast.Slice(lower=None, upper=upper, step=None)):
            end = None if upper is None else _value(upper, world, dotted, depth - 1)
            return _value(value, world, dotted, depth - 1)[:end]
        case ast.Subscript(value=value, slice=index):
            return _value(value, world, dotted, depth - 1)[
                _value(index, world, dotted, depth - 1)]
        case ast.Call(func=ast.Attribute(value=value, attr="startswith" | "lower" as attr),
                      args=args):
            given = [_value(arg, world, dotted, depth - 1) for arg in args]
            return getattr(_value(value, world, dotted, depth - 1), attr)(*given)
        case ast.Call(func=func, args=[]):
            return _named(f"{dotted.of(func)}()", world)
    return _named(dotted.of(node), world)


def _named(name: str, world: _World) -> Any:
    known: Mapping[str, Any] = {
        "sys.platform": world.platform, "os.name": world.name, "sys.version_info": world.version,
        "platform.system()": world.system, "sys.version_info.major": world.version[0],
        "sys.version_info.minor": world.version[1]}
    if name not in known:
        raise _UnknownError
    return known[name]
