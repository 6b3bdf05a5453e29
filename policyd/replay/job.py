"""One job: all relations of a base's tables, tried on one candidate, and what they came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass
from policyd.core.witness import Replay, Row
from policyd.replay import properties
from policyd.replay.budget import Budget
from policyd.replay.candidate import Candidate
from policyd.replay.classify import Leaking, Seen, Shown, classified
from policyd.replay.execute import Mode
from policyd.replay.fare import Fare, fare, lines, smaller
from policyd.replay.freeze import Counted, counted
from policyd.replay.interpreter import Interpreter
from policyd.replay.oracle import Asked, Oracle
from policyd.replay.pairs import Drawn, Pair, State, draw, renamed, tried
from policyd.replay.plan import KEPT, Words, asked_again, planned
from policyd.replay.precompile import precompile
from policyd.replay.properties import Proof
from policyd.replay.steady import Steadiness, looked_at
from policyd.replay.table import Row as TableRow
from policyd.replay.table import Table

Log = Callable[[Mapping[str, Any]], None]
"""Takes one event of the job's log."""

_PER_DRAW = 3
"""Executions that a draw takes, as far as can be told before: pairs, and shrinking."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a job works on. Folders are materialised, and the oracle's has its driver laid in."""

    key: str
    seed: bytes
    table: Table
    oracle: Path
    candidate: Path
    sources: tuple[str, ...] = ()
    """Texts whose literals become inputs: changed source of the candidate."""
    tests: tuple[str, ...] = ()
    """Texts of the base whose calls of entry points are documented examples."""
    kept: Mapping[str, Sequence[Asked]] | None = None
    """Draws that broke a row of this repository before."""
    python: Interpreter | None = None
    site: Path | None = None
    mode: Mode = Mode.WARM
    proof: Proof | None = None
    """The property job, where there is a site for it."""
    vacuous: Mapping[str, float] | None = None
    """Share of vacuous pairs of a row when it was admitted."""


def run(given: Given, budget: Budget, log: Log | None = None) -> Replay:
    """Try every row. Raises CannotJudge where the machinery or the base fails, and OutOfTime."""
    tell = log or _nobody
    precompile(given.candidate, roots=given.table.roots, python=given.python, mode=given.mode)
    with Oracle(given.oracle, given.seed, python=given.python, mode=given.mode,
                budget=budget) as oracle, \
            Candidate(given.candidate, given.table.roots, budget, python=given.python,
                      site=given.site, mode=given.mode) as candidate:
        job = _Job(given, oracle, candidate, budget)
        fares = job.fares()
        rows = tuple(classified(seen) for seen in job.seen(fares))
        told = lines(fares, candidate)
    for row in rows:
        tell(_event(row))
    for one in fares:
        for pair in one.broken:
            tell(_break(one, pair, given.seed))
    proven = None
    if given.proof is not None:
        budget.works_on("the properties")
        proven = properties.run(given.proof, python=given.python, mode=given.mode)
        tell({"event": "properties", "passed": proven.passed, "failed": list(proven.failed),
              "wrong": proven.wrong, "evidence": "none where it passes: the candidate shares "
                                                 "its process"})
        budget.did(1)
    digest = sha256("\n".join(told).encode("utf-8", "backslashreplace")).hexdigest()
    return Replay(given.key, given.seed.hex(), rows, digest, proven, seconds=budget.spent)


def again(given: Given, row: TableRow, index: int, budget: Budget) -> Pair | None:
    """One pair alone, in sandboxes of its own; None where the relation does not apply to it.

    Raises CannotJudge, also where no job has a draw of this index.
    """
    with Oracle(given.oracle, given.seed, python=given.python, mode=given.mode) as oracle, \
            Candidate(given.candidate, given.table.roots, budget, python=given.python,
                      site=given.site, mode=given.mode) as candidate:
        asked = asked_again(row, index, _words(given, oracle))
        if asked is None:
            raise CannotJudge(f"no job makes a draw {index} of {row.id}" + (
                ": one behind 500,000 is kept from an earlier push" if index >= KEPT else ""))
        [drawn] = draw(row, [asked], oracle)
        if not isinstance(drawn, Drawn):
            return None
        [pair] = tried(row, [drawn], oracle, candidate.strictly)
        return None if pair.state is State.REJECTED else pair


def _words(given: Given, oracle: Oracle) -> Words:
    names = [entry.rpartition(":")[2] for entry in given.table.entries]
    calls, found = oracle.harvested(given.sources, names)
    documented, _ = oracle.harvested(given.tests, names, needed=False)
    return Words([*documented, *calls], found).chosen(given.seed)


