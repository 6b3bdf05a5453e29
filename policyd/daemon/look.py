"""One repository, looked at from scratch: its gates now, and the next moment that changes one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import reduce
from pathlib import Path

from policyd.adapters import (
    clock,
    decisionlog,
    gatefiles,
    refstat,
    repoindex,
    reponame,
)
from policyd.adapters.gatefiles import Noted
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.adapters.recordfiles import RecordFiles
from policyd.core import gates
from policyd.core import index as indexes
from policyd.core.errors import CannotJudge
from policyd.core.gates import Acts, Event, Gate, Given, Telling, Written
from policyd.core.index import Index
from policyd.core.movement import Movement
from policyd.core.policy import Active, Policy
from policyd.core.values import dataclass
from policyd.gatehouse import (
    Standing,
    guarded_names,
    outside_of_pushes,
    records_of,
    strangers,
)
from policyd.judge import policies_for

BUDGET, SECONDS = 64 * 1024 * 1024, 10.0
"""Bytes of corpora that one look hashes, and how long it may take; beyond: `lease warm`."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found, and what of it is worth telling."""

    noted: Noted
    tellings: tuple[Telling, ...] = ()


@dataclass(frozen=True, slots=True)
class _Gates:
    """What all policies say of one repository at one moment."""

    gates: Mapping[str, Gate]
    next: datetime | None


def look(active: Active, key: str, at: datetime) -> Looked:
    """The gates of a repository at a moment, compared with what is noted of it.

    What cannot be looked at is noted with its problem: its gates stay as they were for people,
    and no push believes a note. It has no next moment: each rescan tries it again. Raises
    CannotJudge only where the note cannot be written.
    """
    state = active.settings.state
    before = gatefiles.noted(state, key)
    try:
        index = repoindex.load(state, key)
        return _looked(active, index, at, before)
    except (CannotJudge, OSError) as error:
        return Looked(_troubled(before, at, str(error)))
    except Missing as error:
        return Looked(_troubled(before, at, f"the object {error} is missing; see `git fsck`"))


def _troubled(before: Noted | None, at: datetime, problem: str) -> Noted:
    known = before or Noted("", "")
    return replace(known, looked=at.isoformat(), problem=problem, seen="", next=None)


def _looked(active: Active, index: Index, at: datetime, before: Noted | None) -> Looked:
    state, git_dir = active.settings.state, index.git_dir
    if not repoindex.has_key(git_dir, index.key):
        raise CannotJudge(f"it is no longer at {git_dir or 'the place of its enrolment'}; the "
                          "next push or `policyd enroll` says where it is")
    name = reponame.known_as(Path(git_dir), active.settings, index.name)
    policies = policies_for(active, name)
    repo = PushedRepo(git_dir)
    seen, live = _refs(active, index, repo, policies)
    movements = _movements(state, index, repo, live)
    files = outside_of_pushes(git_dir, repo, Standing(state, index.key), budget=BUDGET,
                              seconds=SECONDS)
    acts = gatefiles.acts(state, index.key)
    found = _gates(policies, live, repo, files, at, acts, movements)
    written, tellings = _planned(found, before, policies[0], at)
    ahead = None if found.next is None else found.next.isoformat()
    noted = Noted(name, git_dir, written, at.isoformat(), active.digest, live, ahead, "", seen,
                  permits=acts.permits, uses=acts.uses)
    return Looked(noted, (*(before.untold if before else ()), *tellings,
                          *_let_through(acts, before)))


def _refs(active: Active, index: Index, repo: PushedRepo,
          policies: tuple[Policy, ...]) -> tuple[str, dict[str, str]]:
    """The guarded branches with what they hold, and what stat said before they were read."""
    names = guarded_names(repo, policies)
    while True:
        seen = refstat.seen(active.settings.state, index.key, index.git_dir, names, active.digest)
        again = guarded_names(repo, policies)
        if again == names:
            break
        names = again
    found = {name: oid for name in names if (oid := repo.resolve(name)[1]) is not None}
    return seen, found


def _movements(state: str, index: Index, repo: PushedRepo,
               live: Mapping[str, str]) -> tuple[Movement, ...]:
    """What moved past policyd. Without the lock first: only what does not fit is asked again."""
    settled, moved = indexes.settle(index, {
        ref: live.get(ref) or repo.resolve(ref)[1] for ref in indexes.watched(index)})
    if settled != index or moved or strangers(settled, live):
        settled, moved = decisionlog.settled(state, index.key, lambda index: {
            ref: repo.resolve(ref)[1] for ref in indexes.watched(index)})
    return (*moved, *strangers(settled, live))


def _gates(policies: tuple[Policy, ...], live: Mapping[str, str], repo: PushedRepo,
           files: RecordFiles, at: datetime, acts: Acts,
           movements: tuple[Movement, ...]) -> _Gates:
    found: dict[str, list[Gate]] = {}
    moments: list[datetime] = []
    for policy in policies:
        given = Given(clock.today(policy.timezone, at), acts, () if policy.mirror else movements)
        for ref in filter(policy.guards, live):
            records = records_of(policy, ref, live, repo, files)
            found.setdefault(ref, []).append(gates.desired(ref, records, given))
            ahead = min(gates.changes(records, given, ref), default=None)
            if ahead is not None:
                moments.append(clock.midnight(policy.timezone, ahead))
    return _Gates({ref: reduce(gates.both, every) for ref, every in found.items()},
                  min(moments, default=None))


def _planned(found: _Gates, before: Noted | None, policy: Policy,
             at: datetime) -> tuple[dict[str, Written], tuple[Telling, ...]]:
    today = clock.today(policy.timezone, at)
    have = before.gates if before else {}
    written: dict[str, Written] = {}
    tellings: list[Telling] = []
    for ref, gate in found.gates.items():
        written[ref], told = gates.plan(gate, have.get(ref), gate.soon, today, at.isoformat())
        tellings += told
    return written, tuple(tellings) + tuple(_gone(have, found.gates))


def _let_through(acts: Acts, before: Noted | None) -> Iterator[Telling]:
    """Pushes that were let through since the last look."""
    told = before.uses if before else ()
    for use in acts.uses:
        if use not in told:
            yield Telling(Event.EXCUSED, use.ref, use=use)


def _gone(have: Mapping[str, Written], gates_now: Mapping[str, Gate]) -> Iterator[Telling]:
    """A closed gate whose branch is gone opens nothing, but those who were told may forget it."""
    for ref, written in have.items():
        if ref not in gates_now and not written.gate.is_open:
            yield Telling(Event.OPENED, ref, written.gate.reasons)
