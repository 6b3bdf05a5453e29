"""What a repository has accepted: recorded tips, and what may still move them. Pure.

Live refs are never believed. A tip advances only along accepted log entries; a ref that moved
otherwise keeps its recorded tip and becomes a `Movement`.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from datetime import date, datetime, timedelta
from typing import Any

from policyd.core.chain import START, Position
from policyd.core.errors import CannotJudge
from policyd.core.facts import ZERO, Op, Update
from policyd.core.movement import Movement
from policyd.core.values import dataclass

FORMAT = 4
ACCEPTED = "accepted"
"""The `verdict` of log entries that may move a recorded tip."""

_KEPT = 1_000
_KEPT_FOR = timedelta(days=1)
_PROPOSED = 5_000
_MOVES_FOR = timedelta(days=366)
_KEY = re.compile(r"[0-9a-f]{32}")
_OID = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Pending:
    """An accepted step of a guarded branch that git may have taken, will take or never takes.

    `old` and `new` are ZERO for absent; `at` is the time of its log entry.
    """

    ref: str
    old: str
    new: str
    rewrites: bool
    at: str


@dataclass(frozen=True, slots=True)
class Move:
    """The first move of a guarded branch on a day: what it held before, and when it moved."""

    ref: str
    old: str
    at: str


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """One push into an empty repository that is taken unjudged, until a day (inclusive)."""

    until: date
    group: str


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal file, and those whose pushes brought it; `path` is where it stood then."""

    path: str
    blob: str
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Index:
    """The accepted history of one repository."""

    key: str
    """32 hex digits, the same as in REPO/policyd-key."""
    enrolled: str
    """When it was enrolled, a date-time."""
    empty: bool
    """Enrolled without any ref, and no guarded branch was recorded since."""
    branches: Mapping[str, str]
    """Full name of each guarded branch to its recorded tip."""
    extra: tuple[str, ...] = ()
    """Commits accepted at enrolment, or left by deleted or rewritten branches; sorted."""
    pending: tuple[Pending, ...] = ()
    """In the order of the log."""
    moves: tuple[Move, ...] = ()
    """Oldest first, a year back; one a branch and day."""
    bootstrap: Bootstrap | None = None
    applied: Position = field(default=START)
    """The last log entry of this repository that is in here."""
    git_dir: str = ""
    """Where the repository was when a push or an operator last met it; an absolute path."""
    name: str = ""
    """What policies called it then; a server may tell another name than its path."""
    proposed: tuple[Proposed, ...] = ()
    """In the order of the log, each blob once."""


def watched(index: Index) -> tuple[str, ...]:
    """The refs whose live values `settle` asks for."""
    return tuple(sorted(index.branches.keys() | {step.ref for step in index.pending}))


def settle(index: Index, live: Mapping[str, str | None]) -> tuple[Index, tuple[Movement, ...]]:
    """Let the recorded tips follow the live refs as far as accepted entries lead.

    `live` holds a value for each of `watched(index)`; a missing one counts as absent. It must
    have been read after the index and under the same lock, or an honest push of another
    process can look like a movement.
    """
    branches, extra = dict(index.branches), set(index.extra)
    movements: list[Movement] = []
    taken: list[Pending] = []
    for ref in watched(index):
        recorded, now = branches.get(ref, ZERO), live.get(ref) or ZERO
        if now == recorded:
            continue
        chain = _explanation((step for step in index.pending if step.ref == ref), recorded, now)
        if chain is None:
            movements.append(Movement(ref, _present(recorded), _present(now)))
            continue
        extra.update(step.old for step in chain if _leaves_its_past(step))
        taken += chain
        branches[ref] = now
        if now == ZERO:
            del branches[ref]
    settled = replace(index, branches=branches, extra=tuple(sorted(extra)),
                      empty=index.empty and not branches, pending=_recent(index.pending),
                      moves=_moved(index.moves, taken))
    return settled, tuple(movements)


def accepted(index: Index, guards: Callable[[str], bool]) -> tuple[str, ...]:
    """The commits whose ancestry is accepted: tips of branches guarded today, and extra."""
    tips = {tip for ref, tip in index.branches.items() if guards(ref)}
    return tuple(sorted(tips.union(index.extra)))


def held_since(index: Index, ref: str, start: datetime) -> str | None:
    """What a branch held before its first move at or after `start`; None when it did not move."""
    return next((move.old for move in index.moves
                 if move.ref == ref and datetime.fromisoformat(move.at) >= start), None)


