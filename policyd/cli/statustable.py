"""How the status is printed for people: sentences, and two tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from policyd.core.render import printable

_WIDTH = 140
"""Where nobody's terminal says another."""


def show(told: Mapping[str, Any]) -> None:
    """Print what `cli.status.as_plain` made."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDTH)
    for sentence in (told["pause"], told["daemon"], told["policies"]):
        if sentence:
            console.print(Text(printable(sentence)), soft_wrap=True)
    for hook in told["hooks"]:
        console.print(Text(printable(
            f"HOOK of {hook['repository']}: {hook['says']}: `{hook['remedy']}`")), soft_wrap=True)
    repositories = told["repositories"]
    console.print(_table(("repository", "branch", "gate", "since", "why"), _gates(repositories)))
    for sentence in _let_through(repositories):
        console.print(Text(printable(sentence)), soft_wrap=True)
    for sentence in _replays(told["replays"], repositories):
        console.print(Text(printable(sentence)), soft_wrap=True)
    soon = sorted(_soon(repositories))
    if soon:
        console.print(_table(("days", "last day", "row", "owner", "where", "repository"),
                             [cells for _, *cells in soon]))
    else:
        console.print("nothing ends within 30 days")


def _gates(repositories: list[Mapping[str, Any]]) -> Iterator[list[str]]:
    for one in repositories:
        name = one["repository"] or one["path"] or "(unknown)"
        if one["problem"]:
            yield [name, "", "unknown", "", one["problem"]]
        for branch in one["branches"]:
            yield [name, branch["branch"], "open" if branch["open"] else "CLOSED",
                   branch["since"][:16], "\n".join(_why(branch))]


def _let_through(repositories: list[Mapping[str, Any]]) -> Iterator[str]:
    """What is permitted, and what passed lately although rules refuse it."""
    for one in repositories:
        for permit in one["permits"]:
            yield (f"PERMITTED once: {one['repository']} {permit['ref']} to {permit['new'][:12]} "
                   f"by {permit['pusher']}, until {permit['until']}, by {permit['operator']}: "
                   f"{permit['reason']}")
        for use in one["uses"]:
            operator = f" of {use['operator']}" if use["operator"] else ""
            yield (f"let through {use['at'][:16]}: {one['repository']} {use['ref']} by "
                   f"{use['pusher']}, {use['by']}{operator} ({', '.join(use['rules'])}): "
                   f"{use['reason']}")


def _replays(queue: Mapping[str, Any], repositories: list[Mapping[str, Any]]) -> Iterator[str]:
    """What is wrong with replays, those that wait, and what each repository has to replay."""
    if queue["trouble"]:
        yield f"REPLAYS: {queue['trouble']}"
    for job in queue["queued"]:
        yield (f"queued since {job['since'][:16]}: the replay of {job['candidate'][:12]} for "
               f"{job['repository']} {job['ref']}")
    for one in repositories:
        for sentence in one["replays"]:
            yield f"replays of {one['repository'] or one['path']}: {sentence}"


def _why(branch: Mapping[str, Any]) -> Iterator[str]:
    for reason in branch["reasons"]:
        where = "" if reason["path"] is None else \
            f" ({reason['path']}:{reason['line']})" if reason["line"] else f" ({reason['path']})"
        last = f", last day {reason['last']}" if reason["last"] else ""
        owner = f", owner {reason['owner']}" if reason["owner"] else ""
        yield f"{reason['cause']}: {reason['says']}{where}{last}{owner}"
    for row, until in branch["waived"]:
        yield f"waived until {until}: row {row}"


def _soon(repositories: list[Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for one in repositories:
        for branch in one["branches"]:
            for row in branch["soon"]:
                yield (row["days"], str(row["days"]), row["last"], f"{row['kind']} {row['row']}",
                       row["owner"], f"{row['path']}:{row['line']}",
                       f"{one['repository']} {branch['branch']}")


def _table(headings: tuple[str, ...], rows: Any) -> Table:
    table = Table(box=SIMPLE)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text("\n".join(map(printable, cell.split("\n")))) for cell in row))
    return table
