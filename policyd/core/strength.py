"""Whether one claim is no weaker than another one that it takes the place of."""

from __future__ import annotations

import re
from functools import lru_cache

from policyd.core.sheet import Assertion, Kind

RANK = {**{kind: rank for rank, kind in enumerate(Kind)},
        Kind.CALLED: list(Kind).index(Kind.RAISES)}
COMMON = frozenset({
    "and", "assert", "data", "dict", "equal", "expect", "false", "get", "in", "int", "is", "len",
    "list", "none", "not", "of", "or", "raises", "result", "self", "set", "sorted", "str", "this",
    "to", "true", "tuple", "value"})
"""Words that say nothing of what a claim is about."""
LITERAL = re.compile(r"""[A-Za-z]?"(?:\\.|[^"\\])*"|[A-Za-z]?'(?:\\.|[^'\\])*'|\$\d+|\b_\d+\b|"""
                     r"""\.\.\.|\b(?:True|False|None|true|false|null|undefined)\b|"""
                     r"""(?<![\w.])-?\d[\w.]*""")

_DISPLAY = re.compile(r"[\[{][#,:*\s]*[\]}]")
_BROAD = frozenset({"*", "Exception", "BaseException", "Error", "Throwable", "object",
                    "LookupError", "ArithmeticError", "OSError"})
_WHOLE = (Kind.EQUAL, Kind.CLOSE)
_PART = re.compile(r"\)*[#\[]|\)*\.(at|first|last|slice|substr|substring|pop)\(")
_LOSING_CALL = re.compile(r"(?<![\w.])(len|set|frozenset|sorted|round|sum|min|max|abs|bool|any|all|"
                          r"hash|Object\.keys|Math\.\w+|Set|Boolean)\(")
_LOSING_END = re.compile(r"\.(keys|lower|upper|casefold|l?strip|rstrip|toLowerCase|toUpperCase|"
                         r"trim|toFixed|sort)\(|\.(length|size)\b")
_EMPTY = re.compile(r"""(?<=[(\[,\s=])(\[\]|\{\}|\(\)|""|''|None|null|undefined)""")
_NOTHING = frozenset({'""', "''", "None", "null", "undefined"})
_CALLED = re.compile(r"(?<![\w$])((?:[\w$]+\.)*[a-z_$][\w$]*)\(")
_NUMBER = re.compile(r"-?\d[\d_]*(\.\d+)?(e-?\d+)?")


def holds(was: Assertion, now: Assertion) -> bool:
    """Whether a claim is no weaker, as far as its kind and what is in it tell."""
    if RANK[now.kind] > RANK[was.kind] or is_broader(was, now) or is_guarded(was, now):
        return False
    if was.kind is now.kind is Kind.CLOSE and was.tolerance is not None and (
            now.tolerance is None or now.tolerance > was.tolerance):
        return False
    return not (is_looser(was, now) or is_part(was, now) or _is_emptied(was, now)
                or _is_own_answer(was, now))


def is_guarded(was: Assertion, now: Assertion) -> bool:
    """Whether a claim is made only under a condition, and was made without one."""
    return now.form.startswith("if ") and not was.form.startswith("if ")


def is_broader(was: Assertion, now: Assertion) -> bool:
    """Whether more errors pass. What is no wider name takes the place of another one."""
    if not was.types or now.kind is Kind.NOTHING or not (
            now.types or now.kind is Kind.RAISES):
        return False
    new = set(now.types) - set(was.types)
    return not now.types or bool(new & _BROAD) or len(now.types) > len(was.types)


def is_looser(was: Assertion, now: Assertion) -> bool:
    """Whether a bound, if it is known, is further off, on another side, or not known any more."""
    if not (was.kind is now.kind is Kind.ORDER):
        return False
    (sign, _), (new, _) = _held_against(was), _held_against(now)
    limit, bound = _number(was.answer), _number(now.answer)
    if sign[:1] not in ("<", ">") or not new or limit is None:
        return False
    if bound is None or new[0] != sign[0]:
        return True
    return bound > limit if new[0] == "<" else bound < limit


def is_part(was: Assertion, now: Assertion) -> bool:
    """Whether less of the same value is held against something: an item, its length, no case.

    An item that has to be what the whole was is no less: a result that comes in a list now.
    """
    if was.kind not in _WHOLE or now.kind not in _WHOLE:
        return False
    inner, outer = broad(was.subject), broad(now.subject)
    before, found, behind = outer.partition(inner) if inner.strip("#") else ("", "", "")
    if not found or inner == outer:
        return False
    same = was.answer == now.answer and _held_against(was) == _held_against(now)
    return (_PART.match(behind) is not None and not same) or (
        _LOSING_CALL.search(before) is not None or _LOSING_END.search(behind) is not None)


def items(answer: str) -> int:
    """How many items a list, or what is like one, has at its top; 1 of all else."""
    if answer[:1] not in ("[", "{", "("):
        return 1
    depth, count = 0, 1
    for sign in LITERAL.sub("#", answer):
        depth += (sign in "[{(") - (sign in "]})")
        count += sign == "," and depth == 1
    return count


@lru_cache(maxsize=4096)
def broad(subject: str) -> str:
    """A subject without the values in it: `total([1, 2])` and `total($0)` are `total(#)`."""
    text = LITERAL.sub("#", subject)
    while (shorter := _DISPLAY.sub("#", text)) != text:
        text = shorter
    return text


def _is_emptied(was: Assertion, now: Assertion) -> bool:
    """Whether something was given, and nothing is: `total([])`."""
    return (_is_telling(was.subject) and not _is_telling(now.subject)
            and _EMPTY.search(now.subject) is not None)


def _is_telling(subject: str) -> bool:
    return any(found[0] not in _NOTHING for found in LITERAL.finditer(subject))


def _is_own_answer(was: Assertion, now: Assertion) -> bool:
    """Whether what was written down is computed by what is tested."""
    if was.kind not in _WHOLE or was.against != "literal" or now.against not in ("call", "name"):
        return False
    _, other = _held_against(now)
    names = set(_CALLED.findall(now.subject)) - COMMON
    return bool(names) and all(f"{name}(" in other for name in names)


def _held_against(claim: Assertion) -> tuple[str, str]:
    """The sign and what stands behind it; empty where the form does not begin with the subject."""
    if not claim.subject or not claim.form.startswith(claim.subject):
        return "", ""
    sign, _, other = claim.form.removeprefix(claim.subject).strip().partition(" ")
    return sign, other


def _number(text: str) -> float | None:
    return float(text.replace("_", "")) if _NUMBER.fullmatch(text) else None
