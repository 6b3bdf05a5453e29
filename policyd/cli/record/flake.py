"""`policyd record flake`: the flake ledger, row by row."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click

from policyd.cli import OK
from policyd.cli.record import clone, listing, renewing, rerun
from policyd.core.errors import PolicydError
from policyd.core.rows import Kind

_WORD = re.compile(r"[^A-Za-z0-9]+")


@click.group("flake")
def command() -> None:
    """Tests that a test run may try more than once, each until its last day."""


@command.command()
@click.argument("nodeid", metavar="NODEID")
@click.option("--reason", required=True, metavar="TEXT", help="Why it fails at times.")
@clone.until()
@click.option("--max-runs", type=click.IntRange(min=1), required=True, metavar="N",
              help="Runs in all, the first included.")
@click.option("--owner", metavar="NAME", help="Who repairs it; git's user.name by default.")
@click.option("--id", "name", metavar="ID", help="The row's name; of the node id by default.")
@click.option("--first-seen", metavar="DATE", help="Since when; today by default.")
@clone.options
@click.pass_obj
def add(home: Path, nodeid: str, reason: str, until: str | None, days: int | None, max_runs: int,
        owner: str | None, name: str | None, first_seen: str | None, bundle_file: Path | None,
        repository: str | None) -> int:
    """Add a row for the test NODEID, such as tests/test_api.py::test_rates."""
    there = clone.opened(home, bundle_file, repository)
    known = {row.id for row in there.records().rows if row.kind is Kind.FLAKE}
    if name is not None and name in known:
        raise PolicydError(f"there is a flake row {name} already; say another --id")
    last = clone.last_day(there, Kind.FLAKE, until, days)
    row = {"id": name or _free(_named(nodeid), known), "nodeid": nodeid, "reason": reason,
           "first_seen": first_seen or there.today(), "expires_on": last,
           "owner": there.owner(owner), "max_runs": max_runs}
    renewing.add(there, Kind.FLAKE, row, f"Add flake {row['id']} until {last}", reason)
    return OK


@command.command()
@click.argument("name", metavar="ID")
@clone.until()
@click.option("--reason", required=True, metavar="TEXT", help="Another one than before.")
@clone.options
@click.pass_obj
def renew(home: Path, name: str, until: str | None, days: int | None, reason: str,
          bundle_file: Path | None, repository: str | None) -> int:
    """Give the row ID, or about the test ID, another last day."""
    there = clone.opened(home, bundle_file, repository)
    last = clone.last_day(there, Kind.FLAKE, until, days)
    renewing.renew(there, Kind.FLAKE, name, last, reason)
    return OK


@command.command()
@click.argument("name", metavar="ID")
@click.option("--rerun/--no-rerun", "wanted", default=True, show_default=True,
              help="Run the test max_runs times first; all runs must pass.")
@click.option("--reason", metavar="TEXT", help="Why, where nothing is run: the test is gone.")
@click.option("--python", type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="The Python with pytest; that of the active virtual environment by default.")
@clone.options
@click.pass_obj
def remove(home: Path, name: str, reason: str | None, python: Path | None,
           bundle_file: Path | None, repository: str | None, *, wanted: bool) -> int:
    """Remove the row ID, or about the test ID, after its test passed max_runs times alone."""
    there = clone.opened(home, bundle_file, repository)
    row = clone.row_named(there.records().rows, Kind.FLAKE, name)
    if wanted:
        said = rerun.passed(there.tree, row, python or _python())
        renewing.remove(there, row, (said, *([reason] if reason else [])))
    elif reason is None:
        raise PolicydError("say with --reason why the row goes although its test was not run")
    else:
        renewing.remove(there, row, (f"Not rerun: {reason}",))
    return OK


@command.command("list")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@clone.options
@click.pass_obj
def rows(home: Path, form: str, bundle_file: Path | None, repository: str | None) -> int:
    """List the rows, the first to end first. Exits with 1 where one is over."""
    return listing.listed(clone.opened(home, bundle_file, repository), Kind.FLAKE, form)


def _named(nodeid: str) -> str:
    """`tests/test_api.py::test_rates[usd]` is `api.rates.usd`."""
    path, _, test = nodeid.partition("::")
    words = [path.rpartition("/")[2].removesuffix(".py"), *re.split(r"::|\[", test)]
    plain = (_WORD.sub("-", word).strip("-").removeprefix("test-") for word in words)
    return ".".join(word for word in plain if word) or "flake"


def _free(name: str, known: set[str]) -> str:
    numbered = (f"{name}-{number}" for number in range(2, len(known) + 3))
    return name if name not in known else next(one for one in numbered if one not in known)


def _python() -> Path:
    active = os.environ.get("VIRTUAL_ENV")
    found = Path(active, "bin", "python") if active else Path(sys.executable)
    return found if found.exists() else Path(sys.executable)
