"""Small jobs of a replay: a table with its functions, a source, and what they come to.

    bench = Bench(tmp_path, rows=[row("R", entry="m:f", ...)], functions="def g(draw): ...",
                  base={"src/m.py": "..."})
    found = bench.run({"src/m.py": "..."})        # Replay
    found["R"].bucket

Everything is real: objects in a repository, trees from them, sandboxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml
from history import History

from policyd.adapters.gitrepo import PushedRepo
from policyd.core.policy import Places, Replaying
from policyd.core.trees import Trees
from policyd.core.witness import Replay, Row
from policyd.replay import job, prepare, table
from policyd.replay.budget import Budget
from policyd.replay.candidate import Candidate
from policyd.replay.job import Given
from policyd.replay.oracle import Asked, Oracle
from policyd.replay.sandbox import available

WHY_NOT = available()
needs_sandbox = pytest.mark.skipif(WHY_NOT is not None, reason=f"no sandbox: {WHY_NOT}")
TODAY = date(2026, 6, 1)
TABLE, FUNCTIONS = "oracle/relations/t.yaml", "oracle/relations/t.py"

NUMBERS = """
def number(draw):
    return [draw.integer(0, 1000)]

def numbers(draw):
    return [draw.items(lambda: draw.integer(0, 9), 2, 6)]

def text(draw):
    return [draw.text("abc", 1, 5)]

def one_more(draw, n):
    return [n + 1]

def shuffled(draw, items):
    return [draw.shuffled(items, "P")]

def same_call(draw, *given):
    return list(given)

def is_int(draw, out):
    return type(out) is int

def unlike_input(draw, out):
    return out != draw.input[0]
"""
"""Functions that most tests have use for."""


def row(name: str, entry: str, **more: Any) -> dict[str, Any]:
    """A row as it is written; a pair that blocks, unless `more` says otherwise."""
    found = {"id": name, "relation": f"what {name} says", "entry": entry, "generator": "number",
             "compare": "exact", "status": "blocking", "draws": 8, "min_applied": 4} | more
    if "holds" in more or more.get("arity") == 1:
        found |= {"arity": 1} | ({"compare": "holds"} if "holds" in more else {})
    elif "transform" not in more:
        found["transform"] = "one_more"
    return {key.replace("class_", "class"): value for key, value in found.items()
            if value is not None}


@dataclass(frozen=True)
class Found:
    """A verdict, with its rows by their ids and what the job logged."""

    replay: Replay
    events: Sequence[Mapping[str, Any]]

    def __getitem__(self, name: str) -> Row:
        return next(one for one in self.replay.rows if one.id == name)

    @property
    def buckets(self) -> dict[str, str]:
        return {one.id: one.bucket.value for one in self.replay.rows}

    def says(self) -> str:
        """All text that anybody may read of it."""
        return repr(self.replay) + repr(self.events)


class Bench:
    """A repository whose base has a table; candidates are tried against it."""

    def __init__(self, folder: Path, rows: Sequence[Mapping[str, Any]], functions: str,
                 base: Mapping[str, str], **more: Any) -> None:
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        self._folder, self._numbers = folder, count()
        self._history = History(folder / "r.git")
        listed = yaml.safe_dump({"version": 1, "relations": list(rows)}, sort_keys=False)
        files = {TABLE: listed, FUNCTIONS: NUMBERS + functions, **base, **more.get("files", {})}
        self._base = self._history.commit(files)
        self._today = more.get("today", TODAY)

    def table(self) -> table.Table:
        """The table alone. Raises CannotJudge."""
        repo = PushedRepo(self._history.folder)
        tree = bytes.fromhex(self._history.tree_of(self._base))
        found = table.load(repo, tree, Places(), self._today)
        assert found is not None
        return found

    def given(self, source: Mapping[str, str | None] | None = None, *, seed: int = 1,
              kept: Mapping[str, Sequence[Mapping[str, Any]]] | None = None) -> Given:
        """The job for a candidate, its trees written."""
        candidate = self._history.commit(dict(source), self._base) if source else self._base
        repo = PushedRepo(self._history.folder)
        trees = Trees(repo.tree)
        base_tree, tree = (bytes.fromhex(self._history.tree_of(one))
                           for one in (self._base, candidate))
        sides = prepare.Sides(self._base, base_tree, candidate, tree)
        found = prepare.trial(repo, trees, sides, replace(Replaying(), seed=seed), Places(),
                              self._today, lambda: b"s", always=True)
        assert found is not None
        place = self._folder / f"job{next(self._numbers)}"
        place.mkdir(mode=0o755)
        place.chmod(0o755)
        return prepare.written(repo, trees, found[0], found[1], place, kept or {})

    def run(self, source: Mapping[str, str | None] | None = None, *, seconds: float = 300.0,
            **more: Any) -> Found:
        """What a candidate comes to; the base itself where there is none. Raises CannotJudge."""
        events: list[Mapping[str, Any]] = []
        found = job.run(self.given(source, **more), Budget(seconds), events.append)
        return Found(found, events)


class Sides:
    """The two sandboxes of a job, for what looks at a part of it; to be closed."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.oracle = Oracle(given.oracle, given.seed)
        self.candidate = Candidate(given.candidate, given.table.roots, Budget(300.0))

    def row(self, name: str) -> table.Row:
        return next(one for one in self.given.table.rows if one.id == name)

    def close(self) -> None:
        self.oracle.close()
        self.candidate.close()


def domain(*indices: int) -> list[Asked]:
    return [Asked(index) for index in indices]
