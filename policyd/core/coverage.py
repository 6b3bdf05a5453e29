"""What a decision table does not try: every word of a policy that could go without a row changing.

A policy is varied one word at a time: a rule is switched off, an option is changed or loses an
entry, a group is no longer excepted. A word whose variants leave every row as it was is tried by
none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from enum import Enum
from typing import Any

from policyd.core import nodes
from policyd.core.nodes import Located, Node
from policyd.core.policy import Clause, Mode, Policy, Reach
from policyd.core.values import dataclass

_MUCH = 1_000


@dataclass(frozen=True, slots=True)
class Word:
    """One thing that a policy says, and what else it could say instead."""

    rule: str
    path: tuple[str, ...]
    """Where it stands below the rule; empty for the rule itself."""
    place: Located
    variants: tuple[Clause, ...]

    @property
    def says(self) -> str:
        """`literal-overlap: allow: application/json`."""
        return ": ".join((self.rule, *self.path))


def rules_of(policy: Policy, node: Node) -> Iterator[Word]:
    """The rules that are not off; `node` is the policy's file."""
    for clause in policy.clauses:
        if clause.mode is not Mode.OFF:
            yield _word(clause, node, (), [replace(clause, mode=Mode.OFF)])


def words_of(clause: Clause, node: Node, today: date) -> Iterator[Word]:
    """What the file says of one rule besides naming it."""
    body = nodes.get(nodes.get(node, "rules"), clause.rule)
    written = {key.text for key, _ in body.entries} if isinstance(body, nodes.Mapping) else set()
    if clause.mode_for(frozenset(), today, guarded=True) is Mode.ENFORCE:
        yield from _softenings(clause, node, written)
    for group in clause.excepted:
        less = tuple(other for other in clause.excepted if other != group)
        yield _word(clause, node, ("except", group), [replace(clause, excepted=less)])
    for name in getattr(type(clause.options), "__dataclass_fields__", ()):
        if name in written:
            yield from _option(clause, node, name)


def with_clause(policy: Policy, clause: Clause) -> Policy:
    """The policy with another clause in place of that of the same rule."""
    return replace(policy, clauses=tuple(
        clause if one.rule == clause.rule else one for one in policy.clauses))


def _softenings(clause: Clause, node: Node, written: set[str]) -> Iterator[Word]:
    """What only matters to a rule that enforces."""
    if "on" in written:
        other = Reach.ALL if clause.on is Reach.GUARDED else Reach.GUARDED
        yield _word(clause, node, ("on",), [replace(clause, on=other)])
    if clause.enforce_from is not None:
        yield _word(clause, node, ("enforce_from",), [replace(clause, enforce_from=None)])
    for group in clause.warn_for:
        less = tuple(other for other in clause.warn_for if other != group)
        yield _word(clause, node, ("warn_for", group), [replace(clause, warn_for=less)])


def _option(clause: Clause, node: Node, name: str) -> Iterator[Word]:
    for path, values in _varied(getattr(clause.options, name)):
        yield _word(clause, node, (name, *path), [
            replace(clause, options=replace(clause.options, **{name: value}))
            for value in values])


def _varied(value: Any) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """The parts of a value that can be changed by themselves, with the value changed there."""
    if isinstance(value, tuple):
        for item in value:
            yield (str(item),), [tuple(other for other in value if other != item)]
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            for path, values in _varied(inner):
                yield (str(key), *path), [{**value, key: other} for other in values]
    elif isinstance(value, bool):
        yield (), [not value]
    elif isinstance(value, Enum):
        yield (), [member for member in type(value) if member is not value]
    elif isinstance(value, int | float):
        yield (), [value * _MUCH + _MUCH, 1, 0]
    elif isinstance(value, str):
        yield (), [f"{value}?"]


def _word(clause: Clause, node: Node, path: tuple[str, ...], variants: list[Clause]) -> Word:
    return Word(clause.rule, path, nodes.find(node, ("rules", clause.rule, *path)),
                tuple(variants))
