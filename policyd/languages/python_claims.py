"""What a condition claims that a test asserts, in one normal form."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from policyd.core.sheet import Kind
from policyd.languages.python_dotted import last_name
from policyd.languages.python_guards import is_nothing
from policyd.languages.python_spelling import finished, operator, spelled
from policyd.languages.python_worth import CONSTANT, STORED, Names, Worth, truth

_MOST = 200
"""Claims of one condition."""

_NEGATED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}
_TURNED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}

_COUNTS = frozenset(["called", "call_count", "call_args", "call_args_list", "mock_calls",
                     "method_calls", "awaited", "await_count", "await_args", "await_args_list"])
_PARTS = frozenset(["startswith", "endswith", "match", "search", "fullmatch", "findall", "hasattr",
                    "issubset", "issuperset", "isdisjoint", "any", "contains", "has_calls"])
_CLOSE: Mapping[str, tuple[str, ...]] = {
    "isclose": ("rel_tol", "abs_tol", "rtol", "atol"), "allclose": ("rtol", "atol")}
_USUAL: Mapping[str, float] = {"isclose": 1e-9, "allclose": 1e-5}
_ARRAYS = frozenset(["array_equal", "array_equiv", "equals", "identical", "samefile", "cmp"])
_HAS_PARTS = re.compile(r"[.(\[]")
"""What is called or looked up again may be another one by then."""
_MAKES = re.compile(r"(\b[A-Z]\w*|\bhash|\bnext|\biter)\(")
_WHOLE = frozenset(["all", "bool"])


class Claim(NamedTuple):
    """An assertion that does not know its line yet; `tested` and `wanted` as they are written."""

    kind: Kind
    form: str
    subject: str = ""
    against: str = ""
    answer: str = ""
    tolerance: float | None = None
    types: tuple[str, ...] = ()
    tested: ast.expr | None = None
    wanted: ast.expr | None = None


NEVER: Final = Claim(Kind.TRUTH, "never")
"""That a place is not reached: `assert False`, `pytest.fail()`."""


def claims(test: ast.expr, names: Names, *, holds: bool = True) -> Iterator[Claim]:
    """What it claims that a condition holds, or that it does not: `and` claims two things."""
    stack = [(test, holds)]
    for _ in range(_MOST):
        if not stack:
            break
        node, holds = stack.pop()
        if isinstance(node, ast.Compare) and (holds or len(node.ops) == 1):
            yield from _compared(node, names, holds)
            continue
        match node:
            case ast.NamedExpr(value=value) | ast.Call(
                    func=ast.Name(id="bool"), args=[value], keywords=[]):
                stack.append((value, holds))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                stack.append((operand, not holds))
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) is holds:
                stack += [(value, holds) for value in reversed(values)]
            case _:
                yield _single(node, names, holds)


def _compared(node: ast.Compare, names: Names, holds: bool) -> Iterator[Claim]:
    left = node.left
    for op, right in zip(node.ops, node.comparators, strict=True):
        kind = type(op) if holds else _NEGATED[type(op)]
        yield from compared(left, kind, right, names)
        left = right


def compared(
    left: ast.expr, kind: type[ast.cmpop], right: ast.expr, names: Names
) -> Iterator[Claim]:
    """`(a == b) is True` claims `a == b`."""
    for one, other in ((left, right), (right, left)):
        is_told = isinstance(other, ast.Constant) and type(other.value) is bool
        if is_told and isinstance(one, ast.Compare | ast.BoolOp | ast.UnaryOp) and kind in (
                ast.Is, ast.Eq, ast.IsNot, ast.NotEq):
            told = truth(other) is (kind in (ast.Is, ast.Eq))
            yield from claims(one, names, holds=told)
            return
    yield _comparison(left, kind, right, names)


def _comparison(
    left: ast.expr, kind: type[ast.cmpop], right: ast.expr, names: Names
) -> Claim:
    first, second = names.worth(left), names.worth(right)
    if first.weight == second.weight == CONSTANT:
        first, second = first.as_tested(), second.as_tested()
    if _is_vacuous(first, kind, second) or (
            kind in (ast.Eq, ast.Is) and first.text == second.text and _is_same(left, right)):
        return Claim(Kind.NOTHING, finished(f"{first.text} {operator(kind)} {second.text}"))
    if kind in (ast.In, ast.NotIn):
        return _membership(first, kind, second)
    if _comes_second(first, second):
        first, second, kind = second, first, _TURNED.get(kind, kind)
    if kind in (ast.Eq, ast.Is):
        return _equality(first, kind, second, names)
    if kind in (ast.NotEq, ast.IsNot):
        is_none = second.answer == "None"
        sign = "is not" if is_none else operator(kind)
        return _claim(Kind.TRUTH if is_none else Kind.ORDER, first, sign, second)
    if kind in (ast.Lt, ast.LtE) and (close := _distance(first, second, names)) is not None:
        return close
    return _claim(Kind.ORDER, first, operator(kind), second)


def _is_vacuous(first: Worth, kind: type[ast.cmpop], second: Worth) -> bool:
    """What holds, or not, whatever the code does."""
    if first.weight == second.weight == CONSTANT or _is_any(first) or _is_any(second):
        return True
    is_length = first.text.startswith("len(") or first.text.endswith(".call_count")
    if is_length and second.answer == "0" and kind is ast.GtE:
        return True
    return kind in (ast.Eq, ast.Is) and first.text == second.text and not _HAS_PARTS.search(
        first.text)


def _is_any(worth: Worth) -> bool:
    return worth.text == "ANY" or worth.text.endswith("mock.ANY")


def _is_same(one: ast.expr, other: ast.expr) -> bool:
    """Whether both are written alike. Two objects made alike, or hashed, may still differ."""
    written = spelled(one)
    return written == spelled(other) and not _MAKES.search(written)


def _comes_second(first: Worth, second: Worth) -> bool:
    """Whether the sides have to change places for the tested one to come first."""
    if first.weight != second.weight:
        return first.weight < second.weight
    return finished(second.text) < finished(first.text)


def _claim(kind: Kind, first: Worth, sign: str, second: Worth, tolerance: float | None = None,
           *, about: str = "") -> Claim:
    form = finished(f"{first.text} {sign} {second.text}")
    return Claim(kind, form, finished(about or first.text), second.against, second.answer,
                 tolerance, (), first.node, second.node)


def _equality(first: Worth, kind: type[ast.cmpop], second: Worth, names: Names) -> Claim:
    node = first.node
    if isinstance(second.node, ast.Call) and last_name(second.node.func) == "approx":
        return approximately(first, second.node, names)
    if isinstance(node, ast.Call) and last_name(node.func) == "approx":
        return approximately(second, node, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        about = names.spelled(node.args[0])
        if node.func.id == "len":
            return _claim(Kind.MEMBER, first, "==", second, about=about)
        if node.func.id == "type":
            return _claim(Kind.TRUTH, first, "is", second, about=about)
        if node.func.id == "round":
            digits = names.number(node.args[1]) if len(node.args) > 1 else 0.0
            apart = None if digits is None else 0.5 * 10 ** -min(digits, 300)
            return _claim(Kind.CLOSE, first, "~", second, apart, about=about)
    if isinstance(node, ast.Attribute) and node.attr in _COUNTS:
        return _claim(Kind.CALLED, first, "==", second)
    is_none = second.answer == "None"
    sign = "is" if is_none or (kind is ast.Is and second.weight > CONSTANT) else "=="
    return _claim(Kind.EQUAL, first, sign, second)


def approximately(first: Worth, call: ast.Call, names: Names) -> Claim:
    """`pytest.approx(expected, rel=, abs=)`: a millionth unless it says more."""
    given = dict(zip(("", "rel", "abs"), call.args, strict=False))
    given |= {keyword.arg or "": keyword.value for keyword in call.keywords}
    bounds = [given[name] for name in ("rel", "abs") if name in given]
    bounds = [node for node in bounds if not _is_none(node)]
    expected = given.get("expected") or given.get("")
    second = names.worth(expected) if expected is not None else names.worth(call)
    return _claim(Kind.CLOSE, first, "~", second, widest(bounds, names, 1e-6))


def widest(bounds: list[ast.expr], names: Names, usual: float) -> float | None:
    """The largest of them; nothing where one is not known."""
    known = [names.number(node) for node in bounds]
    sizes = [size for size in known if size is not None and size == size]
    return None if len(sizes) < len(known) else max(sizes, default=usual)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _distance(first: Worth, second: Worth, names: Names) -> Claim | None:
    """`abs(a - b) < 0.1`."""
    match first.node:
        case ast.Call(func=ast.Name(id="abs") | ast.Attribute(attr="abs" | "norm" | "fabs"), args=[
                ast.BinOp(op=ast.Sub(), left=left, right=right), *_]):
            tested, wanted = names.worth(left), names.worth(right)
            if _comes_second(tested, wanted):
                tested, wanted = wanted, tested
            apart = names.number(second.node) if second.node is not None else None
            return _claim(Kind.CLOSE, tested, "~", wanted, apart)
    return None


def _membership(item: Worth, kind: type[ast.cmpop], holder: Worth) -> Claim:
    """What is tested is what is worked out: the holder, or else the item."""
    form = finished(f"{item.text} {operator(kind)} {holder.text}")
    first, second = (item, holder) if holder.weight < item.weight else (holder, item)
    strength = Kind.MEMBER if kind is ast.In else Kind.ORDER
    return Claim(strength, form, finished(first.text), second.against, second.answer,
                 None, (), first.node, second.node)


def _single(node: ast.expr, names: Names, holds: bool) -> Claim:
    """Of a value alone, that it is true, or that it is not."""
    sure = truth(node)
    if sure is None and isinstance(node, ast.Name):
        sure = (names.held(node.id) or Worth("", 0, "")).truth
    if sure is not None:
        return NEVER if sure is not holds else Claim(Kind.NOTHING, str(holds))
    worth = names.worth(node)
    if worth.shared:
        worth = worth.as_tested()
    subject = finished(worth.text)
    if isinstance(node, ast.BoolOp):
        return _either(node, subject, holds)
    form = subject if holds else finished(f"not {worth.text}")
    seen = worth.node if isinstance(node, ast.Name) and worth.node is not None else node
    if isinstance(seen, ast.Call) and (found := _called(seen, form, names, holds)) is not None:
        return found
    if isinstance(seen, ast.Attribute) and seen.attr in _COUNTS:
        return Claim(Kind.CALLED, form, subject)
    return Claim(Kind.TRUTH, form, subject)


def _either(node: ast.BoolOp, form: str, holds: bool) -> Claim:
    """One of several: it cannot fail where one of them cannot."""
    decides = any(truth(value) is holds for value in node.values)
    if decides:
        return Claim(Kind.NOTHING, form)
    ordered = all(isinstance(value, ast.Compare) for value in node.values)
    sign = "" if holds else "not "
    return Claim(Kind.ORDER if ordered else Kind.TRUTH, finished(sign + form), form)


def _called(node: ast.Call, form: str, names: Names, holds: bool) -> Claim | None:
    """Calls that say by their name what they compare."""
    name = last_name(node.func)
    args = [*([node.func.value] if name in ("equals", "identical") and isinstance(
        node.func, ast.Attribute) else []), *node.args]
    if holds and name in _CLOSE and len(args) > 1:
        bounds = [one.value for one in node.keywords if one.arg in _CLOSE[name]] + args[2:]
        apart = widest(bounds, names, _USUAL[name])
        return pair(Kind.CLOSE, args[0], "~", args[1], names, apart)
    if holds and name in _ARRAYS and len(args) > 1:
        return pair(Kind.EQUAL, args[0], "==", args[1], names)
    if holds and name in _WHOLE and isinstance(node.func, ast.Name) and len(args) == 1:
        return _all(args[0], form, names)
    if holds and name == "all" and isinstance(node.func, ast.Attribute) and isinstance(
            node.func.value, ast.Compare):
        return next(_compared(node.func.value, names, holds=True))
    if name in _PARTS and args:
        about, part = _parted(node)
        answer = names.answer(part)
        return Claim(Kind.MEMBER, form, finished(names.spelled(about)),
                     "literal" if answer else "", answer)
    if name == "isinstance" and len(args) == 2:
        is_told = not (_is_anything(args[1]) and holds)
        subject = finished(names.spelled(args[0]))
        return Claim(Kind.TRUTH if is_told else Kind.NOTHING, form, subject)
    return None


def _parted(node: ast.Call) -> tuple[ast.expr, ast.expr]:
    """What is looked into, and what for: of a text, `re.match(what, text)` or an object."""
    if isinstance(node.func, ast.Name):
        return node.args[0], node.args[-1]
    receiver = getattr(node.func, "value", node.func)
    if len(node.args) > 1 and isinstance(receiver, ast.Name):
        return node.args[1], node.args[0]
    return receiver, node.args[0]


def _is_anything(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "object"


def _all(node: ast.expr, form: str, names: Names) -> Claim | None:
    """`all(x == 7 for x in found)` claims of each what it says of one."""
    if not isinstance(node, ast.GeneratorExp | ast.ListComp):
        return None
    if is_nothing(node, names):
        return Claim(Kind.NOTHING, form)
    inner = next(claims(node.elt, names), None)
    return inner._replace(form=form, subject=form) if inner is not None else None


def pair(kind: Kind, left: ast.expr, sign: str, right: ast.expr, names: Names,
          apart: float | None = None) -> Claim:
    first, second = names.worth(left), names.worth(right)
    if first.weight == second.weight == CONSTANT or (first.text == second.text
                                                     and first.weight < STORED + 2):
        return Claim(Kind.NOTHING, finished(f"{first.text} {sign} {second.text}"))
    if _comes_second(first, second):
        first, second = second, first
    return _claim(kind, first, sign, second, apart)
