"""`policyd replay again`: one pair, named by seed, relation and draw."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli.replay import clone
from policyd.core.errors import PolicydError
from policyd.replay import job
from policyd.replay.budget import Budget
from policyd.replay.pairs import Pair, State, shown
from policyd.replay.table import Row

HOLDS, BREAKS = 0, 1


@click.command("again")
@clone.options
@click.argument("seed")
@click.argument("relation")
@click.argument("draw", type=click.IntRange(min=0))
def command(base: str, head: str, site: Path | None, python: Path | None, sandbox: str,
            seed: str, relation: str, draw: int) -> int:
    """Run the pair (SEED, RELATION, DRAW) again, alone, strictly. Exits with 1 where it breaks."""
    asked = clone.Asked(base, head, clone.seed(seed), site, python, sandbox)
    with clone.prepared(asked) as (there, _, given):
        row = next((one for one in there.rows if one.id == relation), None)
        if row is None:
            raise PolicydError(f"no relation {relation} in {base}; there are "
                               f"{', '.join(one.id for one in there.rows)}")
        pair = job.again(given, row, draw, Budget(120.0))
    if pair is None:
        click.echo(f"{relation} does not apply to draw {draw}")
        return HOLDS
    return _told(row, pair)


def _told(row: Row, pair: Pair) -> int:
    click.echo(f"{row.id} {pair.state.value}: input {shown(row, pair.drawn.input)}")
    if pair.why:
        click.echo(f"  {pair.why}")
    for line in pair.trace:
        click.echo(f"  at {line}")
    return BREAKS if pair.state is State.BREAKS else HOLDS
