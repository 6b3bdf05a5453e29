"""`policyd replay jobs` and `work`: what the server's jobs came to, and those that wait."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from policyd import replaying
from policyd.adapters import activepolicy, replayfiles
from policyd.cli import OK, operating, replaystatus
from policyd.core.frozen import plain
from policyd.core.render import printable
from policyd.rules import OPTIONS


@click.command("jobs")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.pass_obj
def command(home: Path, form: str) -> int:
    """List the verdicts that are kept, the newest last, and the jobs that wait."""
    state = activepolicy.load(home, OPTIONS).settings.state
    kept = sorted((raw for _, raw in replayfiles.told(state)),
                  key=lambda raw: str(raw.get("about", {}).get("at", "")))
    waiting = replayfiles.queued(state)
    if form == "json":
        click.echo(json.dumps({"verdicts": kept, "queued": waiting}))
        return OK
    table = Table(box=None, header_style="bold")
    for name in ("at", "repository", "ref", "candidate", "seed", "refuses", "listed"):
        table.add_column(name)
    for raw in kept:
        table.add_row(*map(printable, _cells(raw)))
    Console(width=120, highlight=False, markup=False).print(table)
    for name in waiting:
        click.echo(f"queued: {name[:12]}")
    return OK


def _cells(raw: Mapping[str, Any]) -> list[str]:
    """Of a file that people may have edited: what is not there is not shown."""
    about, found = raw.get("about", {}), raw.get("replay", {})
    buckets = {row["id"]: row["bucket"] for row in found.get("rows", ())}
    listed = [row for row, one in buckets.items() if one in ("policy-sensitive", "frozen")]
    undecided = f"undecided: {found['undecided']}" if found.get("undecided") else "-"
    return [str(about.get("at", ""))[:19], str(about.get("repository", "")),
            str(about.get("ref", "")), str(about.get("candidate", ""))[:12],
            str(found.get("seed", ""))[:6], " ".join(replaystatus.refusing(found)) or undecided,
            " ".join(listed) or "-"]


@click.command("work")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.option("--attended", is_flag=True, hidden=True,
              help="End when standard input does: the daemon that started it is gone.")
@click.pass_obj
def work(home: Path, form: str, *, attended: bool) -> int:
    """Run the jobs that wait, one after the other, until none is left; the daemon does it.

    Each is told in a line as it ends. SIGTERM ends it, and its job stays in the queue.
    """
    def all_of_them() -> None:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        if attended:
            threading.Thread(target=_attend, daemon=True).start()
        for done in replaying.work(home):
            click.echo(json.dumps(plain(done)) if form == "json" else _line(done))

    operating.as_keeper(home, ["replay", "work", "--format", form], all_of_them)
    return OK


def _attend() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _line(done: replaying.Done) -> str:
    about = " ".join(word for word in (done.name[:12], done.repository, done.ref) if word)
    why = f": {done.why}" if done.why else f" after {done.seconds:.1f} s"
    return printable(f"{about} {done.came}{why}")
