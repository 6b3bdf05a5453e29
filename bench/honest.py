"""What the content rules refuse of real histories, as pushed by somebody who is no maintainer.

Each repository's newest first-parent steps that are no merges are judged one by one under the
shipped policy, with the zones that `policyd policy survey` drafts for it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from policyd import backtest
from policyd.adapters import gitfolder, workers
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.keptsheets import KeptSheets
from policyd.cli.policy import tried
from policyd.core import backtesting
from policyd.core.backtesting import Found, Step
from policyd.core.policy import Active, Mode, Policy, Settings
from policyd.core.render import printable, shortened
from policyd.core.zones import ZoneMap
from policyd.gatehouse import Standing

RULES = ("literal-overlap", "unmarked-tests", "kept-tests", "no-answer-key", "no-golden-output",
         "no-recorded-value", "receipts-only")
LIMIT = 1500
SHOWN = 20
"""Refusals of a rule that are told."""
CHUNK = 16
NOWHERE = Path("/nonexistent")
ALL = "together"
KINDS = ("source", "both", "tests", "neither")
"""What a commit touches: source, source and tests, tests only, none of these."""


@dataclass(frozen=True, slots=True)
class Told:
    """One commit that a rule found something in, with the first finding."""

    repository: str
    rule: str
    mode: str
    commit: str
    touches: str
    subject: str
    says: str
    place: str
    note: str


@dataclass(frozen=True, slots=True)
class Taken:
    """One repository's commits."""

    repository: str
    judged: Mapping[str, int]
    """By what they touch."""
    unjudged: tuple[str, ...]
    told: tuple[Told, ...]


def main() -> None:
    """Judge the repositories in turn; print a table and refusals of each rule."""
    asked = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        taken = [_taken(repository, Path(folder), asked) for repository in asked.repo]
    if asked.format == "json":
        print(json.dumps({"repositories": [asdict(one) for one in taken],
                          "rules": {rule: _shares(taken, rule) for rule in RULES}}, indent=1))
        return
    for line in (*_table(taken), "", *_by_kind(taken), "", *_refusals(taken, asked.shown)):
        print(line)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repo", type=Path, nargs="+", metavar="REPO",
                        help="a repository, bare or with a work tree")
    parser.add_argument("--limit", type=int, default=LIMIT, help=f"commits of each ({LIMIT})")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--shown", type=int, default=SHOWN, help=f"refusals a rule ({SHOWN})")
    parser.add_argument("--rule", choices=RULES, action="append", help="this rule only")
    parser.add_argument("--format", choices=("text", "json"), default="text",
                        help="JSON has every commit that something was found in")
    return parser.parse_args()


def _taken(repository: Path, folder: Path, asked: argparse.Namespace) -> Taken:
    git_dir = gitfolder.git_dir(repository)
    name = _name(repository)
    policy = _policy(repository, git_dir, folder / f"{name}.yaml")
    repo = PushedRepo(str(git_dir))
    ref = tried.branch((policy,), repo, None)
    policy = backtesting.as_tried(policy, ref, only=asked.rule or RULES, every=False)
    made = backtest.prepared(backtest.Asked(str(git_dir), name, ref),
                             Active("0" * 64, Settings(str(NOWHERE)), (policy,)), repo)
    touched = _touched(git_dir, ref, policy, asked.limit)
    numbers = [number for number in range(made.history.steps)
               if made.history.commits[number].hex() in touched]
    judged, unjudged, told = dict.fromkeys(KINDS, 0), [], list[Told]()
    for step in _steps(made, numbers, asked.jobs):
        kind = touched[step.commit]
        if step.unjudged is not None:
            unjudged.append(f"{step.commit[:10]} {step.unjudged}")
            continue
        judged[kind] += 1
        told += _told(step, name, kind)
        if sys.stderr.isatty():
            print(f"\r{name}: {sum(judged.values())} of {len(numbers)}", end="", file=sys.stderr)
    print(f"\r{name}: {sum(judged.values())} judged", file=sys.stderr)
    return Taken(name, judged, tuple(unjudged), tuple(told))


def _name(repository: Path) -> str:
    folder = repository.resolve()
    name = folder.parent.name if folder.name in (".git", "repo", "repo.git") else folder.name
    return name.rpartition("+")[2].removesuffix(".git")


def _policy(repository: Path, git_dir: Path, draft: Path) -> Policy:
    """The draft, which names the shipped rules in their modes, without its ceiling."""
    subprocess.run(
        [sys.executable, "-m", "policyd", "--home", str(NOWHERE), "policy", "survey",
         str(repository), "--steps", "0", "--draft", str(draft)],
        check=True, stdout=subprocess.DEVNULL)
    draft.write_text(draft.read_text().replace("\nmode: observe\n", "\nmode: enforce\n", 1))
    policy, = tried.policies(NOWHERE, str(draft), git_dir).policies
    return policy


def _touched(git_dir: Path, ref: str, policy: Policy, limit: int) -> dict[str, str]:
    """The newest commits that are no merges, each with what it touches."""
    zones = ZoneMap(policy.zones)
    listed = subprocess.run(
        ["git", "-c", "core.quotePath=false", "-C", str(git_dir), "log", "--first-parent",
         "--no-merges", "--no-renames", "--name-only", "--format=%x01%H", f"-{limit}", ref],
        check=True, stdout=subprocess.PIPE, text=True, errors="surrogateescape").stdout
    found: dict[str, str] = {}
    for entry in listed.split("\x01")[1:]:
        commit, *paths = entry.split("\n")
        inside = {zone for path in paths if path for zone in zones.inside(path)}
        found[commit] = _kind(is_source="source" in inside, is_tests="tests" in inside)
    return found


