"""What a follow-up run is held to: each comparison, and what it says of a difference."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from policyd.replay.compare import compare
from policyd.replay.wire import encode

NAN, INF = float("nan"), float("inf")
HOLDS = [
    # how, what is due, what came, within
    ("exact", [1, "a"], [1, "a"], None),
    ("exact", NAN, NAN, None),
    ("map", {"a": 1, "b": 2}, {"b": 2, "a": 1}, None),
    ("bag", [1, 2, 2], [2, 1, 2], None),
    ("bag", ([1], {2}), ({2}, [1]), None),
    ("bag", {1: [1, 2]}, {1: [1, 2]}, None),
    ("bag", {1, 2}, {2, 1}, None),
    ("subset", [1, 1], [1, 2, 1], None),
    ("subset", {"a": 1}, {"a": 1, "b": 2}, None),
    ("subset", {1}, {1, 2}, None),
    ("subset", [], [], None),
    ("tolerance", [1, 2.0], [1.01, 2], Decimal("0.01001")),
    ("tolerance", 1, Decimal("1.01"), Decimal("0.01")),
    ("tolerance", Fraction(1, 3), Fraction(1, 3), 0),
    ("tolerance", {"a": (1, "x")}, {"a": (2, "x")}, 1),
    ("tolerance", {1: 5}, {1: 6.0}, 1.0),
    ("tolerance", INF, Decimal("Infinity"), 0.5),
    ("tolerance", True, True, 1),
    ("tolerance", {1, 2}, {2, 1}, 1),
    ("tolerance", Decimal("1e999999999"), Decimal("1e999999999"), 0),
    ("tolerance", Decimal("1.0e999999999"), Decimal("1e999999999"), 0),
    ("tolerance", 1, Decimal("1e-999999999"), 1),
    ("tolerance", 0, Decimal("1e-999999999"), Decimal("1e-999999999")),
    ("tolerance", Decimal("1e999999999"), -5, Decimal("1.1e999999999")),
    ("tolerance", 10**300, Decimal("1e300"), 0),
    ("tolerance", 0.1, Fraction(3602879701896397, 36028797018963968), 0),
    ("quota", [3, 4], [4, 3], 1),
]


@pytest.mark.parametrize(("how", "due", "came", "within"), HOLDS,
                         ids=[f"{row[0]}-{at}" for at, row in enumerate(HOLDS)])
def test_what_holds(how, due, came, within):
    assert compare(how, encode(due), encode(came), within) is None


OFF = "a number is off by more than "
DIFFERS = [
    # how, what is due, what came, within, what is said
    ("exact", 1, True, None, "a bool where an int is due"),
    ("exact", 1, 1.0, None, "a float where an int is due"),
    ("exact", 0.0, -0.0, None, "the value differs"),
    ("exact", Decimal("1.0"), Decimal("1.00"), None, "the value differs"),
    ("exact", [1, 2, 3], [1, 2, 4], None, "item 3 of 3 differs"),
    ("exact", [1, [2, (3, 4)]], [1, [2, (3, 5)]], None,
     "item 2 of 2, item 2 of 2, item 2 of 2 differs"),
    ("exact", [[[[1]]]], [[[[2]]]], None, "item 1 of 1, item 1 of 1, item 1 of 1, deeper differs"),
    ("exact", [1] * 5, [1] * 4, None, "length 4 where 5 is due"),
    ("exact", [1], "x", None, "a str where a list is due"),
    ("exact", [1], [None], None, "item 1 of 1: a value of another type where an int is due"),
    ("exact", {"a": 1}, {"a": 2}, None, "the value of a key differs"),
    ("exact", {"a": [1]}, {"a": [1, 2]}, None, "the value of a key: length 2 where 1 is due"),
    ("exact", {"a": 1, "b": 1}, {"a": 1, "c": 1}, None, "1 of 2 keys are missing"),
    ("exact", {"a": 1}, {"a": 1, "c": 1}, None, "length 2 where 1 is due"),
    ("exact", {1: 1}, {True: 1}, None, "1 of 1 keys are missing"),
    ("exact", {1, 2}, {1, 3}, None, "the value differs"),
    ("map", "a", "b", None, "the value differs"),
    ("bag", [1, 2], [1, 3], None, "1 of 2 items are missing"),
    ("bag", [1, 1, 2], [1, 2, 2], None, "1 of 3 items are missing"),
    ("bag", [1, 2], [1, 2.0], None, "1 of 2 items are missing"),
    ("bag", [1, 0], [True, False], None, "2 of 2 items are missing"),
    ("bag", [1, 2], [1, 2, 2], None, "length 3 where 2 is due"),
    ("bag", [1], (1,), None, "a tuple where a list is due"),
    ("bag", "ab", "ba", None, "a str is no list"),
    ("bag", "ab", "ab", None, "a str is no list"),
    ("bag", {"a": 1}, {"a": 2}, None, "the value of a key differs"),
    ("subset", [1, 1], [1, 2], None, "1 of 2 items are missing"),
    ("subset", {"a": 1}, {"a": 2}, None, "1 of 1 items are missing"),
    ("subset", [1], (1,), None, "a tuple where a list is due"),
    ("subset", "a", "ab", None, "a str is no list"),
    ("tolerance", 1, 1.5, 0.25, OFF + "0.25"),
    ("tolerance", [1, 2], [1, 3], Fraction(1, 3), "item 2 of 2: " + OFF + "1/3"),
    ("tolerance", NAN, NAN, 1, OFF + "1"),
    ("tolerance", Decimal("sNaN"), 1, 1, OFF + "1"),
    ("tolerance", INF, 1, 1, OFF + "1"),
    ("tolerance", INF, -INF, 1, OFF + "1"),
    ("tolerance", INF, Decimal("-Infinity"), 1, OFF + "1"),
    ("tolerance", 0.1, Decimal("0.1"), 0, OFF + "0"),
    ("tolerance", 1, True, 1, "a bool where an int is due"),
    ("tolerance", True, 1, 1, "an int where a bool is due"),
    ("tolerance", True, False, 1, "the value differs"),
    ("tolerance", "1", "2", 1, "the value differs"),
    ("tolerance", {1, 2}, {1, 3}, 1, "the value differs"),
    ("tolerance", [1], (1,), 1, "a tuple where a list is due"),
    ("tolerance", {1: 1}, {1.0: 1}, 1, "1 of 1 keys are missing"),
    ("tolerance", 1, 10**5000, 10**4000, OFF + "the bound"),
    ("tolerance", 0, Decimal("1e999999999"), 1, OFF + "1"),
    ("tolerance", Decimal("1e999999999"), Decimal("1e999999998"), 1, OFF + "1"),
    ("tolerance", 1, Decimal("-1e-999999999"), 1, OFF + "1"),
    ("tolerance", 0, Decimal("1.1e-999999999"), Decimal("1e-999999999"), OFF + "1E-999999999"),
    ("tolerance", 10**300, 1e300, 1, OFF + "1"),
    ("tolerance", Decimal("9" * 30_000), Decimal("9" * 29_999 + "8"), 5,
     "a number is too long to compare"),
    ("quota", [3, 4], [4, 2], 1, "item 2 of 2: a number is off its quota by more than 1"),
    ("tolerance", 1, 1, None, "there is no bound to be within"),
    ("tolerance", 1, 1, -1, "there is no bound to be within"),
    ("tolerance", 1, 1, NAN, "there is no bound to be within"),
    ("quota", 1, 1, INF, "there is no bound to be within"),
    ("quota", 1, 1, Decimal("sNaN"), "there is no bound to be within"),
    ("quota", 1, 1, True, "there is no bound to be within"),
]


@pytest.mark.parametrize(("how", "due", "came", "within", "said"), DIFFERS,
                         ids=[f"{row[0]}-{at}" for at, row in enumerate(DIFFERS)])
def test_what_does_not_hold_and_what_is_said(how, due, came, within, said):
    assert compare(how, encode(due), encode(came), within) == said
