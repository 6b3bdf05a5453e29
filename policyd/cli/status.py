"""`policyd status`: what is closed and why, what closes next, and whether the daemon lives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click

from policyd.adapters import activepolicy, gatefiles, hooknotes, moment, policyfiles, repoindex
from policyd.adapters.gatefiles import Heartbeat, Noted
from policyd.cli import OK, operating, replaystatus, statustable
from policyd.core.errors import CannotJudge, FileInvalid, PolicydError
from policyd.core.frozen import plain
from policyd.core.hookstate import Broken
from policyd.core.policy import Active
from policyd.core.values import dataclass
from policyd.rules import OPTIONS

LATE = 3
"""Rescan intervals after which a heartbeat is none any more."""

USES_SHOWN = timedelta(days=7)
"""How long a push that was let through is told of."""


@dataclass(frozen=True, slots=True)
class Status:
    """What is told, as plain values; `repositories` are `Noted`s."""

    now: datetime
    daemon: str
    """One sentence."""
    alive: bool
    policies: str
    """One sentence: in force as edited, edited and not applied, or in fault."""
    pause: str
    """One sentence; empty when nothing is paused."""
    repositories: tuple[Noted, ...]
    hooks: tuple[Broken, ...] = ()
    """Hooks that are not as they must be."""
    queue: Mapping[str, Any] = field(default_factory=dict)
    """Replays that wait."""
    replays: Mapping[str, list[str]] = field(default_factory=dict)
    """What there is to replay, sentences by the folder of each repository."""


@click.command("status")
@click.argument("repository", type=click.Path(path_type=Path), metavar="[REPO]", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text",
              show_default=True, help="How the result is printed.")
@click.pass_obj
def command(home: Path, repository: Path | None, form: str) -> int:
    """Say which gates are closed, what closes within 30 days, and how the daemon does.

    What the daemon noted is shown while it lives. Otherwise, and for a single REPO, the gates
    are worked out here and now; no push depends on either.
    """
    words = ["status", *([str(repository)] if repository else []), "--format", form]
    told = operating.as_keeper(home, words, lambda: _told(home, repository))
    if form == "json":
        click.echo(json.dumps(told))
    else:
        statustable.show(told)
    return OK


def _told(home: Path, repository: Path | None) -> Any:
    home = Path.cwd() / home
    active = activepolicy.load(home, OPTIONS)
    state, now = active.settings.state, moment.seen(active.settings)
    keys = [operating.opened(home, repository).key] if repository else repoindex.keys(state)
    beat = gatefiles.heartbeat(state)
    alive = beat is not None and _is_alive(beat, now)
    noted = [_noted(active, key, now, believe=alive and repository is None) for key in keys]
    status = Status(now, _daemon(beat, now), alive, _policies(home, active), _pause(active, now),
                    tuple(sorted(noted, key=lambda one: one.repository)),
                    _hooks(home, state, dict(zip(keys, noted, strict=True)), now,
                           believe=alive and repository is None),
                    replaystatus.queue(state),
                    {one.git_dir: replaystatus.of(active, key, one, now)
                     for key, one in zip(keys, noted, strict=True)})
    return as_plain(status)


def as_plain(status: Status) -> dict[str, object]:
    """What JSON says; the table is made from the same."""
    return {
        "now": status.now.isoformat(timespec="seconds"), "daemon": status.daemon,
        "alive": status.alive, "policies": status.policies, "pause": status.pause,
        "replays": status.queue,
        "hooks": [{**plain(hook), "remedy": hook.remedy} for hook in status.hooks],
        "repositories": [{**_repository(noted, status.now),
                          "replays": status.replays.get(noted.git_dir, [])}
                         for noted in status.repositories]}


def _repository(noted: Noted, now: datetime) -> dict[str, object]:
    branches = []
    for ref, written in sorted(noted.gates.items()):
        gate = written.gate
        branches.append({
            "branch": ref.removeprefix("refs/heads/"), "open": gate.is_open,
            "since": written.since, "reasons": [plain(r) for r in gate.reasons],
            "waived": [[row, until.isoformat()] for row, until in gate.waived],
            "soon": [{"row": row.id, "kind": row.kind.value, "last": str(row.last),
                      "days": (row.last - now.date()).days if row.last else None,
                      "path": row.path, "line": row.line, "owner": row.owner}
                     for row in gate.soon]})
    return {"repository": noted.repository, "path": noted.git_dir, "looked": noted.looked,
            "next": noted.next, "problem": noted.problem, "branches": branches,
            "permits": [plain(permit) for permit in noted.permits if permit.holds(now)],
            "uses": [plain(use) for use in noted.uses
                     if datetime.fromisoformat(use.at) > now - USES_SHOWN]}


def _noted(active: Active, key: str, now: datetime, *, believe: bool) -> Noted:
    from policyd.daemon.look import look

    known = gatefiles.noted(active.settings.state, key) if believe else None
    return known or look(active, key, now).noted


def _hooks(home: Path, state: str, noted: Mapping[str, Noted], now: datetime, *,
           believe: bool) -> tuple[Broken, ...]:
    from policyd.daemon.hooks import broken_now

    known = hooknotes.all_of(state)
    found = [known[key] for key in noted if key in known] if believe else \
        broken_now(home, state, noted.items(), now.isoformat(timespec="seconds"))
    return tuple(sorted(found, key=lambda hook: hook.git_dir))


def _is_alive(beat: Heartbeat, now: datetime) -> bool:
    late = timedelta(seconds=LATE * max(beat.rescan_seconds, 10.0))
    return now - datetime.fromisoformat(beat.beat) < late


def _daemon(beat: Heartbeat | None, now: datetime) -> str:
    if beat is None:
        return "the daemon does not run; gates hold without it, and nobody is told"
    ago = int((now - datetime.fromisoformat(beat.beat)).total_seconds())
    if not _is_alive(beat, now):
        return (f"the daemon gave its last sign {ago} s ago; gates hold without it, and nobody "
                "is told")
    lost = f"; {beat.lost}: changes are found by the rescan" if beat.lost else ""
    trouble = f"; {beat.trouble}" if beat.trouble else ""
    return (f"the daemon lives: process {beat.pid}, policyd {beat.version}, sign {ago} s ago{lost}"
            f"{trouble}")


def _policies(home: Path, active: Active) -> str:
    from policyd.core.compiled import compile_home
    from policyd.core.frozen import put_together
    from policyd.rules import BY_ID

    short = active.digest[:12]
    try:
        compiled = compile_home(policyfiles.sources(home), BY_ID,
                                knows_timezone=policyfiles.knows_timezone)
    except FileInvalid as error:
        return f"{short} is in force; the files were edited and have faults: {error.faults[0]}"
    except (CannotJudge, PolicydError) as error:
        return f"{short} is in force; the files cannot be read here: {error}"
    if put_together(compiled.settings, compiled.policies).digest == active.digest:
        return f"{short} is in force, as the files say"
    return f"{short} is in force; the files were edited and not applied: `policyd policy apply`"


def _pause(active: Active, now: datetime) -> str:
    pause = gatefiles.pause(active.settings.state)
    if pause is None or not pause.holds(now):
        return ""
    return f"PAUSED until {pause.until} by {pause.operator}, nothing is enforced: {pause.reason}"
