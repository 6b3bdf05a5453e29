"""Many enrolled repositories, made quickly: the product enrols one, the others are copies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from policyd.adapters import repoindex

MAIN = "refs/heads/main"
LEDGER = "tests/ledger/flake_ledger.json"
FRAME = {
    "PATH": os.environ["PATH"], "LC_ALL": "C", "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}


@dataclass(frozen=True, slots=True)
class Fleet:
    """A home with a pretended clock, and repositories that are enrolled in it."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def state(self) -> Path:
        return self.home / "state"

    @property
    def repositories(self) -> Path:
        return self.folder / "srv"

    def run(self, *command: str, cwd: Path | None = None,
            env: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(command, cwd=cwd or self.folder, capture_output=True, text=True,
                              env={**FRAME, "HOME": str(self.folder), **(env or {})}, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def policyd(self, *words: str) -> str:
        return self.run(sys.executable, "-I", "-m", "policyd", "--home", str(self.home), *words)

    def server(self, number: int) -> Path:
        return self.repositories / f"r{number:05d}.git"

    def key(self, number: int) -> str:
        return repoindex.key_of(self.server(number))


def ledger(ends: str, *, name: str = "app.rates") -> str:
    """A flake ledger with one row that ends on a day."""
    first = (datetime.fromisoformat(ends) - timedelta(days=6)).date().isoformat()
    return json.dumps({"schema": "flake_ledger.v1", "entries": [{
        "id": name, "nodeid": f"tests/test_rates.py::test_{name}", "reason": "a slow rate server",
        "first_seen": first, "expires_on": ends, "owner": "alice", "max_runs": 3}]}) + "\n"


def made(folder: Path, count: int, *, ends: str, rescan: float = 60.0) -> Fleet:
    """`count` repositories on whose main one row ends on the day `ends`."""
    fleet = Fleet(folder)
    fleet.repositories.mkdir()
    fleet.run(sys.executable, "-I", "-m", "policyd", "init", str(fleet.home))
    settings = fleet.home / "policyd.yaml"
    settings.write_text(settings.read_text()
                        .replace("roots: []", f"roots: [{fleet.repositories}]")
                        .replace("rescan_seconds: 60", f"rescan_seconds: {rescan:g}")
                        + "pretended_clock: true\n")
    fleet.policyd("policy", "apply")
    _first(fleet, ends)
    template = repoindex.load(fleet.state, fleet.key(0))
    for number in range(1, count):
        _copy(fleet, number, template)
    return fleet


def _first(fleet: Fleet, ends: str) -> None:
    server, work = fleet.server(0), fleet.folder / "work"
    fleet.run("git", "init", "-q", "--bare", "-b", "main", "--template=", str(server))
    fleet.run("git", "init", "-q", "-b", "main", "--template=", str(work))
    for path, text in ((LEDGER, ledger(ends)), ("src/app.py", "x = 1\n"), ("README", "read\n")):
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
    fleet.run("git", "add", "-A", cwd=work)
    fleet.run("git", "commit", "-qm", "Start", cwd=work)
    fleet.run("git", "push", "-q", str(server), "HEAD:main", cwd=work)
    fleet.policyd("enroll", str(server))


def _copy(fleet: Fleet, number: int, template: repoindex.Index) -> None:
    """A repository like the first one, with a key and an index of its own; objects are shared."""
    server, key = fleet.server(number), f"{number:032x}"
    shutil.copytree(fleet.server(0), server, symlinks=True,
                    copy_function=os.link)  # nothing here is ever written in place
    (server / repoindex.KEY_FILE).unlink()
    (server / repoindex.KEY_FILE).write_text(f"{key}\n")
    repoindex.store(fleet.state, replace(template, key=key, git_dir=str(server)))


def midnight() -> datetime:
    """The end of today, in UTC."""
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
