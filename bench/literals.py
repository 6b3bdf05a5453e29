"""How often literal-overlap would have refused the commits of a real history, and which."""

from __future__ import annotations

import argparse
import ast
import os
import random
import subprocess
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

import histories

from policyd.adapters import gains
from policyd.adapters.gitchild import GitChild
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.look import Look, RefLine
from policyd.core import documents
from policyd.core.authored import compile_policy
from policyd.core.errors import CannotJudge
from policyd.core.facts import Gained, Need, Occurrence, Pusher, Situation, Update
from policyd.core.globs import zone_pattern
from policyd.core.policy import Policy, Zone
from policyd.core.zones import ZoneMap
from policyd.rules import BY_ID, literal_overlap

ROOT = Path(__file__).parent.parent
MAIN = "refs/heads/main"
PROCESSES = 2
PORTION = 16
"""Neighbouring commits that one process judges, one after the other."""
SECONDS = 60
"""More than the shipped bound: the question is what would be refused, and the machine is shared."""
NAIVE_LENGTH = 6
DAY = 24 * 60 * 60
PAST = 3000
"""First-parent steps within which the beginning of the days of looking back must lie."""


class Shared(NamedTuple):
    """A literal gained on both sides, and its first place on each."""

    value: str
    test: Occurrence
    source: Occurrence


@dataclass(frozen=True, slots=True)
class Result:
    """One commit as a push onto its first parent."""

    commit: str
    alone: tuple[Shared, ...] = ()
    """Shared with what its own source gained."""
    lately: tuple[Shared, ...] = ()
    """Shared only with what source gained in the days before."""
    unreadable: tuple[str, ...] = ()
    naive: bool | None = None
    """Refused by the naive form; None where a file does not parse."""
    seconds: float = 0.0
    """Processor time, that of the readers included: the machine may be busy with other things."""
    problem: str = ""
    """Why it could not be judged."""


@dataclass(frozen=True, slots=True)
class Bench:
    """The clone and the policy that its commits are judged by."""

    git_dir: Path
    policy: Policy

    def result(self, commit: str) -> Result:
        """Judge one commit as the hook does for literal-overlap."""
        parent = _git(self.git_dir, "rev-parse", f"{commit}^1")
        started = sum(os.times()[:4])
        try:
            update = self._looked(commit, parent)
        except CannotJudge as error:
            return Result(commit, problem=str(error))
        seconds = sum(os.times()[:4]) - started
        alone = self._shared(update, lately=False)
        lately = [each for each in self._shared(update, lately=True) if each not in alone]
        literals = update.literals
        unreadable = tuple(f"{u.path}:{u.line} {u.reason}" for u in literals.unreadable
                           ) if literals else ()
        return Result(commit, tuple(alone), tuple(lately), unreadable,
                      self._naive(commit, update), seconds)

    def _looked(self, commit: str, parent: str) -> Update:
        deadline = time.monotonic() + SECONDS
        child = GitChild(str(self.git_dir), histories.environment(), deadline)
        look = Look(PushedRepo(str(self.git_dir)), child, self.policy, tips={MAIN: parent},
                    extra=(), groups=frozenset({"agents"}), deadline=deadline)
        line = RefLine(MAIN, parent, commit, None, False)
        update = look.updates([line], frozenset({Need.LITERALS}))[0]
        options = _options(self.policy)
        since = _held_before(self.git_dir, commit, parent, options.lookback_days)
        asked = gains.Asked(options.tests, options.source, options.min_length, options.allow_file,
                            since, bytes.fromhex(parent))
        return replace(update, literals=gains.literals(look, update, asked, seconds=SECONDS))

    def _shared(self, update: Update, *, lately: bool) -> list[Shared]:
        """The literals that the rule refuses, asked about one by one: its prose may change."""
        literals, options = update.literals, _options(self.policy)
        if literals is None or not literals.gained:  # no test file is left to read
            return []
        tests = literals.gained[options.tests].values
        before = literals.lately.get(options.source, Gained()).values if lately else {}
        code = {**before, **literals.gained[options.source].values}
        asked = {value: replace(literals, unreadable=(), lately={}, gained={
            options.tests: Gained({value: tests[value]}), options.source: Gained(code)})
            for value in tests if value in code}
        return [Shared(value, tests[value][0], code[value][0]) for value, one in asked.items()
                if self._refuses(replace(update, literals=one))]

    def _refuses(self, update: Update) -> bool:
        given = Situation(Pusher("agent-7", frozenset({"agents"})), (update,))
        return any(literal_overlap.check(given, _options(self.policy)))

    def _naive(self, commit: str, update: Update) -> bool | None:
        options = _options(self.policy)
        sides = []
        for zone in (options.tests, options.source):
            paths = [t.path for t in update.net if zone in t.zones and t.path.endswith(".py")]
            try:
                sides.append({text for path in paths for text in self._texts(commit, path)})
            except (SyntaxError, ValueError):
                return None
        return bool(sides[0] & sides[1])

    def _texts(self, commit: str, path: str) -> Iterator[str]:
        shown = subprocess.run(["git", "show", f"{commit}:{path}"], cwd=self.git_dir,
                               capture_output=True, env=histories.environment())
        if shown.returncode:  # the commit deletes it
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(shown.stdout)
        yield from (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
                    and isinstance(node.value, str) and len(node.value) >= NAIVE_LENGTH)


