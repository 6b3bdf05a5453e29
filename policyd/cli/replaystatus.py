"""What the status says of replays: the queue, and for each repository its tables and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from policyd.adapters import clock, gatefiles, replayfiles
from policyd.adapters.gatefiles import Noted
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.core.errors import CannotJudge
from policyd.core.policy import Active, Mode, Policy
from policyd.judge import policies_for
from policyd.replay import table
from policyd.witness import RULE, Queued

NOTHING = "nothing to replay"


def queue(state: str) -> Mapping[str, Any]:
    """The jobs that wait, the oldest first, and what is wrong with who runs them."""
    beat = gatefiles.heartbeat(state)
    return {"trouble": "" if beat is None else beat.replay_trouble,
            "queued": [_job(state, name) for name in replayfiles.queued(state)]}


def _job(state: str, name: str) -> Mapping[str, Any]:
    found = replayfiles.job(state, name, Queued)
    since = datetime.fromtimestamp(replayfiles.queued_at(state, name), UTC)
    about = (found.trial.about or {}) if found is not None else {}
    return {"job": name, "since": since.isoformat(timespec="seconds"),
            "repository": about.get("repository", ""), "ref": about.get("ref", ""),
            "candidate": "" if found is None else found.trial.candidate}


def of(active: Active, key: str, noted: Noted, now: datetime) -> list[str]:
    """Sentences about one repository; none where no policy asks for replays."""
    try:
        policies = [policy for policy in policies_for(active, noted.repository) if _asks(policy)]
    except CannotJudge:
        policies = []
    if not policies or not noted.git_dir:
        return []
    if all(policy.replay.when == "off" for policy in policies):
        return ["relations are not replayed: `replay: {when: off}`"]
    try:
        repo = PushedRepo(noted.git_dir)
        told = [sentence for policy in policies if policy.replay.when != "off"
                for sentence in _branches(policy, repo, noted, now)]
    except CannotJudge as error:
        return [str(error)]
    last = _last(active.settings.state, key)
    return [f"{sentence}; {last.get(ref, 'none was replayed yet')}"
            for ref, sentence in dict(told).items()] or [NOTHING]


def _asks(policy: Policy) -> bool:
    clause = policy.clause(RULE)
    return clause is not None and clause.mode is not Mode.OFF


def _branches(policy: Policy, repo: PushedRepo, noted: Noted, now: datetime
              ) -> Iterator[tuple[str, str]]:
    """Each guarded branch that has a table, and what is in it."""
    today = clock.today(policy.timezone, now)
    for ref, tip in sorted(noted.tips.items()):
        name = ref.removeprefix("refs/heads/")
        if not policy.guards(ref):
            continue
        try:
            found = table.load(repo, repo.header(bytes.fromhex(tip))[0], policy.records, today)
        except (CannotJudge, Missing) as error:
            yield ref, f"{name}: its relations cannot be replayed: {error}"
            continue
        if found is not None:
            lists = sum(row.status == "policy" for row in found.rows)
            more = f", {lists} of them policy rows" if lists else ""
            yield ref, f"{name}: {_counted(len(found.rows))}{more}"


def _counted(number: int) -> str:
    return "1 relation" if number == 1 else f"{number} relations"


def _last(state: str, key: str) -> dict[str, str]:
    """What the latest replay for each branch came to."""
    found: dict[str, tuple[str, str]] = {}
    for _, raw in replayfiles.told(state, key):
        about = raw.get("about", {})
        ref, at = str(about.get("ref", "")), str(about.get("at", ""))
        if at >= found.get(ref, ("", ""))[0]:
            candidate = str(about.get("candidate", ""))[:12]
            found[ref] = at, f"the last replay, {at[:16]} of {candidate}: {_came(raw['replay'])}"
    return {ref: sentence for ref, (_, sentence) in found.items()}


def _came(replay: Mapping[str, Any]) -> str:
    if replay.get("undecided"):
        return f"undecided, {replay['undecided']}"
    broken = refusing(replay)
    return f"refuses {' '.join(broken)}" if broken else "holds"


def refusing(replay: Mapping[str, Any]) -> list[str]:
    """What a verdict, as it stands in its file, names as the reason of a refusal."""
    broken = [str(row["id"]) for row in replay.get("rows", ())
              if row["bucket"] in ("block", "hysteresis")]
    job = replay.get("properties") or {}
    return [*broken, *(["properties"] if job.get("failed") or job.get("wrong") else [])]
