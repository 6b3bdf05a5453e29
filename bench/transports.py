"""What the hook adds to a push over real servers, and what a crowd of pushers does to it.

    python bench/transports.py added [--rounds N]        # ssh, http, gitolite, one after the other
    python bench/transports.py crowd [--seconds N]       # 50 pushers over ssh, then over http
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import histories

sys.path.insert(0, str(Path(__file__).parent.parent / "tests/servers"))

import gitolite
import nginx
import sshd
from running import Absent

PYTHON = sys.executable
NAME, PASSWORD = "agent-7", "s3cret"
COMMITS = 300
"""Of the history that each repository holds already."""
HELD = "policyd"
NOTHING = "no hook"
ROW = "{:<10} {:<10} {:>10} {:>10} {:>10}"
CROWD_ROW = "{:<6} {:<9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8}"

Url = Callable[[str], str]
"""Where git finds a repository, by its name without .git."""


@dataclass(frozen=True, slots=True)
class Transport:
    """One way to push, with what git needs for it."""

    url: Url
    environment: Mapping[str, str]
    roots: Path
    """The folder with the repositories, on the server."""
    identity: str = "{from: env, name: REMOTE_USER}"


@dataclass(slots=True)
class Taken:
    """What one crowd did: seconds of each push, and how many failed."""

    seconds: list[float] = field(default_factory=list)
    failed: int = 0


def main() -> None:
    asked = _arguments()
    {"added": _added, "crowd": _crowd}[asked.what](asked)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["added", "crowd"])
    parser.add_argument("--rounds", type=int, default=30, help="pushes to each repository")
    parser.add_argument("--pushers", type=int, default=50)
    parser.add_argument("--repositories", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the crowd pushes")
    return parser.parse_args()


# What is added to one push.

def _added(asked: argparse.Namespace) -> None:
    print(ROW.format("transport", "hook", "median", "lowest", "added"))
    for name, transport in TRANSPORTS.items():
        with tempfile.TemporaryDirectory() as text:
            try:
                with transport(Path(text), [HELD, "none"]) as way:
                    _added_by(name, Path(text), way, asked.rounds)
            except Absent as error:
                print(f"{name}: not measured: {error}")


def _added_by(name: str, folder: Path, way: Transport, rounds: int) -> None:
    origin = histories.make(folder / "origin.git", COMMITS)
    for repository in (HELD, "none"):
        _fill(way.roots / f"{repository}.git", origin)
    _guard(folder, way, [HELD])
    work = folder / "work"
    _run("git", "clone", "-q", str(origin), str(work))
    taken: dict[str, list[float]] = {NOTHING: [], HELD: []}
    for number in range(-2, rounds):  # the first two warm the caches
        _commit(work, number)
        for told, repository in ((NOTHING, "none"), (HELD, HELD)):
            start = time.perf_counter()
            _run("git", "push", "-q", way.url(repository), "HEAD:main", folder=work,
                 more=way.environment)
            if number >= 0:
                taken[told].append(time.perf_counter() - start)
    differences = [one - other for one, other in zip(taken[HELD], taken[NOTHING], strict=True)]
    for told, times in taken.items():
        added = median(differences) if told == HELD else 0.0
        print(ROW.format(name, told, *map(_ms, (median(times), min(times), added))), flush=True)


# A crowd.

def _crowd(asked: argparse.Namespace) -> None:
    print(CROWD_ROW.format("over", "hook", "pushes/s", "p50", "p99", "slowest", "failed", "log"))
    for name in ("ssh", "http"):
        for guarded in (False, True):
            with tempfile.TemporaryDirectory() as text:
                repositories = [f"r{n}" for n in range(asked.repositories)]
                try:
                    with TRANSPORTS[name](Path(text), repositories) as way:
                        _crowd_over(name, Path(text), way, asked, guarded=guarded)
                except Absent as error:
                    print(f"{name}: not measured: {error}")


def _crowd_over(name: str, folder: Path, way: Transport, asked: argparse.Namespace, *,
                guarded: bool) -> None:
    origin = histories.make(folder / "origin.git", COMMITS)
    repositories = [f"r{n}" for n in range(asked.repositories)]
    for repository in repositories:
        _fill(way.roots / f"{repository}.git", origin)
    if guarded:
        _guard(folder, way, repositories)
    works = []
    for number in range(asked.pushers):
        works.append(folder / f"work{number}")
        _run("git", "clone", "-q", "--shared", str(origin), str(works[-1]))
    end, taken = time.monotonic() + asked.seconds, [Taken() for _ in works]
    started = time.monotonic()
    threads = [threading.Thread(target=_push_until, args=(
        end, works[n], way, repositories[n % len(repositories)], n, taken[n]))
        for n in range(asked.pushers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = time.monotonic() - started
    times = sorted(seconds for one in taken for seconds in one.seconds)
    failed = sum(one.failed for one in taken)
    log = _log_says(folder, len(times) + failed) if guarded else "-"
    print(CROWD_ROW.format(name, HELD if guarded else NOTHING, f"{len(times) / spent:.1f}",
                           *map(_ms, (median(times), times[int(0.99 * len(times))], times[-1])),
                           failed, log), flush=True)


def _push_until(end: float, work: Path, way: Transport, repository: str, number: int,
                taken: Taken) -> None:
    """Commit and push to a branch of one's own, again and again; only the push is timed."""
    count = 0
    while time.monotonic() < end:
        count += 1
        _commit(work, number * 1_000_000 + count)
        start = time.perf_counter()
        done = subprocess.run(
            ["git", "push", "-q", way.url(repository), f"HEAD:refs/heads/p{number}"], cwd=work,
            env=_environment(way.environment), capture_output=True, text=True, check=False)
        if done.returncode:
            taken.failed += 1
            print(done.stderr[-300:], file=sys.stderr)
        else:
            taken.seconds.append(time.perf_counter() - start)


