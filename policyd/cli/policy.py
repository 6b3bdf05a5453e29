"""`policyd policy`: for who edits policies. Nothing that is edited counts until it is applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from policyd.adapters import activepolicy, policyfiles
from policyd.core.authored import Compiled, compile_home
from policyd.core.catalogue import catalogue as pages
from policyd.core.changes import Change, changes
from policyd.core.errors import CannotJudge, Fault
from policyd.core.frozen import put_together, to_json
from policyd.core.policy import Active
from policyd.core.rule import Rule


@click.group("policy")
def command() -> None:
    """Check policies and put them in force."""


@command.command()
@click.pass_obj
def lint(home: Path) -> None:
    """Print all that is wrong in policyd.yaml and the policies."""
    _tell(_compiled(home).warnings)


@command.command()
@click.pass_obj
def apply(home: Path) -> None:
    """Check the files, say what changes, and put them in force."""
    compiled = _compiled(home)
    policyfiles.demand_owner(home, compiled.settings.home_owner)
    _tell(compiled.warnings)
    active = put_together(compiled.settings, compiled.policies)
    before = _in_force(home)
    if before is not None and before.digest == active.digest:
        click.echo("nothing changes")
        return
    _show(changes(before, active), first=before is None)
    activepolicy.store(home, to_json(active))
    click.echo(f"in force: {active.digest[:12]}, {_counted(active)}")


@command.command()
def catalogue() -> None:
    """Print the manual page of every rule, as Markdown."""
    click.echo(pages(tuple(_rules().values())), nl=False)


def _rules() -> Mapping[str, Rule]:
    from policyd.rules import BY_ID

    return BY_ID


def _compiled(home: Path) -> Compiled:
    return compile_home(policyfiles.sources(home), _rules(),
                        knows_timezone=policyfiles.knows_timezone)


def _in_force(home: Path) -> Active | None:
    """What is in force; None, and a line about it, where there is nothing that can be read."""
    if not (home / activepolicy.FOLDER / activepolicy.CURRENT).exists():
        return None
    options = {rule.id: rule.options for rule in _rules().values()}
    try:
        return activepolicy.load(home, options)
    except CannotJudge as error:
        click.echo(f"replaces what cannot be used: {error}")
        return None


def _counted(active: Active) -> str:
    count = len(active.policies)
    return f"{count} {'policy' if count == 1 else 'policies'}"


def _tell(warnings: Sequence[Fault]) -> None:
    for warning in warnings:
        click.echo(f"{warning.source}:{warning.line}:{warning.column}: "
                   f"warning: {warning.message}")


def _show(listed: Sequence[Change], *, first: bool) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE, title=None)
    for heading in ("what",) if first else ("what", "before"):
        table.add_column(heading)
    table.add_column("after")
    for change in listed:
        cells = [change.what, change.after] if first else [
            change.what, change.before, change.after]
        table.add_row(*(Text("-" if cell is None else cell) for cell in cells))
    Console(highlight=False).print(table)
