"""Quickly made frozen dataclasses are what the standard ones are."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, field, replace
from pathlib import Path
from typing import Any

import pytest

from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Quick:
    """What it is."""

    a: int
    b: tuple[str, ...] = ()
    secret: str = field(default="x", repr=False)
    apart: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Below(Quick):
    c: int = 3


@dataclass(frozen=True, slots=True)
class Empty:
    pass


@dataclass(frozen=True, slots=True)
class One:
    a: Any


@dataclass(frozen=True, slots=True)
class Own:
    a: int

    def __repr__(self) -> str:
        return "mine"

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7


STANDARD = dataclasses.make_dataclass("Quick", [
    ("a", int), ("b", tuple, ()), ("secret", str, field(default="x", repr=False)),
    ("apart", int, field(default=0, compare=False))], frozen=True, slots=True)


def test_it_shows_compares_and_hashes_as_the_standard_one_does():
    assert repr(Quick(1, ("y",))) == repr(STANDARD(1, ("y",)))
    assert Quick(1) == Quick(1, apart=9) != Quick(2)
    assert Quick(1) != Below(1)
    assert Quick(1) != STANDARD(1)
    assert hash(Quick(1, ("y",))) == hash(STANDARD(1, ("y",)))
    assert len({Empty(), Empty(), One(1), One(1), One((1,))}) == 3
    assert (repr(Own(1)), Own(1) == 3, hash(Own(1))) == ("mine", True, 7)


def test_it_cannot_be_changed():
    value = Quick(1)
    for name in ("a", "b", "new"):
        with pytest.raises((FrozenInstanceError, AttributeError)):
            setattr(value, name, 2)
    with pytest.raises(FrozenInstanceError):
        del value.a
    with pytest.raises(FrozenInstanceError):
        Below(1).c = 4
    assert not hasattr(value, "__dict__")


def test_it_is_replaced_copied_and_sent():
    value = Below(1, ("y",), "z", c=4)
    assert replace(value, c=5) == Below(1, ("y",), "z", c=5)
    for other in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert other == value
        assert other.c == 4
    match value:
        case Below(a, b):
            assert (a, b) == (1, ("y",))


def test_what_cannot_be_hashed_says_so():
    with pytest.raises(TypeError):
        hash(One([]))


def test_it_is_completed_when_somebody_asks():
    @dataclass(frozen=True, slots=True)
    class Unmade:
        a: int
        b: int = 2

    @dataclass(frozen=True, slots=True)
    class Derived(Unmade):
        c: list[int] = field(default_factory=list)

    assert dataclasses.is_dataclass(Derived)
    assert [one.name for one in dataclasses.fields(Derived)] == ["a", "b", "c"]
    assert [one.name for one in dataclasses.fields(Unmade)] == ["a", "b"]
    assert Derived.__match_args__ == ("a", "b", "c")
    assert Derived(1) == Derived(1, 2, [])
    with pytest.raises(TypeError):
        Unmade()


def test_it_is_sent_to_who_has_made_none():
    sent = pickle.dumps(Quick(1))
    for use in ("repr(v)", "v == v", "hash(v) != 0", "v.a"):
        script = f"import pickle, sys; v = pickle.loads(sys.stdin.buffer.read()); print({use})"
        done = subprocess.run([sys.executable, "-c", script], input=sent, capture_output=True,
                              check=True, cwd=Path(__file__).parent)
        assert done.stdout.decode().strip() in (repr(Quick(1)), "True", "1")


def test_other_dataclasses_are_the_standard_ones():
    @dataclass(slots=True)
    class Loose:
        a: int = 1

    loose = Loose()
    loose.a = 2
    assert loose == Loose(2)

    @dataclass(frozen=True, slots=True, eq=False)
    class Apart:
        a: int = 1

    assert Apart() != Apart()
