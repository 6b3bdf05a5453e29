"""Whether a follow-up run came to what is due; says what kind of difference there is, no value.

What is due would be a golden vector: a sentence names types, places, lengths and the bound only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple

from policyd.replay import wire

Number = Decimal | Fraction | float | int
"""What a tolerance is about. `bool` is none, whatever `isinstance` says."""

_NUMBERS: Final = frozenset({int, float, Decimal, Fraction})
_ORDERED: Final = frozenset({list, tuple})
_MANY: Final = frozenset({list, tuple, set, frozenset, dict})
_MOST_DIGITS: Final = 20_000
"""Of a Decimal: to make an integer of n digits takes n * n steps."""
_MOST_PLACES = 3

_Finding = tuple[str, ...]
"""Places, the outermost first, and then what is wrong there; empty where nothing is."""


def compare(how: str, expected: bytes, found: bytes, within: Number | None = None) -> str | None:
    """None where `found` is as `expected` wants it; else one ASCII sentence of at most 200.

    `how` is exact, map, bag, subset, tolerance or quota; any other is a ValueError. Both values
    are encoded (policyd.replay.wire), of at most wire.MAX_BYTES; what is no encoded value never
    holds. `within` is the largest difference of two numbers for tolerance and quota, finite and
    not negative. Takes seconds at most, whatever the bytes are.
    """
    if how in ("exact", "map"):
        return None if expected == found else _told(expected, found, _difference)
    if how == "bag":
        return _told(expected, found, _bag)
    if how == "subset":
        return _told(expected, found, _subset)
    if how not in ("tolerance", "quota"):
        raise ValueError(f"no comparison {how!r}")
    bound = _bound(within)
    if bound is None:
        return "there is no bound to be within"
    near = _Near(bound, f"{_subject(how)} by more than {_shown(within)}")
    return _told(expected, found, lambda due, got: _difference(due, got, near))


def _told(expected: bytes, found: bytes, look: Callable[[Any, Any], _Finding]) -> str | None:
    try:
        due = wire.decode(expected)
    except wire.Malformed:
        return "what is due is no value that can be read"
    try:
        got = wire.decode(found)
    except wire.Malformed:
        return "what came back is no value that can be read"
    *places, wrong = look(due, got) or [""]
    if not wrong:
        return None
    if len(places) > _MOST_PLACES:
        places = [*places[:_MOST_PLACES], "deeper"]
    if wrong == "differs":
        return f"{', '.join(places) or 'the value'} differs"
    return ": ".join([", ".join(places), wrong]) if places else wrong


def _difference(due: Any, got: Any, near: _Near | None = None) -> _Finding:
    """The first difference; numbers may be apart where there is something that they are near."""
    kind = type(due)
    if near is not None and kind in _NUMBERS and type(got) in _NUMBERS:
        return near.off(due, got)
    if kind is not type(got):
        return _other_type(due, got)
    if kind in _ORDERED:
        return _in_order(due, got, near)
    if kind is dict:
        return _by_key(due, got, near)
    return () if wire.encode(due) == wire.encode(got) else ("differs",)


def _in_order(due: Any, got: Any, near: _Near | None) -> _Finding:
    if len(due) != len(got):
        return (_lengths(due, got),)
    for at, (one, two) in enumerate(zip(due, got, strict=True), 1):
        if wrong := _difference(one, two, near):
            return (f"item {at} of {len(due)}", *wrong)
    return ()


def _by_key(due: dict[Any, Any], got: dict[Any, Any], near: _Near | None) -> _Finding:
    there = {wire.encode(key): value for key, value in got.items()}
    asked = {wire.encode(key): value for key, value in due.items()}
    if missing := len(asked.keys() - there.keys()):
        return (f"{missing} of {len(asked)} keys are missing",)
    if len(there) > len(asked):
        return (_lengths(due, got),)
    for key, one in asked.items():
        if wrong := _difference(one, there[key], near):
            return ("the value of a key", *wrong)
    return ()


def _bag(due: Any, got: Any) -> _Finding:
    if type(due) in (dict, set, frozenset) or type(due) is not type(got):
        return _difference(due, got)
    if type(due) not in _ORDERED:
        return (f"{_named(due)} is no list",)
    if len(due) != len(got):
        return (_lengths(due, got),)
    return _without(due, got)


def _subset(due: Any, got: Any) -> _Finding:
    if type(due) is not type(got):
        return _other_type(due, got)
    return _without(due, got) if type(due) in _MANY else (f"{_named(due)} is no list",)


def _without(due: Any, got: Any) -> _Finding:
    missing = sum((_counted(due) - _counted(got)).values())
    return (f"{missing} of {len(due)} items are missing",) if missing else ()


def _counted(many: Any) -> Counter[bytes]:
    items = many.items() if type(many) is dict else many
    return Counter(wire.encode(item) for item in items)


def _other_type(due: Any, got: Any) -> _Finding:
    return (f"{_named(got)} where {_named(due)} is due",)


def _lengths(due: Any, got: Any) -> str:
    return f"length {len(got)} where {len(due)} is due"


def _named(value: Any) -> str:
    """The type, where that does not give the value away."""
    name = type(value).__name__
    if value is None:
        return "a value of another type"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


class _Term(NamedTuple):
    """top / bottom * 10 ** ten; an exponent of a thousand million is never written out."""

    top: int
    bottom: int
    ten: int


class _Near(NamedTuple):
    """The largest difference that holds, and what to say of a larger one."""

    bound: _Term
    wrong: str

    def off(self, due: Number, got: Number) -> _Finding:
        if not (_is_number(due) and _is_number(got)):
            return (self.wrong,)
        if type(due) is type(got) and due == got:
            return ()
        if type(due) is int and type(got) is int and not self.bound.ten:  # in half the time
            return (self.wrong,) if abs(due - got) * self.bound.bottom > self.bound.top else ()
        if _is_infinite(due) or _is_infinite(got):
            return () if _is_infinite(due) and _is_infinite(got) and (due > 0) == (got > 0) \
                else (self.wrong,)
        one, two = _term(due), _term(got)
        if one is None or two is None:
            return ("a number is too long to compare",)
        return (self.wrong,) if _apart(one, two, self.bound) else ()


def _is_number(value: Number) -> bool:
    return not value.is_nan() if isinstance(value, Decimal) else value == value


def _is_infinite(value: Number) -> bool:
    if isinstance(value, Decimal):
        return value.is_infinite()
    return isinstance(value, float) and value in (float("inf"), float("-inf"))


def _term(value: Number) -> _Term | None:
    """A finite number, exactly; None for a Decimal of too many digits."""
    if not isinstance(value, Decimal):
        return _Term(*value.as_integer_ratio(), 0)
    sign, digits, ten = value.as_tuple()
    if len(digits) > _MOST_DIGITS:
        return None
    return _Term(int(Decimal((sign, digits, 0))), 1, int(ten))


def _apart(one: _Term, two: _Term, bound: _Term) -> bool:
    """Whether |one - two| > bound, exactly."""
    minus, below = _Term(-two.top, two.bottom, two.ten), _Term(-bound.top, bound.bottom, bound.ten)
    if _sign([one, minus]) < 0:
        one, minus = _Term(-one.top, one.bottom, one.ten), two
    return _sign([one, minus, below]) > 0


def _sign(terms: list[_Term]) -> int:
    """Whether a sum of a few terms is negative, 0 or positive: below 0, 0, above 0.

    From the largest power of ten down. Where the rest is too far below to matter, it ends.
    """
    common = 1
    for term in terms:
        common *= term.bottom
    rest = sorted(((term.ten, term.top * (common // term.bottom)) for term in terms), reverse=True)
    total, place = 0, 0
    for at, (ten, top) in enumerate(rest):
        if total:
            left = sum(abs(later) for _, later in rest[at:])
            if 3 * (place - ten) > left.bit_length():  # 10 ** n > 2 ** 3n > left
                break
            total *= 10 ** (place - ten)
        total, place = total + top, ten
    return total


def _bound(within: Number | None) -> _Term | None:
    if type(within) not in _NUMBERS or within is None:
        return None
    if not _is_number(within) or _is_infinite(within) or within < 0:
        return None
    bound = _term(within)
    if bound is None or not 0 < abs(bound.ten) < 99:
        return bound
    return _Term(*(bound.top * Fraction(10) ** bound.ten).as_integer_ratio(), 0)


def _shown(within: Number | None) -> str:
    """The bound, where it is short."""
    size = 0
    if isinstance(within, (int, Fraction)):  # str() refuses what is too long
        size = max(map(int.bit_length, within.as_integer_ratio()))
    text = str(within) if size <= 64 else ""
    return text if 0 < len(text) <= 24 else "the bound"


def _subject(how: str) -> str:
    return "a number is off" if how == "tolerance" else "a number is off its quota"
