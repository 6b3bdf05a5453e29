"""The sheets of the files that a push brings or leaves, each blob read once for each language."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from policyd.adapters.gitrepo import Missing
from policyd.adapters.look import Look
from policyd.core.facts import Unreadable
from policyd.core.sheet import Sheet
from policyd.core.trees import GITLINK, LINK, Entry, is_tree
from policyd.languages import DATA, language_of

if TYPE_CHECKING:  # most pushes have nothing to parse, and need no reader of sources
    from policyd.adapters.keptsheets import KeptSheets
    from policyd.adapters.sourcereader import Reading

Files = Mapping[str, Entry]
"""Path to mode and raw blob id."""


class Sources:
    """Reads for one push through one policy. `min_length` is that of telling texts."""

    def __init__(self, look: Look, min_length: int, deadline: float,
                 kept: KeptSheets | None = None) -> None:
        """`kept` are sheets of judgements before this one."""
        self._look, self._min_length, self._deadline = look, min_length, deadline
        self._read: dict[tuple[str, bytes], Reading] = {}
        self._refused: dict[bytes, str] = {}
        self._kept = kept

    def files(self, tree: bytes, paths: Iterable[str]) -> Iterator[tuple[str, Entry]]:
        """Those of the paths at which the tree holds a file or a link."""
        for path in paths:
            entry = self._look.trees.at(tree, path.encode("utf-8", "surrogateescape"))
            if entry is not None and not is_tree(entry[0]) and entry[0] != GITLINK:
                yield path, entry

    def read(self, files: Iterable[tuple[str, Entry]]) -> None:
        """Read what was not read yet. Raises CannotJudge beyond the policy's seconds."""
        wanted: dict[str, dict[bytes, bytes]] = {}
        for path, (mode, oid) in files:
            language = language_of(path)
            if language is None or mode in (LINK, GITLINK) or (language, oid) in self._read \
                    or self._is_kept(language, oid):
                continue
            text = self.bytes_of(oid)
            if text is not None:
                wanted.setdefault(language, {})[oid] = text
        for language, texts in wanted.items():
            from policyd.adapters import sourcereader

            found = sourcereader.read(
                [(oid.hex(), text) for oid, text in texts.items()], language=language,
                min_length=self._min_length,
                seconds=max(self._deadline - time.monotonic(), 0.1))
            for oid in texts:
                self._take(language, oid, found[oid.hex()])

    def _is_kept(self, language: str, oid: bytes) -> bool:
        held = self._kept.get(self._key(language, oid)) if self._kept is not None else None
        if held is not None:
            self._read[language, oid] = held
        return held is not None

    def _take(self, language: str, oid: bytes, found: Reading) -> None:
        self._read[language, oid] = found
        if self._kept is not None and isinstance(found, Sheet):
            self._kept.keep(self._key(language, oid), found)

    def _key(self, language: str, oid: bytes) -> tuple[str, bytes, int, int]:
        return language, oid, self._min_length, self._look.policy.bounds.max_blob_bytes

    def sheet(self, path: str, entry: Entry) -> Sheet | None:
        """What was read; None where that is nothing that could be."""
        held = self._read.get((language_of(path) or "", entry[1]))
        return held if isinstance(held, Sheet) and entry[0] not in (LINK, GITLINK) else None

    def unreadable(self, files: Files) -> tuple[Unreadable, ...]:
        """Those of the files that should have been read and could not; data need not be."""
        return tuple(Unreadable(path, *found) for path in sorted(files)
                     if (found := self._why(path, files[path])) is not None)

    def _why(self, path: str, entry: Entry) -> tuple[int, str] | None:
        mode, oid = entry
        language = language_of(path)
        if language in (None, DATA):
            return None
        if mode == LINK:
            return 1, "it is a symbolic link"
        if oid in self._refused:
            return 1, self._refused[oid]
        held = self._read.get((language or "", oid))
        return None if held is None or isinstance(held, Sheet) else (held.line, held.reason)

    def bytes_of(self, oid: bytes) -> bytes | None:
        """A blob's content; None where it is not read, and then it is known why."""
        most = self._look.policy.bounds.max_blob_bytes
        if oid in self._refused:
            return None
        try:
            if self._look.repo.size(oid) <= most:
                return self._look.repo.read(oid)[1]
            self._refused[oid] = (f"it is larger than {most:,} bytes; the operator raises "
                                  "`max_blob_bytes`")
        except Missing:
            self._refused[oid] = "its content is not in the push"
        return None
