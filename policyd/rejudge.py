"""Judges pushes that are in the decision log again, by what is in force now. Writes nothing."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from typing import Any

from policyd.adapters import gatefiles, logfiles, repoindex
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.adapters.look import RefLine
from policyd.adapters.statefolder import because
from policyd.core import chain, rewinding
from policyd.core import index as indexes
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.gates import Acts
from policyd.core.index import Index
from policyd.core.policy import Active, Mode
from policyd.core.rewinding import Step
from policyd.core.values import dataclass
from policyd.gatehouse import Standing
from policyd.judge import Request, judge

UNJUDGED = "could not be judged"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is judged again, the latest first."""

    each: int = 50
    """Pushes of one repository."""
    all: int = 200
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Again:
    """A push as it was judged, and as it would be now."""

    id: str
    time: str
    repository: str
    pusher: str | None
    refs: tuple[str, ...]
    logged: str
    now: str
    """accepted, refused, or `UNJUDGED`."""
    why: tuple[str, ...]
    """The rules that refuse it now, or one sentence."""
    same_policy: bool
    """Whether it was judged by the policy that is in force."""

    @property
    def differs(self) -> bool:
        return self.logged != self.now


@dataclass(frozen=True, slots=True)
class Report:
    """The pushes that were judged again, the latest first, and why others were not."""

    pushes: tuple[Again, ...]
    left: Mapping[str, int]


@dataclass(slots=True)
class _Open:
    """A repository while its log is gone through."""

    repo: PushedRepo
    index: Index
    acts: Acts
    judged: int = 0


def rejudge(active: Active, keys: tuple[str, ...], bounds: Bounds) -> Report:
    """The latest pushes into these repositories. Raises CannotJudge where the log cannot be read.

    Objects of refused pushes are gone unless they came another way: those are left out.
    """
    run = _Run(active, keys, bounds)
    try:
        with closing(logfiles.reading(active.settings.state)) as log:
            return Report(tuple(run.through(log.backwards())), dict(run.left))
    except OSError as error:
        raise CannotJudge(f"decision log in {active.settings.state} cannot be read: "
                          f"{because(error)}") from error


class _Run:
    def __init__(self, active: Active, keys: tuple[str, ...], bounds: Bounds) -> None:
        self._active, self._bounds = active, bounds
        self._end = time.monotonic() + bounds.seconds
        self.left: Counter[str] = Counter()
        self._open = {key: opened for key in keys if (opened := self._opened(key)) is not None}

    def through(self, lines: Iterator[bytes]) -> Iterator[Again]:
        count = 0
        for line in lines:
            if count >= self._bounds.all or not self._open:
                return
            if time.monotonic() > self._end:
                self.left[f"all before {self._bounds.seconds:.0f} seconds were over"] += 1
                return
            entry = chain.parse(line)
            key = None if entry is None else entry.fields.get("key")
            if entry is None or key not in self._open:
                continue
            try:
                again = self._taken(str(key), chain.hash_of(line)[:6], entry)
            except (KeyError, TypeError, ValueError, AttributeError):
                self.left["an entry that cannot be read"] += 1
                continue
            if again is not None:
                count += 1
                yield again

    def _opened(self, key: str) -> _Open | None:
        state = self._active.settings.state
        try:
            index = repoindex.load(state, key)
            if not repoindex.has_key(index.git_dir, key):
                raise CannotJudge("it is elsewhere")
            repo = PushedRepo(index.git_dir)
            settled, _ = indexes.settle(index, {
                ref: repo.resolve(ref)[1] for ref in indexes.watched(index)})
            return _Open(repo, settled, gatefiles.acts(state, key))
        except PolicydError:
            self.left["repositories that cannot be looked at"] += 1
            return None

    def _taken(self, key: str, name: str, entry: chain.Entry) -> Again | None:
        """One entry of the log; None where it is none that is judged again."""
        fields, there = entry.fields, self._open[key]
        at = datetime.fromisoformat(fields["time"])
        if at < datetime.fromisoformat(there.index.enrolled) or there.judged >= self._bounds.each:
            del self._open[key]
            return None
        if fields.get("verdict") not in rewinding.JUDGED or (
                entry.n > there.index.applied.n and fields["verdict"] == indexes.ACCEPTED):
            return None
        there.index = rewinding.before(there.index, fields)
        steps = rewinding.steps(fields)
        why_not = rewinding.why_not(fields) or _gone(there.repo, steps)
        if why_not:
            self.left[why_not] += 1
            return None
        there.judged += 1
        now, why = self._now(there, fields, at, Standing(
            None, key, rewinding.acts_then(there.acts, at)))
        return Again(name, fields["time"], fields["repository"], fields.get("pusher"),
                     tuple(step.ref for step in steps),
                     rewinding.judged(fields).replace("unjudged", UNJUDGED), now, why,
                     fields.get("policy") == self._active.digest)

    def _now(self, there: _Open, fields: Mapping[str, Any], at: datetime,
             standing: Standing) -> tuple[str, tuple[str, ...]]:
        lines = [RefLine(step.ref, step.old, step.new, None, False)
                 for step in rewinding.steps(fields)]
        environment = {"PATH": os.environ.get("PATH", os.defpath)}
        request = Request(there.repo.git_dir, fields["repository"], environment,
                          fields.get("pusher"), at, standing, fields.get("credential"),
                          bool(fields.get("signed")))
        try:
            verdict = judge(request, self._active, there.repo, lines, there.index).verdict
        except PolicydError as error:
            return UNJUDGED, (str(error),)
        rules = dict.fromkeys(found.rule.id for found in verdict.of(Mode.ENFORCE))
        return verdict.outcome.value, tuple(rules)


def _gone(repo: PushedRepo, steps: tuple[Step, ...]) -> str:
    """Whether an object that was pushed, or that it was pushed onto, is not there any more."""
    for oid in (oid for step in steps for oid in (step.old, step.new) if oid is not None):
        try:
            repo.kind(bytes.fromhex(oid))
        except Missing:
            return "its objects are gone"
    return ""
