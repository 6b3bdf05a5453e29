"""Canonical typed JSON: one text a value, exact types, and no harm from hostile bytes."""

from __future__ import annotations

import datetime
import json
import math
import subprocess
import sys
import time
from collections import OrderedDict, namedtuple
from contextlib import suppress
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyd.replay import wire
from policyd.replay.wire import Malformed, TooLarge, Unsendable, decode, encode

ZONES = st.none() | st.integers(-1439, 1439).map(
    lambda m: datetime.timezone(datetime.timedelta(minutes=m)))
ATOMS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=20)
    | st.text(st.characters(), max_size=20) | st.text(st.sampled_from("\ud83d\ude00a"), max_size=4)
    | st.integers().map(lambda n: n << 300) | st.decimals() | st.fractions() | st.dates()
    | st.times(timezones=ZONES) | st.datetimes(timezones=ZONES) | st.timedeltas())
def _is_itself(value):
    """Not so of what is no number: two of these in one set cannot be told apart."""
    return not value.is_nan() if isinstance(value, Decimal) else value == value


HASHABLE = st.recursive(
    ATOMS.filter(_is_itself),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=4), max_leaves=6)
VALUES = st.recursive(
    ATOMS | st.binary(max_size=8).map(bytearray),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner)
    | st.dictionaries(HASHABLE, inner, max_size=4) | st.sets(HASHABLE, max_size=4), max_leaves=12)


def shape(value):
    """A value with its types and representation: what must survive."""
    kind = type(value)
    if kind in (list, tuple):
        return kind, [shape(item) for item in value]
    if kind in (set, frozenset):
        return kind, sorted(repr(shape(item)) for item in value)
    if kind is dict:
        return kind, sorted(repr((shape(k), shape(v))) for k, v in value.items())
    if kind is float:
        return kind, "nan" if value != value else value.hex()
    if kind in (datetime.time, datetime.datetime):
        return kind, value.isoformat(), value.fold
    return kind, repr(value)


@given(VALUES)
@settings(max_examples=100, deadline=None)
def test_what_is_encoded_comes_back_as_it_was(value):
    data = encode(value)
    assert shape(decode(data)) == shape(value)
    assert encode(decode(data)) == data
    json.loads(data)


@given(VALUES, VALUES)
@settings(max_examples=100, deadline=None)
def test_two_values_have_one_text_only_if_they_are_the_same(one, two):
    assert (encode(one) == encode(two)) == (shape(one) == shape(two))


def test_equal_numbers_of_different_types_differ():
    values = [1, 1.0, True, Decimal(1), Decimal("1.0"), Fraction(1), "1", b"1", bytearray(b"1"),
              [1], (1,), {1}, frozenset({1}), {1: None}, 0.0, -0.0, 0, False, None]
    assert len({encode(value) for value in values}) == len(values)


def test_the_order_of_a_dict_and_of_a_set_is_lost():
    assert encode({"a": 1, 2: 3}) == encode({2: 3, "a": 1})
    assert encode({8, 1}) == encode({1, 8})


def test_no_pair_of_surrogates_passes_for_a_character():
    assert encode("\ud83d\ude00") != encode("\U0001f600")
    assert decode(encode("\ud83d\ude00")) == "\ud83d\ude00"


class _Int(int):
    pass


class _Zone(datetime.tzinfo):
    def utcoffset(self, _):
        return datetime.timedelta(0)


def _cycle():
    value = []
    value.append({"a": (value,)})
    return value


def _deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [
    _Int(1), OrderedDict(), namedtuple("P", "x")(1), IntEnum("E", "a").a, object(), len, 1j,
    range(3), iter([]), type, _cycle(), _deep(300), {float("nan"), math.nan - 1}, [1, {2: _Int(3)}],
    datetime.datetime(2026, 1, 1, tzinfo=_Zone()), NotImplemented, memoryview(b"")],
    ids=lambda value: type(value).__name__)
def test_what_is_no_plain_value_is_refused(value):
    with pytest.raises(Unsendable):
        encode(value)


def test_200_levels_are_sent_and_one_more_is_not():
    assert decode(encode(_deep(wire.MAX_DEPTH - 1))) == _deep(wire.MAX_DEPTH - 1)
    with pytest.raises(Unsendable):
        encode(_deep(wire.MAX_DEPTH))


