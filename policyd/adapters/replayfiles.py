"""What replays leave in the state folder: verdicts, job logs, breaking draws, and the queue.

STATE/replays/KEY/ holds what one repository's jobs came to, by verdict key: VERDICT.json for the
next push, VERDICT.jsonl for people; breaks.json has the draws that broke before. STATE/jobs/ is
the queue: one folder a job, with the trees that it needs and job.json, written last. What begins
with a dot there is nobody's job: workplaces, locks of verdict keys, and places to run in. Whoever
is killed leaves such a thing for an hour at most.
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
from policyd.core.errors import CannotJudge, TryAgain
from policyd.core.frozen import plain, thawed
from policyd.core.witness import Replay

REPLAYS, JOBS, SECRET = "replays", "jobs", "replay.secret"
BREAKS, JOB, TRIES = "breaks.json", "job.json", "tries"
FORMAT = 1
MOST_QUEUED = 100
"""Jobs that wait at a time: each holds trees on the disk."""
LEFT = 3600.0
"""Seconds after which nobody works any more on what lies there without a lock."""
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


def age(state: str, key: str, name: str) -> float:
    """Seconds since a verdict was written; infinite where there is none."""
    written = _written(Path(state, REPLAYS, key, f"{name}.json"))
    return time.time() - written if written else float("inf")


def keep(state: str, key: str, replay: Replay, about: Mapping[str, Any]) -> None:
    """Write a verdict for the next push; `about` is told to people, and believed by nobody."""
    there = folder(state, key)
    data = json.dumps({"format": FORMAT, "replay": plain(replay), "about": dict(about)})
    statefolder.replace(str(there / f"{replay.key}.json"), data.encode("ascii"))
    _thin_out(there)


def write_log(state: str, key: str, name: str, events: Sequence[Mapping[str, Any]]) -> None:
    """The log of one job, one line an event; a job that runs again replaces it."""
    lines = "".join(json.dumps(event) + "\n" for event in events)
    there = folder(state, key)
    statefolder.replace(str(there / f"{name}.jsonl"), lines.encode("ascii"), durable=False)
    _thin_out(there)


def _thin_out(there: Path) -> None:
    """Of jobs without a verdict too: whoever can end a job early could fill the disk."""
    last: dict[str, float] = {}
    for path in (*there.glob("[!.]*.json"), *there.glob("[!.]*.jsonl")):
        if path.name != BREAKS:
            last[path.stem] = max(last.get(path.stem, 0.0), _written(path))
    for stem in sorted(last, key=last.__getitem__)[:-MOST_VERDICTS]:
        for suffix in (".json", ".jsonl"):
            (there / f"{stem}{suffix}").unlink(missing_ok=True)


def told(state: str, key: str = "*") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every verdict that is kept, as (repository's key, what stands in its file)."""
    for path in sorted(Path(state, REPLAYS).glob(f"{key}/[!.]*.json")):
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
    _sweep_jobs(state, time.time() - LEFT)
    place = Path(tempfile.mkdtemp(prefix=".work-", dir=jobs))
    try:
        place.chmod(0o755)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def sweep(state: str) -> None:
    """Take away what killed processes left."""
    before = time.time() - LEFT
    _sweep_jobs(state, before)
    for path in Path(state, REPLAYS).glob("*/.*"):  # drafts
        if _written(path) < before:
            path.unlink(missing_ok=True)


def _sweep_jobs(state: str, before: float) -> None:
    for place in Path(state, JOBS).glob(".work-*"):
        if _written(place) < before:
            shutil.rmtree(place, ignore_errors=True)
    for path in Path(state, JOBS).glob(".key-*"):
        if _written(path) < before and (held := _try(path)) is not None:
            path.unlink(missing_ok=True)
            os.close(held)


def job_name(key: str, verdict: str) -> str:
    """What the job for a verdict key of one repository is called: forks have the same trees."""
    return f"{verdict}.{key}"


