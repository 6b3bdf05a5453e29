"""`policyd policy catalogue`: what policies/README.md holds."""

from __future__ import annotations

import click

from policyd.cli.policy import files
from policyd.core.catalogue import catalogue


@click.command("catalogue")
def command() -> None:
    """Print the manual page of every rule, as Markdown."""
    click.echo(catalogue(tuple(files.rules().values())), nl=False)
