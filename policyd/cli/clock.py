"""`policyd clock`: the latest moment that this server has seen, and back to the clock's own."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.adapters import activepolicy, decisionlog, moment
from policyd.cli import OK, operating
from policyd.cli import repositories as shared
from policyd.rules import OPTIONS


@click.group("clock")
def command() -> None:
    """See to the mark that keeps a clock set back from opening gates."""


@command.command()
@click.option("--reason", required=True, metavar="TEXT", help="What the log says of it.")
@click.pass_obj
def reset(home: Path, reason: str) -> int:
    """Let the clock's own reading count again, after it was wrong and far ahead."""
    who = shared.operator()

    def work() -> str:
        settings = activepolicy.load(Path.cwd() / home, OPTIONS).settings
        shown = moment.now(settings).isoformat(timespec="seconds")
        decisionlog.append(settings.state, {
            "verdict": "clock-reset", "to": shown, "reason": reason, "operator": who},
            then=lambda: moment.put_back(settings))
        return f"the moment that counts is {shown} again"

    click.echo(operating.as_keeper(home, ["clock", "reset", "--reason", reason], work))
    return OK
