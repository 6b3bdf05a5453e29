"""A document as a tree of nodes that know where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from policyd.core.errors import Fault
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Located:
    """Where a node begins; line and column start at 1."""

    source: str
    line: int
    column: int

    def fault(self, message: str) -> Fault:
        return Fault(self.source, self.line, self.column, message)


@dataclass(frozen=True, slots=True)
class Scalar(Located):
    """`text` as written (without quotes), `value` by the core schema; quoted values are text."""

    text: str
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Sequence(Located):
    """A list."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping(Located):
    """A mapping in the file's order. Keys are text whatever they look like, and unique."""

    entries: tuple[tuple[Scalar, Node], ...]

    def get(self, key: str) -> Node | None:
        return next((value for name, value in self.entries if name.text == key), None)

    def key(self, key: str) -> Scalar | None:
        return next((name for name, _ in self.entries if name.text == key), None)


Node = Mapping | Sequence | Scalar


def find(node: Node, path: tuple[str | int, ...]) -> Located:
    """The place that a path of keys leads to, or the nearest one above it.

    A last name of a mapping gives the key itself; in a list a name means the item that reads so.
    """
    here: Node = node
    for depth, step in enumerate(path):
        last = depth == len(path) - 1
        if isinstance(here, Mapping) and (key := here.key(str(step))) is not None:
            if last:
                return key
            here = cast(Node, here.get(str(step)))
        elif isinstance(here, Sequence) and (item := _item(here, step)) is not None:
            here = item
        else:
            return here
    return here


def get(node: Node | None, key: str) -> Node | None:
    """The value under a key; None where there is none, or where the node is no mapping."""
    return node.get(key) if isinstance(node, Mapping) else None


def keys(node: Node, key: str) -> frozenset[str]:
    """The keys of the mapping under a key; none where there is no mapping."""
    named = get(node, key)
    return frozenset(name.text for name, _ in named.entries) if isinstance(named, Mapping) \
        else frozenset()


def without(node: Node, key: str) -> Node:
    """A mapping without one of its keys; any other node as it is."""
    if not isinstance(node, Mapping):
        return node
    return replace(node, entries=tuple(e for e in node.entries if e[0].text != key))


def laid_on(base: Node, over: Node) -> Node:
    """`over` on top of `base`: mappings key by key, everything else replaced.

    Every node keeps the place that it was written at. What only `over` has stands first: where
    the first match decides, as among namespaces, it decides.
    """
    if not (isinstance(base, Mapping) and isinstance(over, Mapping)):
        return over
    added = [entry for entry in over.entries if base.key(entry[0].text) is None]
    there = {key.text: (key, value) for key, value in over.entries}
    for key, value in base.entries:
        if key.text in there:
            key, value = there[key.text][0], laid_on(value, there[key.text][1])
        added.append((key, value))
    return replace(over, entries=tuple(added))


def in_order(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Faults by file, line and column, each once."""
    return tuple(sorted(dict.fromkeys(faults), key=lambda f: (f.source, f.line, f.column)))


def shown(text: str) -> str:
    """Text from a file, quoted and cut, safe for a terminal."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _item(node: Sequence, step: str | int) -> Node | None:
    if isinstance(step, int):
        return node.items[step] if 0 <= step < len(node.items) else None
    return next((item for item in node.items
                 if isinstance(item, Scalar) and item.text == step), None)
