"""`policyd replay jobs` and `work`: what the server's jobs came to, and those that wait."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from policyd import replaying
from policyd.adapters import activepolicy, replayfiles
from policyd.cli import OK, operating
from policyd.rules import OPTIONS


@click.command("jobs")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.pass_obj
def command(home: Path, form: str) -> int:
    """List the verdicts that are kept, the newest last, and the jobs that wait."""
    state = activepolicy.load(home, OPTIONS).settings.state
    kept = sorted((raw for _, raw in replayfiles.told(state)), key=lambda raw: raw["about"]["at"])
    waiting = replayfiles.queued(state)
    if form == "json":
        click.echo(json.dumps({"verdicts": kept, "queued": waiting}))
        return OK
    table = Table(box=None, header_style="bold")
    for name in ("at", "repository", "ref", "candidate", "seed", "refuses", "listed"):
        table.add_column(name)
    for raw in kept:
        about, found = raw["about"], raw["replay"]
        buckets = {row["id"]: row["bucket"] for row in found["rows"]}
        refuses = [row for row, one in buckets.items() if one in ("block", "hysteresis")]
        listed = [row for row, one in buckets.items() if one in ("policy-sensitive", "frozen")]
        table.add_row(about["at"][:19], about.get("repository", ""), about.get("ref", ""),
                      about["candidate"][:12], found["seed"][:6], " ".join(refuses) or "-",
                      " ".join(listed) or "-")
    Console(width=120, highlight=False).print(table)
    for name in waiting:
        click.echo(f"queued: {name[:12]}")
    return OK


@click.command("work")
@click.pass_obj
def work(home: Path) -> int:
    """Run the jobs that wait, one after the other, until none is left; the daemon does it."""
    def done() -> list[str]:
        return [f"{name[:12]}: {came}" for name, came in replaying.work(home)]

    for line in operating.as_keeper(home, ["replay", "work"], done):
        click.echo(line)
    return OK
