"""The candidate's side of a job: its executions, each made once and kept by its input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from policyd.replay.budget import Budget
from policyd.replay.execute import Call, Executor, Limits, Mode
from policyd.replay.interpreter import Interpreter
from policyd.replay.outcome import Outcome

Script = tuple[Call, ...]
"""The calls of one run; most runs have one."""

_AT_ONCE = 32
"""Executions between two looks at the clock."""
OTHER_SEED = 4242
"""A second value of PYTHONHASHSEED."""
LIMITS = replace(Limits(), output_bytes=256 << 10)
"""Of one execution: its value travels once more, with its input, to the oracle's side."""


class Candidate:
    """Runs of a materialised source tree. `known` holds the outcome of each run made so far.

    What is still running behind the budget's deadline is ended, and OutOfTime raised.
    """

    def __init__(self, tree: Path, roots: Sequence[str], budget: Budget, *,
                 python: Interpreter | None = None, site: Path | None = None,
                 mode: Mode = Mode.WARM, limits: Limits = LIMITS, jobs: int = 2) -> None:
        self._budget = budget
        self._executors = [
            Executor(tree, roots=roots, python=python, limits=limits, mode=mode, site=site,
                     hash_seed=seed, jobs=jobs) for seed in (0, OTHER_SEED)]
        self.known: dict[Script, Outcome] = {}

    def run(self, scripts: Sequence[Script]) -> list[Outcome]:
        """One outcome a run, each in a clean process of its own; the same run is made once."""
        new = [script for script in dict.fromkeys(scripts) if script not in self.known]
        for batch in _batches(new):
            outcomes = self._executors[0].run_scripts(
                batch, confirm=True, seconds=self._budget.left)
            self._budget.did(len(batch))
            self.known.update(zip(batch, outcomes, strict=True))
        return [self.known[script] for script in scripts]

    def strictly(self, scripts: Sequence[Script]) -> list[Outcome]:
        """The same runs, made anew, in a sandbox for each."""
        found: list[Outcome] = []
        for batch in _batches(scripts):
            found += self._executors[0].strictly(batch, seconds=self._budget.left)
            self._budget.did(len(batch))
        return found

    def anew(self, scripts: Sequence[Script], *, hashed_otherwise: bool = False) -> list[Outcome]:
        """The same runs, made anew in clean processes, perhaps with another seed of hashes."""
        found: list[Outcome] = []
        for batch in _batches(scripts):
            found += self._executors[hashed_otherwise].run_scripts(
                batch, confirm=True, seconds=self._budget.left)
            self._budget.did(len(batch))
        return found

    def in_one_process(self, scripts: Sequence[Script], *,
                       hashed_otherwise: bool = False) -> list[list[Outcome]]:
        """All runs in one process, in their order: the outcome of each of their calls."""
        calls = [call for script in scripts for call in script]
        outcomes = iter(self._executors[hashed_otherwise].run_sequence(
            calls, seconds=self._budget.left))
        self._budget.did(1)
        return [[next(outcomes) for _ in script] for script in scripts]

    def close(self) -> None:
        for executor in self._executors:
            executor.close()

    def __enter__(self) -> Candidate:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def _batches(scripts: Sequence[Script]) -> list[Sequence[Script]]:
    return [scripts[at:at + _AT_ONCE] for at in range(0, len(scripts), _AT_ONCE)]


def script(entry: str, steps: Mapping[str, str], given: Sequence[object], data: bytes) -> Script:
    """The run of one input; `data` is `given`, encoded. Raises ValueError for what is no step."""
    from policyd.replay import wire

    if not steps:
        return (Call(entry, data),)
    calls = []
    for step in given:
        if not isinstance(step, list) or not step or step[0] not in steps:
            raise ValueError(f"a step is a list that begins with one of {', '.join(steps)}")
        calls.append(Call(steps[step[0]], wire.encode(step[1:])))
    if not calls:
        raise ValueError("an input without a step")
    return tuple(calls)
