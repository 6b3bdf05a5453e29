"""The record files of a tree: found, parsed through a cache, and put together. Read-only."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from policyd.adapters.corpora import Corpora
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.parsedcache import ParsedCache
from policyd.core import recordset
from policyd.core.errors import CannotJudge, Fault
from policyd.core.policy import Places
from policyd.core.rows import DATED, MAX_RECORD_BYTES, Parsed, Record, Records
from policyd.core.trees import GITLINK, LINK, Entry, Trees, is_tree, kind, pairs, split
from policyd.core.values import dataclass

Parse = Callable[[Record, str, bytes], Parsed]
"""A loader: the kind of record, its path and its bytes."""

MOST_FILES = 20_000
"""Record files of one tree."""

_PLAIN = 0o100000

FILES = (Record.FLAKES, Record.QUARANTINE, Record.FREEZES)
"""Kinds that are one file; the others are all files below a folder that end so:"""
SUFFIXES: Mapping[Record, tuple[str, ...]] = {
    Record.LEASES: (".yaml", ".yml"), Record.RECEIPTS: (".json",),
    Record.RELATIONS: (".yaml", ".yml", ".py"), Record.SEEDS: ("",)}


@dataclass(frozen=True, slots=True)
class Found:
    """A record file in a tree."""

    record: Record
    entry: Entry


Files = Mapping[str, Found]
"""Path to what stands there."""


class RecordFiles:
    """The records of one repository, whatever tree they are read from."""

    def __init__(self, repo: PushedRepo, trees: Trees, parse: Parse, cache: ParsedCache,
                 corpora: Corpora) -> None:
        self._repo, self._trees, self._parse = repo, trees, parse
        self._cache, self._corpora = cache, corpora
        self._deadline = math.inf

    def until(self, deadline: float) -> RecordFiles:
        """The same, for as long as there is time: seconds of the monotonic clock."""
        self._deadline = deadline
        return self

    def files(self, tree: bytes, places: Places, records: Iterable[Record]) -> dict[str, Found]:
        """The files of these kinds below a raw tree id. Raises CannotJudge beyond the bound."""
        found: dict[str, Found] = {}
        for record in records:
            place = str(getattr(places, record.value))
            entry = self._trees.at(tree, place.encode("utf-8", "surrogateescape"))
            if entry is None:
                continue
            if record in FILES or not is_tree(entry[0]):
                found[place] = Found(record, entry)
            else:
                found.update(self._below(place, entry, record))
        return found

    def records(self, tree: bytes, places: Places, files: Files) -> Records:
        """What these files of the tree say, alone and together. Raises CannotJudge.

        What was parsed is kept, also where there was no time for all: the next one goes on.
        """
        try:
            parsed = [self.parsed(path, found) for path, found in files.items()
                      if found.record is not Record.SEEDS]
        finally:
            self.save()
        hashes = dict(self._hashes(tree, parsed))
        return recordset.together(
            parsed, kinds={path: found.record for path, found in files.items()},
            seeds=tuple(p for p, found in files.items() if found.record is Record.SEEDS),
            hashes=hashes, places=places)

    def save(self) -> None:
        """Keep what was parsed anew for those who come after."""
        self._cache.save()

    def dated(self, tree: bytes, places: Places) -> Records:
        """What the records with dated rows say: all that a gate depends on."""
        return self.records(tree, places, self.files(tree, places, sorted(
            DATED, key=lambda record: record.value)))

    def warmed(self, tree: bytes, places: Places) -> Iterator[tuple[str, str]]:
        """Every leased corpus of a tree with its digest, or the word why there is none."""
        files = self.files(tree, places, [Record.LEASES])
        parsed = [self.parsed(path, found) for path, found in sorted(files.items())]
        known = dict(self._hashes(tree, parsed))
        for corpus in dict.fromkeys(lease.corpus for one in parsed for lease in one.leases):
            yield corpus, known.get(corpus, "is too large") or "is absent"

    def parsed(self, path: str, found: Found) -> Parsed:
        """What one file says; what is no plain file is a fault of it."""
        mode, oid = found.entry
        if wrong := _no_file(mode):
            return Parsed(faults=(Fault(path, 1, 1, wrong),))
        known = self._cache.get(found.record, path, oid)
        if known is None:
            self._check_time()
            if self._repo.size(oid) > MAX_RECORD_BYTES:
                return Parsed(faults=(Fault(
                    path, 1, 1, f"larger than {MAX_RECORD_BYTES:,} bytes"),))
            known = self._parse(found.record, path, self._repo.read(oid)[1])
            self._cache.put(found.record, path, oid, known)
        return known

    def _below(self, place: str, entry: Entry, record: Record) -> Iterator[tuple[str, Found]]:
        todo, count = [(place, entry[1])], 0
        while todo:
            folder, oid = todo.pop()
            for label, child in pairs(self._repo.tree(oid)):
                mode, name = split(label)
                path = f"{folder}/{name.decode('utf-8', 'surrogateescape')}"
                count += 1
                if is_tree(mode):
                    todo.append((path, child))
                elif path.lower().endswith(SUFFIXES[record]):
                    yield path, Found(record, (mode, child))
            if count > MOST_FILES or len(todo) > MOST_FILES:
                raise CannotJudge(f"more than {MOST_FILES:,} files below {place}; the operator "
                                  "names another folder under `records` in the policy")

    def _hashes(self, tree: bytes, parsed: Iterable[Parsed]) -> Iterator[tuple[str, str | None]]:
        """The digests of leased corpora; a corpus that is not hashed yet is left out."""
        for corpus in {lease.corpus for one in parsed for lease in one.leases}:
            entry = self._trees.at(tree, corpus.encode("utf-8", "surrogateescape"))
            self._check_time()
            if entry is None or _no_file(entry[0]):
                yield corpus, None
            elif (digest := self._corpora.sha256(entry[1])) is not None:
                yield corpus, digest

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise CannotJudge("the records could not be read within the policy's bound `seconds`; "
                              "the operator raises it")


def _no_file(mode: bytes) -> str:
    if mode == LINK:
        return "it is a symbolic link; a record is a plain file"
    if mode == GITLINK:
        return "it is a submodule; a record is a plain file"
    if is_tree(mode):
        return "a folder stands where the record belongs"
    return "" if kind(mode) == _PLAIN else "it stands there twice, or with a mode that is none"
