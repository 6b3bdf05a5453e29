"""What a follow-up run is held to: each comparison, and what it says of a difference."""

from __future__ import annotations

import time
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_wire import VALUES

from policyd.replay import wire
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
    ("tolerance", 1, 10**5000, 10**4400, OFF + "the bound"),
    ("tolerance", 1, 2, Decimal("0.12345678901234567890123"), OFF + "the bound"),
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


def test_a_comparison_of_no_known_name_is_no_verdict():
    for how in ("holds", "raises", "Exact", ""):
        with pytest.raises(ValueError, match="no comparison"):
            compare(how, b"1", b"1")


HOWS = st.sampled_from(["exact", "map", "bag", "subset", "tolerance", "quota"])
NUMBERS = (st.integers() | st.floats() | st.decimals() | st.fractions()
           | st.builds(lambda sign, digits, ten: Decimal((sign, digits, ten)), st.integers(0, 1),
                       st.lists(st.integers(0, 9), min_size=1, max_size=5),
                       st.integers(-999_999, 999_999)))
BOUNDS = st.none() | st.booleans() | NUMBERS


@given(HOWS, VALUES, VALUES, BOUNDS)
@settings(max_examples=200, deadline=None)
def test_any_two_values_can_be_compared(how, due, came, within):
    said = compare(how, encode(due), encode(came), within)
    assert said is None or is_a_sentence(said)


@given(HOWS, VALUES, st.data(), BOUNDS)
@settings(max_examples=200, deadline=None)
def test_any_bytes_can_be_compared(how, value, data, within):
    good = encode(value)
    bad = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        bad[data.draw(st.integers(0, len(bad) - 1))] = data.draw(st.integers(0, 255))
    for due, came in ((good, bytes(bad)), (bytes(bad), good), (bytes(bad), bytes(bad))):
        said = compare(how, due, came, within)
        assert said is None or is_a_sentence(said)


@given(HOWS, st.binary(max_size=40), st.binary(max_size=40))
@settings(deadline=None)
def test_noise_never_holds_where_it_is_read(how, due, came):
    said = compare(how, due, came, 1)
    assert said is None or is_a_sentence(said)
    if how not in ("exact", "map") and not is_encoded(due):
        assert said == "what is due is no value that can be read"


def is_encoded(data):
    try:
        wire.decode(data)
    except wire.Malformed:
        return False
    return True


def is_a_sentence(said):
    return said.isascii() and said.isprintable() and 0 < len(said) <= 200


@pytest.mark.parametrize("how", ["exact", "map", "bag", "subset", "tolerance"])
@pytest.mark.parametrize("came", [
    b"", b"[1", b"[1,]", b"NaN", b"[" * 99_999, b"[" * 300 + b"]" * 300, b"\xff", b" [1]", b"[1]\n",
    b'{"Decimal":"1e9999999999999999999"}', b'{"Fraction":[1,0]}', b'{"Fraction":[2,4]}',
    b'{"float":"nan(7)"}', b'{"int":"0x5"}', b"1" * (1 << 21)], ids=lambda data: ascii(data[:24]))
def test_what_is_no_value_never_holds(how, came):
    assert compare(how, b"[1]", came, 1) == "what came back is no value that can be read"
    assert compare(how, came, b"[1]", 1) == "what is due is no value that can be read"


def exact(value):
    """A finite number as a rational; only for exponents that can be written out."""
    return Fraction(value)


SMALL = (st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.fractions()
         | st.decimals(allow_nan=False, allow_infinity=False, places=3)
         | st.builds(lambda top, ten: Decimal((0, tuple(map(int, str(top))), ten)),
                     st.integers(0, 10**6), st.integers(-400, 400)))


@given(SMALL, SMALL, SMALL.map(abs))
@example(Decimal("1e400"), Decimal("1e-400"), Decimal("1e400"))
@settings(max_examples=500, deadline=None)
def test_numbers_are_compared_as_exact_rationals(due, came, within):
    is_near = abs(exact(due) - exact(came)) <= exact(within)
    assert (compare("tolerance", encode(due), encode(came), within) is None) == is_near


@given(SMALL, SMALL)
@settings(max_examples=300, deadline=None)
def test_a_difference_is_within_itself_and_nothing_less(due, came):
    apart = abs(exact(due) - exact(came))
    if not is_encoded(encode(apart)):
        return
    assert compare("tolerance", encode(due), encode(came), apart) is None
    if apart:
        assert compare("quota", encode(due), encode(came), apart * Fraction(999, 1000)) is not None


