"""The jobs that wait: run by the daemon's worker, with nothing but what was queued."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from policyd.adapters import activepolicy, replayfiles
from policyd.adapters.gitrepo import PushedRepo
from policyd.core.errors import CannotJudge
from policyd.core.witness import Replay
from policyd.replay import prepare, table
from policyd.replay.budget import Budget
from policyd.rules import OPTIONS
from policyd.witness import Queued, run

_LEAST = 600.0
"""Seconds of a job that nobody waits for."""


def work(home: Path) -> Iterator[tuple[str, str]]:
    """Run every job of the queue; each with what it came to, in a word or a sentence."""
    settings = activepolicy.load(home, OPTIONS).settings
    state = settings.state
    replayfiles.sweep(state)
    for name in replayfiles.queued(state):
        queued = replayfiles.job(state, name, Queued)
        if queued is None:
            replayfiles.done(state, name)
            yield name, "cannot be read, and is gone"
            continue
        with replayfiles.turn(state, settings.replay.at_once, lambda: _LEAST):
            yield name, _worked(state, name, queued)
        replayfiles.done(state, name)


def _worked(state: str, name: str, queued: Queued) -> str:
    """A job that fails leaves a verdict too, so that a push is told and does not wait for ever."""
    trial, key = queued.trial, queued.repository
    place = Path(state, replayfiles.JOBS, name)
    budget = Budget(max(_LEAST, trial.options.seconds))
    try:
        there = table.load(PushedRepo(queued.git_dir), bytes.fromhex(trial.base_tree),
                           trial.places, trial.today)
        if there is None:
            raise CannotJudge("the base has no relation table")
        found = run(state, key, there, trial, prepare.given(there, trial, place), budget)
    except CannotJudge as error:
        found = Replay(trial.key, trial.seed, undecided=str(error))
        replayfiles.keep(state, key, replace(found, seconds=budget.spent), {
            "at": "", "base": trial.base, "candidate": trial.candidate, **(trial.about or {})})
        return str(error)
    return "refuses" if found.refusing else "holds"
