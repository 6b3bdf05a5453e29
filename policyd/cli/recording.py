"""The last step of enrolling: the tips that count as accepted history go into the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from policyd.adapters import clock, decisionlog, hints, logcheck, repoindex
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.hints import Hint
from policyd.core import index as indexes
from policyd.core.enrolment import guarded_tips
from policyd.core.errors import CannotJudge
from policyd.core.index import Bootstrap, Index
from policyd.core.movement import Movement
from policyd.core.policy import Active, Policy
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """One repository to enrol."""

    home: Path
    active: Active
    git_dir: Path
    name: str
    policies: tuple[Policy, ...]
    operator: str
    told: str = ""
    """What its server calls it, where it says so outside of pushes."""
    every_ref: bool = False
    """Whether all refs that are there count as accepted history, not the guarded ones alone."""
    bootstrap: Bootstrap | None = None
    server: str | None = None
    """None: the one that it was enrolled for, or that policyd.yaml names."""
    hooks_path: Path | None = None
    probed: set[int] = field(default_factory=set)
    """Users as whom the program is known to run; shared by the cases of one command."""

    @property
    def state(self) -> Path:
        return Path(self.active.settings.state)


def tips_of(case: Case, repo: PushedRepo) -> tuple[dict[str, str], dict[str, str]]:
    """The guarded tips as they are now, and all refs."""
    refs = repo.refs()
    return guarded_tips(case.policies, refs), refs


def recorded_and_hinted(case: Case) -> list[str]:
    """With a hint, so that a daemon that runs looks at it at once."""
    lines = _record(case)
    hints.leave(case.state, repoindex.key_of(case.git_dir), Hint(str(case.git_dir)))
    return lines


def _record(case: Case) -> list[str]:
    """Read the tips once more, now that no push can move them unseen, and record them."""
    key, repo = repoindex.key_of(case.git_dir), PushedRepo(str(case.git_dir))
    found, refs = tips_of(case, repo)
    extra = _extra(case, repo, refs)
    entry = {"verdict": "enrolled", "repository": case.name, "operator": case.operator,
             "git_dir": str(case.git_dir), "policy": case.active.digest, "tips": found,
             "extra": len(extra)}
    anew, movements = _settled(case, key, repo)
    if anew is None:
        return [*_added(case, key, found, extra, entry), *map(_moved, movements)]
    now = clock.now().isoformat(timespec="milliseconds")
    decisionlog.begin(case.state, Index(
        key, now, not refs, found, extra, bootstrap=case.bootstrap,
        git_dir=str(case.git_dir), name=case.told), entry)
    return [*([f"recorded anew: {anew}"] if anew else []), _recorded(found, extra),
            *_chance(case)]


def _added(case: Case, key: str, tips: Mapping[str, str], extra: Sequence[str],
           entry: Mapping[str, object]) -> list[str]:
    """Let the record go on, with what it does not hold yet: branches guarded since, and extra."""
    before = repoindex.load(case.state, key)

    def change(index: Index) -> Index:
        more = indexes.with_more(index, tips, extra)
        return replace(more, bootstrap=case.bootstrap or more.bootstrap,
                       git_dir=str(case.git_dir), name=more.name or case.told)

    decisionlog.amend(case.state, key, entry, change)
    after = change(before)
    new = {ref: tip for ref, tip in after.branches.items() if ref not in before.branches}
    more = tuple(set(after.extra) - set(before.extra))
    return ["its record goes on", *([_recorded(new, more)] if new or more else []),
            *_chance(case)]


def _chance(case: Case) -> list[str]:
    if case.bootstrap is None:
        return []
    return [f"one push by {case.bootstrap.group} is taken unjudged until {case.bootstrap.until}"]


def _settled(case: Case, key: str, repo: PushedRepo) -> tuple[str | None, Sequence[Movement]]:
    """Why the tips must be recorded anew ("" for the first time); None where the record holds."""
    if not repoindex.exists(case.state, key):
        return "", ()
    try:
        index = repoindex.load(case.state, key)
    except CannotJudge as error:
        return str(error), ()
    try:
        _, movements = decisionlog.settled(case.state, key, lambda index: {
            ref: repo.resolve(ref)[1] for ref in indexes.watched(index)})
        return None, movements
    except CannotJudge as error:
        if not _outran_the_log(case, index):
            raise
        return str(error), ()


def _outran_the_log(case: Case, index: Index) -> bool:
    head = logcheck.verify(case.state / decisionlog.NAME).head
    return index.applied.n >= head.n and index.applied != head


def _recorded(tips: Mapping[str, str], extra: Sequence[str]) -> str:
    if not tips and not extra:
        return "empty; every push is judged whole until a guarded branch exists"
    more = [f"{len(extra)} commits of all refs"] if extra else []
    return "recorded " + ", ".join([f"{ref} at {tip[:12]}" for ref, tip in tips.items()] + more)


def _extra(case: Case, repo: PushedRepo, refs: Mapping[str, str]) -> tuple[str, ...]:
    """The commits that other refs lead to, where they are to count as accepted."""
    if not case.every_ref:
        return ()
    peeled = (repo.peel(bytes.fromhex(oid)) for oid in refs.values())
    return tuple(sorted({found.oid.hex() for found in peeled if found.kind == "commit"}))


def _moved(movement: Movement) -> str:
    was, now = (oid[:12] if oid else "absent" for oid in (movement.recorded, movement.live))
    return f"note: {movement.ref} moved past policyd: {was} is recorded, {now} is there"
