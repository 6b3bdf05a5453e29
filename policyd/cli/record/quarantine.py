"""`policyd record quarantine`: tests that are skipped until a day, or only watched."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import OK
from policyd.cli.record import clone, listing, renewing
from policyd.core.errors import PolicydError
from policyd.core.rows import Kind


@click.group("quarantine")
def command() -> None:
    """Tests that are skipped until a day (frozen), or only watched (open)."""


@command.command()
@click.argument("nodeid", metavar="NODEID")
@click.option("--reason", required=True, metavar="TEXT", help="12 characters and more.")
@clone.until(" The row is frozen.")
@click.option("--open", "is_open", is_flag=True, help="Only watch it; there is no last day.")
@click.option("--owner", metavar="NAME", help="Who repairs it; git's user.name by default.")
@clone.options
@click.pass_obj
def add(home: Path, nodeid: str, reason: str, until: str | None, days: int | None,
        owner: str | None, bundle_file: Path | None, repository: str | None, *,
        is_open: bool) -> int:
    """Add a row for the test NODEID."""
    if is_open and (until is not None or days is not None):
        raise PolicydError("an open row is watched and never skipped, so it has no last day; say "
                           "--open, or --until DATE")
    there = clone.opened(home, bundle_file, repository)
    row = {"nodeid": nodeid, "status": "open" if is_open else "frozen", "reason": reason,
           "owner": there.owner(owner), "since": there.today()}
    if not is_open:
        row["expires_on"] = clone.last_day(there, Kind.QUARANTINE, until, days)
    ends = "open" if is_open else f"until {row['expires_on']}"
    renewing.add(there, Kind.QUARANTINE, row, f"Quarantine {nodeid}, {ends}", reason)
    return OK


@command.command()
@click.argument("nodeid", metavar="NODEID")
@clone.until()
@click.option("--reason", required=True, metavar="TEXT", help="Another one than before.")
@clone.options
@click.pass_obj
def renew(home: Path, nodeid: str, until: str | None, days: int | None, reason: str,
          bundle_file: Path | None, repository: str | None) -> int:
    """Give the frozen row of NODEID another last day."""
    there = clone.opened(home, bundle_file, repository)
    last = clone.last_day(there, Kind.QUARANTINE, until, days)
    renewing.renew(there, Kind.QUARANTINE, nodeid, last, reason)
    return OK


@command.command()
@click.argument("nodeid", metavar="NODEID")
@click.option("--reason", metavar="TEXT", help="Why it can run again.")
@clone.options
@click.pass_obj
def remove(home: Path, nodeid: str, reason: str | None, bundle_file: Path | None,
           repository: str | None) -> int:
    """Remove the row of NODEID."""
    there = clone.opened(home, bundle_file, repository)
    row = clone.row_named(there.records().rows, Kind.QUARANTINE, nodeid)
    renewing.remove(there, row, (reason,) if reason else ())
    return OK


@command.command("list")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@clone.options
@click.pass_obj
def rows(home: Path, form: str, bundle_file: Path | None, repository: str | None) -> int:
    """List the rows, the first to end first. Exits with 1 where one is over."""
    return listing.listed(clone.opened(home, bundle_file, repository), Kind.QUARANTINE, form)
