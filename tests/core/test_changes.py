"""Changes: what differs between two policies, in the words of the files."""

from __future__ import annotations

from dataclasses import dataclass, replace

from policyd.core.changes import Change, changes
from policyd.core.policy import Active, Bounds, Clause, Mode, Override, Policy, Settings


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
