"""Canonical, typed JSON: how values travel between the judge and processes that it distrusts.

Stands alone, without the rest of policyd: the runner loads this file inside the sandbox.

`encode` takes exact types only, and writes each value in exactly one way:

    null true false 12 "text"          None, bool, int of up to 256 bits, str
    [...]                              list
    {"int": "-0x..."}                  longer int
    {"float": "0x1.8p+1"}              float, also "nan", "inf", "-inf"; 0.0 and -0.0 differ
    {"str": "eda080"}                  str with lone surrogates, as hex of UTF-8
    {"bytes": "00ff"} {"bytearray": "00ff"}
    {"tuple": [...]} {"set": [...]} {"frozenset": [...]}      sets in the order of their texts
    {"dict": [key, value, ...]}        in the order of the keys' texts: the order of a dict is lost
    {"Decimal": "1.00"} {"Fraction": [1, 3]}                  1.0 and 1.00 differ
    {"date": "2026-01-31"} {"time": [...]} {"datetime": [...]} {"timedelta": [d, s, us]}

A time is [isoformat, fold]; its zone is absent or a fixed offset. Subclasses (named tuples and
enumerations too), cycles, what is deeper than MAX_DEPTH or larger than the limit are refused.
"""

from __future__ import annotations

import json
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing would cost a runner as much as a call
    from collections.abc import Callable, Iterable
    from typing import Any

MAX_DEPTH = 200
MAX_BYTES = 1 << 20
"""Of one encoded value."""

