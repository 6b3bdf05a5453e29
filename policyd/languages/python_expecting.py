"""What calls claim that assert something by themselves: unittest, numpy, mocks, `raises`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from policyd.core.sheet import Kind
from policyd.languages.python_claims import NEVER, Claim, claims, compared, pair, widest
from policyd.languages.python_dotted import Dotted, last_name
from policyd.languages.python_spelling import finished
from policyd.languages.python_worth import Names

_NONE: Final = ast.Constant(None, lineno=0, col_offset=0)

_COMPARING: Mapping[str, type[ast.cmpop]] = {
    "assertequal": ast.Eq, "assertequals": ast.Eq, "assertlistequal": ast.Eq,
    "assertdictequal": ast.Eq, "assertsetequal": ast.Eq, "asserttupleequal": ast.Eq,
    "assertsequenceequal": ast.Eq, "assertmultilineequal": ast.Eq, "assertcountequal": ast.Eq,
    "assertitemsequal": ast.Eq, "assertarrayequal": ast.Eq, "assertstringequal": ast.Eq,
    "assertnotequal": ast.NotEq, "assertnotequals": ast.NotEq, "assertis": ast.Is,
    "assertisnot": ast.IsNot, "assertin": ast.In, "assertnotin": ast.NotIn, "assertless": ast.Lt,
    "assertlessequal": ast.LtE, "assertgreater": ast.Gt, "assertgreaterequal": ast.GtE,
    "assertarrayless": ast.Lt, "eq": ast.Eq,
}
_TRUE = {"asserttrue": True, "assert": True, "failunless": True, "ok": True, "assertfalse": False,
         "failif": False}
_CLOSE: Mapping[str, tuple[tuple[str, ...], float]] = {
    "assertalmostequal": (("places", "", "delta", "decimal"), 5e-8),
    "assertalmostequals": (("places", "", "delta", "decimal"), 5e-8),
    "assertarrayalmostequal": (("decimal",), 1.5e-6),
    "assertarrayalmostequalnulp": (("nulp",), 1e-15),
    "assertapproxequal": (("significant",), 1e-7),
    "assertallclose": (("rtol", "atol"), 1e-7),
    "assertclose": (("rtol", "atol"), 1e-5),
}
_FRAMES = frozenset(["assertframeequal", "assertseriesequal", "assertindexequal"])
_DIGITS = frozenset(["places", "decimal", "significant"])
_LINES: Mapping[str, Kind] = {
    "fnmatch_lines": Kind.MEMBER, "re_match_lines": Kind.MEMBER, "no_fnmatch_line": Kind.ORDER,
    "fnmatch_lines_random": Kind.MEMBER, "no_re_match_line": Kind.ORDER,
    "re_match_lines_random": Kind.MEMBER,
}
_FLUENT = frozenset(["expect", "assert_that", "assertThat"])

RAISING: Mapping[str, str] = {
    "raises": "raises", "assertRaises": "raises", "assertRaisesRegex": "raises",
    "assertRaisesRegexp": "raises", "assert_raises": "raises", "assert_raises_regex": "raises",
    "RaisesGroup": "raises", "assertRaisesMessage": "raises", "warns": "warns",
    "assertWarns": "warns", "assertWarnsRegex": "warns", "assertWarnsMessage": "warns",
    "assert_warns": "warns", "deprecated_call": "warns", "assertLogs": "logs",
    "assertNoLogs": "no logs", "assert_no_warnings": "no warnings",
}
_MATCHING = frozenset(["assertRaisesRegex", "assertRaisesRegexp", "assert_raises_regex",
                       "assertWarnsRegex", "assertRaisesMessage", "assertWarnsMessage"])
_ANY_TEXT = frozenset(['""', '".*"', '"."', '".+"', '"^"', '"$"', '"^.*$"', '"(.*)"', '".*?"'])
_MOST_TYPES = 50
_ANY_ERROR = frozenset(["Exception", "BaseException"])
FAILING = frozenset(["pytest.fail", "self.fail", "unittest.fail"])
_ATTACHED = frozenset(["check", "verify", "match"])
_FIRST = "aAfFeEoO"
"""What the names of asserting calls start with: assert, fail, eq_, ok_."""


def expected(call: ast.Call, names: Names, dotted: Dotted) -> Iterator[Claim]:
    """What a call in some statement claims; nothing where it is a call like any other."""
    name = last_name(call.func)
    if name[:1] not in _FIRST and name not in RAISING and name not in _LINES:
        if isinstance(call.func, ast.Attribute):
            yield from _attached(call, call.func, names)
        return
    plain = name.replace("_", "").lower()
    if name in RAISING:
        yield from _raising_call(call, names, name)
    elif name in _LINES:
        yield _lines(call, names, _LINES[name])
    elif plain.startswith(("assert", "fail")) or plain in ("eq", "ok"):
        yield from _asserting(call, names, dotted, name, plain)
    elif isinstance(call.func, ast.Attribute):
        yield from _attached(call, call.func, names)


def _asserting(
    call: ast.Call, names: Names, dotted: Dotted, name: str, plain: str
) -> Iterator[Claim]:
    args = _args(call)
    if plain == "fail":
        if dotted.of(call.func) in FAILING:
            yield NEVER
    elif plain in _COMPARING and len(args) > 1:
        yield from compared(args[0], _COMPARING[plain], args[1], names)
    elif plain in _TRUE and args:
        yield from claims(args[0], names, holds=_TRUE[plain])
    elif plain in ("assertisnone", "assertisnotnone") and args:
        kind = ast.IsNot if "not" in plain else ast.Is
        yield from compared(args[0], kind, _NONE, names)
    elif plain in _CLOSE and len(args) > 1:
        bounds, usual = _CLOSE[plain]
        yield pair(Kind.CLOSE, args[0], "~", args[1], names, _apart(call, bounds, usual, names))
    elif plain in _FRAMES and len(args) > 1:
        yield _frames(call, args, names)
    elif plain.startswith("assert"):
        yield _named(call, args, names, name, plain)


def _named(call: ast.Call, args: Sequence[ast.expr], names: Names, name: str, plain: str) -> Claim:
    """What is only known by what it is called."""
    form = finished(names.spelled(call))
    called = "called" in plain or "awaited" in plain or "anycall" in plain or "hascalls" in plain
    if isinstance(call.func, ast.Attribute) and called:
        return Claim(Kind.CALLED, form, finished(names.spelled(call.func.value)))
    if plain == "assertmatch" or "snapshot" in plain:
        return _recorded(args, names, form)
    if not args:
        return Claim(Kind.TRUTH, form, form)
    subject = finished(names.spelled(args[0]))
    if plain.startswith(("assertisinstance", "assertnotisinstance")) and len(args) > 1:
        no = "not " if "not" in plain else ""
        said = f"{no}isinstance({names.spelled(args[0])}, {names.spelled(args[1])})"
        return Claim(Kind.TRUTH, finished(said), subject)
    if plain in ("assertregex", "assertregexpmatches", "assertstartswith", "assertendswith",
                 "assertcontains", "assertdictcontainssubset", "assertnotregex"):
        answer = names.answer(args[1]) if len(args) > 1 else ""
        kind = Kind.ORDER if "not" in plain else Kind.MEMBER
        return Claim(kind, form, subject, "literal" if answer else "", answer)
    if "equal" in plain and len(args) > 1 and name != "assert_that":
        if "not" in plain:
            return pair(Kind.ORDER, args[0], "!=", args[1], names)
        return pair(Kind.EQUAL, args[0], "==", args[1], names)
    if name == "assert_that" and len(args) > 1 and isinstance(args[1], ast.Call) and args[1].args:
        kind = Kind.EQUAL if last_name(args[1].func) in ("equal_to", "is_") else Kind.TRUTH
        return pair(kind, args[0], "==", args[1].args[0], names)
    return Claim(Kind.TRUTH, form, subject)


def _attached(call: ast.Call, func: ast.Attribute, names: Names) -> Iterator[Claim]:
    """Checks of fixtures and of `expect(...)`, which are called as they like."""
    if func.attr not in _ATTACHED and not isinstance(func.value, ast.Call | ast.Attribute):
        return
    owner = last_name(func.value)
    if func.attr in ("check", "verify") and ("regression" in owner or "snapshot" in owner):
        yield _recorded(call.args, names, finished(names.spelled(call)))
        return
    if func.attr == "match" and "snapshot" in owner:
        yield _recorded(call.args, names, finished(names.spelled(call)))
        return
    made = func.value.value if isinstance(func.value, ast.Attribute) else func.value
    if isinstance(made, ast.Call) and last_name(made.func) in _FLUENT and made.args:
        if "equal" in func.attr and call.args and "not" not in func.attr:
            yield pair(Kind.EQUAL, made.args[0], "==", call.args[0], names)
        else:
            yield Claim(Kind.MEMBER if call.args else Kind.TRUTH, finished(names.spelled(call)),
                        finished(names.spelled(made.args[0])))


def _recorded(args: Sequence[ast.expr], names: Names, form: str) -> Claim:
    subject = finished(names.spelled(args[0])) if args else form
    return Claim(Kind.EQUAL, form, subject, "snapshot")


def _lines(call: ast.Call, names: Names, kind: Kind) -> Claim:
    form = finished(names.spelled(call))
    subject = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    answer = names.answer(call.args[0]) if call.args else ""
    return Claim(kind, form, finished(names.spelled(subject)), "literal" if answer else "", answer)


def _frames(call: ast.Call, args: Sequence[ast.expr], names: Names) -> Claim:
    bounds = [one.value for one in call.keywords if one.arg in ("rtol", "atol")]
    if not bounds:
        return pair(Kind.EQUAL, args[0], "==", args[1], names)
    return pair(Kind.CLOSE, args[0], "~", args[1], names, widest(bounds, names, 1e-5))


def _args(call: ast.Call) -> list[ast.expr]:
    """Positional ones, then `first=`, `second=` and the like."""
    named = [one.value for one in call.keywords
             if one.arg in ("first", "second", "expr", "actual", "desired", "member", "container")]
    return [*call.args, *named]


def _apart(call: ast.Call, bounds: Sequence[str], usual: float, names: Names) -> float | None:
    given = dict(zip(bounds, call.args[2:], strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg and one.arg in bounds}
    given = {name: node for name, node in given.items()
             if name and not (isinstance(node, ast.Constant) and node.value is None)}
    if not given:
        return usual
    sizes: list[float] = []
    for name, node in given.items():
        size = names.number(node)
        if size is None or size != size:
            return None
        sizes.append(0.5 * 10 ** -min(size, 300) if name in _DIGITS else size)
    return max(sizes)


def _raising_call(call: ast.Call, names: Names, name: str) -> Iterator[Claim]:
    """`assertRaises(ValueError, total, None)`; what is a `with` comes by another way."""
    first = 2 if name in _MATCHING else 1
    if len(call.args) > first and name not in ("deprecated_call", "RaisesGroup"):
        made = ast.Call(call.args[first], call.args[first + 1:],
                        [one for one in call.keywords if one.arg != "match"])
        yield raising(call, names.spelled(made), names)


def raising(call: ast.Call, body: str, names: Names) -> Claim:
    """That something in the body raises, warns or logs."""
    name = last_name(call.func)
    does = RAISING[name]
    kinds = "DeprecationWarning" if name == "deprecated_call" else ""
    types = tuple(_types(call.args[0], names)) if call.args else (kinds,) if kinds else ()
    given = [one.value for one in call.keywords
             if one.arg in ("match", "expected_regex", "expected_message")]
    given += call.args[1:2] if name in _MATCHING else []
    answer = names.answer(given[0]) if given else ""
    says = f"{does} {', '.join(types)}".rstrip()
    if not given or answer in _ANY_TEXT or _is_nothing(given[0]):
        return Claim(Kind.RAISES, finished(f"{says}: {body}"), finished(body), types=types)
    form = finished(f"{says} matching {names.spelled(given[0])}: {body}")
    return Claim(Kind.EQUAL, form, finished(body), "literal" if answer else "name", answer,
                 types=types, wanted=given[0])


def _is_nothing(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _types(node: ast.expr, names: Names) -> Iterator[str]:
    worth = names.held(node.id) if isinstance(node, ast.Name) else None
    if worth is not None and worth.node is not None:
        node = worth.node
    for one in node.elts[:_MOST_TYPES] if isinstance(node, ast.Tuple) else [node]:
        name = last_name(one) or finished(names.spelled(one))
        shown = names.texts[name]
        yield "*" if name in _ANY_ERROR else finished(shown)


def is_muting(call: ast.Call, names: Names) -> bool:
    """Whether assertions in its body are expected to fail."""
    if RAISING.get(last_name(call.func)) != "raises" or not call.args:
        return False
    return any(name in ("*", "AssertionError", "Failed") for name in _types(call.args[0], names))
