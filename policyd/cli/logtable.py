"""How a summary of the decision log is printed: tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from policyd.core.logsummary import Row, Summary
from policyd.core.render import printable, shortened

_WIDTH = 120
"""Where nobody's terminal says another; names and texts give up their middle for it."""
_NAME = 32
_SHARES = 20
"""Lines of the second table; JSON has all of them."""


def as_json(summary: Summary) -> str:
    """One object. All that is no visible ASCII is escaped, as JSON escapes."""
    return json.dumps(asdict(summary)).replace("\x7f", "\\u007f")


def show(summary: Summary) -> None:
    """Print it."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDTH)
    console.print(Text(_totals(summary)))
    if summary.rows:
        console.print(_rules(summary.rows))
        console.print(_shares(summary.rows))
        for line in _examples(summary.rows):
            console.print(Text(line), soft_wrap=True)
    if summary.costs:
        console.print(_costs(summary))
    if summary.unreadable:
        console.print(Text(_unreadable(summary)), soft_wrap=True)


def _totals(summary: Summary) -> str:
    totals = summary.totals
    text = (f"pushes: {totals['accepted']} accepted, {totals['refused']} refused, "
            f"{totals['unjudged']} could not be judged; checks: {totals['checks']}")
    passed, excused = totals["accepted_unjudged"], totals["excused"]
    if passed:
        text += f"; {passed} of the accepted passed unjudged"
    if excused:
        text += f"; {excused} of the accepted passed by a permit or an override"
    return text


def _rules(rows: Sequence[Row]) -> Table:
    table = _table("rule", "mode", "pushes:", "accepted:", "findings:", "pushers:", "first", "last")
    for row in rows:
        _add(table, row.rule, row.mode, row.pushes, row.accepted, row.findings, row.pushers,
             row.first[:16], row.last[:16])
    return table


def _shares(rows: Sequence[Row]) -> Table:
    table = _table("rule", "mode", "repository", "pusher", "pushes:", "findings:")
    listed = [(row, share) for row in rows for share in row.shares]
    listed.sort(key=lambda both: -both[1].pushes)
    for row, share in listed[:_SHARES]:
        _add(table, row.rule, row.mode, share.repository or "(none)",
             share.pusher or "(no name)", share.pushes, share.findings)
    if len(listed) > _SHARES:
        _add(table, f"and {len(listed) - _SHARES} more", "", "", "", "", "")
    return table


def _examples(rows: Iterable[Row]) -> Iterable[str]:
    for row in rows:
        yield f"{printable(row.rule)}, {row.mode}:"
        for example in row.examples:
            text = printable(f"{example.ref}: {example.says}")
            yield f"  {example.id} {shortened(text, _WIDTH - 9)}"


def _costs(summary: Summary) -> Table:
    table = _table("milliseconds of", "judged:", "median:", "p99:")
    for cost in summary.costs:
        _add(table, cost.rule, cost.judged, f"{cost.median:.2f}", f"{cost.p99:.2f}")
    return table


def _unreadable(summary: Summary) -> str:
    more = summary.unreadable - len(summary.places)
    places = ", ".join(summary.places) + (f" and {more} more" if more > 0 else "")
    return (f"left out, because no entry could be read there: {summary.unreadable} lines "
            f"({places}); see `policyd log verify`")


def _table(*headings: str) -> Table:
    """A heading that ends in a colon is that of numbers."""
    table = Table(box=SIMPLE)
    for heading in headings:
        if heading.endswith(":"):
            table.add_column(heading.removesuffix(":"), justify="right", no_wrap=True)
        else:
            table.add_column(heading, overflow="fold")
    return table


def _add(table: Table, *cells: object) -> None:
    """As text, never as markup."""
    table.add_row(*(Text(shortened(printable(str(cell)), _NAME)) for cell in cells))
