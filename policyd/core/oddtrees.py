"""Tree entries that no ordinary work tree holds, or that undermine a zone. Pure.

Git accepts most of them unless receive.fsckObjects and receive.fsck.badFilemode say otherwise:
odd modes, names with a slash, names that stand twice. Others are ordinary, but make a zone
lie elsewhere: a link where the zone's folder was, a link that leads into it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from posixpath import dirname, join, normpath

from policyd.core.facts import OddEntry
from policyd.core.policy import Zone
from policyd.core.trees import GITLINK, LINK, TREE, Entry, Trees, is_tree, pairs, split
from policyd.core.zones import ZoneMap, fold, folders

FILES = frozenset((b"100644", b"100755", LINK))
MODES = frozenset((TREE, b"100644", b"100755", LINK, GITLINK))
DOT_GIT = frozenset((".git", "git~1"))

NAME = "has a name that no work tree can hold"
TWICE = "stands twice in its folder"
ORDER = "is a folder whose entries are out of order"
UNUSABLE = frozenset((NAME, TWICE, ORDER))
"""What git checks out nowhere, or not as it is."""


class OddTrees:
    """Looks at what a tree holds and no tree before it held at the same place."""

    def __init__(self, trees: Trees, read: Callable[[bytes], bytes],
                 target: Callable[[bytes], bytes], kind: Callable[[bytes], str],
                 zones: tuple[Zone, ...], zone_map: ZoneMap) -> None:
        """`read` gives a tree's raw content, `target` what a symbolic link holds, `kind` what an
        object is (blob, tree, commit, tag)."""
        self._trees, self._read, self._target, self._kind = trees, read, target, kind
        self._map = zone_map
        self._folders = tuple(folders(zones))

    def odd(self, new: bytes, before: Iterable[bytes]) -> Iterator[OddEntry]:
        """Odd entries of the tree `new` (raw id) that none of the trees `before` has in place."""
        stack = [("", new, tuple(dict.fromkeys(before)))]
        while stack:
            folder, oid, olds = stack.pop()
            if oid in olds:
                continue
            yield from self._whole(folder, oid)
            known = [self._trees.entries(old) for old in olds]
            for label, entry_oid in self._trees.entries(oid).items():
                mode, raw_name = split(label)
                if any(table.get(label) == entry_oid for table in known):
                    continue
                path = _join(folder, raw_name)
                yield from self._entry(path, raw_name, (mode, entry_oid))
                if is_tree(mode):
                    below = (table.get(label) for table in known)
                    stack.append((path, entry_oid, tuple(o for o in below if o is not None)))

    def _whole(self, folder: str, oid: bytes) -> Iterator[OddEntry]:
        """Faults of a tree as a whole: order, and names that stand twice."""
        stored = [split(label) for label, _ in pairs(self._read(oid))]
        repeated = [n for n, times in Counter(name for _, name in stored).items() if times > 1]
        for name in sorted(repeated):
            yield OddEntry(_join(folder, name), TWICE)
        keys = [name + b"/" if is_tree(mode) else name for mode, name in stored]
        if not repeated and any(a > b for a, b in pairwise(keys)):
            yield OddEntry(folder or ".", ORDER)

    def _entry(self, path: str, raw_name: bytes, entry: Entry) -> Iterator[OddEntry]:
        mode, oid = entry
        name = raw_name.decode("utf-8", "surrogateescape")
        if b"+" in mode:
            return  # it stands twice, which is told of its folder
        if mode not in MODES:
            yield OddEntry(path, f"has mode {mode.decode('ascii', 'replace')}")
        if "/" in name or fold(name) in DOT_GIT or fold(name) == "":
            yield OddEntry(path, NAME)
        if not is_tree(mode):
            yield from self._in_the_way(path, mode)
        if mode == GITLINK and (zones := self._map.inside(path)):
            yield OddEntry(path, "is a submodule inside a zone", zones)
        if mode in FILES and (kind := self._kind(oid)) != "blob":
            yield OddEntry(path, f"is a file whose content is a {kind}")
        elif mode == LINK:
            yield from self._link(path, oid)

    def _in_the_way(self, path: str, mode: bytes) -> Iterator[OddEntry]:
        if zones := self._map.in_the_way(path):
            what = {LINK: "a symbolic link", GITLINK: "a submodule"}.get(mode, "a file")
            yield OddEntry(path, f"is {what} where the folder of a zone belongs", zones)

    def _link(self, path: str, oid: bytes) -> Iterator[OddEntry]:
        target = self._target(oid).decode("utf-8", "surrogateescape")
        if target.startswith("/"):
            return
        reached = normpath(join(dirname(path), target))
        own = set(self._map.inside(path))
        inside = {*self._map.inside(reached), *self._map.inside(f"{reached}/x")} - own
        inside |= {zone for zone, literal, whole in self._folders
                   if whole and tuple(fold(reached).split("/")) == literal} - own
        if inside:
            yield OddEntry(path, f"is a symbolic link into {reached}", tuple(sorted(inside)))


def _join(folder: str, name: bytes) -> str:
    text = name.decode("utf-8", "surrogateescape")
    return f"{folder}/{text}" if folder else text
