"""Relation tables: rules between two executions, each row with the functions that try it.

A YAML file `{version: 1, relations: [...]}`; see `Row`. The functions stand in Python files
beside it. A row stores no expected value; what it may combine is checked by `_FURTHER`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from datetime import date
from typing import Annotated, Literal

from policyd.core import nodes
from policyd.core.decoding import attempt
from policyd.core.errors import Fault
from policyd.core.nodes import Node, Scalar, Sequence
from policyd.core.rows import DatedRow, Kind, Parsed, Relation
from policyd.core.values import dataclass
from policyd.records import fields

_ANSWERS = ("expected", "expect", "expected_output", "golden", "output", "outputs", "result",
            "answer")
_NO_ANSWERS = ("a row stores no expected value; it says how the output changes when the input "
               "does")
_UNCHANGED = frozenset({"identity", "none", "noop"})
_Found = Iterator[tuple[str, str]]
"""Keys with what is wrong under them, or with their absence."""


@dataclass(frozen=True, slots=True)
class Table:
    version: Literal[1]
    relations: Node
    defaults: Node | None = None


def _folder(text: str) -> str:
    return text if text == "." else fields.inside(text)


@dataclass(frozen=True, slots=True)
class Row:
    id: fields.Name
    relation: fields.Name
    """What it says, in one line."""
    entry: fields.EntryPoint
    generator: fields.Function
    compare: Literal["exact", "bag", "tolerance", "quota", "subset", "map", "holds", "raises"]
    status: Literal["blocking", "policy", "freezable"]
    """A freezable row blocks, too."""
    roots: tuple[Annotated[str, _folder], ...] = ()
    arity: Literal[2, 1] = 2
    """Executions that are compared: a pair, or one whose output has a property."""
    transform: fields.Function | None = None
    map: fields.Function | None = None
    """Makes of the source run's output what the follow-up run's must be."""
    holds: fields.Function | None = None
    """For a property: whether one output has it."""
    merge: fields.Function | None = None
    """Makes one output of those of several follow-up runs."""
    within: Annotated[str, fields.bound] | None = None
    """How far apart two numbers may be: a number as written, or a function that says it."""
    follow_up: fields.EntryPoint | None = None
    """What the follow-up run calls, where it is not `entry`."""
    steps: Mapping[fields.Name, fields.EntryPoint] = field(default_factory=dict)
    """What the steps of an input call by name, where an input is a list of steps."""
    draws: Annotated[int, fields.between(1, 10_000)] = 48
    """How many inputs are drawn, besides those made of literals of the candidate."""
    seeds: tuple[fields.Inside, ...] = ()
    """Files and folders whose content the generator may use."""
    owner: fields.Name | None = None
    expires: date | None = None
    reducer: fields.Name | None = None
    """The non-associative reducer that makes a row freezable."""
    safety: bool = False
    class_: Literal["order", "store", "split-merge", "idempotence", "round-trip", "commuting",
                    "scale", "duplication", "property"] | None = field(
                        default=None, metadata={"key": "class"})
    rounding: fields.Name | None = None
    """How it rounds, or what becomes of a remainder, in one line."""
    leases: tuple[fields.Name, ...] = ()
    quantum: fields.Quantum | None = None
    """To what it rounds where it reads a lease, as written."""
    min_applied: Annotated[int, fields.at_least(1)] = 16


def load(path: str, node: Node, faults: list[Fault]) -> Parsed:
    found = rows(node, faults)
    return Parsed(relations=tuple(_relation(path, item.line, row) for item, row in found),
                  rows=tuple(_dated(path, item.line, row) for item, row in found
                             if row.status == "policy"))


def rows(node: Node, faults: list[Fault]) -> tuple[tuple[Node, Row], ...]:
    """The rows of a table, each with where it stands."""
    attempt(node, Table, faults)
    listed = nodes.get(node, "relations")
    if isinstance(listed, Sequence) and not listed.items:
        faults.append(listed.fault("a table without rows proves nothing"))
    found = tuple(fields.rows(listed, _read, faults))
    fields.unique(listed, "id", fields.Name, faults)
    return found


def _read(item: Node, faults: list[Fault]) -> Row | None:
    for look in _FURTHER:
        for key, message in look(_Words(item)):
            faults.append(fields.value_of(item, key).fault(message))
    plain = fields.refused(item, _ANSWERS, _NO_ANSWERS, faults)
    return attempt(fields.as_written(plain, "quantum", "within"), Row, faults)


class _Words:
    """What a row says, key by key, also where other keys of it are wrong."""

    def __init__(self, row: Node) -> None:
        self._row = row

    def text(self, key: str) -> str:
        """As written; nothing where there is no text."""
        node = nodes.get(self._row, key)
        return node.text if isinstance(node, Scalar) and node.value is not None else ""

    def has(self, key: str) -> bool:
        """Whether anything stands there; an empty list is nothing."""
        node = nodes.get(self._row, key)
        return fields.has(self._row, key) and not (isinstance(node, Sequence) and not node.items)

    @property
    def is_property(self) -> bool:
        return self.text("arity") == "1"

    @property
    def blocks(self) -> bool:
        return self.text("status") in ("blocking", "freezable")


def _two_sides(row: _Words) -> _Found:
    if row.is_property:
        if row.has("transform"):
            yield "transform", "a property (arity 1) has one execution, so nothing is transformed"
    elif not row.has("transform"):
        yield "transform", "a pair (arity 2) has a transform that makes the second input"
    elif row.text("transform").lower() in _UNCHANGED:
        yield "transform", "both sides are the same call, so that the row holds of any code"


def _whose(row: _Words) -> _Found:
    for key in ("owner", "expires"):
        if row.text("status") == "policy" and not row.has(key):
            yield key, f"a policy row has {'an owner' if key == 'owner' else 'a last day'}: {key}"
        elif row.blocks and row.has(key):
            yield key, f"only a policy row has {key}; a row that blocks does so without end"


def _frozen(row: _Words) -> _Found:
    if row.text("status") != "freezable":
        return
    if not row.has("reducer"):
        yield "reducer", "a freezable row names its reducer, which is not associative"
    if row.text("safety").lower() == "true":
        yield "safety", "a row marked safety is never freezable"


def _compared(row: _Words) -> _Found:
    """Each way to compare with the keys that it needs, and those that only it uses."""
    how = row.text("compare")
    if how in _OF_PROPERTIES | _OF_PAIRS:
        if row.is_property and how not in _OF_PROPERTIES:
            yield "compare", f"a property (arity 1) has one output: holds or raises, not {how}"
        elif not row.is_property and how not in _OF_PAIRS:
            yield "compare", f"a pair (arity 2) has two outputs; {how} looks at one"
    for key, needed, used in _NEEDED:
        if how in needed and not row.has(key):
            yield key, f"`compare: {how}` names {_NAMED[key]} under {key}"
        elif row.has(key) and how not in used:
            yield key, f"{key} says nothing where outputs are compared by {how or 'nothing'}"
    for key in ("follow_up", "merge"):
        if row.is_property and row.has(key):
            yield key, f"a property (arity 1) has no follow-up run, so there is no {key}"


def _rounded(row: _Words) -> _Found:
    if row.text("class") in ("scale", "duplication") and row.blocks and not row.has("rounding"):
        yield "class", (f"a row of class {row.text('class')} blocks only when it says what "
                        "becomes of the remainder, under rounding; until then its status is "
                        "policy")
    if row.has("leases") and row.has("rounding") and not row.has("quantum"):
        yield "rounding", "a row that reads a lease and rounds states its quantum"


_OF_PROPERTIES = frozenset({"holds", "raises"})
_OF_PAIRS = frozenset({"exact", "bag", "tolerance", "quota", "subset", "map", "raises"})
_NAMED = {"map": "its function", "holds": "its function",
          "within": "its bound, a number or a function,"}
_NEEDED = (("map", frozenset({"map", "quota"}), _OF_PAIRS - {"raises"}),
           ("holds", frozenset({"holds"}), frozenset({"holds"})),
           ("within", frozenset({"tolerance", "quota"}), frozenset({"tolerance", "quota"})))
"""A key, the comparisons that need it, and those that use it."""

_FURTHER: tuple[Callable[[_Words], _Found], ...] = (
    _two_sides, _whose, _frozen, _compared, _rounded)


def functions(row: Row) -> dict[str, str]:
    """The functions that a row names, by its key."""
    within = row.within if row.within is not None and fields.number(row.within) is None else None
    named = {"generator": row.generator, "transform": row.transform, "map": row.map,
             "holds": row.holds, "merge": row.merge, "within": within}
    return {key: name for key, name in named.items() if name is not None}


def _relation(path: str, line: int, row: Row) -> Relation:
    named = functions(row)
    return Relation(row.id, path, line, "policy" if row.status == "policy" else "blocking",
                    row.status == "freezable", row.leases,
                    tuple(dict.fromkeys(named.values())),
                    row.rounding is not None)


def _dated(path: str, line: int, row: Row) -> DatedRow:
    return DatedRow(Kind.POLICY, path, line, row.id, row.id, row.owner or "", row.relation,
                    last=row.expires)
