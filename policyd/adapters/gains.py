"""Which literals a zone gained: held by a changed file after, by no changed file of it before.

The before-sides are the boundary, what the ref holds, and every guarded branch: what main has
already is nobody's secret, so moves, cherry-picks and backports gain nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from policyd.adapters import sourcereader
from policyd.adapters.gitrepo import Missing
from policyd.adapters.look import Look
from policyd.adapters.sourcereader import Unread
from policyd.core.facts import Gained, Literals, Occurrence, Unreadable, Update
from policyd.core.trees import GITLINK, LINK, Entry, is_tree
from policyd.languages.literal import Literal

SUFFIXES = (".py", ".pyi", ".pyw")


@dataclass(slots=True)
class _Zone:
    """The changed Python files of one zone."""

    paths: tuple[str, ...]
    after: dict[str, Entry] = field(default_factory=dict)
    before: set[bytes] = field(default_factory=set)


def literals(look: Look, update: Update, zones: tuple[str, ...], *, min_length: int,
             seconds: float) -> Literals:
    """What each of the zones gained. Nothing is read unless files of all zones changed."""
    if update.tip is None:
        return Literals()
    found = {name: _Zone(_changed(update, name)) for name in zones}
    tree = look.tree_of(update.tip)
    for zone in found.values():
        for path in zone.paths:
            entry = look.trees.at(tree, _raw(path))
            if entry is not None and not is_tree(entry[0]) and entry[0] != GITLINK:
                zone.after[path] = entry
    if not all(zone.after for zone in found.values()):
        return Literals()
    sides = _before_sides(look, update)
    for zone in found.values():
        zone.before = set(_blobs_at(look, sides, zone.paths))
    return _read(look, found, min_length, seconds)


def _changed(update: Update, zone: str) -> tuple[str, ...]:
    return tuple(touch.path for touch in update.net
                 if zone in touch.zones and touch.path.endswith(SUFFIXES))


def _before_sides(look: Look, update: Update) -> tuple[bytes, ...]:
    commits = dict.fromkeys([*update.boundary, *(tip.hex() for tip in look.tips.values())])
    if update.old is not None and update.guarded:
        commits[update.old] = None
    return tuple(dict.fromkeys(look.tree_of(commit) for commit in commits))


def _blobs_at(look: Look, trees: Iterable[bytes], paths: tuple[str, ...]) -> Iterable[bytes]:
    for tree in trees:
        for path in paths:
            entry = look.trees.at(tree, _raw(path))
            if entry is not None and entry[0] in (b"100644", b"100755"):
                yield entry[1]


def _read(look: Look, zones: Mapping[str, _Zone], min_length: int, seconds: float) -> Literals:
    sources: dict[bytes, bytes] = {}
    refused: dict[str, str] = {}
    for zone in zones.values():
        for path, (mode, oid) in zone.after.items():
            reason = _fetch(look, oid, sources) if mode != LINK else "it is a symbolic link"
            if reason:
                refused[path] = reason
        for oid in zone.before:
            _fetch(look, oid, sources)
    read = sourcereader.read([(oid.hex(), text) for oid, text in sources.items()],
                             min_length=min_length, seconds=seconds)
    unreadable = {path: Unreadable(path, 1, reason) for path, reason in refused.items()}
    for zone in zones.values():
        for path, (_, oid) in zone.after.items():
            held = read.get(oid.hex())
            if isinstance(held, Unread):
                unreadable[path] = Unreadable(path, held.line, held.reason)
    return Literals({name: _gained(zone, read) for name, zone in zones.items()},
                    tuple(unreadable[path] for path in sorted(unreadable)))


def _fetch(look: Look, oid: bytes, sources: dict[bytes, bytes]) -> str:
    """Read a blob unless it is too large; the reason why not, or nothing."""
    most = look.policy.bounds.max_blob_bytes
    try:
        if look.repo.size(oid) > most:
            return f"it is larger than {most:,} bytes; the operator raises `max_blob_bytes`"
        sources[oid] = look.repo.read(oid)[1]
    except Missing:
        return "its content is not in the push"
    return ""


def _gained(zone: _Zone, read: Mapping[str, sourcereader.Reading]) -> Gained:
    known = {literal.value for oid in zone.before for literal in _held(read, oid)}
    values: dict[str, list[Occurrence]] = {}
    for path in sorted(zone.after):
        for literal in _held(read, zone.after[path][1]):
            if literal.value not in known:
                values.setdefault(literal.value, []).append(
                    Occurrence(path, literal.line, literal.use))
    return Gained({value: tuple(places) for value, places in values.items()})


def _held(read: Mapping[str, sourcereader.Reading], oid: bytes) -> tuple[Literal, ...]:
    held = read.get(oid.hex(), ())
    return () if isinstance(held, Unread) else held


def _raw(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
