"""`policyd record freeze`: relations whose broken pair is tried again, counted, until a day."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import OK
from policyd.cli.record import clone, listing, renewing
from policyd.core.errors import PolicydError
from policyd.core.rows import Kind


@click.group("freeze")
def command() -> None:
    """Relations whose broken pair runs again, a counted number of times, until a day."""


@command.command()
@click.argument("relation", metavar="RELATION")
@click.option("--reason", required=True, metavar="TEXT", help="Why it breaks at times.")
@clone.until()
@click.option("--reruns", type=click.IntRange(min=5), default=5, show_default=True, metavar="N")
@click.option("--pass-needed", type=click.IntRange(min=1), metavar="N",
              help="How many of these must pass; all by default.")
@click.option("--owner", metavar="NAME", help="Who repairs it; git's user.name by default.")
@clone.options
@click.pass_obj
def add(home: Path, relation: str, reason: str, until: str | None, days: int | None, reruns: int,
        pass_needed: int | None, owner: str | None, bundle_file: Path | None,
        repository: str | None) -> int:
    """Freeze RELATION, which its table must call freezable."""
    there = clone.opened(home, bundle_file, repository)
    _check_freezable(there, relation)
    last = clone.last_day(there, Kind.FREEZE, until, days)
    row = {"relation_id": relation, "since": there.today(), "expires": last, "reruns": reruns,
           "pass_needed": reruns if pass_needed is None else pass_needed, "reason": reason,
           "owner": there.owner(owner)}
    renewing.add(there, Kind.FREEZE, row, f"Freeze {relation} until {last}", reason)
    return OK


@command.command()
@click.argument("relation", metavar="RELATION")
@clone.until()
@click.option("--reason", required=True, metavar="TEXT", help="Another one than before.")
@clone.options
@click.pass_obj
def renew(home: Path, relation: str, until: str | None, days: int | None, reason: str,
          bundle_file: Path | None, repository: str | None) -> int:
    """Give the freeze of RELATION another last day."""
    there = clone.opened(home, bundle_file, repository)
    last = clone.last_day(there, Kind.FREEZE, until, days)
    renewing.renew(there, Kind.FREEZE, relation, last, reason)
    return OK


@command.command()
@click.argument("relation", metavar="RELATION")
@click.option("--reason", metavar="TEXT", help="Why one run is enough again.")
@clone.options
@click.pass_obj
def remove(home: Path, relation: str, reason: str | None, bundle_file: Path | None,
           repository: str | None) -> int:
    """Remove the freeze of RELATION."""
    there = clone.opened(home, bundle_file, repository)
    row = clone.row_named(there.records().rows, Kind.FREEZE, relation)
    renewing.remove(there, row, (reason,) if reason else ())
    return OK


@command.command("list")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@clone.options
@click.pass_obj
def rows(home: Path, form: str, bundle_file: Path | None, repository: str | None) -> int:
    """List the freezes, the first to end first. Exits with 1 where one is over."""
    return listing.listed(clone.opened(home, bundle_file, repository), Kind.FREEZE, form)


def _check_freezable(there: clone.Clone, name: str) -> None:
    relations = there.records().relations
    found = next((one for one in relations if one.id == name), None)
    freezable = ", ".join(one.id for one in relations if one.freezable) or "none"
    if found is None:
        raise PolicydError(f"no table has the relation {name}; freezable are: {freezable}")
    if not found.freezable:
        raise PolicydError(f"{name} is not freezable ({found.path}:{found.line}); freezable are: "
                           f"{freezable}")
