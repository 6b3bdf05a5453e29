"""`policyd replay admit`: relations tried on the source that they are about, before they block."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table as Printed

from policyd.cli.replay import clone
from policyd.core.errors import PolicydError
from policyd.core.frozen import plain
from policyd.replay import admit
from policyd.replay.admit import Admission
from policyd.replay.budget import Budget

ADMITTED, REFUSED = 0, 1


@click.command("admit")
@click.argument("revision", default="HEAD")
@click.argument("rows", nargs=-1)
@click.option("--draws", type=click.IntRange(min=1), default=admit.DRAWS, show_default=True,
              help="Inputs of each row under each seed.")
@click.option("--seeds", type=click.IntRange(min=1), default=admit.SEEDS, show_default=True)
@click.option("--mutants/--no-mutants", "with_mutants", default=True, show_default=True,
              help="Count which small changes of the entry point each row notices.")
@click.option("--seed", metavar="SEED", help="A number that the seeds are made of.")
@click.option("--site", type=click.Path(path_type=Path, file_okay=False, exists=True),
              help="A folder of packages that the source may import.")
@click.option("--python", type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="The interpreter of the source; this one by default.")
@click.option("--sandbox", type=click.Choice(["bubblewrap", "none"]), default="bubblewrap",
              show_default=True, help="`none` isolates nothing: for your own code alone.")
@click.option("--seconds", type=float, default=3600.0, show_default=True, help="Time for all.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def command(revision: str, rows: Sequence[str], draws: int, seeds: int, seed: str | None,
            site: Path | None, python: Path | None, sandbox: str, seconds: float, form: str, *,
            with_mutants: bool) -> int:
    """Try the ROWS (all unless given) of REVISION on its own source.

    A row that breaks there is wrong, or the source is. Exits with 1 where one is not admitted.
    """
    asked = clone.Asked(revision, revision, clone.seed(seed), site, python, sandbox)
    progress = None if form == "json" else lambda line: click.echo(line, err=True)
    with clone.prepared(asked) as (there, _, given):
        unknown = set(rows) - {row.id for row in there.rows}
        if unknown:
            raise PolicydError(f"no relation {min(unknown)} in {revision}; there are "
                               f"{', '.join(row.id for row in there.rows)}")
        found = admit.admitted(given, Budget(seconds, progress), seeds=seeds, draws=draws,
                               only=rows, with_mutants=with_mutants)
    if form == "json":
        click.echo(json.dumps([{**plain(one), "admitted": one.admitted,
                                "decorative": one.decorative} for one in found]))
    else:
        _show(found)
    return ADMITTED if all(one.admitted for one in found) else REFUSED


def _show(found: Sequence[Admission]) -> None:
    table = Printed(box=None, header_style="bold")
    for name in ("relation", "result", "pairs", "vacuous", "broken", "notices"):
        table.add_column(name, justify="left" if name in ("relation", "result") else "right")
    for one in found:
        result = "decorative" if one.decorative else "admitted" if one.admitted else "not admitted"
        table.add_row(one.id, result, str(one.draws), f"{one.vacuous:.0%}", str(one.broken),
                      f"{one.killed} of {one.mutants}" if one.mutants else "")
    Console(width=100, highlight=False).print(table)
    for one in found:
        if one.first or one.problem:
            click.echo(f"{one.id}: {one.first or one.problem}")
