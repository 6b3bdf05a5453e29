"""How many steps of a history `policyd policy backtest` judges in a second, on one and more cores.

Each repository is judged by the draft that `policyd policy survey` makes for it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEADINGS = ("repository", "cores", "steps", "seconds", "a second", "processor", "median", "p99",
            "unjudged", "would refuse")
ROW = "{:<22} {:>5} {:>6} {:>8} {:>9} {:>10} {:>9} {:>10} {:>8} {:>12}"


@dataclass(frozen=True, slots=True)
class Run:
    """One backtest: what it said, and what it cost."""

    told: dict[str, Any]
    seconds: float
    processor: float
    """Seconds of all its processes."""


def main() -> None:
    """Print one row a repository and number of cores."""
    asked = _arguments()
    print(ROW.format(*HEADINGS), flush=True)
    for repository in asked.repo:
        with tempfile.TemporaryDirectory() as folder:
            draft = Path(folder) / "draft.yaml"
            _policyd("survey", str(repository), "--steps", "0", "--draft", str(draft))
            for cores in asked.cores:
                run = _run(repository, draft, asked.steps, cores)
                print(_row(repository, cores, run), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repo", type=Path, nargs="+", metavar="PATH",
                        help="a repository, bare or with a work tree")
    parser.add_argument("--steps", type=int, default=500, help="of each (500)")
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2], help="in turn (1 2)")
    return parser.parse_args()


def _run(repository: Path, draft: Path, steps: int, cores: int) -> Run:
    allowed = set(sorted(os.sched_getaffinity(0))[-cores:])
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    told = _policyd("backtest", str(repository), "--against", str(draft), "--limit", str(steps),
                    "--format", "json", allowed=allowed)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Run(json.loads(told), seconds,
               after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _policyd(*words: str, allowed: set[int] | None = None) -> str:
    command = [sys.executable, "-m", "policyd", "--home", "/nonexistent", "policy", *words]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True,
        preexec_fn=None if allowed is None else lambda: os.sched_setaffinity(0, allowed)).stdout


def _row(repository: Path, cores: int, run: Run) -> str:
    told = run.told
    name = repository.parent.name if repository.name in (".git", "repo") else repository.name
    return ROW.format(
        name[:22], cores, told["tried"], f"{run.seconds:.1f} s",
        f"{told['tried'] / run.seconds:.1f}", f"{run.processor:.1f} s", f"{told['median']:.1f} ms",
        f"{told['p99']:.0f} ms", told["tried"] - told["judged"], told["would_refuse"])


if __name__ == "__main__":
    main()
