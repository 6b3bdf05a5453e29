"""The witness of a push: replays the base's relations on what is pushed, once all else passed.

Imported only where a policy asks for it, and never before every other rule has accepted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from policyd.adapters import clock, incidents, replayfiles
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.core.errors import CannotJudge, TryAgain, Unfit
from policyd.core.evaluate import Verdict, evaluate, together
from policyd.core.facts import Situation, Update
from policyd.core.policy import Clause, Mode, Policy
from policyd.core.trees import Trees
from policyd.core.values import dataclass
from policyd.core.witness import Replay
from policyd.judge import Bench
from policyd.replay import job, prepare
from policyd.replay.budget import Budget, OutOfTime
from policyd.replay.prepare import Sides, Trial
from policyd.replay.table import Table
from policyd.rules import BY_ID

RULE = "relations-hold"

ANEW = 300.0
"""Seconds after which a tree that could not be replayed is tried again, if it is pushed again."""
_EVERY = 2.0
"""Seconds between two lines to a push that waits for another one's replay."""


class Witness:
    """Replays of one push: the same trial under two policies runs once."""

    def __init__(self, repo: PushedRepo, bench: Bench, at: datetime) -> None:
        self._repo, self._bench, self._at = repo, bench, at
        self._trees = Trees(repo.tree)
        self._done: dict[str, Replay] = {}
        self._told: set[str] = set()
        self._deadline = time.monotonic() + bench.waits

    def judged(self, policy: Policy, given: Situation, verdict: Verdict
               ) -> tuple[Situation, Verdict]:
        """What a policy saw and found, with the replays that it asks for. Raises CannotJudge."""
        clause = policy.clause(RULE)
        if clause is None or policy.replay.when == "off":
            return given, verdict
        updates = tuple(self._with_replay(policy, clause, given, update)
                        for update in given.updates)
        if updates == given.updates:
            return given, verdict
        seen = replace(given, updates=updates)
        only = replace(policy, clauses=(clause,))
        found = evaluate(seen, only, BY_ID, seconds=time.perf_counter)
        return seen, together((verdict, found))

    def _with_replay(self, policy: Policy, clause: Clause, given: Situation,
                     update: Update) -> Update:
        mode = clause.mode_for(given.pusher.groups, given.today, guarded=update.guarded)
        if mode is Mode.OFF or not _is_replayed(update):
            return update
        try:
            found = self._replay(policy, update)
        except Unfit as error:
            found = Replay("", unfit=str(error))
        except Exception as error:
            if mode is Mode.ENFORCE:
                raise
            found = Replay("", undecided=self._why(error))
        if found is None:
            return update
        if self._bench.progress is not None and found.rows and found.key not in self._told:
            self._told.add(found.key)
            self._bench.progress(found.summary)
        return replace(update, replay=found)

    def _why(self, error: Exception) -> str:
        """Where nothing enforces, a fault of policyd keeps no push out either; it is reported."""
        if isinstance(error, CannotJudge):
            return str(error)
        incident = incidents.report(self._bench.state, "replay", error)
        return f"policyd failed, incident {incident}"

    def _replay(self, policy: Policy, update: Update) -> Replay | None:
        try:
            return self._asked(policy, update)
        except Missing as error:
            raise CannotJudge(f"the object {error} is not in the repository") from error

    def _asked(self, policy: Policy, update: Update) -> Replay | None:
        base, tip = str(update.old), str(update.tip)
        sides = Sides(base, self._tree(base), tip, self._tree(tip))
        bench = self._bench
        found = prepare.trial(self._repo, self._trees, sides, policy.replay, policy.records,
                              clock.today(policy.timezone, self._at),
                              partial(replayfiles.secret, bench.state))
        if found is None:
            return None
        there, trial = found
        if trial.key not in self._done:
            known = _known(bench.state, bench.key, trial.key)
            self._done[trial.key] = known or self._decided(policy, there, trial, update)
        return replace(self._done[trial.key], lenient=policy.replay.hysteresis == "warn")

    def _tree(self, commit: str) -> bytes:
        return self._repo.header(bytes.fromhex(commit))[0]

    def _decided(self, policy: Policy, there: Table, trial: Trial, update: Update) -> Replay:
        """By this process or by another one that works on the same key. Raises CannotJudge."""
        bench = self._bench
        trial = replace(trial, about={**(bench.about or {}), "ref": update.ref})
        if policy.replay.when == "ahead":
            enqueue(bench.state, self._repo, self._trees, there, self._queued(trial))
            raise TryAgain("this tree was not replayed ahead; the witness begins now, push again "
                           "in a minute")
        name = self._queued(trial).name
        with replayfiles.alone(bench.state, name, self._waits("the same tree")) as mine:
            if (known := _known(bench.state, bench.key, trial.key)) is not None:
                return known
            if not mine:
                raise TryAgain("another process replays this tree, for longer than this push may "
                               "wait; push again in a minute")
            return self._run(policy, there, trial)

    def _run(self, policy: Policy, there: Table, trial: Trial) -> Replay:
        bench = self._bench
        with replayfiles.workplace(bench.state) as place:
            given = prepare.written(self._repo, self._trees, there, trial, place,
                                    replayfiles.breaks(bench.state, bench.key))
            with replayfiles.turn(bench.state, bench.at_once, self._waits("its turn")) as mine:
                if not mine:
                    self._hand_over(trial, place)
                    raise TryAgain("too many replays run at the moment; this one is queued, push "
                                   "again in a minute")
                budget = Budget(min(self._left(), policy.replay.seconds), bench.progress)
                try:
                    found = run(bench.state, bench.key, there, trial, given, budget)
                except OutOfTime as error:
                    self._hand_over(trial, place)
                    raise TryAgain(
                        "the replay takes longer than this push may wait and is queued; push "
                        f"again in about {max(5, round(error.seconds)):.0f} s") from error
        replayfiles.done(bench.state, self._queued(trial).name)  # it may have been queued before
        return found

    def _queued(self, trial: Trial) -> Queued:
        return Queued(self._bench.key, self._repo.git_dir, trial)

    def _hand_over(self, trial: Trial, place: Path) -> None:
        job = self._queued(trial)
        replayfiles.queue(self._bench.state, job.name, place, job)

    def _left(self) -> float:
        return max(self._deadline - time.monotonic(), 0.0)

    def _waits(self, what: str) -> Callable[[], float]:
        """The seconds that are left, for whoever waits; the pusher is told for what, at times."""
        told = time.monotonic()

        def left() -> float:
            nonlocal told
            if self._bench.progress is not None and time.monotonic() - told >= _EVERY:
                told = time.monotonic()
                self._bench.progress(f"replay: waits for {what}, {self._left():.0f} s at the most")
            return self._left()

        return left


