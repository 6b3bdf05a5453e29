"""`policyd record lease`: corpora pinned by their hash, each until a day."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

from policyd.cli import FAULTS, OK
from policyd.cli.record import clone, renewing, saving
from policyd.core.calendar import days_left
from policyd.core.errors import PolicydError
from policyd.core.rows import Kind, Record
from policyd.core.rowtext import Row, yaml_lines

_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
"""What the name of a file made of an id has - for."""


@click.group("lease")
def command() -> None:
    """Corpora pinned by their hash, for the relations that may read them."""


@command.command()
@click.argument("path", metavar="PATH")
@clone.until()
@click.option("--relation", "relations", multiple=True, required=True, metavar="ID",
              help="One that may read it; several times for several.")
@click.option("--owner", metavar="NAME", help="Who answers for it; git's user.name by default.")
@click.option("--quantum", metavar="NUMBER", help="To what a relation on it rounds.")
@click.option("--id", "name", metavar="ID", help="The lease's name; of the file by default.")
@click.option("--notes", metavar="TEXT", help="What the data is.")
@clone.options
@click.pass_obj
def new(home: Path, path: str, until: str | None, days: int | None, relations: tuple[str, ...],
        owner: str | None, quantum: str | None, name: str | None, notes: str | None,
        bundle_file: Path | None, repository: str | None) -> int:
    """Pin the file PATH, by the hash that it has now, in a file of its own."""
    there = clone.opened(home, bundle_file, repository)
    corpus = _inside(there, path)
    digest = there.tree.sha256(corpus)
    if digest is None:
        raise PolicydError(f"{path} is no plain file; a lease pins one")
    known = {one.id for one in there.records().relations}
    for relation in relations:
        if relation not in known:
            raise PolicydError(f"no table has the relation {relation}; there are: "
                               f"{', '.join(sorted(known)) or 'none'}")
    last = clone.last_day(there, Kind.LEASE, until, days)
    row: dict[str, object] = {
        "id": name or Path(corpus).stem, "path": corpus, "sha256": digest, "expires": last,
        "owner": there.owner(owner), "allowed_relations": list(dict.fromkeys(relations)),
        **({} if quantum is None else {"quantum": quantum}),
        **({} if notes is None else {"notes": notes})}
    stem = _NO_NAME.sub("-", str(row["id"])).strip("-.") or "lease"
    file = f"{there.places.leases}/{stem}.yaml"
    if there.tree.read(file) is not None:
        raise PolicydError(f"{file} is there already; say another --id, or `policyd record lease "
                           "renew`")
    saving.saved(there, {file: _text(row)}, {file: None}, f"Lease {row['id']} until {last}",
                 body=(f"{corpus}, read by {', '.join(relations)}.",))
    if there.tree.changed(corpus):
        click.echo(f"note: {corpus} has changes that are not committed; the lease needs them in "
                   "the same push")
    return OK


@command.command()
@click.argument("name", metavar="ID")
@clone.until()
@click.option("--reason", metavar="TEXT", help="For the commit; asked for when absent.")
@click.option("--rehash", is_flag=True, help="Pin what the file is now.")
@clone.options
@click.pass_obj
def renew(home: Path, name: str, until: str | None, days: int | None, reason: str | None,
          bundle_file: Path | None, repository: str | None, *, rehash: bool) -> int:
    """Give the lease ID, or of the corpus ID, another last day."""
    there = clone.opened(home, bundle_file, repository)
    found = there.records(hashing=True)
    row = clone.row_named(found.rows, Kind.LEASE, name)
    drift = next((one for one in found.drifts if one.lease.corpus == row.subject), None)
    if drift is not None and (drift.found is None or not rehash):
        what = "there is no such file" if drift.found is None else \
            "it is not what the lease pins; put it back, or say --rehash to pin what it is now"
        raise PolicydError(f"{row.subject}: {what}")
    last = clone.last_day(there, Kind.LEASE, until, days)
    reason = reason or clone.asked("reason", "say why with --reason TEXT")
    renewing.renew(there, Kind.LEASE, row.id, last, reason,
                   {} if drift is None else {"sha256": drift.found})
    return OK


@command.command()
@clone.options
@click.pass_obj
def check(home: Path, bundle_file: Path | None, repository: str | None) -> int:
    """Look at all leases: hash, last day, relations. Exits with 1 where something is wrong."""
    there = clone.opened(home, bundle_file, repository)
    found, today = there.records(hashing=True), there.today()
    leases = {lease.path for lease in found.leases} | set(there.files(Record.LEASES))
    wrong = [str(fault) for fault in found.faults if fault.source in leases]
    for drift in found.drifts:
        has = "there is no such file" if drift.found is None else f"the file has {drift.found}"
        wrong.append(f"{drift.lease.path}:{drift.lease.line}: {drift.lease.corpus}: the lease "
                     f"says {drift.lease.sha256}, {has}")
    for row in (row for row in found.rows if row.kind is Kind.LEASE):
        left = days_left(row, today)
        if left is not None and left < 0:
            wrong.append(f"{row.path}:{row.line}: lease {row.id} ended on {row.last}; `policyd "
                         f"record lease renew {row.id} --until DATE --reason TEXT`")
        elif not any(drift.lease.id == row.id for drift in found.drifts):
            click.echo(f"{row.id}: {row.subject} until {row.last}, {left} days left")
    for line in wrong:
        click.echo(line)
    if not found.leases and not wrong:
        click.echo("there is no lease")
    return FAULTS if wrong else OK


def _inside(there: clone.Clone, path: str) -> str:
    """A path as typed, from the top of the clone."""
    folder, name = os.path.split(os.path.abspath(path))
    found = os.path.relpath(os.path.join(os.path.realpath(folder), name), there.tree.root)
    if found.startswith(".."):
        raise PolicydError(f"{path} is not in the clone at {there.tree.root}")
    return found


def _text(row: Row) -> bytes:
    return ("\n".join(yaml_lines(row)) + "\n").encode("utf-8")
