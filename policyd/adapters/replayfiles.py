"""What replays leave in the state folder: verdicts, job logs, breaking draws, and the queue.

STATE/replays/KEY/ holds what one repository's jobs came to, by verdict key: VERDICT.json for the
next push, VERDICT.jsonl for people; breaks.json has the draws that broke before. STATE/jobs/ is
the queue: one folder a job, with the trees that it needs and job.json, written last.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from policyd.adapters import statefolder
from policyd.adapters.statefolder import because
from policyd.core.errors import CannotJudge
from policyd.core.frozen import plain, thawed
from policyd.core.witness import Replay

REPLAYS, JOBS, SECRET = "replays", "jobs", "replay.secret"
BREAKS, JOB = "breaks.json", "job.json"
FORMAT = 1
MOST_VERDICTS = 400
"""Of one repository; the oldest go."""
MOST_BREAKS = 8
"""Draws that are kept of one relation."""
_LONGEST = 16 << 20

T = TypeVar("T")


def secret(state: str) -> bytes:
    """32 bytes of this server that no pusher knows; made when they are absent."""
    path = os.path.join(state, SECRET)
    with statefolder.locked(state):
        try:
            with open(path, "rb") as file:
                found = file.read()
        except FileNotFoundError:
            found = secrets.token_bytes(32)
            statefolder.replace(path, found)
        except OSError as error:
            raise CannotJudge(f"{path} cannot be read: {because(error)}") from error
    if len(found) != 32:
        raise CannotJudge(f"{path} is damaged; `rm {path}`, and a new one is made")
    return found


def folder(state: str, key: str) -> Path:
    """The folder of one repository's replays, made when it is absent."""
    statefolder.subfolder(state, REPLAYS)
    return Path(statefolder.subfolder(os.path.join(state, REPLAYS), key))


def verdict(state: str, key: str, name: str) -> Replay | None:
    """The verdict of an earlier job; None where there is none that can be read."""
    return _read(Path(state, REPLAYS, key, f"{name}.json"), Replay, "replay")


def keep(state: str, key: str, replay: Replay, about: Mapping[str, Any]) -> None:
    """Write a verdict for the next push; `about` is told to people, and believed by nobody."""
    there = folder(state, key)
    data = json.dumps({"format": FORMAT, "replay": plain(replay), "about": dict(about)})
    statefolder.replace(str(there / f"{replay.key}.json"), data.encode("ascii"))
    kept = sorted(there.glob("*.json"), key=lambda path: path.stat().st_mtime)
    for old in [path for path in kept if path.name != BREAKS][:-MOST_VERDICTS]:
        for path in (old, old.with_suffix(".jsonl")):
            path.unlink(missing_ok=True)


def write_log(state: str, key: str, name: str, events: Sequence[Mapping[str, Any]]) -> None:
    """The log of one job, one line an event; a job that runs again replaces it."""
    lines = "".join(json.dumps(event) + "\n" for event in events)
    statefolder.replace(str(folder(state, key) / f"{name}.jsonl"), lines.encode("ascii"),
                        durable=False)


def told(state: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every verdict that is kept, as (repository's key, what stands in its file)."""
    for path in sorted(Path(state, REPLAYS).glob("*/*.json")):
        if path.name != BREAKS and (raw := _json(path)) is not None:
            yield path.parent.name, raw


def breaks(state: str, key: str) -> Mapping[str, list[Mapping[str, Any]]]:
    """Draws that broke a relation of this repository, the newest first."""
    raw = _json(Path(state, REPLAYS, key, BREAKS)) or {}
    return {str(row): list(draws) for row, draws in raw.items() if isinstance(draws, list)}


def keep_breaks(state: str, key: str, found: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Put new breaking draws before those that are kept already."""
    if not found:
        return
    with statefolder.locked(state):
        known = dict(breaks(state, key))
        for row, draws in found.items():
            merged = [*draws, *(one for one in known.get(row, ()) if one not in draws)]
            known[row] = merged[:MOST_BREAKS]
        statefolder.replace(str(folder(state, key) / BREAKS), json.dumps(known).encode("ascii"))


@contextmanager
def workplace(state: str) -> Iterator[Path]:
    """A new folder for the trees of one job; gone afterwards, unless it was queued."""
    jobs = statefolder.subfolder(state, JOBS)
    place = Path(tempfile.mkdtemp(prefix=".work-", dir=jobs))
    try:
        place.chmod(0o755)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def sweep(state: str, *, older: float = 3600.0) -> None:
    """Take away what killed jobs left."""
    for place in Path(state, JOBS).glob(".work-*"):
        with suppress(OSError):
            if time.time() - place.stat().st_mtime > older:
                shutil.rmtree(place, ignore_errors=True)


def queue(state: str, name: str, place: Path, job: object) -> None:
    """Hand a workplace over to the workers; the same job is queued once."""
    data = json.dumps({"format": FORMAT, "job": plain(job)}).encode("ascii")
    statefolder.replace(str(place / JOB), data)
    with suppress(OSError):  # it is there already
        os.rename(place, Path(state, JOBS, name))


def queued(state: str) -> list[str]:
    """The names of the jobs that wait, the oldest first."""
    found = [path for path in Path(state, JOBS).glob(f"*/{JOB}")
             if not path.parent.name.startswith(".")]
    return [path.parent.name for path in sorted(found, key=_age)]


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def job(state: str, name: str, type_: type[T]) -> T | None:
    return _read(Path(state, JOBS, name, JOB), type_, "job")


def done(state: str, name: str) -> None:
    shutil.rmtree(Path(state, JOBS, name), ignore_errors=True)


@contextmanager
def turn(state: str, at_once: int, wait: Callable[[], float]) -> Iterator[None]:
    """One of `at_once` places to run in. `wait` gives the seconds that are left to wait.

    Raises CannotJudge when they are used up.
    """
    jobs = statefolder.subfolder(state, JOBS)
    while (held := _place(jobs, at_once)) is None:
        if wait() <= 0:
            raise CannotJudge("too many replays run at the moment")
        time.sleep(0.05)
    try:
        yield
    finally:
        os.close(held)


def _place(jobs: str, at_once: int) -> int | None:
    for number in range(at_once):
        fd = os.open(os.path.join(jobs, f".turn-{number}"),
                     os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            continue
        return fd
    return None


def _json(path: Path) -> dict[str, Any] | None:
    try:
        with path.open("rb") as file:
            raw = json.loads(file.read(_LONGEST))
    except (OSError, ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def _read(path: Path, type_: type[T], what: str) -> T | None:
    """What was written; None where it is absent, damaged or of another format."""
    raw = _json(path)
    if raw is None or raw.get("format") != FORMAT:
        return None
    try:
        return thawed(raw[what], type_)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
