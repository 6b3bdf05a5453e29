"""Rows of one kind as a table or as JSON."""

from __future__ import annotations

import json
import sys

import click
from rich.console import Console
from rich.table import Table

from policyd.cli.record.clone import Clone
from policyd.core.calendar import days_left
from policyd.core.render import printable
from policyd.core.rows import DatedRow, Kind

_WIDE = 200
"""Columns where nobody looks at a terminal: rows stay on one line for grep."""


def listed(there: Clone, kind: Kind, form: str) -> int:
    """Print the rows of a kind, the first to end first; 1 where one is over."""
    today = there.today()
    rows = sorted((row for row in there.records().rows if row.kind is kind),
                  key=lambda row: (row.last is None, row.last, row.path, row.line))
    if form == "json":
        click.echo(json.dumps([as_dict(row, days_left(row, today)) for row in rows]))
    elif rows:
        shown(rows, {row: days_left(row, today) for row in rows})
    else:
        click.echo(f"there is no {kind.value} row")
    return int(any(row.last is not None and row.last < today for row in rows))


def shown(rows: list[DatedRow], left: dict[DatedRow, int | None], *, kinds: bool = False) -> None:
    table = Table(box=None, header_style="bold")
    for name in ("last day", "left", *(("kind",) if kinds else ()), "id", "about", "owner",
                 "where"):
        table.add_column(name, overflow="fold", justify="right" if name == "left" else "left")
    for row in rows:
        about = row.subject if row.subject != row.id else ""
        table.add_row(*map(printable, (
            str(row.last or "none"), _days(left[row]), *((row.kind.value,) if kinds else ()),
            row.id, about, row.owner, f"{row.path}:{row.line}")))
    width = None if sys.stdout.isatty() else _WIDE
    Console(width=width, highlight=False, markup=False).print(table)


def as_dict(row: DatedRow, left: int | None) -> dict[str, object]:
    """A row for programs."""
    return {"kind": row.kind.value, "id": row.id, "subject": row.subject, "owner": row.owner,
            "reason": row.reason, "first": None if row.first is None else str(row.first),
            "last": None if row.last is None else str(row.last), "days_left": left,
            "path": row.path, "line": row.line}


def _days(left: int | None) -> str:
    return "" if left is None else "over" if left < 0 else str(left)