def without(index: Index, ref: str) -> Index:
    """The index once a branch is no guarded one any more; what it held stays accepted."""
    branches = {name: tip for name, tip in index.branches.items() if name != ref}
    left = {index.branches[ref]} if ref in index.branches else set()
    return replace(index, branches=branches, extra=tuple(sorted({*index.extra, *left})),
                   pending=tuple(step for step in index.pending if step.ref != ref))


def with_more(index: Index, tips: Mapping[str, str], extra: Iterable[str]) -> Index:
    """The index with branches that it does not hold yet, and with more accepted commits."""
    waiting = {step.ref for step in index.pending}
    new = {ref: tip for ref, tip in tips.items()
           if ref not in index.branches and ref not in waiting}
    return replace(index, branches={**index.branches, **new}, empty=index.empty and not new,
                   extra=tuple(sorted({*index.extra, *extra})))


def admits(index: Index, groups: Iterable[str], today: date) -> bool:
    """Whether the next push is the one that is taken unjudged."""
    chance = index.bootstrap
    return (chance is not None and index.empty and not index.branches
            and chance.group in groups and today <= chance.until)


def with_accepted(index: Index, updates: Iterable[Update], at: str) -> Index:
    """The index once a push is accepted, before git moves anything. `at` is the entry's time."""
    return _with(index, logged(updates), at)


def logged(updates: Iterable[Update]) -> list[dict[str, object]]:
    """The `updates` field that the log entry of an accepted push carries, for `replayed`."""
    return [{"ref": update.ref, "old": update.old, "new": update.new,
             "rewrites": update.op is Op.REWRITE, "guarded": update.guarded}
            for update in updates]


def replayed(index: Index, entry: Mapping[str, Any], position: Position) -> Index:
    """The index after a log entry; entries of other repositories and refusals leave it alone."""
    if entry.get("key") != index.key:
        return index
    applied = replace(index, applied=position)
    if entry.get("verdict") != ACCEPTED:
        return applied
    if "bootstrap" in entry:
        applied = replace(applied, bootstrap=None)
    if "proposed" in entry:
        applied = replace(applied, proposed=_remembered(applied.proposed, entry["proposed"]))
    return _with(applied, entry.get("updates", ()), entry["time"])


def to_json(index: Index) -> bytes:
    """One line of ASCII; lone surrogates travel as escapes."""
    raw = {
        "format": FORMAT,
        "key": index.key,
        "git_dir": index.git_dir,
        "name": index.name,
        "enrolled": index.enrolled,
        "empty": index.empty,
        "applied": [index.applied.n, index.applied.hash],
        "branches": dict(sorted(index.branches.items())),
        "extra": index.extra,
        "pending": [[s.ref, s.old, s.new, s.rewrites, s.at] for s in index.pending],
        "bootstrap": index.bootstrap and [index.bootstrap.until.isoformat(),
                                          index.bootstrap.group],
        "moves": [[m.ref, m.old, m.at] for m in index.moves],
        **({"proposed": [[p.path, p.blob, p.by] for p in index.proposed]} if index.proposed
           else {}),
    }
    return json.dumps(raw, separators=(",", ":")).encode("ascii") + b"\n"


def from_json(data: bytes, *, source: str) -> Index:
    """Raises CannotJudge, naming `source` and what to do."""
    try:
        raw = json.loads(data)
        if raw["format"] != FORMAT:
            raise CannotJudge(f"{source} was written by another version of policyd (format "
                              f"{raw['format']!r}, this one reads {FORMAT}); run the version "
                              "that wrote it, or `policyd enroll REPO` to record anew")
        return _index(raw)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CannotJudge(f"{source} is damaged ({type(error).__name__}: {error}); put it back "
                          "from a backup, or `policyd enroll REPO` to record anew") from error


def _with(index: Index, updates: Iterable[Mapping[str, Any]], at: str) -> Index:
    steps = tuple(Pending(update["ref"], update["old"] or ZERO, update["new"] or ZERO,
                          update["rewrites"], at)
                  for update in updates
                  if update["guarded"] and update["ref"].startswith("refs/heads/"))
    return replace(index, pending=index.pending + steps)


def _remembered(known: tuple[Proposed, ...], more: Iterable[Any]) -> tuple[Proposed, ...]:
    """Whoever brought a blob first is who proposed it; of very many the oldest are forgotten."""
    found = {one.blob: one for one in known}
    for one in more:
        proposed = _proposed(*one)
        found.setdefault(proposed.blob, proposed)
    return tuple(found.values())[-_PROPOSED:]


