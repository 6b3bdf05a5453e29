"""One spelling for expressions that say the same: no layout, quotes or names of locals."""

from __future__ import annotations

import ast
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from policyd.languages.literal import bounded, number_form
from policyd.languages.python_constants import form_of_text
from policyd.languages.python_dotted import ascii_name

_LONGEST: Final = 1 << 16
"""Characters of one spelling; of what is longer, the rest is left out."""
_HELD: Final = 2048
"""Characters of a spelling that may become part of another one."""

_LOCAL = re.compile("\x01([^\x02]*)\x02")
_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.MatMult: "@", ast.Div: "/", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^",
    ast.BitAnd: "&", ast.FloorDiv: "//", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=",
    ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in",
    ast.NotIn: "not in", ast.And: "and", ast.Or: "or", ast.Not: "not ", ast.USub: "-",
    ast.UAdd: "+", ast.Invert: "~",
}

_IN_BRACKETS: Final = (ast.Compare, ast.BinOp, ast.BoolOp, ast.IfExp)

Pieces = list[Any]
"""Texts, and nodes that are still to be spelled."""


class Texts(dict[str, str]):
    """How names are spelled; those that are not told of stand for themselves."""

    def __missing__(self, name: str) -> str:
        return ascii_name(name)


_NONE: Final = Texts()


def local(name: str) -> str:
    """How a name is spelled that is nobody else's business; `finished` numbers them."""
    return f"\x01{name}\x02"


def spelled(node: ast.AST, names: Texts = _NONE) -> str:
    """The expression, with the names in it replaced.

    A stack, not recursion: what is pushed may be as deep as its author likes.
    """
    done: list[str] = []
    size = 0
    stack: Pieces = [node]
    while stack:
        item = stack.pop()
        kind = item.__class__
        if kind is str:
            done.append(item)
            size += len(item)
            if size > _LONGEST:
                done.append("...")
                break
        elif kind is ast.Name:
            stack.append(names[item.id])
        elif kind is ast.Constant:
            stack.append(constant_form(item.value))
        elif kind is ast.Attribute:
            stack += ("." + ascii_name(item.attr), item.value)
        else:
            pieces = _SPELLERS.get(kind, _other)(item)
            pieces.reverse()
            stack += pieces
    return "".join(done)


def told(node: ast.AST, names: Texts = _NONE) -> str:
    """An expression to be read by people: finished, without brackets around all of it."""
    text = finished(spelled(node, names))
    return text[1:-1] if isinstance(node, _IN_BRACKETS) and text.endswith(")") else text


def finished(text: str) -> str:
    """Locals by number in order of appearance, ASCII, and bounded."""
    if "\x01" in text:
        numbers: dict[str, int] = {}
        text = _LOCAL.sub(
            lambda found: f"${numbers.setdefault(found[1], len(numbers))}", text)
    return bounded(text)


def held(text: str) -> str:
    """What may become a part of further spellings; long text is shortened."""
    if len(text) <= _HELD:
        return text
    return f"{finished(text)[:64]}... ({len(text)} characters, {zlib.crc32(text.encode()):08x})"


def constant_form(value: object) -> str:
    """As `Literal.value`; complex numbers and `...` as Python has them."""
    if isinstance(value, str | bytes):
        return form_of_text(value)
    if (type(value) is int or type(value) is float) and value - value == 0:
        return number_form(value)
    return repr(value)


def operator(kind: type[ast.AST]) -> str:
    return _OPERATORS[kind]


def _listed(items: Sequence[Any], between: str = ", ") -> Pieces:
    pieces: Pieces = []
    for item in items:
        pieces += (item, between)
    return pieces[:-1]


def _call(node: ast.Call) -> Pieces:
    if not node.keywords:
        if len(node.args) == 1:
            return [node.func, "(", node.args[0], ")"]
        return [node.func, "(", *_listed(node.args), ")"]
    named = sorted(node.keywords, key=lambda one: one.arg or "~")
    return [node.func, "(", *_listed([*node.args, *named]), ")"]


def _keyword(node: ast.keyword) -> Pieces:
    return [ascii_name(node.arg) + "=" if node.arg else "**", node.value]


def _row(node: ast.List | ast.Tuple) -> Pieces:
    return ["[", *_listed(node.elts), "]"]


def _set(node: ast.Set) -> Pieces:
    return ["{", *_listed(sorted(node.elts, key=_order)), "}"]


def _dict(node: ast.Dict) -> Pieces:
    pairs = sorted(zip(node.keys, node.values, strict=True), key=lambda pair: _order(pair[0]))
    pieces = [[key, ": ", value] if key is not None else ["**", value] for key, value in pairs]
    return ["{", *(piece for pair in _listed(pieces, "\0") for piece in _comma(pair)), "}"]


