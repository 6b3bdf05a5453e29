"""What the records have in common: the types of their fields, and rows read one by one.

Each type is a text with a check that raises ValueError; `core.decoding` puts it at its place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from keyword import iskeyword
from typing import Annotated, Any, TypeVar

from policyd.core import nodeids, nodes
from policyd.core.decoding import attempt
from policyd.core.errors import Fault
from policyd.core.nodes import Mapping, Node, Scalar, Sequence, shown
from policyd.core.policy import Places

MAX_FAULTS = 1_000
MAX_TEXT = 4_096

_NUMBER = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?(e-?[0-9]{1,3})?")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_RELATIONS = Places().relations

T = TypeVar("T")


class Enough(Exception):
    """So much is wrong in a file that the rest of it is not looked at."""


class Faults(list[Fault]):
    """Faults of one file; more than anybody reads end the work on it."""

    def append(self, fault: Fault) -> None:
        if len(self) >= MAX_FAULTS:
            raise Enough
        super().append(fault)


def name(text: str) -> str:
    """One line that can be seen, without white space around it."""
    if not _says_something(text):
        raise ValueError(f"{shown(text)} says nothing")
    if text != text.strip() or not text.isprintable():
        raise ValueError(f"{shown(text)} is not one line of characters that can be seen, without "
                         "white space around it")
    return _bounded(text)


def reason(text: str) -> str:
    """A text of any length and number of lines, brought onto one line."""
    if not _says_something(text):
        raise ValueError(f"{shown(text)} says nothing")
    return " ".join(text.split())


def long_reason(text: str) -> str:
    """A reason of 12 characters and more."""
    line = reason(text)
    if len(line) < 12:
        raise ValueError(f"a reason has 12 characters and more; {shown(line)} has {len(line)}")
    return line


def nodeid(text: str) -> str:
    """The normalised id of one test, which is no relation."""
    found = nodeids.normalised(_bounded(text))
    if nodeids.is_below(found, _RELATIONS):
        raise ValueError(f"{shown(text)} is a relation; relations never stand here, only in the "
                         "freezes")
    return found


def inside(text: str) -> str:
    """The path of a file or folder of the repository."""
    if any(part in ("", ".", "..") for part in text.split("/")) or "\\" in text \
            or not text.isprintable():
        raise ValueError(f"{shown(text)} is no path inside the repository; it begins at "
                         "the root and has no . or .. in it")
    return _bounded(text)


def entry_point(text: str) -> str:
    """`module:function`."""
    module, _, called = text.partition(":")
    if not all(map(_is_identifier, (*module.split("."), called))):
        raise ValueError(f"{shown(text)} is no entry point, such as package.module:function")
    return _bounded(text)


def function(text: str) -> str:
    """The name of a function in a Python file, as Python reads it."""
    if not _is_identifier(text):
        raise ValueError(f"{shown(text)} is no name of a function")
    return unicodedata.normalize("NFKC", _bounded(text))


def sha256(text: str) -> str:
    if not _SHA256.fullmatch(text):
        raise ValueError(f"{shown(text)} is no SHA-256: 64 hexadecimal digits")
    return text.lower()


def quantum(text: str) -> str:
    """To what a value is rounded, as written: a number above 0, or one with its unit."""
    try:
        above = float(text) > 0
    except ValueError:
        above = True
    if not above:
        raise ValueError(f"{shown(text)} is no quantum, such as 0.01")
    return name(text)


def number(text: str) -> Fraction | None:
    """The number above 0 that a text says exactly; None where it is none."""
    if not _NUMBER.fullmatch(text):
        return None
    found = Fraction(text)
    return found if found > 0 else None


def bound(text: str) -> str:
    """A number above 0 as written, or the name of a function."""
    if number(text) is not None:
        return text
    if not _is_identifier(text):
        raise ValueError(f"{shown(text)} is no number above 0 and no name of a function")
    return function(text)


def between(least: int, most: int) -> Callable[[int], int]:
    def check(number: int) -> int:
        if not least <= number <= most:
            raise ValueError(f"{number} is not from {least} to {most:,}")
        return number
    return check


def at_least(least: int) -> Callable[[int], int]:
    def check(number: int) -> int:
        if number < least:
            raise ValueError(f"{number} is less than {least}")
        return number
    return check


Name = Annotated[str, name]
Reason = Annotated[str, reason]
NodeId = Annotated[str, nodeid]
Inside = Annotated[str, inside]
EntryPoint = Annotated[str, entry_point]
Function = Annotated[str, function]
Quantum = Annotated[str, quantum]


def rows(listed: Node | None, read: Callable[[Node, list[Fault]], T | None],
         faults: list[Fault]) -> Iterator[tuple[Node, T]]:
    """The items of a list in which nothing is wrong, as `read` reads them, with their nodes."""
    for item in items(listed, faults):
        before = len(faults)
        value = read(item, faults)
        if value is not None and len(faults) == before:
            yield item, value


def items(listed: Node | None, faults: list[Fault]) -> tuple[Node, ...]:
    """The items of a list; none, with a fault, where it is no list."""
    if listed is None or isinstance(listed, Sequence):
        return listed.items if listed else ()
    faults.append(listed.fault("expected a list of rows"))
    return ()


def alone(row: Node) -> Sequence:
    """A list of one row, for a file that is one."""
    return Sequence(row.source, row.line, row.column, (row,))


def peek(row: Node, key: str, type_: Any) -> Any:
    """The value under a key when it is there and right; None otherwise, without a fault."""
    node = nodes.get(row, key)
    return None if node is None else attempt(node, type_, [])


def unique(listed: Node | None, key: str, type_: Any, faults: list[Fault]) -> None:
    """Faults for rows that have under a key what an earlier row has."""
    seen: dict[Any, int] = {}
    for row in items(listed, []):
        value = peek(row, key, type_)
        if value is None:
            continue
        if value in seen:
            faults.append(nodes.find(row, (key,)).fault(
                f"{key} {shown(value)} again; the row in line {seen[value]} has it"))
        else:
            seen[value] = row.line


def in_order_of_days(row: Node, first: str, last: str, faults: list[Fault]) -> None:
    """A fault where the last day lies before the first."""
    begins, ends = peek(row, first, date), peek(row, last, date)
    if begins is not None and ends is not None and ends < begins:
        faults.append(value_of(row, last).fault(f"{last} {ends} is before {first} {begins}"))


def has(row: Node, key: str) -> bool:
    """Whether something, however wrong, stands under a key."""
    node = nodes.get(row, key)
    return node is not None and not (isinstance(node, Scalar) and node.value is None)


def value_of(row: Node, key: str) -> Node:
    """The value under a key, or the row where there is none."""
    return nodes.get(row, key) or row


def as_written(row: Node, *keys: str) -> Node:
    """The row with numbers under these keys as the text that they are written as."""
    if not isinstance(row, Mapping):
        return row
    return replace(row, entries=tuple(
        (key, _as_text(value) if key.text in keys else value) for key, value in row.entries))


def refused(row: Node, keys: Iterable[str], message: str, faults: list[Fault]) -> Node:
    """The row without keys that nothing may have; a fault, which says why, for each."""
    for key in keys:
        if isinstance(row, Mapping) and (there := row.key(key)) is not None:
            faults.append(there.fault(message))
            row = nodes.without(row, key)
    return row


def _as_text(node: Node) -> Node:
    number = isinstance(node, Scalar) and isinstance(node.value, int | float) \
        and not isinstance(node.value, bool)
    return replace(node, value=node.text) if isinstance(node, Scalar) and number else node


def _says_something(text: str) -> bool:
    return any(map(str.isalnum, text))


def _is_identifier(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)


def _bounded(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise ValueError(f"{shown(text)} is longer than {MAX_TEXT} characters")
    return text