@pytest.mark.parametrize("value", [
    "x" * 101, b"x" * 60, 1 << 500, list(range(60)), ["é"] * 20, {str(n): n for n in range(20)}])
def test_what_is_larger_than_the_limit_is_refused(value):
    with pytest.raises(TooLarge):
        encode(value, 100)
    with pytest.raises(Malformed):
        decode(encode(value), 100)


@given(VALUES, st.integers(0, 200))
@settings(max_examples=100, deadline=None)
def test_the_limit_is_the_length_of_the_text(value, limit):
    fits = len(encode(value)) <= limit
    try:
        assert len(encode(value, limit)) <= limit
        assert fits
    except TooLarge:
        assert not fits


def test_a_small_value_that_is_endless_when_written_is_refused_at_once():
    value = []
    for _ in range(100):
        value = [value, value]
    with pytest.raises(TooLarge):
        encode(value)


HOSTILE = [
    b"", b" 1", b"1 ", b"1\n2", b"nul", b"NaN", b"Infinity", b"1.5", b"1e5", b"-0", b"01", b"\xff",
    b"9" * 5000, b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000,
    b"{}", b'{"int":1,"int":2}', b'{"tuple":[1],"tuple":[2]}', b'{"odd":1}', b'{"int":"0x5"}',
    b'{"int":"5"}', b'{"int":5}', b'{"int":"0x' + b"_" * 9 + b'f"}', b'{"float":"1.5"}',
    b'{"float":"NaN"}', b'{"float":1}', b'{"float":"0x1p99999"}', b'{"str":"61"}', b'{"str":"zz"}',
    b'{"bytes":"6"}', b'{"bytes":"6 1"}', b'{"bytes":"FF"}', b'{"tuple":1}', b'{"tuple":{}}',
    b'{"set":[2,1]}', b'{"set":[1,1]}', b'{"set":[[1]]}', b'{"dict":[1]}', b'{"dict":[2,0,1,0]}',
    b'{"dict":[1,0,{"float":"0x1.0000000000000p+0"},0]}', b'{"dict":[[1],0]}', b'{"Decimal":"1_0"}',
    b'{"Decimal":"x"}', b'{"Decimal":[1]}', b'{"Fraction":[1,0]}', b'{"Fraction":[2,4]}',
    b'{"Fraction":["1",2]}', b'{"Fraction":[1]}', b'{"date":"2026-13-01"}', b'{"date":"20260101"}',
    b'{"date":1}', b'{"time":["25:00",0]}', b'{"time":["12:00:00",2]}', b'{"time":"12:00"}',
    b'{"datetime":["2026-01-01",0]}', b'{"timedelta":[0,0,1000000]}', b'{"timedelta":[1]}',
    b'{"timedelta":[999999999999,0,0]}', b'"\\u0061"', '"é"'.encode(), b'"\\ud83d"',
    '"\U0001f600"'.encode("utf-16"), b"\xef\xbb\xbf1", b'{"frozenset":{"set":[]}}']


@pytest.mark.parametrize("data", HOSTILE, ids=lambda data: repr(data[:30]))
def test_what_encode_never_writes_is_malformed(data):
    with pytest.raises(Malformed):
        decode(data)


@given(VALUES, st.data())
@settings(max_examples=100, deadline=None)
def test_a_changed_byte_is_another_value_or_malformed(value, data):
    text = bytearray(encode(value))
    text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 127))
    with suppress(Malformed):
        assert encode(decode(bytes(text))) == bytes(text)


def test_keys_that_collide_cost_the_judge_no_time():
    keys = sorted(str(n * (2**61 - 1)) for n in range(40_000))
    began = time.process_time()
    with pytest.raises(Malformed, match="of one hash"):
        decode(b'{"set":[' + ",".join(keys).encode() + b"]}")
    assert time.process_time() - began < 2


def test_it_stands_alone():
    show = "import sys; sys.path.insert(0, sys.argv[1]); import wire; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-I", "-S", "-c", show, wire.__file__.rpartition("/")[0]],
                         capture_output=True, text=True, check=True)
    assert not {"policyd", "typing", "decimal", "datetime"} & set(run.stdout.split())