@given(st.lists(st.integers(-2, 2) | st.booleans() | st.sampled_from([0.0, -0.0, 1.0, "1"]),
                max_size=6), st.data())
@settings(max_examples=200, deadline=None)
def test_a_bag_holds_the_same_items_in_any_order(items, data):
    other = data.draw(st.permutations(items))
    assert compare("bag", encode(items), encode(other)) is None
    assert compare("subset", encode(items), encode([*other, 7])) is None
    changed = [*other, data.draw(st.integers(-2, 2))]
    kept = data.draw(st.integers(0, len(items)))
    changed = changed[:kept] + changed[kept + 1:]
    same = Counter(map(encode, changed)) == Counter(map(encode, items))
    assert (compare("bag", encode(items), encode(changed)) is None) == same


SECRETS = (st.integers(10**9, 10**12) | st.text("QXZJ", min_size=4)
           | st.floats(1e9, 1e12).map(lambda x: x + 0.5)
           | st.integers(10**9, 10**12).map(lambda n: Decimal(n).scaleb(-4)))
SECRET_VALUES = st.recursive(
    SECRETS, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner)
    | st.dictionaries(SECRETS, inner, max_size=3), max_leaves=6)


@given(HOWS, SECRET_VALUES, SECRET_VALUES)
@settings(max_examples=300, deadline=None)
def test_a_sentence_holds_no_value_of_either_side(how, due, came):
    said = compare(how, encode(due), encode(came), Decimal("0.01")) or ""
    for leaf in [*leaves(due), *leaves(came)]:
        assert str(leaf) not in said
    assert not set(said) & set("QXZJ")


def leaves(value):
    if isinstance(value, dict):
        value = [part for pair in value.items() for part in pair]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def full(item, size=wire.MAX_BYTES):
    """A list of as many of an item as one value may hold."""
    return b"[" + b",".join([item] * ((size - 2) // (len(item) + 1))) + b"]"


LARGE = {
    "ints": ("tolerance", full(b"1"), full(b"2"), 1),
    "a bag of ints": ("bag", full(b"1"), full(b"1"), None),
    "a bag of other ints": ("bag", encode([*range(150_000)]), encode([*range(1, 150_001)]), None),
    "a bag of deep lists": ("bag", *[full(b"[" * 60 + b"]" * 60, 400_000)] * 2, None),
    "a subset": ("subset", full(b"[]"), full(b"1"), None),
    "the last of all": ("exact", full(b"1"), full(b"1")[:-2] + b"2]", None),
    "one int": ("tolerance", encode(1 << 4_000_000), encode(Decimal("1e1200000")), 1),
    "one int and a float": ("tolerance", encode(1 << 4_000_000), encode(5e-324), 5e-324),
    "one decimal": ("tolerance", encode(Decimal("9" * 10**6)), encode(Decimal("8" * 10**6)), 1),
    "decimals": ("tolerance", full(b'{"Decimal":"1E+999999999"}'),
                 full(b'{"Decimal":"2E+999999999"}'), Decimal("1e999999999")),
    "decimals far apart": ("tolerance", full(b'{"Decimal":"1E+999999"}'),
                           full(b'{"Decimal":"1E-999999"}'), Decimal("1e999999")),
    "long decimals": ("tolerance", full(encode(Decimal("9" * 20_000))),
                      full(encode(Decimal("9" * 19_999 + "8"))), 1),
    "floats": ("tolerance", full(b'{"float":"0x1.0000000000000p-1022"}'),
               full(b'{"float":"0x1.1000000000000p-1022"}'), Fraction(1, 2**255)),
    "fractions": ("tolerance", full(encode(Fraction(2**255 - 1, 2**255 - 19))),
                  full(encode(Fraction(2**255 - 3, 2**255 - 19))), Fraction(2**255, 3)),
    "a dict": ("tolerance", encode({n: n for n in range(60_000)}),
               encode({n: n + 1 for n in range(60_000)}), 1),
    "bytes": ("exact", encode(b"x" * 500_000), encode(b"y" * 500_000), None),
}


@pytest.mark.parametrize("name", LARGE)
def test_the_largest_values_cost_seconds(name):
    how, due, came, within = LARGE[name]
    began = time.process_time()
    said = compare(how, due, came, within)
    assert time.process_time() - began < 15
    assert said is None or is_a_sentence(said)
