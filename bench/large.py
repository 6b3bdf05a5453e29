"""Very large pushes through the real hook: how long it takes, how much memory, and where."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import histories

PYTHON = sys.executable
FILES, REFS = 30_000, 10_000
FOLDER = 100
"""Files in one folder, and branches under one name."""

HOOK = """\
import collections, json, resource, signal, sys, time
from pathlib import Path
started = time.perf_counter()
from policyd import hook
seen = collections.Counter()
def sample(number, frame):
    seen["samples"] += 1
    running = set()
    while frame is not None:
        code = frame.f_code
        running.add(f"{Path(code.co_filename).name} {code.co_qualname}")
        frame = frame.f_back
    seen.update(running)
if sys.argv[3] != "0":
    signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, 0.002, 0.002)
code = hook.main(Path(sys.argv[1]))
signal.setitimer(signal.ITIMER_PROF, 0)
own = resource.getrusage(resource.RUSAGE_SELF)
children = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[2], "w") as out:
    json.dump({"seconds": time.perf_counter() - started, "code": code,
               "used": sum(u.ru_utime + u.ru_stime for u in (own, children)),
               "peak": own.ru_maxrss, "child": children.ru_maxrss,
               "seen": seen.most_common(1 + int(sys.argv[3]))}, out)
sys.exit(code)
"""
"""A hook that tells what it used, and on which functions it was when it was asked every 2 ms."""


@dataclass(frozen=True, slots=True)
class Site:
    """A client's repository, the bare one that it pushes to, and the home of the hook."""

    work: Path
    served: Path
    home: Path


def main() -> None:
    """Push each shape with the hook and without; one row each, then the profile if asked for."""
    asked = _arguments()
    shapes: Mapping[str, Callable[[Site], list[str]]] = {
        f"{asked.files} files in one commit": lambda site: _files(site, asked.files),
        f"{asked.files} test and source files": lambda site: _files(site, asked.files, python=True),
        f"{asked.refs} refs, a commit each": lambda site: _refs(site, asked.refs)}
    for title, make in shapes.items():
        if asked.only and asked.only not in title:
            continue
        with tempfile.TemporaryDirectory() as folder:
            site = _site(Path(folder), asked.seconds)
            specs = make(site)
            print(f"{title}:", flush=True)
            _measure(site, Path(folder), specs, profile=asked.profile)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES, help=f"({FILES})")
    parser.add_argument("--refs", type=int, default=REFS, help=f"({REFS})")
    parser.add_argument("--only", metavar="WORD", help="only the shapes with this word")
    parser.add_argument("--seconds", type=float, help="the policy's bound, where not the shipped")
    parser.add_argument("--profile", type=int, default=0, metavar="LINES",
                        help="the functions that a third push is in most of its time")
    return parser.parse_args()


def _site(folder: Path, seconds: float | None) -> Site:
    served = histories.make(folder / "served.git", 300)
    home, work = folder / "home", folder / "work.git"
    _policyd("init", str(home))
    if seconds is not None:
        policy = home / "policies/default.yaml"
        policy.write_text(policy.read_text().replace("seconds: 5}", f"seconds: {seconds:g}}}"))
    _policyd("--home", str(home), "policy", "apply")
    _policyd("--home", str(home), "enroll", str(served))
    _run("git", "clone", "-q", "--bare", str(served), str(work))
    return Site(work, served, home)


def _policyd(*command: str) -> None:
    _run(PYTHON, "-I", "-m", "policyd", *command)


def _run(*command: str, folder: Path | None = None) -> None:
    done = subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command[:6])}: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def _environment() -> dict[str, str]:
    return histories.environment() | {"REMOTE_USER": "carol"}


def _files(site: Site, count: int, *, python: bool = False) -> list[str]:
    """One commit on main that adds files, all in zones; `python`: half of them are tests."""
    def stream() -> Iterator[str]:
        yield _head("main", 1, "refs/heads/main^0")
        for number in range(count):
            top = "tests" if python and number % 2 else "src"
            suffix = "py" if python else "txt"
            text = f"VALUE_{number} = 'only here, at {number}'\n"
            yield (f"M 100644 inline {top}/new/d{number // FOLDER}/f{number}.{suffix}\n"
                   f"data {len(text)}\n{text}\n")
    _import(site.work, stream())
    return ["main:main"]


def _refs(site: Site, count: int) -> list[str]:
    """Branches off main, each with one commit that changes one source file."""
    def stream() -> Iterator[str]:
        for number in range(count):
            text = f"VALUE = {number}\n"
            yield (_head(f"topic/{number // FOLDER}/{number}", number + 1, "refs/heads/main^0")
                   + f"M 100644 inline src/lib/f{number % 30}.py\ndata {len(text)}\n{text}\n")
    _import(site.work, stream())
    return ["refs/heads/topic/*:refs/heads/topic/*"]


def _head(branch: str, mark: int, parent: str) -> str:
    return (f"commit refs/heads/{branch}\nmark :{mark}\n"
            f"committer Ada <ada@example.org> {1_700_000_000 + mark} +0000\n"
            f"data 4\nmore\nfrom {parent}\n")


def _import(folder: Path, stream: Iterator[str]) -> None:
    with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=folder, text=True,
                          stdin=subprocess.PIPE, env=_environment()) as importer:
        assert importer.stdin is not None
        importer.stdin.writelines(stream)
        importer.stdin.close()
        if importer.wait():
            sys.exit("git fast-import failed")


def _measure(site: Site, folder: Path, specs: list[str], *, profile: int) -> None:
    """Each push goes to a copy, so that each is the first; a sampled one is a push of its own."""
    told = folder / "told.json"
    for title, hook in {"without": "exit 0", "with": _script(site, told, 0)}.items():
        print(f"  whole push {title} the hook {_push(site, folder, specs, hook):6.1f} s")
    figures = json.loads(told.read_text())
    print(f"  hook {figures['seconds']:.1f} s, {figures['used']:.1f} s of processor time, exit "
          f"{figures['code']}, peak {figures['peak'] >> 10} MiB, "
          f"largest child {figures['child'] >> 10} MiB", flush=True)
    if profile:
        _push(site, folder, specs, _script(site, told, profile))
        (_, samples), *seen = json.loads(told.read_text())["seen"]
        for name, count in seen:
            print(f"    {count / samples:4.0%} {name}")


def _script(site: Site, told: Path, profile: int) -> str:
    script = site.home / "large.py"
    script.write_text(HOOK)
    return f"exec '{PYTHON}' -I '{script}' '{site.home}' '{told}' {profile}"


def _push(site: Site, folder: Path, specs: list[str], hook: str) -> float:
    """Seconds of the push; a refusal is no failure here, the hook's exit code is printed."""
    before = folder / "before.git"
    if not before.exists():
        _run("cp", "-a", str(site.served), str(before))
    _run("rm", "-rf", str(site.served))
    _run("cp", "-a", str(before), str(site.served))
    path = site.served / "hooks/pre-receive"
    path.write_text(f"#!/bin/sh\n{hook}\n")
    path.chmod(0o755)
    start = time.perf_counter()
    done = subprocess.run(["git", "push", "-q", f"file://{site.served}", *specs], cwd=site.work,
                          env=_environment(), capture_output=True, text=True)
    spent = time.perf_counter() - start
    if done.returncode:
        print("    " + "\n    ".join(done.stderr.splitlines()[:12]))
    return spent


if __name__ == "__main__":
    os.umask(0o022)
    main()
