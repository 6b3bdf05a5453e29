"""Decoding: typed values out of nodes, and every fault with its place."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Annotated

import pytest

from policyd.core.decoding import decode
from policyd.core.documents import parse
from policyd.core.errors import FileInvalid
from policyd.core.nodes import Node


def faults(text: str, type_: type) -> list[str]:
    node = parse(text.encode(), "f.yaml")
    try:
        decode(node, type_)
    except FileInvalid as error:
        return [str(f) for f in error.faults]
    return []


class Colour(Enum):
    RED = "red"
    OFF = "off"


def even(number: int) -> int:
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number


@dataclass(frozen=True, slots=True)
class Inner:
    size: int
    ratio: float = 0.5


@dataclass(frozen=True, slots=True)
class Outer:
    name: str
    colours: tuple[Colour, ...] = ()
    inner: Inner | None = None
    day: date | None = None
    by_name: MappingType[str, tuple[str, ...]] = field(default_factory=dict)
    loud: bool = False
    pairs: Annotated[int, even] = 2
    source: str = field(default="", metadata={"key": "from"})
    anything: Node | None = None


def test_a_dataclass_is_built_with_its_defaults():
    node = parse(b"name: x\ncolours: [off, red]\ninner: {size: 3, ratio: 2}\nday: 2026-02-28\n"
                 b"by_name: {1: [a, b]}\nfrom: env\n", "f")
    assert decode(node, Outer) == Outer(
        "x", (Colour.OFF, Colour.RED), Inner(3, 2.0), date(2026, 2, 28), {"1": ("a", "b")},
        source="env")


@pytest.mark.parametrize(("text", "fault"), [
    ("{}", "1:1: missing key 'name'"),
    ("[]", "1:1: expected a mapping, found a list"),
    ("name: 1", "1:7: expected text, found 1; quote it"),
    ("name: [a]", "1:7: expected text, found a list"),
    ("name:", "1:6: expected text, found nothing"),
    ("name: x\nloud: 1", "2:7: expected true or false, found 1"),
    ("name: x\nloud: yes", "2:7: expected true or false, found 'yes'"),
    ("name: x\ninner: {size: true}", "2:15: expected a whole number, found true"),
    ("name: x\ninner: {size: 1.5}", "2:15: expected a whole number, found 1.5"),
    ("name: x\ninner: {size: '1'}", "2:15: expected a whole number, found '1'"),
    ("name: x\ninner: {}", "2:8: missing key 'size'"),
    ("name: x\nday: 2026-02-30", "2:6: expected a date written YYYY-MM-DD, found '2026-02-30'"),
    ("name: x\nday: 20260228", "2:6: expected a date written YYYY-MM-DD, found 20260228"),
    ("name: x\ncolours: [rad]",
     "2:11: expected one of red, off; found 'rad'; did you mean 'red'?"),
    ("name: x\ncolours: red", "2:10: expected a list, found 'red'"),
    ("name: x\nby_name: [a]", "2:10: expected a mapping, found a list"),
    ("name: x\nby_name: {a: [b, 2]}", "2:18: expected text, found 2; quote it"),
    ("name: x\ncolour: [red]", "2:1: unknown key 'colour'; did you mean 'colours'?"),
    ("name: x\npairs: 3", "2:8: 3 is odd"),
    ("name: x\nsource: env", "2:1: unknown key 'source'; known: name, colours, inner, day, "
                             "by_name, loud, pairs, from, anything"),
])
def test_a_fault_says_what_was_expected_and_where(text, fault):
    assert faults(text, Outer) == [f"f.yaml:{fault}"]


def test_decoding_goes_on_after_a_fault():
    assert [f.split(": ")[0] for f in faults("name: 1\nloud: x\nwhat: 1\ninner: {size: a}", Outer)
            ] == ["f.yaml:1:7", "f.yaml:2:7", "f.yaml:3:1", "f.yaml:4:15"]


def test_text_in_a_message_cannot_move_a_cursor():
    message, = faults('name: x\n"\\e[2Jx\\u202e": 1', Outer)
    assert message.isprintable()
