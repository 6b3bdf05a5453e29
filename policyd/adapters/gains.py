"""Which literals a zone gained: held by a changed file after, by no changed file of it before.

The before-sides are the boundary, what the ref holds, and every guarded branch: what main has
already is nobody's secret, so moves, cherry-picks and backports gain nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from policyd.adapters.gitrepo import Missing
from policyd.adapters.look import Look
from policyd.adapters.touched import beyond
from policyd.core.errors import CannotJudge
from policyd.core.facts import Gained, Literals, Occurrence, Unreadable, Update
from policyd.core.trees import GITLINK, LINK, Entry, is_tree
from policyd.core.values import dataclass
from policyd.languages.literal import Literal

if TYPE_CHECKING:  # most pushes have nothing to parse, and need no reader of sources
    from policyd.adapters.sourcereader import Reading

SUFFIXES = (".py", ".pyi", ".pyw")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the rule wants to know; zones by name, `since` a commit in hex or None."""

    tests: str
    source: str
    min_length: int
    allow_file: str
    since: str | None
    """What the target branch held at the beginning of the days of looking back."""
    target: bytes | None
    """What it holds now, a raw commit id."""


@dataclass(slots=True)
class _Part:
    """Changed Python files of one zone: their blobs after, and all blobs of theirs before."""

    after: dict[str, Entry] = field(default_factory=dict)
    before: set[bytes] = field(default_factory=set)


def literals(look: Look, update: Update, asked: Asked, *, seconds: float) -> Literals:
    """What the zones gained; nothing is read where no test file changed. Raises CannotJudge."""
    if update.tip is None:
        return Literals()
    tree, sides = look.tree_of(update.tip), _before_sides(look, update)
    tests = _part(look, tree, sides, _changed(update, asked.tests))
    if not tests.after:
        return Literals()
    source = _part(look, tree, sides, _changed(update, asked.source))
    lately = _lately(look, asked)
    if not source.after and not lately.after:
        return Literals()
    reader = _Reader(look)
    read = reader.read((tests, source, lately), asked.min_length, seconds)
    return Literals(
        {asked.tests: _gained(tests, read), asked.source: _gained(source, read)},
        {asked.source: _gained(lately, read)}, _allowed(look, asked),
        reader.unreadable((tests, source, lately), read))


def _changed(update: Update, zone: str) -> tuple[str, ...]:
    return tuple(touch.path for touch in update.net
                 if zone in touch.zones and touch.path.endswith(SUFFIXES))


def _before_sides(look: Look, update: Update) -> tuple[bytes, ...]:
    commits = dict.fromkeys([*update.boundary, *(tip.hex() for tip in look.tips.values())])
    if update.old is not None and update.guarded and update.branch is not None:
        commits[update.old] = None  # a tag never moves, and need not be a commit
    return tuple(dict.fromkeys(look.tree_of(commit) for commit in commits))


def _part(look: Look, tree: bytes, sides: Iterable[bytes], paths: Sequence[str]) -> _Part:
    part = _Part(before={entry[1] for side in sides for _, entry in _files(look, side, paths)
                         if entry[0] != LINK})
    part.after.update(_files(look, tree, paths))
    return part


def _files(look: Look, tree: bytes, paths: Sequence[str]) -> Iterator[tuple[str, Entry]]:
    for path in paths:
        entry = look.trees.at(tree, path.encode("utf-8", "surrogateescape"))
        if entry is not None and not is_tree(entry[0]) and entry[0] != GITLINK:
            yield path, entry


def _lately(look: Look, asked: Asked) -> _Part:
    """What the target's own files of the source zone changed since the baseline."""
    if asked.since is None or asked.target is None:
        return _Part()
    old, new = look.tree_of(asked.since), look.tree_of(asked.target.hex())
    paths = [path for path in look.paths_between(asked.since, asked.target.hex(), asked.source)
             if path.endswith(SUFFIXES)]
    most = look.policy.bounds.lookback_files
    if len(paths) > most:
        raise CannotJudge(beyond("lookback_files", most, "source files changed on the target "
                                 "branch within `lookback_days`"))
    return _part(look, new, (old,), paths)


def _allowed(look: Look, asked: Asked) -> frozenset[str]:
    """The list in the target branch; `#` begins a comment line."""
    if asked.target is None:
        return frozenset()
    found = dict(_files(look, look.tree_of(asked.target.hex()), (asked.allow_file,)))
    entry = found.get(asked.allow_file)
    if entry is None or entry[0] == LINK:
        return frozenset()
    if look.repo.size(entry[1]) > look.policy.bounds.max_blob_bytes:
        raise CannotJudge(beyond("max_blob_bytes", look.policy.bounds.max_blob_bytes,
                                 f"bytes in {asked.allow_file}"))
    text = look.repo.read(entry[1])[1].decode("utf-8", "surrogateescape")
    lines = (line.strip() for line in text.splitlines())
    return frozenset(line for line in lines if line and not line.startswith("#"))


class _Reader:
    """Fetches the blobs of some files and has them parsed, each once."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._sources: dict[bytes, bytes] = {}
        self._refused: dict[bytes, str] = {}

    def read(self, parts: Sequence[_Part], min_length: int,
             seconds: float) -> Mapping[str, Reading]:
        for part in parts:
            for oid in (*(o for mode, o in part.after.values() if mode != LINK), *part.before):
                self._fetch(oid)
        files = [(oid.hex(), text) for oid, text in self._sources.items()]
        from policyd.adapters import sourcereader

        return sourcereader.read(files, min_length=min_length, seconds=seconds)

    def unreadable(self, parts: Sequence[_Part],
                   read: Mapping[str, Reading]) -> tuple[Unreadable, ...]:
        """The changed files that a rule needs and that could not be read."""
        found = {}
        for part in parts:
            for path, (mode, oid) in part.after.items():
                held = read.get(oid.hex())
                if mode == LINK:
                    found[path] = Unreadable(path, 1, "it is a symbolic link")
                elif oid in self._refused:
                    found[path] = Unreadable(path, 1, self._refused[oid])
                elif held is not None and not isinstance(held, tuple):
                    found[path] = Unreadable(path, held.line, held.reason)
        return tuple(found[path] for path in sorted(found))

    def _fetch(self, oid: bytes) -> None:
        most = self._look.policy.bounds.max_blob_bytes
        if oid in self._sources or oid in self._refused:
            return
        try:
            if self._look.repo.size(oid) > most:
                self._refused[oid] = (f"it is larger than {most:,} bytes; the operator raises "
                                      "`max_blob_bytes`")
            else:
                self._sources[oid] = self._look.repo.read(oid)[1]
        except Missing:
            self._refused[oid] = "its content is not in the push"


def _gained(part: _Part, read: Mapping[str, Reading]) -> Gained:
    known = {literal.value for oid in part.before for literal in _held(read, oid)}
    values: dict[str, list[Occurrence]] = {}
    for path in sorted(part.after):
        mode, oid = part.after[path]
        for literal in _held(read, oid) if mode != LINK else ():
            if literal.value not in known:
                values.setdefault(literal.value, []).append(
                    Occurrence(path, literal.line, literal.use))
    return Gained({value: tuple(places) for value, places in values.items()})


def _held(read: Mapping[str, Reading], oid: bytes) -> tuple[Literal, ...]:
    held = read.get(oid.hex(), ())
    return held if isinstance(held, tuple) else ()
