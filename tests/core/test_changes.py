"""Changes: what differs between two policies, in the words of the files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any

import pytest

from policyd.core.changes import Change, changes
from policyd.core.globs import branch_pattern, namespace_pattern, repository_pattern, zone_pattern
from policyd.core.policy import (
    Active,
    Bounds,
    Clause,
    Identity,
    Mode,
    Override,
    Policy,
    Settings,
    Webhook,
    Zone,
)


@dataclass(frozen=True, slots=True)
class Options:
    size: int = 1


POLICY = Policy("p", (), Mode.WARN, (), (), (), (), Bounds(), "UTC", (), {"a": ("x",)},
                (Clause("r", Mode.WARN, Options()),))
ACTIVE = Active("d", Settings("/s"), (POLICY,))


def test_the_same_has_no_changes():
    assert changes(ACTIVE, ACTIVE) == ()


def test_only_what_differs_is_told():
    after = replace(ACTIVE, policies=(replace(
        POLICY, mode=Mode.ENFORCE, groups={"b": ("y", "z")},
        clauses=(Clause("r", Mode.WARN, Options(2)),)),))
    assert changes(ACTIVE, after) == (
        Change("p: mode", "warn", "enforce"), Change("p: groups.b", None, "y, z"),
        Change("p: rules.r.size", "1", "2"), Change("p: groups.a", "x", None))


def test_an_override_that_comes_is_told():
    after = replace(ACTIVE, policies=(replace(POLICY, override=Override(("a",), ("r",))),))
    assert changes(ACTIVE, after) == (Change("p: override", None, "groups: a; rules: r"),)


def test_the_first_policy_is_all_change():
    assert all(change.before is None for change in changes(None, ACTIVE))


def test_a_key_that_becomes_anothers_is_told():
    def with_identity(identity: Identity) -> Active:
        return replace(ACTIVE, settings=Settings("/s", identity=identity))

    before = with_identity(Identity("ssh", "", {"SHA256:a": "mei", "SHA256:b": "joe"}))
    after = with_identity(Identity("ssh", "", {"SHA256:a": "joe"}, {"4": "ci"}, "ci-bot", 60))
    assert changes(before, after) == (
        Change("identity.keys.SHA256:a", "mei", "joe"),
        Change("identity.deploy_keys.4", None, "ci"), Change("identity.actions", None, "ci-bot"),
        Change("identity.slop", None, "60"), Change("identity.keys.SHA256:b", "joe", None))


WHOLE = replace(
    ACTIVE, settings=replace(ACTIVE.settings, webhook=Webhook("http://x", "/f")),
    policies=(replace(
        POLICY, repositories=(repository_pattern("**"),), guarded=(branch_pattern("main"),),
        namespaces=((namespace_pattern("refs/x/*"), "judge"),),
        zones=(Zone("z", (zone_pattern("a/**"),)),),
        records_from=((branch_pattern("release/*"), "refs/heads/main"),)),))


def others(value: Any) -> Iterator[Any]:
    """The value with one thing in it that is another, for each thing in it."""
    match value:
        case bool():
            yield not value
        case str() | int() | float():
            yield value * 2 + type(value)(1)
        case Enum():
            yield next(member for member in type(value) if member is not value)
        case (first, *rest):
            for other in others(first):
                yield (other, *rest)
        case ():
            yield ("x",)
        case dict():
            yield {**value, "x": ("y",) if value else "y"}
        case None:
            yield "x"
        case _ if hasattr(value, "regex"):
            yield replace(value, glob=f"!{value.glob}", negate=True)
        case _:
            for one in fields(value):
                for other in others(getattr(value, one.name)):
                    yield replace(value, **{one.name: other})


@pytest.mark.parametrize("after", [
    *(replace(WHOLE, settings=other) for other in others(WHOLE.settings)),
    *(replace(WHOLE, policies=(other,)) for other in others(WHOLE.policies[0]))])
def test_nothing_that_changes_is_hidden(after):
    assert changes(WHOLE, after) != ()
