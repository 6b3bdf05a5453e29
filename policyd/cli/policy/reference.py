"""`policyd policy reference`: what docs/policy.md holds."""

from __future__ import annotations

import click

from policyd.cli.policy import files
from policyd.core.reference import reference


@click.command("reference")
def command() -> None:
    """Print every key of policies and policyd.yaml, as Markdown."""
    click.echo(reference(tuple(files.rules().values())), nl=False)
