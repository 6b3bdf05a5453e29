"""`policyd policy test`: the decision tables of the policies as they are edited."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from policyd.adapters import clock
from policyd.caserun import Result
from policyd.cli import FAULTS, OK
from policyd.cli.policy import files, tables
from policyd.core import cases
from policyd.core.compiled import CASES, Compiled, Table, name_of
from policyd.core.coverage import Word
from policyd.core.decoding import unknown
from policyd.core.errors import PolicydError


@click.command("test")
@click.argument("listed", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option("--on", "day", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]),
              help="As if it were this day; today by default.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.pass_obj
def command(home: Path, listed: Sequence[Path], day: datetime | None, form: str) -> int:
    """Run the cases of policies as they are edited, and say what no case tries.

    FILE is NAME.cases.yaml for the policy NAME; all beside the policies by default. Their own
    `mode` is left aside, so that a table says the same all through a roll-out. A case that names
    its day with `today` is judged on that day, whatever DATE is.
    """
    compiled = files.compiled(home)
    at = day.replace(hour=12, tzinfo=UTC) if day else clock.now()
    ran = [(table, tables.failing(compiled, table, at), tuple(tables.untried(compiled, table, at)))
           for table in (_named(listed, compiled) if listed else compiled.tables)]
    click.echo(json.dumps([_plain(*one) for one in ran], indent=2) if form == "json"
               else "\n".join(line for one in ran for line in _lines(*one))
               or "no cases stand beside the policies")
    return FAULTS if any(rows for _, rows, _ in ran) else OK


def _named(listed: Sequence[Path], compiled: Compiled) -> Iterator[Table]:
    """The tables in these files, wherever they lie. Raises FileInvalid, PolicydError."""
    for path in listed:
        name = name_of(path.name)
        if not path.name.endswith(CASES):
            raise PolicydError(f"{path} is no file of cases; these are named NAME{CASES}")
        if name not in compiled.unlimited:
            raise PolicydError(f"{path}: {unknown('policy', name, list(compiled.unlimited))}")
        yield Table(name, str(path), cases.parse(path.read_bytes(), str(path),
                                                 known=files.rules()))


def _lines(table: Table, rows: Sequence[Result], untried: Sequence[Word]) -> Iterator[str]:
    yield from tables.lines(table.source, rows)
    for word in untried:
        yield (f"{word.place.source}:{word.place.line}:{word.place.column}: no case tries "
               f"{word.says}")
    yield f"{table.source}: {len(table.cases) - len(rows)} of {len(table.cases)} cases hold"


def _plain(table: Table, rows: Sequence[Result], untried: Sequence[Word]) -> dict[str, Any]:
    return {
        "file": table.source, "policy": table.policy, "cases": len(table.cases),
        "failing": [{"line": row.case.line, "title": row.case.title,
                     "expected": list(row.case.rules),
                     "found": None if row.unjudged is not None else list(row.refused_by),
                     "says": list(row.says), "could_not_judge": row.unjudged} for row in rows],
        "untried": [{"file": word.place.source, "line": word.place.line,
                     "column": word.place.column, "rule": word.rule, "path": list(word.path)}
                    for word in untried]}
