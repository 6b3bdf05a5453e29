"""The jobs that wait: run by the daemon's worker, with nothing but what was queued."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from policyd.adapters import activepolicy, clock, incidents, replayfiles
from policyd.adapters.gitrepo import PushedRepo
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.policy import Settings
from policyd.core.values import dataclass
from policyd.core.witness import Replay
from policyd.replay import prepare, table
from policyd.replay.budget import Budget
from policyd.rules import OPTIONS
from policyd.witness import Queued, run

LEAST = 600.0
"""Seconds of a job that nobody waits for."""
MOST_TRIES = 2
"""Of a job that never comes to an end."""
HOLDS, REFUSES, UNDECIDED = "holds", "refuses", "undecided"
DROPPED, FAILED = "dropped", "failed"
"""What a job comes to. Dropped: nobody would find its verdict; failed: it is tried once more."""


@dataclass(frozen=True, slots=True)
class Done:
    """One job that the worker went through."""

    name: str
    came: str
    """HOLDS, REFUSES, UNDECIDED, DROPPED or FAILED."""
    seconds: float = 0.0
    why: str = ""
    """Of what is neither held nor refused, in one sentence."""
    repository: str = ""
    ref: str = ""


def work(home: Path) -> Iterator[Done]:
    """Run every job of the queue, those too that are queued meanwhile; each once."""
    settings = activepolicy.load(home, OPTIONS).settings
    replayfiles.sweep(settings.state)
    seen: set[str] = set()
    while fresh := [one for one in replayfiles.queued(settings.state) if one not in seen]:
        name = fresh[0]
        seen.add(name)
        done = _worked(settings, name)
        if done.came != FAILED:
            replayfiles.done(settings.state, name)
        yield done


def _worked(settings: Settings, name: str) -> Done:
    state = settings.state
    queued = replayfiles.job(state, name, Queued)
    if queued is None:
        return Done(name, DROPPED, why="job.json cannot be read")
    about = queued.trial.about or {}
    done = Done(name, DROPPED, 0.0, "", about.get("repository", ""), about.get("ref", ""))
    if queued.name != name or queued.trial.harness != prepare.harness_sha():
        return replace(done, why="it was queued by another version of policyd")
    with replayfiles.alone(state, name, lambda: LEAST), \
            replayfiles.turn(state, settings.replay.at_once, lambda: LEAST):
        known = replayfiles.verdict(state, queued.repository, queued.trial.key)
        if known is not None and not known.undecided:
            return replace(done, why="its verdict is known already")
        if replayfiles.begun(state, name) >= MOST_TRIES:
            return _undecided(state, queued, done, "the process that replayed it was ended from "
                              f"outside or failed, {MOST_TRIES} times")
        try:
            return _run(state, queued, done)
        except (SystemExit, KeyboardInterrupt):
            replayfiles.not_begun(state, name)
            raise
        except Exception as error:
            incident = incidents.report(Path(state), f"replay {name[:12]}", error)
            return replace(done, came=FAILED, why=f"policyd failed, incident {incident}")


def _run(state: str, queued: Queued, done: Done) -> Done:
    trial, key = queued.trial, queued.repository
    place = Path(state, replayfiles.JOBS, done.name)
    budget = Budget(max(LEAST, trial.options.seconds))
    try:
        there = table.load(PushedRepo(queued.git_dir), bytes.fromhex(trial.base_tree),
                           trial.places, trial.today)
        if there is None:
            raise CannotJudge("the base has no relation table")
        found = run(state, key, there, trial, prepare.given(there, trial, place), budget)
    except PolicydError as error:
        return _undecided(state, queued, replace(done, seconds=budget.spent), str(error))
    told = replace(found, lenient=trial.options.hysteresis == "warn")
    refuses = told.refusing or (found.properties is not None and found.properties.refuses)
    return replace(done, came=REFUSES if refuses else HOLDS, seconds=budget.spent)


def _undecided(state: str, queued: Queued, done: Done, why: str) -> Done:
    """A job that fails leaves a verdict too, so that a push is told and does not wait for ever."""
    trial = queued.trial
    replayfiles.keep(
        state, queued.repository, Replay(trial.key, trial.seed, undecided=why,
                                         seconds=done.seconds),
        {"at": clock.now().isoformat(timespec="milliseconds"), "base": trial.base,
         "candidate": trial.candidate, **(trial.about or {})})
    return replace(done, came=UNDECIDED, why=why)
