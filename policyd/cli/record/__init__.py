"""`policyd record`: a maintainer keeps the records of a repository, in a working clone."""

from __future__ import annotations

import click

from policyd.cli.record import flake, freeze, lease, quarantine, receipt, relation


@click.group("record")
def command() -> None:
    """Keep the records of the clone around the current folder.

    Each command writes whole files or none, and prints the commit to make of them, alone.
    """


command.add_command(flake.command)
command.add_command(freeze.command)
command.add_command(lease.command)
command.add_command(quarantine.command)
command.add_command(receipt.command)
command.add_command(relation.command)
