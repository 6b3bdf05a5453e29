"""What the decision log says of a push: plain values, made of what the judgement knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from policyd.adapters.hookinput import Line
from policyd.core import index as indexes
from policyd.core.evaluate import Violation
from policyd.core.facts import Update, Who
from policyd.core.paused import Pause
from policyd.core.policy import Active
from policyd.core.values import dataclass
from policyd.judge import Judgement, policies_for


@dataclass(frozen=True, slots=True)
class Site:
    """What is known before the judgement: what is in force, where, and what git gave."""

    active: Active
    repository: str
    git_dir: str
    given: Mapping[str, str]
    at: datetime
    """The moment that counts for this push."""
    pause: Pause | None = None
    """The pause that holds at this moment."""
    who: Who = Who()
    """Who pushes, by the server's word; nobody until it was asked."""
    signed: bool = False
    """Whether the push is signed, by a key that the server trusts."""

    @property
    def state(self) -> str:
        return self.active.settings.state

    @property
    def pusher(self) -> str | None:
        return self.who.name

    @property
    def by(self) -> dict[str, object]:
        """Who pushes, as the log says it."""
        return {"pusher": self.who.name,
                **({} if self.who.credential is None else {"credential": self.who.credential}),
                **({"signed": True} if self.signed else {})}


def of(site: Site, judgement: Judgement) -> dict[str, object]:
    """The entry of a push that was judged."""
    return {
        "verdict": judgement.verdict.outcome.value, "repository": site.repository,
        **site.by, "policy": site.active.digest,
        "updates": indexes.logged(judgement.updates),
        "findings": [_finding(v) for v in judgement.verdict.violations],
        **_rows(judgement.updates), **_proposed(judgement.updates), **_replays(judgement),
        **({"paused": True} if site.pause else {}), **_excuse(judgement),
        "ms": {rule: round(spent, 2) for rule, spent in judgement.verdict.spent.items()}}


def plain(site: Site, lines: Sequence[Line]) -> dict[str, object]:
    """What the log says of a push that nobody looked into."""
    policies = policies_for(site.active, site.repository)
    return {
        "repository": site.repository, **site.by, "policy": site.active.digest,
        "updates": [{"ref": line.ref, "old": line.old, "new": line.new, "rewrites": False,
                     "guarded": any(p.guards(line.ref) for p in policies)} for line in lines]}


def _rows(updates: Sequence[Update]) -> dict[str, object]:
    """What an update does to dated rows and relations, where it does anything."""
    from policyd.core import rowchanges

    told = {update.ref: found for update in updates
            if update.books and (found := rowchanges.logged(update.books))}
    return {"rows": told} if told else {}


def _proposed(updates: Sequence[Update]) -> dict[str, object]:
    """The proposals that nobody brought before, and who is remembered to have brought them."""
    told = {one.blob: [one.path, one.blob, list(one.by)] for update in updates if update.intake
            for one in update.intake.proposed}
    return {"proposed": list(told.values())} if told else {}


def _replays(judgement: Judgement) -> dict[str, object]:
    """Seed, digest and buckets of each replay; its own log has the rest, by its key."""
    told = {}
    for part in judgement.parts:
        for update in part.given.updates:
            if (found := update.replay) is not None:
                told[update.ref] = {
                    "key": found.key, "seed": found.seed, "digest": found.digest,
                    "rows": {row.id: row.bucket.value for row in found.rows},
                    **({"undecided": found.undecided} if found.undecided else {})}
    return {"replays": told} if told else {}


def _excuse(judgement: Judgement) -> dict[str, object]:
    """What let the push through that rules refused, or why what it asked for did not."""
    if judgement.let is None:
        return {"no_override": judgement.no_override} if judgement.no_override else {}
    use = judgement.let.use
    return {"excused": {"by": use.by, "reason": use.reason, "operator": use.operator}}


def _finding(violation: Violation) -> dict[str, str]:
    return {"rule": violation.rule.id, "mode": violation.mode.value, "policy": violation.policy,
            "ref": violation.finding.ref, "says": violation.finding.says}