def main() -> None:
    """Judge the commits in two processes; print shares, and a seeded sample of the refused."""
    asked = _arguments()
    bench = Bench(_git_dir(asked.repo), _policy(asked.source, asked.tests))
    commits = _commits(bench, asked.last, merges=asked.merges)
    with ProcessPoolExecutor(PROCESSES) as pool:
        results = list(pool.map(bench.result, commits, chunksize=PORTION))
    _report(results)
    refused = [r for r in results if r.alone]
    sample = random.Random(asked.seed).sample(refused, min(asked.show, len(refused)))
    for result in sample:
        _show(bench.git_dir, result)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repo", type=Path, metavar="REPO", help="a clone or a bare repository")
    parser.add_argument("--source", nargs="+", required=True, metavar="GLOB")
    parser.add_argument("--tests", nargs="+", required=True, metavar="GLOB")
    parser.add_argument("--last", type=int, default=1500,
                        help="how many commits that change both are judged (1500)")
    parser.add_argument("--merges", action="store_true",
                        help="merges on the first-parent line instead of plain commits")
    parser.add_argument("--show", type=int, default=0, help="how many refused commits are printed")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    return parser.parse_args()


def _git_dir(repo: Path) -> Path:
    return Path(_git(repo, "rev-parse", "--absolute-git-dir"))


def _policy(source: Sequence[str], tests: Sequence[str]) -> Policy:
    """The shipped policy with the two zones of this repository."""
    path = ROOT / "policies/default.yaml"
    shipped = compile_policy(documents.parse(path.read_bytes(), path.name), "default", BY_ID)
    zones = tuple(Zone(name, tuple(map(zone_pattern, globs)))
                  for name, globs in (("source", source), ("tests", tests)))
    return replace(shipped, zones=zones)


def _options(policy: Policy) -> literal_overlap.Options:
    clause = policy.clause("literal-overlap")
    assert clause is not None
    options = clause.options
    assert isinstance(options, literal_overlap.Options)
    return options


def _commits(bench: Bench, last: int, *, merges: bool) -> list[str]:
    """The newest commits whose changed Python files lie in both zones."""
    which = ["--first-parent", "--merges", "-m"] if merges else ["--no-merges"]
    told = _git(bench.git_dir, "-c", "core.quotePath=off", "log", *which, "--no-renames",
                "--name-only", "--format=%x01%H", "HEAD", "--", "*.py")
    zones = ZoneMap(bench.policy.zones)
    found = []
    for entry in told.split("\x01")[1:]:
        commit, *paths = entry.split("\n")
        held = {zone for path in paths if path.endswith(".py") for zone in zones.of(path)}
        if held >= {"source", "tests"} and _git(bench.git_dir, "rev-list", "--parents", "-1",
                                                commit).count(" "):
            found.append(commit)
        if len(found) == last:
            break
    return found


def _held_before(git_dir: Path, commit: str, parent: str, days: int) -> str | None:
    """The newest first-parent ancestor that is `days` older; None where nothing moved since.

    Commit times stand in for the log's: the history does not say when it was pushed.
    """
    start = int(_git(git_dir, "log", "-1", "--format=%ct", commit)) - days * DAY
    told = _git(git_dir, "log", "--first-parent", f"-{PAST}", "--format=%H %ct", parent)
    for line in told.splitlines():
        oid, at = line.split()
        if int(at) < start:
            return None if oid == parent else oid
    return None


def _git(folder: Path, *command: str) -> str:
    return subprocess.check_output(["git", *command], cwd=folder, text=True, errors="replace",
                                   env=histories.environment()).strip()


def _report(results: Sequence[Result]) -> None:
    judged = [r for r in results if not r.problem]
    refused = [r for r in judged if r.alone]
    behind = [r for r in judged if r.lately and not r.alone]
    unread = [r for r in judged if r.unreadable]
    naive = [r for r in judged if r.naive is not None]
    times = sorted(r.seconds * 1000 for r in judged) or [0.0]
    print(f"commits that change both        {len(results):>6}")
    print(f"could not be judged             {_share(len(results) - len(judged), len(results))}")
    print(f"refused                         {_share(len(refused), len(judged))}")
    print("refused, where all files parse  "
          f"{_share(sum(not r.unreadable for r in refused), len(judged) - len(unread))}")
    print(f"refused by looking back only    {_share(len(behind), len(judged))}")
    print("refused by the naive form       "
          f"{_share(sum(r.naive is True for r in naive), len(naive))}")
    print(f"with a file that does not parse {_share(len(unread), len(judged))}")
    print(f"processor time a commit         median {median(times):.0f} ms, "
          f"95 % {times[int(len(times) * 0.95)]:.0f} ms, longest {times[-1]:.0f} ms")
    for problem, times_seen in Counter(r.problem for r in results if r.problem).most_common(3):
        print(f"  {times_seen} x {problem}")
    _report_uses(refused)


def _report_uses(refused: Sequence[Result]) -> None:
    """How the shared literals stand: each pair of uses, in literals and in commits."""
    literals: Counter[str] = Counter()
    commits: Counter[str] = Counter()
    for result in refused:
        pairs = [f"{s.test.use} / {s.source.use}" for s in result.alone]
        literals.update(pairs)
        commits.update(set(pairs))
    print("\nin the test / in source     literals  commits")
    for pair, count in literals.most_common(20):
        print(f"{pair:<28}{count:>8} {commits[pair]:>8}")


def _share(count: int, of: int) -> str:
    return f"{count:>6} of {of} ({count / of if of else 0:.1%})"


def _show(git_dir: Path, result: Result) -> None:
    print(f"\n{_git(git_dir, 'log', '-1', '--format=%h %cs %s', result.commit)[:100]}")
    for shared in result.alone:
        print(f"  {shared.value[:100]}")
        for place in (shared.test, shared.source):
            print(f"    {place.path}:{place.line} {place.use}")


if __name__ == "__main__":
    main()
