"""Admission: a relation is tried on the base's own source before it may block anybody.

It must hold of many draws under several seeds. Beside that, the share of its pairs that prove
nothing is counted, and which small changes of the entry point it notices: a row that notices
none is decorative.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass
from policyd.replay.budget import Budget
from policyd.replay.candidate import Candidate
from policyd.replay.classify import MOST_VACUOUS
from policyd.replay.fare import Fare, fare
from policyd.replay.job import Given
from policyd.replay.mutants import Mutant, mutants
from policyd.replay.oracle import Oracle
from policyd.replay.pairs import State, shown
from policyd.replay.plan import Words, planned
from policyd.replay.precompile import precompile
from policyd.replay.table import Row

SEEDS = 3
DRAWS = 1000
_MUTANT_DRAWS = 24


@dataclass(frozen=True, slots=True)
class Admission:
    """What a row came to on the base's own source."""

    id: str
    draws: int
    """Pairs, over all seeds."""
    vacuous: float
    """Share of them that prove nothing."""
    broken: int = 0
    first: str = ""
    """The first break: `(seed, relation, draw): input (...)`, and its reason."""
    killed: int = 0
    mutants: int = 0
    problem: str = ""
    """Why it could not be tried."""

    @property
    def admitted(self) -> bool:
        return not self.broken and not self.problem and self.draws > 0

    @property
    def decorative(self) -> bool:
        """Whether it notices none of the small changes that were tried."""
        return self.admitted and self.mutants > 0 and self.killed == 0


def admitted(given: Given, budget: Budget, *, seeds: int = SEEDS, draws: int = DRAWS,
             only: Sequence[str] = (), with_mutants: bool = True) -> tuple[Admission, ...]:
    """Try the rows of a job whose candidate is the base itself. Raises CannotJudge, OutOfTime."""
    precompile(given.candidate, roots=given.table.roots, python=given.python, mode=given.mode)
    rows = [row for row in given.table.rows if not only or row.id in only]
    found = {row.id: _held(given, row, budget, seeds, draws) for row in rows}
    if with_mutants:
        for row_id, killed, count in _kills(given, [row for row in rows
                                                    if found[row.id].admitted], budget):
            found[row_id] = replace(found[row_id], killed=killed, mutants=count)
    return tuple(found.values())


def _held(given: Given, row: Row, budget: Budget, seeds: int, draws: int) -> Admission:
    budget.works_on(row.id)
    many = replace(row, draws=draws)
    fares: list[tuple[bytes, Fare]] = []
    try:
        for number in range(seeds):
            seed = sha256(given.seed + number.to_bytes(4, "big")).digest()[:16]
            with Oracle(given.oracle, seed, python=given.python, mode=given.mode) as oracle, \
                    _candidate(given, given.candidate, budget) as candidate:
                fares.append((seed, fare(many, planned(many, Words()), oracle, candidate)))
    except CannotJudge as error:
        return Admission(row.id, 0, 0.0, problem=str(error))
    pairs = [pair for _, one in fares for pair in one.pairs]
    broken = [(seed, pair) for seed, one in fares for pair in one.broken]
    first = ""
    if broken:
        seed, pair = broken[0]
        first = (f"({seed.hex()}, {row.id}, {pair.drawn.asked.index}): input "
                 f"{shown(row, pair.drawn.input)}: {pair.why}")
    vacuous = sum(pair.state is State.VACUOUS for pair in pairs)
    return Admission(row.id, len(pairs), vacuous / max(len(pairs), 1), len(broken), first)


def _candidate(given: Given, tree: Path, budget: Budget) -> Candidate:
    return Candidate(tree, given.table.roots, budget, python=given.python, site=given.site,
                     mode=given.mode)


def _kills(given: Given, rows: Sequence[Row], budget: Budget) -> Iterator[tuple[str, int, int]]:
    """For each row: how many mutants of its entry point it notices, and how many there are."""
    by_entry: dict[str, list[Row]] = {}
    for row in rows:
        by_entry.setdefault(row.entry, []).append(row)
    for entry, some in by_entry.items():
        file, made = _mutants(given, entry)
        killed = dict.fromkeys((row.id for row in some), 0)
        for mutant in made:
            for row_id in _noticed(given, some, file, mutant, budget):
                killed[row_id] += 1
        yield from ((row.id, killed[row.id], len(made)) for row in some)


def _mutants(given: Given, entry: str) -> tuple[Path, list[Mutant]]:
    """The file that defines an entry point, below the tree, and its mutants."""
    module, _, name = entry.partition(":")
    below = Path(*module.split("."))
    for root in given.table.roots:
        for file in (Path(root) / below.with_suffix(".py"), Path(root) / below / "__init__.py"):
            if (given.candidate / file).is_file():
                try:
                    return file, mutants((given.candidate / file).read_text("utf-8"), name)
                except (SyntaxError, ValueError, RecursionError):
                    return file, []  # it is defined elsewhere: nothing is known of it
    return below, []


def _noticed(given: Given, rows: Sequence[Row], file: Path, mutant: Mutant,
             budget: Budget) -> list[str]:
    """The rows of which some pair breaks on a mutant."""
    budget.works_on(f"line {mutant.line}: {mutant.what}")
    tree = given.candidate.with_name("mutant")
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(given.candidate, tree, ignore=shutil.ignore_patterns("__pycache__"))
    (tree / file).write_text(mutant.text, "utf-8")
    found = []
    try:
        with Oracle(given.oracle, given.seed, python=given.python, mode=given.mode) as oracle, \
                _candidate(given, tree, budget) as candidate:
            for row in rows:
                few = replace(row, draws=min(row.draws, _MUTANT_DRAWS))
                came = fare(few, planned(few, Words()), oracle, candidate)
                if came.broken or came.counts.vacuous > MOST_VACUOUS * len(came.pairs):
                    found.append(row.id)
    finally:
        shutil.rmtree(tree, ignore_errors=True)
    return found


def digest(row: Row, functions: Mapping[str, str]) -> str:
    """What a row is, as SHA-256: its own text and what its functions say; another is not admitted.

    `functions` are the texts of the Python files that its functions stand in, by path.
    """
    total = sha256(repr(replace(row, freeze=None, owner="", last=None, status="")).encode())
    for path, text in sorted(functions.items()):
        total.update(f"{path}\0{len(text)}\0{text}".encode("utf-8", "surrogateescape"))
    return total.hexdigest()
