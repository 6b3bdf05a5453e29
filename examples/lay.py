"""Makes a repository of an example: its base on main, each of its patches on a branch.

    python examples/lay.py NAME DIR

`NAME` is a folder beside this file. What is dated ends as many days after today as it ends after
WRITTEN in the files, and receipts get the commit that they would be recorded from. Nothing but
the standard library and git is used.
"""

from __future__ import annotations

import os
import re
import subprocess  # noqa: TID251 - this is a script
import sys
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
WRITTEN = date(2026, 12, 1)
"""The day on which the examples' records were dated."""
PLACEHOLDER = "1" * 40
"""Stands for the commit that a receipt was recorded from."""

_DATED = ("oracle/relations/*.yaml", "fixtures/leases/*.yaml", "fixtures/freezes.json")
_RECEIPTS = "oracle/receipts/*.json"
_DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")

Files = Mapping[str, bytes]


def names() -> tuple[str, ...]:
    return tuple(sorted(found.parent.name for found in HERE.glob("*/repo")))


def patches(name: str) -> tuple[str, ...]:
    return tuple(sorted(found.name for found in (HERE / name / "patches").iterdir()
                        if found.is_dir()))


def base(name: str, *, today: date | None = None, baseline: str = PLACEHOLDER) -> dict[str, bytes]:
    """The files of the base by path: dated for `today`, or as they are."""
    repo = HERE / name / "repo"
    files = _read(repo)
    if today is not None:
        for path in _matching(repo, *_DATED):
            files[path] = _moved(files[path], today)
    for path in _matching(repo, _RECEIPTS):
        files[path] = files[path].replace(PLACEHOLDER.encode(), baseline.encode())
    return files


def patch(name: str, patch: str) -> dict[str, bytes]:
    """The files that a patch replaces."""
    return _read(HERE / name / "patches" / patch)


def lay(name: str, folder: Path) -> None:
    """Make the repository in a new folder."""
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    today = datetime.now(UTC).date()
    files = base(name, today=today)
    receipts = set(_matching(HERE / name / "repo", _RECEIPTS))
    first = _commit(folder, {path: data for path, data in files.items() if path not in receipts},
                    f"Start with {name}")
    if receipts:
        files = base(name, today=today, baseline=first)
        _commit(folder, {path: files[path] for path in receipts}, "Record receipts")
    for one in patches(name):
        _git(folder, "checkout", "--quiet", "-b", one, "main")
        _commit(folder, patch(name, one), f"Rewrite: {one}")
    _git(folder, "checkout", "--quiet", "main")


def _read(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts}


def _matching(folder: Path, *globs: str) -> list[str]:
    return [str(path.relative_to(folder)) for glob in globs for path in sorted(folder.glob(glob))]


def _moved(data: bytes, today: date) -> bytes:
    def later(found: re.Match[str]) -> str:
        return str(date.fromisoformat(found[0]) + (today - WRITTEN))

    return _DAY.sub(later, data.decode()).encode()


def _commit(folder: Path, files: Files, message: str) -> str:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "-m", message)
    return _git(folder, "rev-parse", "HEAD").strip()


def _git(folder: Path, *arguments: str) -> str:
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER")
           for key, value in (("NAME", "alice"), ("EMAIL", "alice@example.org"))}
    alone = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return subprocess.run(["git", "-C", str(folder), *arguments], env={**alone, **who},
                          check=True, text=True, stdout=subprocess.PIPE).stdout


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in names():
        raise SystemExit(f"usage: python examples/lay.py {'|'.join(names())} DIR")
    lay(sys.argv[1], Path(sys.argv[2]))
