"""`policyd gate`: keeps a guarded branch closed, opens it again, or lets one row pass for days."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import click

from policyd.adapters import clock, gateacts, moment
from policyd.cli import operating
from policyd.cli import repositories as shared
from policyd.core import operating as acts
from policyd.core.gates import Hold, Waiver

_DAY = click.DateTime(formats=["%Y-%m-%d"])
_REPO = click.argument("repository", type=click.Path(path_type=Path), metavar="REPO")
_BRANCH = click.argument("branch", metavar="BRANCH")
_REASON = click.option("--reason", required=True, metavar="TEXT",
                       help="What the log, the status and every refused pusher read.")


@click.group("gate")
def command() -> None:
    """Hold a gate closed, release it, or waive a row for some days."""


@command.command()
@_REPO
@_BRANCH
@_REASON
@click.pass_obj
def hold(home: Path, repository: Path, branch: str, reason: str) -> None:
    """Keep BRANCH closed to source until it is released."""
    who = shared.operator()

    def work() -> str:
        there = operating.opened(home, repository)
        ref = there.branch(branch)
        new = Hold(ref, reason, who, operating.now_of(there.active))
        gateacts.change(there.state, there.key, str(there.git_dir), {
            "verdict": "gate-held", "repository": there.name, "ref": ref, "reason": reason,
            "operator": who}, lambda before: acts.held(before, new))
        return f"{there.name}: {ref} is held; `policyd gate release` lets it go"

    click.echo(operating.as_keeper(home, ["gate", "hold", str(repository), branch, "--reason",
                                          reason], work))


@command.command()
@_REPO
@_BRANCH
@_REASON
@click.pass_obj
def release(home: Path, repository: Path, branch: str, reason: str) -> None:
    """Let go of a hold. What else closes the gate still does."""
    who = shared.operator()

    def work() -> str:
        there = operating.opened(home, repository)
        ref = branch if branch.startswith("refs/") else f"refs/heads/{branch}"
        gateacts.change(there.state, there.key, str(there.git_dir), {
            "verdict": "gate-released", "repository": there.name, "ref": ref, "reason": reason,
            "operator": who}, lambda before: acts.released(before, ref))
        return f"{there.name}: {ref} is released"

    click.echo(operating.as_keeper(home, ["gate", "release", str(repository), branch, "--reason",
                                          reason], work))


@command.command()
@_REPO
@_BRANCH
@click.argument("row", metavar="ROW")
@click.option("--until", required=True, type=_DAY, metavar="DATE",
              help="The last day, inclusive; at most 3 days from today.")
@_REASON
@click.pass_obj
def waive(home: Path, repository: Path, branch: str, row: str, until: datetime,
          reason: str) -> None:
    """Let ROW pass on BRANCH until a day, once: time for a maintainer to settle it."""
    who, last = shared.operator(), until.date()

    def work() -> str:
        return _waived(operating.opened(home, repository), branch, row, last, reason, who)

    click.echo(operating.as_keeper(home, [
        "gate", "waive", str(repository), branch, row, "--until", str(last), "--reason", reason],
        work))


def _waived(there: operating.Opened, branch: str, name: str, until: date, reason: str,
            who: str) -> str:
    ref = there.branch(branch)
    at = moment.seen(there.active.settings)
    today = clock.today(there.policy_of(ref).timezone, at)
    row = acts.the_row(there.rows(ref), name)
    new = Waiver(ref, row.kind, row.subject, row.last, until, reason, who,
                 at.isoformat(timespec="milliseconds"))
    gateacts.change(there.state, there.key, str(there.git_dir), {
        "verdict": "row-waived", "repository": there.name, "ref": ref, "row": row.id,
        "kind": row.kind.value, "last": str(row.last), "until": str(until), "reason": reason,
        "operator": who}, lambda before: acts.waived(before, new, today))
    return (f"{there.name}: row {row.id} ({row.path}:{row.line}) passes on {ref} until {until}, "
            "once")
