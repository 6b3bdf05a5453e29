"""What is written down of gates: operators' acts, pauses, and what the daemon saw last.

STATE/acts/KEY.json and STATE/pause.json are promises: durable, and written with their log entry
under the lock. STATE/gates/KEY.json and STATE/daemon.json are the daemon's notes for people and
machines; no push believes them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from datetime import datetime
from typing import Any, TypeVar

from policyd.adapters import statefolder
from policyd.adapters.statefolder import StrPath, because
from policyd.core.breakglass import Permit, Use
from policyd.core.errors import CannotJudge
from policyd.core.frozen import plain, thawed
from policyd.core.gates import Acts, Telling, Written
from policyd.core.paused import Pause
from policyd.core.values import dataclass

ACTS, GATES = "acts", "gates"
PAUSE, DAEMON = "pause.json", "daemon.json"
FORMAT = 1

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Noted:
    """What the daemon wrote of one repository at its last look."""

    repository: str
    git_dir: str
    gates: Mapping[str, Written] = field(default_factory=dict)
    """By the full name of each guarded branch."""
    looked: str = ""
    """When, a date-time."""
    digest: str = ""
    """Of the policies that it was looked at with."""
    tips: Mapping[str, str] = field(default_factory=dict)
    """What the branches held."""
    next: str | None = None
    """The next moment at which something changes by itself, a date-time."""
    problem: str = ""
    """Why it could not be looked at; what is noted beside it is old then."""
    seen: str = ""
    """What `adapters.refstat` saw, so that an unchanged repository is not looked at again."""
    untold: tuple[Telling, ...] = ()
    """What was not told yet when this was written; empty but for a moment, or after a kill."""
    permits: tuple[Permit, ...] = ()
    """What operators let through once, when somebody brings it."""
    uses: tuple[Use, ...] = ()
    """Pushes that were let through lately; somebody was told of each."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """That the daemon lives, and what it is."""

    pid: int
    started: str
    beat: str
    version: str
    digest: str
    repositories: int
    rescan_seconds: float
    passed: bool = False
    """Whether it has gone over all repositories since it started."""
    lost: str = ""
    """Why events do not arrive, so that only the rescan finds changes; empty when they do."""
    trouble: str = ""
    """What is wrong with the home or the program, in one sentence; empty when nothing is."""
    hooks_broken: int = 0
    """Repositories whose hook is not as it must be."""
    replays_queued: int = 0
    replay_trouble: str = ""
    """What is wrong with the worker of queued replays; empty when nothing is."""


def acts(state: StrPath, key: str) -> Acts:
    """Raises CannotJudge: a hold that cannot be read still holds."""
    return _loaded(os.path.join(state, ACTS, f"{key}.json"), Acts, "acts", key=key) or Acts()


def store_acts(state: StrPath, key: str, new: Acts) -> None:
    """Under the lock of the state folder."""
    statefolder.subfolder(state, ACTS)
    _stored(os.path.join(state, ACTS, f"{key}.json"), new, key)


def pause(state: StrPath) -> Pause | None:
    """The last pause, over or not. Raises CannotJudge."""
    return _loaded(os.path.join(state, PAUSE), Pause, "pause",
                   moments=lambda found: (found.at, found.until))


def store_pause(state: StrPath, new: Pause) -> None:
    """Under the lock of the state folder."""
    _stored(os.path.join(state, PAUSE), new)


def noted(state: StrPath, key: str) -> Noted | None:
    """What the daemon saw last; None where that is nothing, or cannot be read."""
    try:
        return _loaded(os.path.join(state, GATES, f"{key}.json"), Noted, "gates",
                       moments=lambda found: (found.next,))
    except CannotJudge:
        return None


def note(state: StrPath, key: str, new: Noted) -> None:
    """Not durable: after a power cut the daemon looks again. Raises CannotJudge."""
    path = os.path.join(state, GATES, f"{key}.json")
    try:
        statefolder.replace(path, _bytes(new), durable=False)
    except CannotJudge:
        statefolder.subfolder(state, GATES)
        statefolder.replace(path, _bytes(new), durable=False)


def ready(state: StrPath, key: str, new: Noted) -> None:
    """Write a note beside its place, on disk, so that `put_ready` is a rename. CannotJudge."""
    folder = statefolder.subfolder(state, GATES)
    statefolder.replace(os.path.join(folder, f".{key}.ready"), _bytes(new))


def put_ready(state: StrPath, key: str) -> None:
    """Let what `ready` wrote be the note. Raises OSError."""
    folder = os.path.join(state, GATES)
    os.replace(os.path.join(folder, f".{key}.ready"), os.path.join(folder, f"{key}.json"))


def forget(state: StrPath, key: str) -> None:
    """Take away what was noted of a repository that is gone."""
    try:
        os.unlink(os.path.join(state, GATES, f"{key}.json"))
    except FileNotFoundError:
        return


def heartbeat(state: StrPath) -> Heartbeat | None:
    """The daemon's last sign; None where there is none that can be read."""
    try:
        return _loaded(os.path.join(state, DAEMON), Heartbeat, "heartbeat")
    except CannotJudge:
        return None


def beat(state: StrPath, new: Heartbeat) -> None:
    """Raises CannotJudge."""
    statefolder.replace(os.path.join(state, DAEMON), _bytes(new), durable=False)


def end_beat(state: StrPath) -> None:
    """Take the sign away: a daemon that ended is not one that fell silent."""
    with suppress(OSError):
        os.unlink(os.path.join(state, DAEMON))


def _loaded(path: str, type_: type[T], what: str, *, key: str = "",
            moments: Callable[[T], tuple[str | None, ...]] = lambda _: ()) -> T | None:
    """`key` is of the repository whose file this must be, `moments` what must be date-times."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CannotJudge(f"{what} {path} cannot be read: {because(error)}") from error
    try:
        raw: Any = json.loads(data)
        if raw["format"] != FORMAT:
            raise ValueError(f"format {raw['format']!r}, this policyd reads {FORMAT}")
        if raw.get("key", "") != key:
            raise ValueError(f"it belongs to key {raw.get('key')}")
        found = thawed(raw["value"], type_)
        for moment in moments(found):
            if moment is not None and datetime.fromisoformat(moment).tzinfo is None:
                raise ValueError(f"{moment} has no time zone")
        return found
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CannotJudge(f"{what} {path} is damaged ({type(error).__name__}: {error}); put it "
                          "back from a backup, or remove it and decide anew") from error


def _stored(path: str, value: object, key: str = "") -> None:
    statefolder.replace(path, _bytes(value, key))


def _bytes(value: object, key: str = "") -> bytes:
    return json.dumps({"format": FORMAT, **({"key": key} if key else {}), "value": plain(value)},
                      separators=(",", ":")).encode("ascii") + b"\n"
