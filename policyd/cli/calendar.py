"""`policyd calendar`: all last days of a revision of a clone, the first to come first."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from policyd.adapters import clock
from policyd.adapters.gitrepo import PushedRepo
from policyd.cli import OK
from policyd.cli.check import names_on_server
from policyd.cli.record import clone, listing
from policyd.core import ics
from policyd.core.calendar import days_left
from policyd.core.errors import FileInvalid, PolicydError
from policyd.core.nodes import in_order
from policyd.core.rows import DATED, DatedRow
from policyd.gatehouse import Standing, outside_of_pushes


@click.command("calendar")
@click.argument("revision", metavar="[REV]", default="HEAD")
@click.option("--format", "form", type=click.Choice(["table", "json", "ics"]), default="table")
@click.option("--owner", "owners", multiple=True, metavar="NAME", help="Only rows of these.")
@clone.options
@click.pass_obj
def command(home: Path, revision: str, form: str, owners: tuple[str, ...],
            bundle_file: Path | None, repository: str | None) -> int:
    """Show every dated row of REV, HEAD unless given, by its last day.

    `--format ics` is for calendars: policyd calendar origin/main --format ics > rows.ics
    """
    there = clone.opened(home, bundle_file, repository)
    rows = [row for row in _rows(there, revision) if not owners or row.owner in owners]
    today = there.today()
    left = {row: days_left(row, today) for row in rows}
    if form == "ics":
        name = repository or there.name or _name(there)
        click.echo(ics.calendar(rows, name, clock.now()), nl=False)
    elif form == "json":
        click.echo(json.dumps([listing.as_dict(row, left[row]) for row in rows]))
    elif rows:
        listing.shown(rows, left, kinds=True)
    else:
        click.echo(f"there is no dated row in {revision}")
    return OK


def _rows(there: clone.Clone, revision: str) -> list[DatedRow]:
    """Raises FileInvalid where a record of the revision cannot be read."""
    git_dir = os.path.realpath(there.tree.root / there.tree.git("rev-parse", "--git-common-dir"))
    repo = PushedRepo(git_dir)
    wanted = f"{revision}^{{commit}}"
    if not there.tree.holds("rev-parse", "--verify", "--quiet", "--end-of-options", wanted):
        raise PolicydError(f"{revision} is no commit here")
    commit = there.tree.git("rev-parse", "--verify", "--end-of-options", wanted)
    tree = repo.header(bytes.fromhex(commit))[0]
    files = outside_of_pushes(git_dir, repo, Standing(None, ""), budget=0, seconds=60.0)
    kinds = sorted(DATED, key=lambda record: record.value)
    parsed = [files.parsed(path, found)
              for path, found in files.files(tree, there.places, kinds).items()]
    if unread := in_order(fault for one in parsed for fault in one.faults):
        raise FileInvalid(unread)
    return sorted((row for one in parsed for row in one.rows),
                  key=lambda row: (row.last is None, row.last, row.path, row.line))


def _name(there: clone.Clone) -> str:
    """The path of origin on its server, or the clone's folder where there is none."""
    url = there.tree.git("config", "--default", "", "remote.origin.url")
    return next(iter(names_on_server(url)), there.tree.root.name)
