"""`policyd replay run`: all relations of one revision on the source of another."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table as Printed

from policyd.cli.replay import clone
from policyd.core.frozen import plain
from policyd.core.witness import Replay
from policyd.replay import job
from policyd.replay.budget import Budget

HOLDS, REFUSED = 0, 1


@click.command("run")
@clone.options
@click.option("--seed", metavar="SEED", help="A number, or the 32 digits of a report.")
@click.option("--seconds", type=float, default=600.0, show_default=True, help="Time for all.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def command(base: str, head: str, site: Path | None, python: Path | None, sandbox: str,
            seed: str | None, seconds: float, form: str) -> int:
    """Try the relations of BASE on the source of HEAD. Exits with 1 where one refuses.

    The server draws other inputs: what holds here may break there, never the reverse of a row.
    """
    asked = clone.Asked(base, head, clone.seed(seed), site, python, sandbox)
    progress = None if form == "json" else lambda line: click.echo(line, err=True)
    with clone.prepared(asked) as (there, _, given):
        found = job.run(given, Budget(seconds, progress))
    if form == "json":
        click.echo(json.dumps(plain(found)))
    else:
        _show(found, there.warnings)
    return REFUSED if found.refusing else HOLDS


def _show(found: Replay, warnings: tuple[str, ...]) -> None:
    table = Printed(box=None, header_style="bold")
    for name in ("relation", "result", "pairs", "rejected", "vacuous", "broken", "first"):
        table.add_column(name, justify="left" if name in ("relation", "result") else "right")
    for row in found.rows:
        counts = row.counts
        table.add_row(row.id, row.bucket.value, *map(str, (
            counts.applied, counts.rejected, counts.vacuous, counts.broken)),
            "" if row.first is None else str(row.first))
    Console(width=100, highlight=False).print(table)
    for row in found.rows:
        if row.reason:
            click.echo(f"{row.id}: {row.says}: {row.reason}\n  input {row.input}"
                       + (f", transform {row.transform}" if row.transform else "")
                       + (f"\n  after {', '.join(row.polluters)}" if row.polluters else "")
                       + (f"\n  {row.freeze}" if row.freeze else "")
                       + "".join(f"\n  at {line}" for line in row.trace[-1:]))
    for line in warnings:
        click.echo(f"note: {line}")
    click.echo(f"seed {found.seed}, digest {found.digest[:16]}, {found.seconds:.1f} s")