def _kind(*, is_source: bool, is_tests: bool) -> str:
    if is_source:
        return "both" if is_tests else "source"
    return "tests" if is_tests else "neither"


def _steps(made: backtest.Backtest, numbers: Sequence[int], jobs: int) -> Iterator[Step]:
    chunks = [numbers[start:start + CHUNK] for start in range(0, len(numbers), CHUNK)]
    with closing(workers.shared_out(partial(_opened, made), chunks, jobs)) as answers:
        for chunk, steps in zip(chunks, answers, strict=True):
            yield from steps if steps is not None else map(made.died, chunk)


def _opened(made: backtest.Backtest) -> Any:
    repo, standing = PushedRepo(made.asked.git_dir), Standing(sheets=KeptSheets())
    return lambda chunk: [made.step(number, repo, standing) for number in chunk]


def _told(step: Step, repository: str, kind: str) -> Iterator[Told]:
    for found in {found.rule: found for found in reversed(step.found)}.values():
        place, note = _place(found)
        yield Told(repository, found.rule, found.mode, step.commit, kind, step.subject,
                   found.says, place, note)


def _place(found: Found) -> tuple[str, str]:
    for spot in found.spots:
        if spot.path is not None:
            return f"{spot.path}:{spot.line}" if spot.line else spot.path, spot.note
    return "", ""


def _shares(taken: Sequence[Taken], rule: str) -> dict[str, dict[str, Any]]:
    """By repository and together: commits refused, told of without a refusal, and judged."""
    found = {}
    for name, part in (*((one.repository, [one]) for one in taken), (ALL, list(taken))):
        told = [one for each in part for one in each.told if one.rule == rule]
        judged = {kind: sum(one.judged[kind] for one in part) for kind in KINDS}
        refused = [one.touches for one in told if one.mode == Mode.ENFORCE.value]
        found[name] = {
            "refused": len(refused), "only_told": len(told) - len(refused),
            "judged": sum(judged.values()),
            "by_kind": {kind: [refused.count(kind), judged[kind]] for kind in KINDS}}
    return found


def _table(taken: Sequence[Taken]) -> Iterator[str]:
    """Refused of judged, and of commits that source or tests changed in."""
    names = [*(one.repository for one in taken), ALL]
    yield f"| rule | {' | '.join(names)} | together, of commits of code |"
    yield "|---" * (len(names) + 2) + "|"
    for rule in RULES:
        shares = _shares(taken, rule)
        cells = [_cell(shares[name]) for name in names]
        kinds = [pair for kind, pair in shares[ALL]["by_kind"].items() if kind != "neither"]
        yield (f"| {rule} | {' | '.join(cells)} | "
               f"{_share(sum(one for one, _ in kinds), sum(all_ for _, all_ in kinds))} |")
    unjudged = [f"{one.repository} {line}" for one in taken for line in one.unjudged]
    yield f"unjudged: {len(unjudged)}"
    yield from (f"  {printable(line)}" for line in unjudged[:SHOWN])


def _cell(share: Mapping[str, Any]) -> str:
    told = f" (+{share['only_told']} told)" if share["only_told"] else ""
    return _share(share["refused"], share["judged"]) + told


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} {part / whole:.1%}" if whole else f"{part}/0"


def _by_kind(taken: Sequence[Taken]) -> Iterator[str]:
    yield "| refused, by what a commit touches | source only | source and tests | tests only | " \
          "neither | all but tests only |"
    yield "|---|---|---|---|---|---|"
    for rule in RULES:
        kinds = _shares(taken, rule)[ALL]["by_kind"]
        rest = [pair for kind, pair in kinds.items() if kind != "tests"]
        cells = [*(_share(*kinds[kind]) for kind in KINDS),
                 _share(sum(one for one, _ in rest), sum(all_ for _, all_ in rest))]
        yield f"| {rule} | {' | '.join(cells)} |"


def _refusals(taken: Sequence[Taken], shown: int) -> Iterator[str]:
    for rule in RULES:
        told = [[one for one in each.told if one.rule == rule] for each in taken]
        yield f"## {rule}: {sum(map(len, told))} commits"
        for one in _spread(told, shown):
            mode = "" if one.mode == Mode.ENFORCE.value else f" [{one.mode}]"
            yield (f"{one.repository} {one.commit[:10]}{mode} {one.touches}: "
                   f"{shortened(printable(one.subject), 60)}")
            yield f"    {printable(one.says)}; {printable(one.place)}: {printable(one.note)}"


def _spread(told: Sequence[Sequence[Told]], most: int) -> Iterator[Told]:
    """As many of each repository as there are, up to an equal part, evenly over its history."""
    left = most
    quotas: dict[int, int] = {}
    for place, (number, found) in enumerate(sorted(enumerate(told), key=lambda two: len(two[1]))):
        quotas[number] = min(len(found), left // (len(told) - place))
        left -= quotas[number]
    for number, found in enumerate(told):
        yield from (found[at * len(found) // quotas[number]] for at in range(quotas[number]))


if __name__ == "__main__":
    main()
