"""`policyd replay`: relations by hand, in a clone; and what the server's jobs came to."""

from __future__ import annotations

import click

from policyd.cli.replay import admit, again, jobs, run


@click.group("replay")
def command() -> None:
    """Replay relations, and look at replays."""


command.add_command(run.command)
command.add_command(admit.command)
command.add_command(again.command)
command.add_command(jobs.command)
command.add_command(jobs.work)
