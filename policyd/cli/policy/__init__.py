"""`policyd policy`: for who edits policies. Nothing that is edited counts until it is applied."""

from __future__ import annotations

import importlib

import click

COMMANDS = ("apply", "backtest", "catalogue", "explain", "export", "lint", "reference", "schema",
            "survey", "test")
"""Each is the `command` of the module of its name; only the chosen one is imported."""


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return command if isinstance(command, click.Command) else None


@click.group("policy", cls=_Lazy)
def command() -> None:
    """Check policies and put them in force."""
