"""Pushes that game their checks, and their honest twins, against the shipped policy.

    python bench/gaming.py [--family F] [--project P] [--jobs 2] [--format text|json] [--keep DIR]

Each goes as a real push through the installed hook to a repository of its own. It measures and
always ends with 0. `--keep` leaves what the pushers read, with the patch, in a folder.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from gaming.case import Case, Project
from gaming.projects import ALL
from gaming.site import Outcome, outcomes

ROW = "{:<22} {:>9} {:>6} {:>7}  {}"

Tried = tuple[Project, Case, Outcome]


def main() -> None:
    asked = _arguments()
    tried = list(_tried(asked))
    if asked.format == "json":
        print(json.dumps([_machine(*one) for one in tried], indent=1))
    else:
        _table(tried)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family")
    parser.add_argument("--project")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--keep", type=Path)
    return parser.parse_args()


def _tried(asked: argparse.Namespace) -> Iterator[Tried]:
    chosen = [(project, [case for case in project.cases if asked.family in (None, case.family)])
              for project in ALL if asked.project in (None, project.name)]
    with ProcessPoolExecutor(asked.jobs) as pool:
        waiting = [(project, cases, pool.submit(_of_project, project.name, cases, asked.keep))
                   for project, cases in chosen if cases]
        for project, cases, outcome in waiting:
            for case, one in zip(cases, outcome.result(), strict=True):
                yield project, case, one


def _of_project(name: str, cases: list[Case], keep: Path | None) -> list[Outcome]:
    project = next(one for one in ALL if one.name == name)
    with tempfile.TemporaryDirectory(prefix="gaming-") as folder:
        return list(outcomes(project, cases, Path(folder), keep))


def _machine(project: Project, case: Case, outcome: Outcome) -> dict[str, object]:
    return {"id": outcome.id, "project": project.name, "family": case.family,
            "honest": case.honest, "visible": case.visible, "refused": outcome.refused,
            "rules": outcome.rules, "warned": outcome.warned}


def _table(tried: list[Tried]) -> None:
    print(ROW.format("family", "refused", "warned", "twins", "by"))
    for family in dict.fromkeys(case.family for _, case, _ in tried):
        print(_row(family, [one for one in tried if one[1].family == family]))
    print(_row("all", tried), "\n")
    for title, honest, refused, visible in (
            ("gamed, visible in the change, and not refused", False, False, True),
            ("gamed, only seen by running it, and not refused: the replay's business",
             False, False, False),
            ("honest, and refused", True, True, True)):
        found = [one for one in tried if (one[1].honest, one[2].refused) == (honest, refused)
                 and (one[1].visible == visible)]
        print(f"{title}: {len(found)}")
        for _, _, outcome in found:
            told = outcome.rules or [f"warned by {rule}" for rule in outcome.warned]
            print(f"  {outcome.id:<52} {', '.join(told)}".rstrip())


def _row(family: str, tried: list[Tried]) -> str:
    """Refused and warned of among those gamed, refused honest ones, how often by which rule."""
    gamed = [outcome for _, case, outcome in tried if not case.honest]
    twins = [outcome for _, case, outcome in tried if case.honest]
    by = Counter(rule for outcome in gamed for rule in outcome.rules)
    refused, frowned = ([one for one in part if one.refused] for part in (gamed, twins))
    warned = sum(bool(one.warned) and not one.refused for one in gamed)
    return ROW.format(family, f"{len(refused)}/{len(gamed)}", warned or "",
                      f"{len(frowned)}/{len(twins)}",
                      ", ".join(f"{rule} {count}" for rule, count in by.most_common()))


if __name__ == "__main__":
    os.umask(0o022)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    main()