def _known(state: str, key: str, name: str) -> Replay | None:
    """The verdict of an earlier job. Raises TryAgain where that came to none just now."""
    found = replayfiles.verdict(state, key, name)
    if found is None or not found.undecided:
        return found
    rest = ANEW - replayfiles.age(state, key, name)
    if rest <= 0:
        return None
    raise TryAgain(f"this tree could not be replayed: {found.undecided}; it is tried anew in "
                   f"{max(1, round(rest / 60))} min")


def enqueue(state: str, repo: PushedRepo, trees: Trees, there: Table, queued: Queued) -> None:
    """Put a job into the queue, unless it is there. Raises CannotJudge."""
    trial = queued.trial
    if replayfiles.is_queued(state, queued.name):
        return
    with replayfiles.workplace(state) as place:
        prepare.written(repo, trees, there, trial, place,
                        replayfiles.breaks(state, queued.repository))
        replayfiles.queue(state, queued.name, place, queued)


@dataclass(frozen=True, slots=True)
class Queued:
    """job.json of the queue: whose trial it is."""

    repository: str
    """Its key."""
    git_dir: str
    trial: Trial

    @classmethod
    def of(cls, key: str, git_dir: str, trial: Trial, about: Mapping[str, str]) -> Queued:
        return cls(key, git_dir, replace(trial, about=about))

    @property
    def name(self) -> str:
        return replayfiles.job_name(self.repository, self.trial.key)


def _is_replayed(update: Update) -> bool:
    return (update.guarded and update.branch is not None and update.old is not None
            and update.tip is not None and not update.revert)


def run(state: str, key: str, there: Table, trial: Trial, given: job.Given,
        budget: Budget) -> Replay:
    """Run a job whose trees are written; verdict, log and breaking draws are kept."""
    events: list[Mapping[str, object]] = []
    began = clock.now().isoformat(timespec="milliseconds")
    try:
        found = replace(job.run(given, budget, events.append), warnings=there.warnings)
    finally:
        cpu = time.process_time()
        replayfiles.write_log(state, key, trial.key, [_head(trial, began), *events, {
            "event": "end", "wall_seconds": round(budget.spent, 3),
            "judge_cpu_seconds": round(cpu, 3)}])
    replayfiles.keep(state, key, found, {
        "at": began, "base": trial.base, "candidate": trial.candidate, **(trial.about or {})})
    replayfiles.keep_breaks(state, key, _breaking(events))
    return found


def _head(trial: Trial, began: str) -> Mapping[str, object]:
    options = trial.options
    return {"event": "job", "at": began, "key": trial.key, "seed": trial.seed,
            "date": trial.today.isoformat(), "base": trial.base, "candidate": trial.candidate,
            "table": trial.sha, "harness": trial.harness, "sandbox": options.sandbox,
            "python": prepare.interpreter(options).version, "site": trial.site,
            **(trial.about or {})}


def _breaking(events: Sequence[Mapping[str, object]]) -> Mapping[str, list[Mapping[str, object]]]:
    """The first breaking draws of each row, so that they are made again."""
    found: dict[str, list[Mapping[str, object]]] = {}
    for event in events:
        if event["event"] == "break":
            draws = found.setdefault(str(event["relation"]), [])
            if len(draws) < 2:
                draws.append({name: event[name] for name in ("seed", "index", "kind", "choices")})
    return found