_PLAIN_BITS = 256
_SAME_HASH = 64
_HEX_INT = re.compile(r"-?0x[0-9a-f]+\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_quote = json.encoder.encode_basestring_ascii  # the function itself: a patched json changes nothing


class Unsendable(Exception):
    """A value that cannot travel; `str()` says why."""


class TooLarge(Unsendable):
    """A value whose encoding would exceed the limit."""


class Malformed(Exception):
    """Bytes that `encode` never writes; `str()` says why."""


def encode(value: object, limit: int = MAX_BYTES) -> bytes:
    """The one encoding of a value. Raises Unsendable."""
    return _Writer(limit).text(value, 0).encode("ascii")


def decode(data: bytes, limit: int = MAX_BYTES, *, trusted: bool = False) -> Any:
    """The value that `encode` wrote. Raises Malformed, whatever the bytes are.

    `trusted` bytes are known to be canonical.
    """
    if len(data) > limit:
        raise Malformed(f"larger than {limit} bytes")
    try:
        value = _value(_DECODER.decode(data.decode("ascii")), 0)
        canonical = data if trusted else encode(value, limit)
    except Malformed:
        raise
    except RecursionError:
        raise Malformed("nested too deeply") from None
    except (ValueError, TypeError, ArithmeticError, Unsendable) as error:
        raise Malformed(f"no encoded value: {error}"[:200]) from None
    if canonical != data:
        raise Malformed("not written in the canonical way")
    return value


class _Writer:
    """One encoding: what is open above, and how many bytes are left."""

    def __init__(self, limit: int) -> None:
        self._limit = self._left = limit
        self._above: set[int] = set()

    def text(self, value: Any, depth: int) -> str:
        kind = type(value)
        if value is None or kind is bool:
            return self._spent("null" if value is None else "true" if value else "false")
        if kind is str:
            return self._str(value)
        if kind is int:
            return self._int(value)
        if kind is float:
            return self._spent(f'{{"float":"{_float(value)}"}}')
        if kind is bytes or kind is bytearray:
            self._afford(2 * len(value))
            return self._spent(f'{{"{kind.__name__}":"{value.hex()}"}}')
        if kind in _CONTAINERS:
            return self._container(value, kind, depth)
        return self._foreign(value, kind, depth)

    def _spent(self, text: str) -> str:
        self._left -= len(text)
        self._afford(0)
        return text

    def _afford(self, size: int) -> None:
        if size > self._left:
            raise TooLarge(f"larger than {self._limit} bytes")

    def _str(self, value: str) -> str:
        self._afford(len(value))
        if _SURROGATE.search(value):
            return self._spent(f'{{"str":"{value.encode("utf-8", "surrogatepass").hex()}"}}')
        return self._spent(_quote(value))

    def _int(self, value: int) -> str:
        if value.bit_length() <= _PLAIN_BITS:
            return self._spent(int.__repr__(value))
        self._afford(value.bit_length() // 4)
        return self._spent(f'{{"int":"{value:#x}"}}')

    def _container(self, value: Any, kind: type, depth: int) -> str:
        if depth >= MAX_DEPTH:
            raise Unsendable(f"nested more than {MAX_DEPTH} deep")
        if id(value) in self._above:
            raise Unsendable(f"a {kind.__name__} that contains itself")
        self._above.add(id(value))
        self._spent(_CONTAINERS[kind] + "[]")
        if kind is dict:
            parts = self._pairs(value, depth + 1)
        else:
            parts = [self.text(item, depth + 1) for item in value]
            if kind is set or kind is frozenset:
                parts = self._sorted(parts)
        self._left -= max(len(parts) - 1, 0)
        self._afford(0)
        self._above.discard(id(value))
        inner = f"[{','.join(parts)}]"
        return inner if kind is list else f'{{"{kind.__name__}":{inner}}}'

    def _pairs(self, value: dict[Any, Any], depth: int) -> list[str]:
        by_key = [(self.text(key, depth), item) for key, item in value.items()]
        order = self._sorted([key for key, _ in by_key])
        texts = {key: self.text(item, depth) for key, item in by_key}
        return [part for key in order for part in (key, texts[key])]

    def _sorted(self, texts: list[str]) -> list[str]:
        if len(set(texts)) != len(texts):
            raise Unsendable("two members that cannot be told apart")
        return sorted(texts)

    def _foreign(self, value: Any, kind: type, depth: int) -> str:
        """What the standard library defines, if it is loaded: no other value can be of its type."""
        name = kind.__name__
        module, parts = _FOREIGN.get(name, ("", None))
        if parts is None or getattr(sys.modules.get(module), name, None) is not kind:
            raise Unsendable(f"a {kind.__module__}.{kind.__qualname__}"[:200])
        self._spent(f'{{"{name}":}}')
        return f'{{"{name}":{self.text(parts(value), depth + 1)}}}'


def _float(value: float) -> str:
    return "nan" if value != value else value.hex()


def _zone(value: Any) -> list[Any]:
    """Text and fold of a time or a datetime."""
    zone = value.tzinfo
    if zone is not None and type(zone) is not sys.modules["datetime"].timezone:
        raise Unsendable("a time zone that is no fixed offset")
    return [value.isoformat(), value.fold]


_CONTAINERS: dict[type, str] = {
    list: "", tuple: '{"tuple":}', set: '{"set":}', frozenset: '{"frozenset":}', dict: '{"dict":}'}
_FOREIGN: dict[str, tuple[str, Callable[[Any], Any] | None]] = {
    "Decimal": ("decimal", str),
    "Fraction": ("fractions", lambda value: [value.numerator, value.denominator]),
    "date": ("datetime", lambda value: value.isoformat()),
    "time": ("datetime", _zone),
    "datetime": ("datetime", _zone),
    "timedelta": ("datetime", lambda value: [value.days, value.seconds, value.microseconds]),
}


class _Tagged:
    """A JSON object, which holds exactly one pair here."""

    __slots__ = ("content", "tag")

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        if len(pairs) != 1:
            raise Malformed("an object with other than one key")
        self.tag, self.content = pairs[0]


def _no_number(text: str) -> Any:
    raise Malformed(f"a bare {text[:20]}")


def _plain_int(text: str) -> int:
    if len(text) > 100:
        raise Malformed("a long number that is not tagged")
    return int(text)


_DECODER = json.JSONDecoder(object_pairs_hook=_Tagged, parse_float=_no_number,
                            parse_constant=_no_number, parse_int=_plain_int)


def _value(node: Any, depth: int) -> Any:
    if isinstance(node, list):
        return _items(node, depth)
    if not isinstance(node, _Tagged):
        return node
    read = _TAGS.get(node.tag)
    if read is None:
        raise Malformed(f"an unknown tag {node.tag[:40]!r}")
    return read(node.content, depth)


def _items(content: Any, depth: int) -> list[Any]:
    if not isinstance(content, list):
        raise Malformed("no list where one must be")
    if depth >= MAX_DEPTH:
        raise Malformed("nested too deeply")
    return [_value(node, depth + 1) for node in content]


def _members(content: Any, depth: int) -> list[Any]:
    items = _items(content, depth)
    _refuse_collisions(items)
    return items


def _dict(content: Any, depth: int) -> dict[Any, Any]:
    items = _items(content, depth)
    _refuse_collisions(items[::2])
    return dict(zip(items[::2], items[1::2], strict=True))


def _refuse_collisions(keys: Iterable[Any]) -> None:
    """Many keys of one hash would make the judge, which builds the set, slow without bound."""
    hashes = sorted(map(hash, keys))
    if any(one == two for one, two in zip(hashes, hashes[_SAME_HASH:], strict=False)):
        raise Malformed(f"more than {_SAME_HASH} keys of one hash")


def _hex_int(content: str) -> int:
    if not _HEX_INT.match(content):
        raise Malformed("no hexadecimal number")
    return int(content, 16)


def _fraction(content: Any) -> Any:
    from fractions import Fraction

    return Fraction(*map(int, content))


def _decimal(content: Any) -> Any:
    from decimal import Decimal

    return Decimal(str(content))


def _moment(name: str) -> Callable[[Any, int], Any]:
    def read(content: Any, _: int) -> Any:
        import datetime

        kind = getattr(datetime, name)
        if name == "timedelta":
            return kind(*map(int, content))
        if name == "date":
            return kind.fromisoformat(content)
        text, fold = content
        return kind.fromisoformat(text).replace(fold=fold)

    return read


_TAGS: dict[str, Callable[[Any, int], Any]] = {
    "int": lambda content, _: _hex_int(content),
    "float": lambda content, _: float.fromhex(content),
    "str": lambda content, _: bytes.fromhex(content).decode("utf-8", "surrogatepass"),
    "bytes": lambda content, _: bytes.fromhex(content),
    "bytearray": lambda content, _: bytearray.fromhex(content),
    "tuple": lambda content, depth: tuple(_items(content, depth)),
    "set": lambda content, depth: set(_members(content, depth)),
    "frozenset": lambda content, depth: frozenset(_members(content, depth)),
    "dict": _dict,
    "Decimal": lambda content, _: _decimal(content),
    "Fraction": lambda content, _: _fraction(content),
    **{name: _moment(name) for name in ("date", "time", "datetime", "timedelta")},
}