def _log_says(folder: Path, pushes: int) -> str:
    """`whole` where the chain holds and there is one entry for each push; else what is wrong."""
    lines = (folder / "home/state/decisions.jsonl").read_text().splitlines()
    found = sum(json.loads(line).get("verdict") in ("accepted", "refused", "unjudged")
                for line in lines)
    done = subprocess.run([PYTHON, "-I", "-m", "policyd", "--home", str(folder / "home"), "log",
                           "verify"], capture_output=True, text=True, check=False)
    if done.returncode:
        return "broken"
    return "whole" if found == pushes else f"{found - pushes:+d}"


# What both need.

@contextmanager
def _ssh(folder: Path, repositories: list[str]) -> Iterator[Transport]:
    (folder / "sshd").mkdir()
    roots = _empty(folder, repositories)
    with sshd.serving(folder / "sshd", [NAME]) as server:
        yield Transport(lambda name: server.url(roots / f"{name}.git"),
                        server.environment(NAME), roots)


@contextmanager
def _http(folder: Path, repositories: list[str]) -> Iterator[Transport]:
    (folder / "nginx").mkdir()
    roots = _empty(folder, repositories)
    with nginx.serving(folder / "nginx", {NAME: PASSWORD}, root=roots, children=8) as server:
        yield Transport(lambda name: server.url(f"{name}.git", NAME), {}, roots)


@contextmanager
def _gitolite(folder: Path, repositories: list[str]) -> Iterator[Transport]:
    (folder / "gitolite").mkdir()
    with gitolite.serving(folder / "gitolite", [NAME]) as server:
        server.configure("".join(f"repo {name}\n    RW+ = @all\n" for name in repositories))
        yield Transport(server.ssh.url, server.ssh.environment(NAME), server.repositories,
                        "{from: gitolite}")


TRANSPORTS = {"ssh": _ssh, "http": _http, "gitolite": _gitolite}


def _empty(folder: Path, repositories: list[str]) -> Path:
    for name in repositories:
        _run("git", "init", "-q", "--bare", "-b", "main", "--template=",
             str(folder / f"srv/{name}.git"))
    return folder / "srv"


def _fill(repository: Path, origin: Path) -> None:
    _run("git", "fetch", "-q", str(origin), "main:main", folder=repository)
    for key, value in (("receive.autogc", "false"), ("gc.auto", "0")):
        _run("git", "config", key, value, folder=repository)


def _guard(folder: Path, way: Transport, repositories: list[str]) -> None:
    home = folder / "home"
    _policyd("init", str(home))
    settings = home / "policyd.yaml"
    settings.write_text(settings.read_text().replace(
        "identity: {from: env, name: REMOTE_USER}", f"identity: {way.identity}"))
    _policyd("--home", str(home), "policy", "apply")
    for repository in repositories:
        _policyd("--home", str(home), "enroll", str(way.roots / f"{repository}.git"))


def _commit(work: Path, number: int) -> None:
    (work / "src/app/core/f1.py").write_text(f"VALUE = {number}\n")
    _run("git", "commit", "-qam", f"commit {number}", folder=work)


def _policyd(*command: str) -> None:
    _run(PYTHON, "-I", "-m", "policyd", *command)


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    return histories.environment() | {
        "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_TERMINAL_PROMPT": "0",
        "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org", **more}


def _run(*command: str, folder: Path | None = None,
         more: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(command, cwd=folder, env=_environment(more or {}), capture_output=True,
                          text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


if __name__ == "__main__":
    os.umask(0o022)
    main()
