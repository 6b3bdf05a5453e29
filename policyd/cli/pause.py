"""`policyd pause`: for some minutes nothing is enforced; every pusher and the log read why."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import click

from policyd.adapters import activepolicy, decisionlog, gatefiles, moment
from policyd.cli import OK, operating
from policyd.cli import repositories as shared
from policyd.core.errors import PolicydError
from policyd.core.operating import LONGEST_PAUSE
from policyd.core.paused import Pause
from policyd.rules import OPTIONS

_MOST = int(LONGEST_PAUSE.total_seconds() // 60)


@click.command("pause")
@click.option("--minutes", type=click.IntRange(1, _MOST), metavar="N",
              help=f"How long; at most {_MOST}.")
@click.option("--end", is_flag=True, help="Enforce again at once.")
@click.option("--reason", required=True, metavar="TEXT",
              help="What every pusher, the status and the log read.")
@click.pass_obj
def command(home: Path, minutes: int | None, *, end: bool, reason: str) -> int:
    """Only observe for some minutes: rules look, the log says what they found, nothing is refused.

    For all repositories of this home. It ends by itself.
    """
    if end is (minutes is not None):
        raise click.UsageError("say --minutes N, or --end")
    who = shared.operator()

    def work() -> str:
        settings = activepolicy.load(Path.cwd() / home, OPTIONS).settings
        at = moment.of(settings)
        until = at if minutes is None else at + timedelta(minutes=minutes)
        before = gatefiles.pause(settings.state)
        if minutes is None and (before is None or not before.holds(at)):
            raise PolicydError("nothing is paused")
        new = Pause(until.isoformat(timespec="seconds"), reason, who,
                    at.isoformat(timespec="seconds"))
        decisionlog.append(settings.state, {
            "verdict": "paused" if minutes is not None else "pause-ended", "until": new.until,
            "reason": reason, "operator": who},
            then=lambda: gatefiles.store_pause(settings.state, new))
        return f"nothing is enforced until {new.until}" if minutes is not None else \
            "everything is enforced again"

    words = ["pause", *(["--end"] if end else ["--minutes", str(minutes)]), "--reason", reason]
    click.echo(operating.as_keeper(home, words, work))
    return OK