def _comma(pair: Any) -> Pieces:
    return [", "] if pair == "\0" else pair


def _order(node: ast.AST | None) -> str:
    """Constants by their form; the rest behind, in its own order."""
    return constant_form(node.value) if isinstance(node, ast.Constant) else "~"


def _binary(node: ast.BinOp) -> Pieces:
    return ["(", node.left, f" {_OPERATORS[type(node.op)]} ", node.right, ")"]


def _unary(node: ast.UnaryOp) -> Pieces:
    return [_OPERATORS[type(node.op)], node.operand]


def _bool(node: ast.BoolOp) -> Pieces:
    return ["(", *_listed(node.values, f" {_OPERATORS[type(node.op)]} "), ")"]


def _compare(node: ast.Compare) -> Pieces:
    pieces: Pieces = ["(", node.left]
    for op, right in zip(node.ops, node.comparators, strict=True):
        pieces += (f" {_OPERATORS[type(op)]} ", right)
    return [*pieces, ")"]


def _subscript(node: ast.Subscript) -> Pieces:
    return [node.value, "[", node.slice, "]"]


def _slice(node: ast.Slice) -> Pieces:
    return [node.lower or "", ":", node.upper or "", *((":", node.step) if node.step else ())]


def _condition(node: ast.IfExp) -> Pieces:
    return ["(", node.body, " if ", node.test, " else ", node.orelse, ")"]


def _lambda(node: ast.Lambda) -> Pieces:
    return ["(lambda ", node.args, ": ", node.body, ")"]


def _arguments(node: ast.arguments) -> Pieces:
    args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
    stars = [one for one in (node.vararg, node.kwarg) if one is not None]
    given = [one for one in (*node.defaults, *node.kw_defaults) if one is not None]
    return _listed([*(ast.Name(one.arg) for one in (*args, *stars)), *given])


def _comprehension(node: ast.comprehension) -> Pieces:
    ifs = [piece for test in node.ifs for piece in (" if ", test)]
    return [" for ", node.target, " in ", node.iter, *ifs]


def _made(node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Pieces:
    start, end = "{}" if isinstance(node, ast.SetComp) else "[]"
    return [start, node.elt, *node.generators, end]


def _mapped(node: ast.DictComp) -> Pieces:
    return ["{", node.key, ": ", node.value, *node.generators, "}"]


def _text(node: ast.JoinedStr) -> Pieces:
    return ["f(", *_listed(node.values), ")"]


def _field(node: ast.FormattedValue) -> Pieces:
    spec = [":", node.format_spec] if node.format_spec is not None else []
    turned = [f"!{chr(node.conversion)}"] if node.conversion > 0 else []
    return [node.value, *turned, *spec]


def _awaited(node: ast.Await) -> Pieces:
    """Waiting for a value changes nothing about what it should be."""
    return [node.value]


def _yielded(node: ast.Yield | ast.YieldFrom) -> Pieces:
    return ["(yield ", node.value or "", ")"]


def _named(node: ast.NamedExpr) -> Pieces:
    return [node.value]


def _starred(node: ast.Starred) -> Pieces:
    return ["*", node.value]


def _statement(node: ast.Expr) -> Pieces:
    return [node.value]


def _assign(node: ast.Assign) -> Pieces:
    return [*_listed(node.targets, " = "), " = ", node.value]


def _other(node: Any) -> Pieces:
    """Whatever is rare, by its kind and its fields."""
    pieces: Pieces = [type(node).__name__]
    for name in getattr(node, "_fields", ()):
        child = getattr(node, name, None)
        items = child if isinstance(child, list) else [child]
        for item in items:
            if isinstance(item, ast.AST) and not isinstance(item, ast.expr_context):
                pieces += (" ", item)
            elif isinstance(item, str | int):
                pieces += (" ", ascii(item))
    return pieces


_SPELLERS: Mapping[type, Callable[[Any], Pieces]] = {
    ast.Call: _call, ast.keyword: _keyword, ast.List: _row,
    ast.Tuple: _row, ast.Set: _set, ast.Dict: _dict, ast.BinOp: _binary, ast.UnaryOp: _unary,
    ast.BoolOp: _bool, ast.Compare: _compare, ast.Subscript: _subscript, ast.Slice: _slice,
    ast.IfExp: _condition, ast.Lambda: _lambda, ast.arguments: _arguments,
    ast.comprehension: _comprehension, ast.ListComp: _made, ast.SetComp: _made,
    ast.GeneratorExp: _made, ast.DictComp: _mapped, ast.JoinedStr: _text,
    ast.FormattedValue: _field, ast.Await: _awaited, ast.Yield: _yielded,
    ast.YieldFrom: _yielded, ast.NamedExpr: _named, ast.Starred: _starred, ast.Expr: _statement,
    ast.Assign: _assign,
}
