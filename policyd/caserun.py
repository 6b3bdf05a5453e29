"""Decision tables, run by the real judgement: one throwaway repository, no hook and no log."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.look import RefLine
from policyd.adapters.scratchrepo import ScratchRepo
from policyd.core.cases import MAIN, Case
from policyd.core.errors import PolicydError
from policyd.core.globs import repository_pattern
from policyd.core.index import Index
from policyd.core.policy import Active, Mode
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
    unjudged: str | None = None
    """Why it could not be judged; then no answer was the expected one."""

    @property
    def holds(self) -> bool:
        return self.unjudged is None and self.refused_by == self.case.rules


def run(cases: Sequence[Case], active: Active, *, at: datetime = NEW_YEAR) -> tuple[Result, ...]:
    """What the policies in `active` say of each case, in order, at the moment `at`.

    A case names no repository: each policy is taken to hold for it.
    """
    everywhere = (repository_pattern("**"),)
    active = replace(active, policies=tuple(
        replace(policy, repositories=everywhere) for policy in active.policies))
    with TemporaryDirectory(prefix="policyd-cases-", ignore_cleanup_errors=True) as folder:
        scratch = ScratchRepo(Path(folder))
        pushes = [_pushed(scratch, case) for case in cases]
        repo = PushedRepo(str(scratch.git_dir))
        return tuple(_result(case, active, repo, *push, at)
                     for case, push in zip(cases, pushes, strict=True))


def _pushed(scratch: ScratchRepo, case: Case) -> tuple[str | None, str]:
    """The tip of main, if there is one, and the commit that is pushed."""
    base = None if case.before is None else scratch.commit(case.before)
    tip = base
    for files in case.commits:
        tip = scratch.commit(files, *([tip] if tip else []))
    if tip is None:
        raise ValueError(f"the case {case.title!r} pushes nothing")
    return base, tip


def _result(case: Case, active: Active, repo: PushedRepo, base: str | None, tip: str,
            at: datetime) -> Result:
    index = Index(_KEY, at.isoformat(), empty=base is None,
                  branches={} if base is None else {MAIN: base})
    line = RefLine(case.ref, base if case.ref == MAIN else None, tip, None, False)
    environment = {"PATH": os.environ.get("PATH", os.defpath)}
    request = Request(repo.git_dir, "case", environment, case.who, at)
    try:
        refused = judge(request, active, repo, (line,), index).verdict.of(Mode.ENFORCE)
    except PolicydError as error:
        return Result(case, unjudged=str(error))
    return Result(case, tuple(sorted({v.rule.id for v in refused})),
                  tuple(f"{v.rule.id}: {v.finding.says}" for v in refused))
