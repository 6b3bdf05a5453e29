"""`policyd policy schema`: JSON Schema for editors."""

from __future__ import annotations

import json

import click

from policyd.cli.policy import files
from policyd.core import schema


@click.command("schema")
@click.option("--settings", is_flag=True, help="Of policyd.yaml instead of a policy.")
def command(*, settings: bool) -> None:
    """Print the JSON Schema of a policy, for an editor.

    A policy whose first line is `# yaml-language-server: $schema=policy.schema.json` is then
    completed and checked while it is written; `policy lint` checks the rest.
    """
    made = schema.of_settings() if settings else schema.of_policy(tuple(files.rules().values()))
    click.echo(json.dumps(made, indent=1))