def _explanation(steps: Iterable[Pending], start: str, goal: str) -> tuple[Pending, ...] | None:
    """The shortest chain of steps from one value of a ref to another."""
    onward: dict[str, list[Pending]] = {}
    for step in steps:
        onward.setdefault(step.old, []).append(step)
    reached: dict[str, Pending | None] = {start: None}
    queue = deque([start])
    while queue and goal not in reached:
        for step in onward.get(queue.popleft(), ()):
            if step.new not in reached:
                reached[step.new] = step
                queue.append(step.new)
    return _way_back(reached, goal) if goal in reached else None


def _way_back(reached: Mapping[str, Pending | None], goal: str) -> tuple[Pending, ...]:
    chain: list[Pending] = []
    step = reached[goal]
    while step is not None:
        chain.append(step)
        step = reached[step.old]
    return tuple(reversed(chain))


def _moved(moves: tuple[Move, ...], steps: Iterable[Pending]) -> tuple[Move, ...]:
    """With the steps taken: the first of each branch and day, and nothing older than a year."""
    days = {(move.ref, move.at[:10]): move for move in moves}
    for step in steps:
        if step.old != ZERO:
            days.setdefault((step.ref, step.at[:10]), Move(step.ref, step.old, step.at))
    if len(days) == len(moves):
        return moves
    newest = max(datetime.fromisoformat(move.at) for move in days.values())
    return tuple(sorted((move for move in days.values()
                         if datetime.fromisoformat(move.at) > newest - _MOVES_FOR),
                        key=lambda move: (move.at, move.ref)))


def _leaves_its_past(step: Pending) -> bool:
    return step.old != ZERO and (step.rewrites or step.new == ZERO)


def _recent(pending: tuple[Pending, ...]) -> tuple[Pending, ...]:
    """Without what is too old to take effect. Measured from the newest entry, not from a clock.

    Only `settle` may do this: once the live values are explained, nothing that happened still
    needs an entry.
    """
    if not pending:
        return ()
    times = [datetime.fromisoformat(step.at) for step in pending]
    oldest = max(times) - _KEPT_FOR
    kept = tuple(step for step, at in zip(pending, times, strict=True) if at >= oldest)
    return kept[-_KEPT:]


def _present(oid: str) -> str | None:
    return None if oid == ZERO else oid


def _index(raw: Mapping[str, Any]) -> Index:
    n, head = raw["applied"]
    return Index(
        key=_matching(_KEY, raw["key"], "key"),
        enrolled=_moment(raw["enrolled"]),
        empty=_flag(raw["empty"]),
        branches={_ref(ref): _oid(tip) for ref, tip in raw["branches"].items()},
        extra=tuple(_oid(oid) for oid in raw["extra"]),
        pending=tuple(_pending(*step) for step in raw["pending"]),
        moves=tuple(Move(_ref(ref), _oid(old), _moment(at)) for ref, old, at in raw["moves"]),
        bootstrap=_bootstrap(raw["bootstrap"]),
        applied=Position(_count(n), _text(head)),
        git_dir=_text(raw["git_dir"]),
        name=_text(raw["name"]),
        proposed=tuple(_proposed(*one) for one in raw.get("proposed", ())),
    )


def _bootstrap(raw: object) -> Bootstrap | None:
    if raw is None:
        return None
    if not isinstance(raw, list):
        raise ValueError(f"{raw!r} is no bootstrap")
    until, group = raw
    return Bootstrap(date.fromisoformat(_text(until)), _text(group))


def _pending(ref: object, old: object, new: object, rewrites: object, at: object) -> Pending:
    return Pending(_ref(ref), _oid(old), _oid(new), _flag(rewrites), _moment(at))


def _proposed(path: object, blob: object, by: Iterable[object]) -> Proposed:
    return Proposed(_text(path), _oid(blob), tuple(map(_text, by)))


def _matching(form: re.Pattern[str], value: object, what: str) -> str:
    if not isinstance(value, str) or form.fullmatch(value) is None:
        raise ValueError(f"{value!r} is no {what}")
    return value


def _oid(value: object) -> str:
    return _matching(_OID, value, "object id")


def _ref(value: object) -> str:
    if not isinstance(value, str) or not value.startswith("refs/"):
        raise ValueError(f"{value!r} is no ref")
    return value


def _moment(value: object) -> str:
    if datetime.fromisoformat(_text(value)).tzinfo is None:
        raise ValueError(f"{value!r} has no time zone")
    return _text(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value
