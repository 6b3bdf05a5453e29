"""`policyd policy apply`: what is edited counts from now on, or nothing changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from policyd.adapters import activepolicy, clock, policyfiles
from policyd.cli import FAULTS, OK
from policyd.cli.policy import files
from policyd.core.changes import Change, changes
from policyd.core.compiled import Compiled
from policyd.core.frozen import put_together, to_json
from policyd.core.policy import Active


@click.command("apply")
@click.option("--rollback", is_flag=True, help="Put back in force what was before.")
@click.pass_obj
def command(home: Path, *, rollback: bool) -> int:
    """Check the files, try their cases, say what changes, and put them in force."""
    if rollback:
        return _back(home)
    compiled = files.compiled(home)
    policyfiles.demand_owner(home, compiled.settings.home_owner)
    files.warn(compiled.warnings)
    if not _cases_hold(compiled):
        return FAULTS
    active = put_together(compiled.settings, compiled.policies)
    return _put(home, active, to_json(active))


def _back(home: Path) -> int:
    data, active = activepolicy.load_previous(home, files.options())
    code = _put(home, active, data)
    click.echo("the files in policies/ stay as they are; `policyd policy apply` takes them again")
    return code


def _cases_hold(compiled: Compiled) -> bool:
    from policyd.cli.policy import tables

    at = clock.now()
    failed = 0
    for table in compiled.tables:
        rows = tables.failing(compiled, table, at)
        for line in tables.lines(table.source, rows):
            click.echo(line)
        failed += len(rows)
    if failed:
        click.echo(f"nothing changes: {failed} {'case does' if failed == 1 else 'cases do'} not "
                   "hold")
    return not failed


def _put(home: Path, active: Active, data: bytes) -> int:
    """In force from here on, unless it is already; what was stays as the one before."""
    before = files.replaceable(home)
    if before is not None and before.digest == active.digest:
        click.echo("nothing changes")
        return OK
    _show(changes(before, active), first=before is None)
    activepolicy.store(home, data)
    count = len(active.policies)
    click.echo(f"in force: {active.digest[:12]}, {count} "
               f"{'policy' if count == 1 else 'policies'}")
    return OK


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
