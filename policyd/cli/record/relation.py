"""`policyd record relation`: a row for a relation table, and its functions to be written."""

from __future__ import annotations

import re
from pathlib import Path

import click

from policyd import records
from policyd.cli import OK
from policyd.cli.record import clone, saving
from policyd.core import jsonedit, recordedit
from policyd.core.errors import PolicydError
from policyd.core.rows import Kind, Record
from policyd.records import skeletons
from policyd.records.fields import entry_point


@click.group("relation")
def command() -> None:
    """Relation tables."""


@command.command()
@click.argument("name", metavar="ID")
@click.argument("entry", metavar="ENTRY")
@click.option("--class", "kind",
              type=click.Choice(sorted(one for one in skeletons.CLASSES if one)),
              help="What kind of relation it is.")
@click.option("--relation", "says", metavar="TEXT", help="What it says, in one line.")
@click.option("--table", metavar="NAME", help="The table; the module's name by default.")
@click.option("--owner", metavar="NAME", help="Who writes it; git's user.name by default.")
@clone.until()
@clone.options
@click.pass_obj
def new(home: Path, name: str, entry: str, kind: str | None, says: str | None, table: str | None,
        owner: str | None, until: str | None, days: int | None, bundle_file: Path | None,
        repository: str | None) -> int:
    """Begin the relation ID about ENTRY, module:function, as a policy row that does not block.

    The functions that it names raise until they are written: not to be pushed before.
    """
    there = clone.opened(home, bundle_file, repository)
    try:
        entry_point(entry)
    except ValueError as error:
        raise PolicydError(str(error)) from None
    stem = _stem(table or entry.partition(":")[0].rpartition(".")[2])
    if (found := next((one for one in there.records().relations if one.id == name), None)):
        raise PolicydError(f"there is a relation {name} already, in {found.path}:{found.line}")
    file, beside = (f"{there.places.relations}/{stem}{end}" for end in (".yaml", ".py"))
    made = skeletons.made(
        name, entry, kind or "", owner=there.owner(owner), says=says, beside=beside,
        last=clone.last_day(there, Kind.POLICY, until, there.days(Kind.POLICY)
                            if until is None and days is None else days))
    _check_free(there, made)
    data = saving.readable(there, file)
    with saving.of(file):
        rows = recordedit.added(recordedit.EMPTY[Record.RELATIONS] if data is None else data,
                                Record.RELATIONS, made.row, above=made.above)
    code = there.tree.read(beside)
    saving.saved(
        there, {beside: _appended(code, made.text, stem), file: rows}, {beside: code, file: data},
        f"Add the relation {name} of {entry}", before_that=(
            f"{skeletons.FILL_IN}: {', '.join(made.functions)} in {beside} raise until they are "
            "written, and a replay with them could not be judged. Write them, then",),
        body=("A policy row: it is listed and does not block.",))
    click.echo(f"then try it: policyd replay admit HEAD {name}")
    return OK


def _check_free(there: clone.Clone, made: skeletons.Skeleton) -> None:
    for path in there.files(Record.RELATIONS):
        if path.endswith(".py"):
            defined = records.load(Record.RELATIONS, path, there.tree.read(path) or b"").functions
            if taken := sorted(set(defined) & set(made.functions)):
                raise PolicydError(f"{path} defines {taken[0]} already; say another ID")


def _appended(data: bytes | None, text: str, stem: str) -> bytes:
    """The functions at the end of a Python file, whose other bytes stay."""
    if data is None:
        head = f'"""Functions of the relations in {stem}.yaml; draw is described in ' \
               'docs/replay.md of policyd."""\n\nfrom __future__ import annotations\n\n\n'
        return (head + text).encode()
    try:
        there = data.decode("utf-8")
    except UnicodeDecodeError:
        raise PolicydError("the Python file beside the table is not valid UTF-8") from None
    newline = jsonedit.newline_of(there)
    gap = 2 * newline if there.endswith(("\n", "\r")) else 3 * newline
    return (there + (gap if there.strip() else "") + text.replace("\n", newline)).encode()


def _stem(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]*", name):
        raise PolicydError(f"{name!r} is no name for a table: letters, digits, '_' and '-'")
    return name
