"""What is in force, as bytes and back."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.core.errors import CannotJudge
from policyd.core.frozen import from_json, put_together, to_json
from policyd.core.policy import (
    Active,
    Bounds,
    Clause,
    Identity,
    Mode,
    NamePattern,
    Pattern,
    Policy,
    Settings,
    Zone,
)


@dataclass(frozen=True, slots=True)
class Nested:
    share: float


@dataclass(frozen=True, slots=True)
class Rich:
    groups: Mapping[str, tuple[str, ...]]
    size: int
    day: date | None
    mode: Mode
    nested: tuple[Nested, ...]
    loud: bool


OPTIONS = {"rich": Rich}
TEXT = st.text(max_size=6)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
NAMED = st.dictionaries(TEXT, TEXT, max_size=3)
GROUPS = st.dictionaries(TEXT, TEXTS, max_size=3)
NAMES = st.lists(st.builds(NamePattern, TEXT, st.booleans(), TEXT), max_size=3).map(tuple)
RICH = st.builds(Rich, GROUPS, st.integers(), st.none() | st.dates(), st.sampled_from(Mode),
                 st.lists(st.builds(Nested, st.floats(allow_nan=False, allow_infinity=False)),
                          max_size=2).map(tuple), st.booleans())
ZONE = st.builds(Zone, TEXT, st.lists(st.builds(Pattern, TEXT, st.booleans(), TEXT, TEXTS),
                                      max_size=2).map(tuple))
POLICY = st.builds(
    Policy, name=TEXT, repositories=NAMES, mode=st.sampled_from(Mode), guarded=NAMES,
    creators=TEXTS, rewriters=TEXTS,
    namespaces=NAMES.map(lambda names: tuple((n, "judge") for n in names)),
    bounds=st.builds(Bounds, st.integers(), st.integers(), st.integers(), st.just(2.5)),
    timezone=TEXT, zones=st.lists(ZONE, max_size=2).map(tuple), groups=GROUPS,
    clauses=st.lists(st.builds(Clause, st.just("rich"), st.sampled_from(Mode), RICH),
                     max_size=2).map(tuple))
IDENTITY = st.builds(Identity, TEXT, TEXT, NAMED, NAMED, st.none() | TEXT, st.integers())
SETTINGS = st.builds(Settings, TEXT, TEXTS, IDENTITY, TEXT)
ACTIVE = st.builds(put_together, SETTINGS, st.lists(POLICY, max_size=2).map(tuple))

SMALL = put_together(Settings("/s"), ())


@given(ACTIVE)
def test_what_is_written_is_read(active):
    assert from_json(to_json(active), OPTIONS) == active


def test_the_written_digest_is_that_of_what_is_written():
    assert from_json(to_json(replace(SMALL, digest="made up")), {}) == SMALL


@given(st.integers(min_value=0), st.integers(1, 255))
def test_a_changed_byte_is_never_read_as_something_else(where, change):
    data = bytearray(to_json(SMALL))
    data[where % len(data)] ^= change
    with suppress(CannotJudge):
        assert from_json(bytes(data), {}) == SMALL


def sealed(body: object, number: int = 4) -> bytes:
    raw = json.dumps(body).encode()
    return json.dumps({"format": number, "sha256": sha256(raw).hexdigest()}).encode() + b"\n" + raw


@pytest.mark.parametrize("data", [
    b"", b"\n", b"{}", b"[]\n{}", b"null\nnull", b"\xff\n", b"[" * 9999, sealed({}), sealed([]),
    sealed(None), sealed({"settings": 1, "policies": []}),
    sealed({"settings": {"state": 1}, "policies": []}),
    sealed({"settings": {"state": "/s", "new": 1}, "policies": []}),
    sealed({"settings": {"state": "/s"}, "policies": [], "more": 1}),
])
def test_damage_names_the_command_that_mends_it(data):
    with pytest.raises(CannotJudge, match="policyd policy apply"):
        from_json(data, {})


def test_another_format_says_which():
    with pytest.raises(CannotJudge, match="format 5 and this policyd reads format 4"):
        from_json(sealed({}, 5), {})


def test_a_rule_that_this_program_lacks_cannot_be_judged():
    policy = Policy("p", (), Mode.WARN, (), (), (), (), Bounds(), "UTC", (), {},
                    (Clause("rich", Mode.WARN, Nested(1.0)),))
    data = to_json(Active("", Settings("/s"), (policy,)))
    with pytest.raises(CannotJudge, match="unknown rule rich"):
        from_json(data, {})


def test_reading_imports_no_yaml_and_no_pattern_translator():
    code = ("import sys, policyd.core.frozen, policyd.adapters.activepolicy; "
            "print(sorted({'yaml','msgspec','pathspec','click','rich'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
