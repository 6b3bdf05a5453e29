"""How long the path rules look at a history, against `git log --raw -m` of the same commits."""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import histories

from policyd.core.facts import Need, Update
from policyd.core.policy import Policy

ROOT = Path(__file__).parent.parent
LENGTHS = (1_000, 10_000, 40_000)
MODULES = "policyd.judge"
LOG = ("log", "--raw", "-m")
HEADINGS = ("history", "commits", "merges", "Look", "log", "log, no renames", "ratio", "a commit")
ROW = "{:<22} {:>8} {:>7} {:>9} {:>9} {:>16} {:>6} {:>9}"


@dataclass(frozen=True, slots=True)
class Case:
    """A repository and the range that is looked at: all that `tip` reaches."""

    name: str
    git_dir: Path
    tip: str


def main() -> None:
    """Print one row a history; each row is measured by itself, its columns in turns."""
    gc.disable()  # as the hook does
    asked = _arguments()
    policy = _shipped_policy()
    print(f"import {MODULES}: {_import_time(5) * 1000:.0f} ms, not part of the figures below\n")
    print(ROW.format(*HEADINGS), flush=True)
    if asked.repo:
        for path in asked.repo:
            _report(_case(path), policy, asked.rounds)
        return
    with tempfile.TemporaryDirectory() as folder:
        for length in LENGTHS[:2] if asked.quick else LENGTHS:
            made = histories.make(Path(folder) / str(length), length)
            _report(_case(made), policy, asked.rounds)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two rounds, no 40,000 commits")
    parser.add_argument("--rounds", type=int, help="how often each column is measured (7)")
    parser.add_argument("--repo", type=Path, action="append", metavar="PATH",
                        help="a bare repository or a .git folder to measure instead; repeatable")
    asked = parser.parse_args()
    asked.rounds = asked.rounds or (2 if asked.quick else 7)
    return asked


def _shipped_policy() -> Policy:
    from policyd.core import documents
    from policyd.core.authored import compile_policy
    from policyd.rules import BY_ID

    source = ROOT / "policies/default.yaml"
    return compile_policy(documents.parse(source.read_bytes(), source.name), "default", BY_ID)


def _import_time(rounds: int) -> float:
    """Seconds that a fresh interpreter needs for the modules of a judgement."""
    code = f"import time; t = time.perf_counter(); import {MODULES}; print(time.perf_counter() - t)"
    return median(float(subprocess.check_output([sys.executable, "-I", "-c", code]))
                  for _ in range(rounds))


def _case(git_dir: Path) -> Case:
    tip = _git(git_dir, "rev-parse", "HEAD")
    return Case(git_dir.parent.name if git_dir.name in (".git", "repo") else git_dir.name,
                git_dir.absolute(), tip)


def _report(case: Case, policy: Policy, rounds: int) -> None:
    commits = int(_git(case.git_dir, "rev-list", "--count", case.tip))
    merges = int(_git(case.git_dir, "rev-list", "--count", "--merges", case.tip))
    taken = _in_turns(rounds, {
        "look": lambda: look(case, policy),
        "log": lambda: _log(case),
        "plain": lambda: _log(case, "--no-renames")})
    print(ROW.format(
        case.name[:22], commits, f"{merges / commits:.0%}", *(
            f"{taken[name]:.3f} s" for name in ("look", "log", "plain")),
        f"{taken['look'] / taken['log']:.2f}", f"{taken['look'] / commits * 1e6:.0f} us"),
        flush=True)


def _in_turns(rounds: int, measured: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Median seconds of each; they take turns, so that a busy machine is busy for all."""
    taken: dict[str, list[float]] = {name: [] for name in measured}
    for _ in range(rounds):
        for name, action in measured.items():
            start = time.perf_counter()
            action()
            taken[name].append(time.perf_counter() - start)
    return {name: median(times) for name, times in taken.items()}


def look(case: Case, policy: Policy) -> tuple[Update, ...]:
    """What the hook does for the path rules when all of the history is new."""
    from policyd.adapters.gitchild import GitChild
    from policyd.adapters.gitrepo import PushedRepo
    from policyd.adapters.look import Look, RefLine

    deadline = time.monotonic() + 600
    child = GitChild(str(case.git_dir), histories.environment(), deadline)
    looked = Look(PushedRepo(str(case.git_dir)), child, policy, tips={}, extra=(),
                  groups=frozenset(), deadline=deadline)
    line = RefLine("refs/heads/topic", None, case.tip, None, False)
    return looked.updates([line], frozenset({Need.PATHS}))


def _log(case: Case, *options: str) -> None:
    subprocess.run(["git", *LOG, *options, case.tip], cwd=case.git_dir, check=True,
                   env=histories.environment(), stdout=subprocess.DEVNULL)


def _git(git_dir: Path, *command: str) -> str:
    return subprocess.check_output(["git", *command], cwd=git_dir, text=True,
                                   env=histories.environment()).strip()


if __name__ == "__main__":
    main()
