"""Tree objects in memory, under the ids that git would give them; wrong ones too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha1

from policyd.core.trees import TREE, Entry

FILE, EXECUTABLE, LINK, GITLINK = b"100644", b"100755", b"120000", b"160000"


def blob(text: str) -> bytes:
    """The id of a text; for a tree it is only a number."""
    data = text.encode("utf-8", "surrogateescape")
    return sha1(b"blob %d\0%s" % (len(data), data)).digest()


class TreeStore:
    """`read` gives the content of a tree by id, `reads` the ids that were asked for."""

    def __init__(self) -> None:
        self.objects: dict[bytes, bytes] = {}
        self.reads: list[bytes] = []

    def read(self, oid: bytes) -> bytes:
        self.reads.append(oid)
        return self.objects[oid]

    def raw(self, data: bytes) -> bytes:
        oid = sha1(b"tree %d\0%s" % (len(data), data)).digest()
        self.objects[oid] = data
        return oid

    def tree(self, entries: Iterable[tuple[bytes, bytes, bytes]]) -> bytes:
        """A tree of (mode, name, id) exactly as given."""
        return self.raw(b"".join(mode + b" " + name + b"\0" + oid for mode, name, oid in entries))

    def flat(self, files: Mapping[str, Entry | str]) -> bytes:
        """A tree of trees from paths to entries; a text stands for an ordinary file."""
        here: dict[bytes, Entry] = {}
        below: dict[str, dict[str, Entry | str]] = {}
        for path, entry in files.items():
            name, _, rest = path.partition("/")
            if rest:
                below.setdefault(name, {})[rest] = entry
            else:
                here[_raw(name)] = (FILE, blob(entry)) if isinstance(entry, str) else entry
        here |= {_raw(name): (TREE, self.flat(inside)) for name, inside in below.items()}
        ordered = sorted(here.items(), key=lambda item: item[0] + b"/" * (item[1][0] == TREE))
        return self.tree((mode, name, oid) for name, (mode, oid) in ordered)


def _raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
