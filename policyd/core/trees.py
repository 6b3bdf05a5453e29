"""What a commit touches: trees compared by id, entry by entry, only where a zone can lie.

A tree object is kept as a mapping from `mode SP name` to the object id, both as the raw bytes
that git stores, so that two trees are compared by set arithmetic. The path-level merge of
several parents is never built whole: `Merged` is worked out name by name, only for names on
which its sides differ, and equal ids end the walk on every side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass

Entry = tuple[bytes, bytes]
"""Mode (without leading zeros) and raw object id."""

TREE = b"40000"
LINK = b"120000"
GITLINK = b"160000"
_ORDINARY = frozenset((b"100644", b"100755", LINK, GITLINK))

MAX_DEPTH = 1_000
"""Folders in folders; git's own limit on a path (4,096 bytes) is reached long before."""

_ENTRY = re.compile(rb"([0-9]+ [^\x00]+)\x00(.{20})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Both sides changed differently: equals nothing, so that any result is a decision."""

    where: object


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """The three-way, path-level merge of two nodes against a base, worked out on demand."""

    ours: Node
    theirs: Node
    base: Node


Node = Entry | Conflict | Merged | None
"""What stands at a path: an entry, nothing, or what a merge would leave there."""


def pairs(raw: bytes) -> list[tuple[bytes, bytes]]:
    """The (`mode name`, id) pairs of a tree object, as stored. Raises CannotJudge."""
    found: list[tuple[bytes, bytes]] = _ENTRY.findall(raw)
    if sum(len(label) for label, _ in found) + 21 * len(found) != len(raw):
        raise CannotJudge("a tree object is damaged; `git fsck` names it")
    return found


def entries(raw: bytes) -> dict[bytes, bytes]:
    """The entries of a tree object; what stands twice is one entry with modes and ids joined."""
    found: dict[bytes, bytes] = dict(_ENTRY.findall(raw))
    if sum(map(len, found)) + 21 * len(found) == len(raw):
        return found
    every: dict[bytes, list[bytes]] = {}
    for label, oid in pairs(raw):
        every.setdefault(label, []).append(oid)
    return {_times(label, len(oids)): b"".join(oids) for label, oids in every.items()}


def _times(label: bytes, count: int) -> bytes:
    """`40000+40000 name` for what stands twice: no mode of a folder that could be followed."""
    mode, _, name = label.partition(b" ")
    return b"+".join([mode] * count) + b" " + name


def split(label: bytes) -> tuple[bytes, bytes]:
    """The mode, without leading zeros, and the name of a `mode name` label."""
    mode, _, name = label.partition(b" ")
    return mode.lstrip(b"0"), name


def is_tree(mode: bytes) -> bool:
    """Whether git takes the entry for a folder; it looks at the type bits alone."""
    return mode == TREE or (mode not in _ORDINARY and kind(mode) == 0o040000)


def kind(mode: bytes) -> int:
    """The file type bits of a mode as git reads them; 0 where it is no number."""
    try:
        return int(mode, 8) & 0o170000
    except ValueError:
        return 0


def merge(ours: Node, theirs: Node, base: Node) -> Node:
    """What a path-level merge leaves: the side that changed, or something to look into."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    return Merged(ours, theirs, base)


class Trees:
    """Comparisons over one repository's trees; `read` gives a tree object's raw content by id."""

    def __init__(self, read: Callable[[bytes], bytes]) -> None:
        self._read = read
        self._parsed: dict[bytes, dict[bytes, bytes]] = {}

    def entries(self, oid: bytes) -> dict[bytes, bytes]:
        known = self._parsed.get(oid)
        if known is None:
            if len(self._parsed) > 50_000:
                self._parsed.clear()
            known = self._parsed[oid] = entries(self._read(oid))
        return known

    def at(self, tree: bytes, path: bytes) -> Entry | None:
        """The entry at a path below a tree; None where there is none."""
        entry: Entry | None = (TREE, tree)
        for name in path.split(b"/"):
            if entry is None or not is_tree(entry[0]):
                return None
            entry = _find(self.entries(entry[1]), name)
        return entry

    def leaves(self, node: Node, path: bytes) -> tuple[Entry, ...]:
        """What stands at a path below a node: an entry, nothing, or both sides of a conflict."""
        if isinstance(node, Merged):
            ours, theirs, base = (self.leaves(part, path)
                                  for part in (node.ours, node.theirs, node.base))
            if ours == theirs or theirs == base:
                return ours
            return theirs if ours == base else tuple(dict.fromkeys((*ours, *theirs)))
        entry = self.at(node[1], path) if isinstance(node, tuple) and is_tree(node[0]) else None
        return () if entry is None or is_tree(entry[0]) else (entry,)

    def diff(self, old: Node, new: Node, follow: Callable[[bytes], bool], *,
             conflicts: bool = True) -> Iterator[bytes]:
        """Paths whose entry differs between two nodes, looking where `follow(folder)` allows.

        In no order; folders themselves are no paths. `conflicts=False` leaves out the paths
        on which the sides of a merge conflict.
        """
        stack = [(old, new, b"")]
        while stack:
            old, new, path = stack.pop()
            before = leaf(old)
            if path and before != leaf(new) and (conflicts or not isinstance(before, Conflict)):
                yield path
            if _has_folder(old) or _has_folder(new):
                if not follow(path):
                    continue
                if path.count(b"/") > MAX_DEPTH:
                    raise CannotJudge(f"a pushed tree is deeper than {MAX_DEPTH:,} folders")
                stack += self._below(old, new, path + b"/" if path else b"")

    def _below(self, old: Node, new: Node, prefix: bytes) -> Iterator[tuple[Node, Node, bytes]]:
        """The children on which the two nodes differ."""
        sides = {*_sides(old), *_sides(new)}
        tables = {side: self._table(side) for side in sides}
        names = _named(tables)
        for name in {name for found in names.values() for name in found}:
            before, after = _child(old, name, names), _child(new, name, names)
            if before != after:
                yield before, after, prefix + name

    def _table(self, side: Entry | Conflict | None) -> Mapping[bytes, bytes]:
        if isinstance(side, tuple) and is_tree(side[0]):
            return self.entries(side[1])
        return {}


def _find(table: Mapping[bytes, bytes], name: bytes) -> Entry | None:
    for mode in (TREE, b"100644", b"100755", LINK, GITLINK):
        oid = table.get(mode + b" " + name)
        if oid is not None:
            return mode, oid
    return next(((mode, oid) for (mode, other), oid in
                 ((split(label), oid) for label, oid in table.items()) if other == name), None)


def leaf(node: Node) -> Entry | Conflict | None:
    """What stands at the path itself when folders do not count."""
    if isinstance(node, Merged):
        ours, theirs, base = leaf(node.ours), leaf(node.theirs), leaf(node.base)
        if ours == theirs or theirs == base:
            return ours
        return theirs if ours == base else Conflict(node)
    if isinstance(node, tuple) and is_tree(node[0]):
        return None
    return node


def _has_folder(node: Node) -> bool:
    return any(isinstance(side, tuple) and is_tree(side[0]) for side in _sides(node))


def _sides(node: Node) -> Iterator[Entry | Conflict | None]:
    """The nodes that an expression of merges is made of."""
    if isinstance(node, Merged):
        for part in (node.ours, node.theirs, node.base):
            yield from _sides(part)
    else:
        yield node


_Names = Mapping[Entry | Conflict | None, Mapping[bytes, Entry]]


def _named(tables: Mapping[Entry | Conflict | None, Mapping[bytes, bytes]]) -> _Names:
    """For each side the entries, by name, on which not all sides agree.

    Sides that differ somewhere differ between two neighbours in any order, so that the
    differences of neighbours hold every item that is not common to all.
    """
    changed: set[tuple[bytes, bytes]] = set()
    for one, other in pairwise(tables.values()):
        changed |= one.items() ^ other.items()
    names: dict[Entry | Conflict | None, dict[bytes, Entry]] = {side: {} for side in tables}
    for label, oid in changed:
        mode, name = split(label)
        for side, table in tables.items():
            if table.get(label) == oid:
                twice = names[side].get(name)
                names[side][name] = (mode, oid) if twice is None else _joined(twice, (mode, oid))
    return names


def _joined(one: Entry, other: Entry) -> Entry:
    """A name that stands twice in a tree: one entry that equals nothing ordinary."""
    first, second = sorted((one, other))
    return (first[0] + b"+" + second[0], first[1] + second[1])


def _child(node: Node, name: bytes, names: _Names) -> Node:
    if isinstance(node, Merged):
        return merge(_child(node.ours, name, names), _child(node.theirs, name, names),
                     _child(node.base, name, names))
    return names[node].get(name)
