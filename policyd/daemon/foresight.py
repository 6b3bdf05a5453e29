"""Replays made ahead: tips of unguarded branches, against the guarded branch they are meant for.

A branch counts once it holds all of what it is meant for: only such a tip can be pushed there.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from policyd.adapters import clock, replayfiles
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.adapters.look import meant_for
from policyd.core.errors import CannotJudge
from policyd.core.policy import Active, Mode, Policy
from policyd.core.trees import Trees
from policyd.core.values import dataclass
from policyd.judge import policies_for
from policyd.replay import prepare
from policyd.replay.prepare import Sides
from policyd.witness import RULE, Queued, enqueue

MOST = 4
"""Trees that one look queues; the next goes on."""
MOST_BRANCHES = 200
"""Branches that one look compares with what they are meant for."""
MOST_WAITING = 32
"""Jobs that wait, above which nothing is queued ahead."""


@dataclass(frozen=True, slots=True)
class Place:
    """One repository, as the daemon noted it."""

    key: str
    name: str
    git_dir: str


class Foresight:
    """Remembers which tips it has seen, so that each is looked at once."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._seen: dict[str, dict[tuple[str, str], tuple[str, str]]] = {}
        """By repository: what was compared last, by policy and branch, as (tip, base)."""
        self.more: set[str] = set()
        """Repositories with branches that were left for the next look."""

    def wants(self, key: str) -> bool:
        """Whether some policy of the repository asked for replays ahead at its last look."""
        return key in self._seen

    def forget(self, key: str) -> None:
        self._seen.pop(key, None)
        self.more.discard(key)

    def look(self, active: Active, place: Place, at: datetime) -> int:
        """Queue what changed since the last look; how many."""
        try:
            policies = [policy for policy in policies_for(active, place.name) if _asks(policy)]
        except CannotJudge:  # others say so
            policies = []
        self.more.discard(place.key)
        if not policies:
            self.forget(place.key)
            return 0
        seen = self._seen.setdefault(place.key, {})
        repo, count, compared = PushedRepo(place.git_dir), 0, 0
        heads = _heads(repo)
        for known in [one for one in seen if one[1] not in heads]:
            del seen[known]
        waiting = len(replayfiles.queued(self._state))
        for policy in policies:
            for ref, tip, base in _meant(policy, heads):
                if seen.get((policy.name, ref)) == (tip, base):
                    continue
                if count >= MOST or compared >= MOST_BRANCHES or waiting + count >= MOST_WAITING:
                    self.more.add(place.key)
                    return count
                seen[policy.name, ref] = tip, base
                compared += 1
                count += self._queued(policy, place, repo, (ref, tip, base), at)
        return count

    def _queued(self, policy: Policy, place: Place, repo: PushedRepo, tips: tuple[str, str, str],
                at: datetime) -> bool:
        """Whether a tip is queued now. What keeps it from that, its push is told."""
        ref, tip, base = tips
        trees = Trees(repo.tree)
        try:
            if not repo.descends(bytes.fromhex(tip), bytes.fromhex(base)):
                return False
            sides = Sides(base, _tree(repo, base), tip, _tree(repo, tip))
            found = prepare.trial(repo, trees, sides, policy.replay, policy.records,
                                  clock.today(policy.timezone, at),
                                  partial(replayfiles.secret, self._state))
            if found is None:
                return False
            there, trial = found
            known = replayfiles.verdict(self._state, place.key, trial.key)
            job = Queued.of(place.key, repo.git_dir, trial, {
                "repository": place.name, "ref": ref})
            if known is not None or replayfiles.is_queued(self._state, job.name):
                return False
            enqueue(self._state, repo, trees, there, job)
        except (CannotJudge, Missing):
            return False
        return True


def _asks(policy: Policy) -> bool:
    clause = policy.clause(RULE)
    return clause is not None and clause.mode is not Mode.OFF and policy.replay.when == "ahead"


def _heads(repo: PushedRepo) -> dict[str, str]:
    """Branches that are no other branch's second name, with what they hold."""
    found = {}
    for name in sorted(repo.names("refs/heads/")):
        ref, oid = repo.resolve(name)
        if ref == name and oid is not None:
            found[name] = oid
    return found


def _meant(policy: Policy, heads: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """(branch, its tip, the tip that it is meant for) of those that nothing guards."""
    target = meant_for(policy, filter(policy.guards, heads))
    if target is not None:
        yield from ((ref, tip, heads[target]) for ref, tip in heads.items()
                    if not policy.guards(ref) and tip != heads[target])


def _tree(repo: PushedRepo, commit: str) -> bytes:
    return repo.header(bytes.fromhex(commit))[0]