def _nobody(_: Mapping[str, Any]) -> None:
    pass


class _Job:
    """The parts of one job that know each other."""

    def __init__(self, given: Given, oracle: Oracle, candidate: Candidate,
                 budget: Budget) -> None:
        self._given, self._oracle, self._candidate = given, oracle, candidate
        self._budget = budget

    def fares(self) -> list[Fare]:
        """Every row tried, up to one that blocks since the candidate does not answer in time.

        Raises CannotJudge where too few draws can be applied.
        """
        words = _words(self._given, self._oracle)
        kept = self._given.kept or {}
        plans = [(row, planned(row, words, kept.get(row.id, ())))
                 for row in self._given.table.rows]
        self._budget.expects(_PER_DRAW * sum(len(asked) for _, asked in plans))
        found = []
        for row, asked in plans:
            self._budget.works_on(row.id)
            one = fare(row, asked, self._oracle, self._candidate)
            if len(one.pairs) < row.min_applied and not one.is_cut:
                raise CannotJudge(
                    f"{row.id} applies to {len(one.pairs)} of {len(one.pairs) + one.rejected} "
                    f"draws, and min_applied is {row.min_applied}; a maintainer repairs its "
                    "generator")
            found.append(one)
            if one.is_cut and row.status != "policy":
                break
        return found

    def seen(self, fares: Sequence[Fare]) -> list[Seen]:
        steady, places = self._steadiness(fares)
        flickering = steady.flickers
        leaks = {places[one.leak.victim][0].row.id: Leaking(
            places[one.leak.victim][1],
            tuple(dict.fromkeys(_named(*places[at]) for at in one.polluters)))
            for one in steady.leaks}
        admitted = self._given.vacuous or {}
        found = []
        for one in fares:
            self._budget.works_on(one.row.id)
            flicker = next((pair for pair in (*one.broken, *one.pairs)
                            if any(script in flickering for script in pair.scripts)), None)
            says = "" if flicker is None else next(
                flickering[script] for script in flicker.scripts if script in flickering)
            found.append(Seen(one, self._told(one), flicker, says, leaks.get(one.row.id),
                              self._counted(one), admitted.get(one.row.id, 0.0)))
        return found

    def _steadiness(self, fares: Sequence[Fare]) -> tuple[Steadiness, list[tuple[Fare, Pair]]]:
        """What changes when all runs are made again; with the pair of each run, by its place."""
        self._budget.works_on("all in one process")
        places = [(one, pair) for one in fares for pair in one.pairs for _ in pair.scripts]
        scripts = [script for one in fares for pair in one.pairs for script in pair.scripts]
        return looked_at(scripts, [one.row.id for one, _ in places], self._candidate), places

    def _told(self, fare: Fare) -> Shown | None:
        """The first broken pair of a row, tried strictly, and made simpler where it breaks so."""
        if not fare.broken:
            return None
        first = fare.broken[0]
        if fare.row.status == "policy":
            return Shown(first)
        again = self._again(first, fare)
        if again.state is not State.BREAKS:
            return Shown(renamed(first, "identical runs differ: now it breaks and now it holds"),
                         steady=False)
        small = smaller(fare, first, self._oracle, self._candidate,
                        seconds=self._budget.left / 4)
        return Shown(small, small.drawn.choices != first.drawn.choices)

    def _again(self, pair: Pair, fare: Fare) -> Pair:
        return tried(fare.row, [pair.drawn], self._oracle, self._candidate.strictly)[0]

    def _counted(self, fare: Fare) -> Counted | None:
        if fare.row.freeze is None or not fare.broken:
            return None
        return counted(fare.row.freeze, fare.broken, lambda pair: self._again(pair, fare))


def _named(one: Fare, pair: Pair) -> str:
    return f"({one.row.id}, {pair.drawn.asked.index})"


def _event(row: Row) -> Mapping[str, Any]:
    counts = row.counts
    return {"event": "relation", "relation": row.id, "bucket": row.bucket.value,
            "cause": row.cause.value, "drawn": counts.drawn, "applied": counts.applied,
            "rejected": counts.rejected, "vacuous": counts.vacuous, "broken": counts.broken}


def _break(one: Fare, pair: Pair, seed: bytes) -> Mapping[str, Any]:
    """What it takes to make the draw again is `seed`, `index`, `kind` and `choices`."""
    asked = pair.drawn.asked
    return {"event": "break", "relation": one.row.id, "draw": asked.index, "kind": asked.kind,
            "why": pair.why, "seed": (asked.seed or seed).hex(), "index": asked.told_index,
            "choices": list(pair.drawn.choices)}
