"""A throwaway bare repository, written object by object: git refuses trees that a push can hold.

No process is started and no variable of git's is read, so that nobody's settings change a byte.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from hashlib import sha1
from pathlib import Path

_WHO = b"Case <case@invalid> 1767225600 +0000"


class ScratchRepo:
    """In `folder`, which exists and is empty; its owner removes it."""

    def __init__(self, folder: Path) -> None:
        self.git_dir = folder
        self._objects = folder / "objects"
        self._written: set[bytes] = set()
        for name in ("objects", "refs/heads"):
            (folder / name).mkdir(parents=True)
        (folder / "HEAD").write_bytes(b"ref: refs/heads/main\n")
        (folder / "config").write_bytes(
            b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n")

    def commit(self, files: Mapping[str, str], *parents: str) -> str:
        """A commit that holds these files; its id in hex, the same for the same content."""
        lines = [b"tree " + self._tree(files).hex().encode()]
        lines += [b"parent " + parent.encode() for parent in parents]
        lines += [b"author " + _WHO, b"committer " + _WHO, b"", b"Case\n"]
        return self._write(b"commit", b"\n".join(lines)).hex()

    def _tree(self, files: Mapping[str, str]) -> bytes:
        """The tree of files by their paths; a path is a file or a folder, never both."""
        folders: dict[str, dict[str, str]] = {}
        entries: list[tuple[bytes, bytes, bytes]] = []
        for path, text in files.items():
            name, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(name, {})[rest] = text
            else:
                blob = self._write(b"blob", _raw(text))
                entries.append((_raw(name), b"100644 " + _raw(name), blob))
        for name, below in folders.items():  # git sorts a folder as if its name ended in a slash
            entries.append((_raw(name) + b"/", b"40000 " + _raw(name), self._tree(below)))
        return self._write(b"tree", b"".join(
            label + b"\0" + oid for _, label, oid in sorted(entries)))

    def _write(self, kind: bytes, content: bytes) -> bytes:
        """A loose object, as gitformat-loose(5) has it."""
        data = kind + b" %d\0" % len(content) + content
        oid = sha1(data, usedforsecurity=False).digest()
        if oid not in self._written:
            self._written.add(oid)
            folder = self._objects / oid.hex()[:2]
            folder.mkdir(exist_ok=True)
            (folder / oid.hex()[2:]).write_bytes(zlib.compress(data, 1))
        return oid


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