def queue(state: str, name: str, place: Path, job: object) -> None:
    """Hand a workplace over to the workers; the same job is queued once. Raises TryAgain."""
    waiting = len(queued(state))
    if waiting >= MOST_QUEUED and not is_queued(state, name):
        raise TryAgain(f"{waiting} replays wait already; push again later, and if that stays so "
                       "see `policyd status`")
    data = json.dumps({"format": FORMAT, "job": plain(job)}).encode("ascii")
    statefolder.replace(str(place / JOB), data)
    there = Path(state, JOBS, name)
    if there.exists() and not is_queued(state, name):
        done(state, name)  # a job whose end was cut short
    with suppress(OSError):  # it is there already
        os.rename(place, there)


def queued(state: str) -> list[str]:
    """The names of the jobs that wait, the oldest first."""
    found = [path for path in Path(state, JOBS).glob(f"[!.]*/{JOB}")]
    return [path.parent.name for path in sorted(found, key=_written)]


def queued_at(state: str, name: str) -> float:
    """When a job was queued, in seconds of the epoch."""
    return _written(Path(state, JOBS, name, JOB))


def is_queued(state: str, name: str) -> bool:
    return os.path.exists(os.path.join(state, JOBS, name, JOB))


def job(state: str, name: str, type_: type[T]) -> T | None:
    return _read(Path(state, JOBS, name, JOB), type_, "job")


def begun(state: str, name: str) -> int:
    """Note that a job is tried now; how often it was tried before, without coming to an end."""
    path = Path(state, JOBS, name, TRIES)
    try:
        before = int(path.read_text("ascii"))
    except (OSError, ValueError):
        before = 0
    statefolder.replace(str(path), f"{before + 1}\n".encode("ascii"), durable=False)
    return before


def not_begun(state: str, name: str) -> None:
    """Take the note back: whoever tried was asked to stop."""
    Path(state, JOBS, name, TRIES).unlink(missing_ok=True)


def done(state: str, name: str) -> None:
    """Take a job away. Killed in between, it is a workplace that somebody left."""
    gone = Path(state, JOBS, f".work-{name}-{os.getpid()}")
    with suppress(OSError):
        os.rename(Path(state, JOBS, name), gone)
        os.utime(gone)
    shutil.rmtree(gone, ignore_errors=True)


@contextmanager
def alone(state: str, name: str, wait: Callable[[], float]) -> Iterator[bool]:
    """Be the only one that works on a verdict key: of two pushes of one tree one runs the job.

    `wait` gives the seconds that are left to wait; False where they were used up.
    """
    path = Path(statefolder.subfolder(state, JOBS), f".key-{name}")
    while (held := _try(path)) is None and wait() > 0:
        time.sleep(0.05)
    if held is None:
        yield False
        return
    try:
        yield True
    finally:
        path.unlink(missing_ok=True)
        os.close(held)


@contextmanager
def turn(state: str, at_once: int, wait: Callable[[], float]) -> Iterator[bool]:
    """One of `at_once` places to run in, of hooks and workers alike.

    `wait` gives the seconds that are left to wait; False where they were used up.
    """
    jobs = statefolder.subfolder(state, JOBS)
    while (held := _place(jobs, at_once)) is None and wait() > 0:
        time.sleep(0.05)
    try:
        yield held is not None
    finally:
        if held is not None:
            os.close(held)


def _place(jobs: str, at_once: int) -> int | None:
    found = (_try(Path(jobs, f".turn-{number}")) for number in range(at_once))
    return next((fd for fd in found if fd is not None), None)


def _try(path: Path) -> int | None:
    """The file, locked; None where another has it, or took it away meanwhile."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(fd)):
            return fd
    except OSError:
        pass
    os.close(fd)
    return None


def _written(path: Path) -> float:
    """When, in seconds of the epoch; 0 where it is gone."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


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
