"""Which literals a zone gained: held by a changed file after, by no changed file of it before.

The before-sides are the boundary, what the ref holds, and every guarded branch: what main has
already is nobody's secret, so moves, cherry-picks and backports gain nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from policyd.adapters.look import Look
from policyd.adapters.sources import Sources
from policyd.adapters.touched import beyond
from policyd.core.errors import CannotJudge
from policyd.core.facts import Gained, Literals, Occurrence, Update
from policyd.core.sheet import Literal
from policyd.core.trees import LINK, Entry
from policyd.core.values import dataclass
from policyd.languages import DATA, SETTINGS, language_of


@dataclass(frozen=True, slots=True)
class Asked:
    """What the rule wants to know; zones by name, `since` a commit in hex or None."""

    tests: str
    source: str
    allow_file: str
    since: str | None
    """What the target branch held at the beginning of the days of looking back."""
    target: bytes | None
    """What it holds now, a raw commit id."""


@dataclass(slots=True)
class _Part:
    """Changed source files of one zone: what they are after, and all that they were before."""

    after: dict[str, Entry] = field(default_factory=dict)
    before: set[tuple[str, Entry]] = field(default_factory=set)


def literals(look: Look, update: Update, asked: Asked, sources: Sources) -> Literals:
    """What the zones gained; nothing is read where no test file changed. Raises CannotJudge."""
    if update.tip is None:
        return Literals()
    tree, sides = look.tree_of(update.tip), before_sides(look, update)
    tests = _part(sources, tree, sides, _changed(update, asked.tests))
    if not tests.after:
        return Literals()
    source = _part(sources, tree, sides, _changed(update, asked.source))
    lately = _lately(look, asked, sources)
    if not source.after and not lately.after:
        return Literals()
    parts = tests, source, lately
    sources.read(file for part in parts for file in (*part.after.items(), *part.before))
    return Literals(
        {asked.tests: _gained(tests, sources), asked.source: _gained(source, sources)},
        {asked.source: _gained(lately, sources)}, _allowed(look, asked, sources),
        sources.unreadable({**lately.after, **source.after, **tests.after}))


def _changed(update: Update, zone: str) -> tuple[str, ...]:
    return tuple(touch.path for touch in update.net
                 if zone in touch.zones and _is_source(touch.path))


def before_sides(look: Look, update: Update) -> tuple[bytes, ...]:
    """The raw ids of the trees that hold what is no gain."""
    commits = dict.fromkeys([*update.boundary, *(tip.hex() for tip in look.tips.values())])
    if update.old is not None and update.guarded and update.branch is not None:
        commits[update.old] = None  # a tag never moves, and need not be a commit
    return tuple(dict.fromkeys(look.tree_of(commit) for commit in commits))


def _is_source(path: str) -> bool:
    return language_of(path) not in (None, DATA, *SETTINGS)


def _part(sources: Sources, tree: bytes, sides: Iterable[bytes], paths: Sequence[str]) -> _Part:
    before = {file for side in sides for file in sources.files(side, paths)}
    return _Part(dict(sources.files(tree, paths)), before)


def _lately(look: Look, asked: Asked, sources: Sources) -> _Part:
    """What the target's own files of the source zone changed since the baseline."""
    if asked.since is None or asked.target is None:
        return _Part()
    old, new = look.tree_of(asked.since), look.tree_of(asked.target.hex())
    paths = [path for path in look.paths_between(asked.since, asked.target.hex(), asked.source)
             if _is_source(path)]
    most = look.policy.bounds.lookback_files
    if len(paths) > most:
        raise CannotJudge(beyond("lookback_files", most, "source files changed on the target "
                                 "branch within `lookback_days`"))
    return _part(sources, new, (old,), paths)


def _allowed(look: Look, asked: Asked, sources: Sources) -> frozenset[str]:
    """The list in the target branch; `#` begins a comment line."""
    if asked.target is None:
        return frozenset()
    found = dict(sources.files(look.tree_of(asked.target.hex()), (asked.allow_file,)))
    entry = found.get(asked.allow_file)
    if entry is None or entry[0] == LINK:
        return frozenset()
    if look.repo.size(entry[1]) > look.policy.bounds.max_blob_bytes:
        raise CannotJudge(beyond("max_blob_bytes", look.policy.bounds.max_blob_bytes,
                                 f"bytes in {asked.allow_file}"))
    text = look.repo.read(entry[1])[1].decode("utf-8", "surrogateescape")
    lines = (line.strip() for line in text.splitlines())
    return frozenset(line for line in lines if line and not line.startswith("#"))


def _gained(part: _Part, sources: Sources) -> Gained:
    known = {literal.value for path, entry in part.before
             for literal in _held(sources, path, entry)}
    values: dict[str, list[Occurrence]] = {}
    for path in sorted(part.after):
        for literal in _held(sources, path, part.after[path]):
            if literal.value not in known:
                values.setdefault(literal.value, []).append(
                    Occurrence(path, literal.line, literal.use, literal.role))
    return Gained({value: tuple(places) for value, places in values.items()})


def _held(sources: Sources, path: str, entry: Entry) -> tuple[Literal, ...]:
    sheet = sources.sheet(path, entry)
    return sheet.literals if sheet is not None else ()
