"""A branch's history judged as if each of its first-parent steps had been a push. Writes nothing.

Accepted history is what the branch held before the step; commits that a merge brings are judged.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import field
from datetime import UTC, datetime, timedelta
from functools import partial

from policyd.adapters import workers
from policyd.adapters.firstparents import FirstParents, first_parents
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.adapters.keptsheets import KeptSheets
from policyd.adapters.look import RefLine
from policyd.core.backtesting import Found, Spot, Step
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.evaluate import Violation
from policyd.core.index import Index, Move
from policyd.core.policy import Active, Policy
from policyd.core.values import dataclass
from policyd.gatehouse import Standing
from policyd.judge import Request, judge

CHUNK = 32
"""Steps that a process takes at a time."""

SPOTS = 20
"""Places of one finding that are kept."""

DAYS = 14
"""Looked back where no policy says more."""

_LATEST = int(datetime(9999, 1, 1, tzinfo=UTC).timestamp())


@dataclass(frozen=True, slots=True)
class Asked:
    """Which steps of which branch, and who pushed them."""

    git_dir: str
    repository: str
    ref: str
    pusher: str | None = None
    credential: str | None = None
    since: datetime | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Backtest:
    """A history that can be judged, any part of it by any process."""

    asked: Asked
    active: Active
    """Its policies hold for the repository and guard the branch."""
    history: FirstParents
    _moves: tuple[Move, ...] = field(repr=False)
    """The first step of each day, oldest first."""
    _places: tuple[int, ...] = field(repr=False)
    """Where in the history they stand, negative: newer ones are greater."""
    _days: int = DAYS

    def steps(self, jobs: int) -> Generator[Step, None, None]:
        """Each step, newest first. Closing the iterator ends the processes."""
        chunks = [range(start, min(start + CHUNK, self.history.steps))
                  for start in range(0, self.history.steps, CHUNK)]
        make = partial(_opened, self)
        with closing(workers.shared_out(make, chunks, jobs)) as answers:
            for chunk, told in zip(chunks, answers, strict=True):
                yield from told if told is not None else map(self.died, chunk)

    def index(self, number: int) -> Index:
        """What the branch had accepted before a step."""
        end = bisect_left(self._places, -number)
        return Index("0" * 32, self.at(number).isoformat(), False,
                     {self.asked.ref: self.history.commits[number + 1].hex()},
                     moves=self._moves[max(end - self._days - 1, 0):end])

    def at(self, number: int) -> datetime:
        """When a step was made, by its committer date."""
        return _moment(self.history.times[number])

    def step(self, number: int, repo: PushedRepo, standing: Standing) -> Step:
        """Judge one step."""
        asked, commits = self.asked, self.history.commits
        old, new, at = commits[number + 1].hex(), commits[number].hex(), self.at(number)
        request = Request(asked.git_dir, asked.repository, _environment(), asked.pusher, at,
                          standing, asked.credential)
        line = RefLine(asked.ref, old, new, None, False)
        start = time.perf_counter()
        try:
            verdict = judge(request, self.active, repo, (line,), self.index(number)).verdict
        except PolicydError as error:
            return self._unjudged(number, str(error), repo)
        except Exception as error:
            return self._unjudged(number, f"{type(error).__name__}: {error}", repo)
        spent = (time.perf_counter() - start) * 1000
        return Step(new, old, at.isoformat(), _subject(repo, new) if verdict.violations else "",
                    spent, tuple(map(_found, verdict.violations)), verdict.spent)

    def died(self, number: int) -> Step:
        """What is told of a step whose process is gone."""
        return self._unjudged(number, "the process that judged it and some others died", None)

    def _unjudged(self, number: int, why: str, repo: PushedRepo | None) -> Step:
        new, old = self.history.commits[number].hex(), self.history.commits[number + 1].hex()
        return Step(new, old, self.at(number).isoformat(),
                    _subject(repo, new) if repo is not None else "", 0.0, unjudged=why)


def prepared(asked: Asked, active: Active, repo: PushedRepo) -> Backtest:
    """Follow the branch back. Raises CannotJudge where there is no such branch."""
    _, tip = repo.resolve(asked.ref)
    if tip is None:
        raise CannotJudge(f"{asked.git_dir} has no branch "
                          f"{asked.ref.removeprefix('refs/heads/')}; name one with --branch")
    days = max([DAYS, *map(_lookback, active.policies)])
    since = None if asked.since is None else int(asked.since.timestamp())
    history = first_parents(repo, bytes.fromhex(tip), most=asked.limit, since=since,
                            back=int(timedelta(days=days).total_seconds()))
    moves: list[Move] = []
    places: list[int] = []
    for number in range(len(history.commits) - 2, -1, -1):
        at = _moment(history.times[number]).isoformat()
        if not moves or moves[-1].at[:10] != at[:10]:
            moves.append(Move(asked.ref, history.commits[number + 1].hex(), at))
            places.append(-number)
    return Backtest(asked, active, history, tuple(moves), tuple(places), days)


def _opened(backtest: Backtest) -> Callable[[range], list[Step]]:
    repo, standing = PushedRepo(backtest.asked.git_dir), Standing(sheets=KeptSheets())
    return lambda chunk: [backtest.step(number, repo, standing) for number in chunk]


def _lookback(policy: Policy) -> int:
    days = (getattr(clause.options, "lookback_days", 0) for clause in policy.clauses)
    return max((int(one) for one in days), default=0)


def _environment() -> dict[str, str]:
    """For git children: a partial clone fetches nothing, and nothing is written."""
    return {"PATH": os.environ.get("PATH", os.defpath), "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none", "GIT_OPTIONAL_LOCKS": "0"}


def _moment(seconds: int) -> datetime:
    """A committer's clock may say anything."""
    return datetime.fromtimestamp(min(max(seconds, 0), _LATEST), UTC)


def _found(violation: Violation) -> Found:
    finding = violation.finding
    return Found(violation.rule.id, violation.mode.value, violation.policy, finding.says,
                 finding.scene, tuple(Spot(place.commit, place.path, place.line, place.note)
                                      for place in finding.places[:SPOTS]))


def _subject(repo: PushedRepo, commit: str) -> str:
    """The first line of a commit's message."""
    try:
        _, data = repo.read(bytes.fromhex(commit))
    except (Missing, CannotJudge):
        return ""
    message = data.partition(b"\n\n")[2].lstrip()
    return message.partition(b"\n")[0].decode("utf-8", "surrogateescape")
