"""Decision tables, run by the real judgement: one throwaway repository, no hook and no log."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, time
from pathlib import Path
from tempfile import TemporaryDirectory

from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.keptsheets import KeptSheets
from policyd.adapters.look import RefLine
from policyd.adapters.scratchrepo import ScratchRepo
from policyd.core.cases import BEFORE, MAIN, Case, Files
from policyd.core.errors import PolicydError
from policyd.core.globs import repository_pattern
from policyd.core.index import Index
from policyd.core.policy import Active, Mode
from policyd.core.values import dataclass
from policyd.gatehouse import Standing
from policyd.judge import Request, judge

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
_KEY = "0" * 32


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one case."""

    case: Case
    refused_by: tuple[str, ...] = ()
    """The ids of the rules that refuse it, sorted."""
    says: tuple[str, ...] = ()
    """`rule: what it found`, one for each finding that refuses."""
    found: tuple[tuple[str, Mode, str], ...] = ()
    """Every finding, refused for or not: the rule, how much it counts, what it says."""
    unjudged: str | None = None
    """Why it could not be judged; then no answer was the expected one."""

    @property
    def holds(self) -> bool:
        return self.unjudged is None and self.refused_by == self.case.rules


@dataclass(frozen=True, slots=True)
class Rows:
    """Cases as pushes in a repository, to be judged as often as needed."""

    cases: tuple[Case, ...]
    _pushes: tuple[tuple[str | None, str], ...]
    _repo: PushedRepo
    _standing: Standing
    """Keeps what was read in their files: they are judged again and again."""

    def results(self, active: Active, *, at: datetime = NEW_YEAR,
                first: str | None = None) -> Iterator[tuple[int, Result]]:
        """What becomes of each case, with its position; rows that expect the rule `first` first.

        A case that names no day is judged at `at`. None names a repository: each policy is taken
        to hold for it.
        """
        everywhere = (repository_pattern("**"),)
        active = replace(active, policies=tuple(
            replace(policy, repositories=everywhere) for policy in active.policies))
        numbers = sorted(range(len(self.cases)), key=lambda n: first not in self.cases[n].rules)
        for number in numbers if first is not None else range(len(self.cases)):
            request = self._request(self.cases[number], at)
            yield number, _result(self.cases[number], request, active, self._repo,
                                  *self._pushes[number])

    def _request(self, case: Case, at: datetime) -> Request:
        """As it would come from a hook."""
        if case.today is not None:
            at = datetime.combine(case.today, time(12), UTC)
        environment = {"PATH": os.environ.get("PATH", os.defpath)}
        return Request(self._repo.git_dir, "case", environment, case.who, at, self._standing,
                       case.credential, case.signed)


@contextmanager
def prepared(cases: Sequence[Case]) -> Iterator[Rows]:
    """The cases in one throwaway repository, which is gone afterwards."""
    with TemporaryDirectory(prefix="policyd-cases-", ignore_cleanup_errors=True) as folder:
        scratch = ScratchRepo(Path(folder))
        pushes = tuple(_pushed(scratch, case) for case in cases)
        yield Rows(tuple(cases), pushes, PushedRepo(str(scratch.git_dir)),
                   Standing(sheets=KeptSheets()))


def run(cases: Sequence[Case], active: Active, *, at: datetime = NEW_YEAR) -> tuple[Result, ...]:
    """What the policies in `active` say of each case, in order, at the moment `at`."""
    with prepared(cases) as rows:
        return tuple(result for _, result in rows.results(active, at=at))


def _pushed(scratch: ScratchRepo, case: Case) -> tuple[str | None, str]:
    """The tip of main, if there is one, and the commit that is pushed."""
    base = None if case.before is None else scratch.commit(case.before)
    tip = base
    for files in case.commits:
        tip = scratch.commit(_filled_in(files, base), *([tip] if tip else []))
    if tip is None:
        raise ValueError(f"the case {case.title!r} pushes nothing")
    return base, tip


def _filled_in(files: Files, base: str | None) -> Files:
    return files if base is None else {path: text.replace(BEFORE, base)
                                       for path, text in files.items()}


def _result(case: Case, request: Request, active: Active, repo: PushedRepo, base: str | None,
            tip: str) -> Result:
    index = Index(_KEY, request.at.isoformat(), empty=base is None,
                  branches={} if base is None else {MAIN: base})
    line = RefLine(case.ref, base if case.ref == MAIN else None, tip, None, False)
    try:
        verdict = judge(request, active, repo, (line,), index).verdict
    except PolicydError as error:
        return Result(case, unjudged=str(error))
    refused = verdict.of(Mode.ENFORCE)
    return Result(case, tuple(sorted({v.rule.id for v in refused})),
                  tuple(f"{v.rule.id}: {v.finding.says}" for v in refused),
                  tuple((v.rule.id, v.mode, v.finding.says) for v in verdict.violations))
