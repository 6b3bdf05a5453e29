"""How a backtest is printed: a table and examples for people, one JSON object for programs."""

from __future__ import annotations

import json as plain
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from policyd.core.backtesting import Found, Row, Step, Summary, Tally
from policyd.core.render import printable, shortened

if TYPE_CHECKING:
    from policyd.cli.policy.backtest import Heading

T = TypeVar("T")
EVERY = 16
"""Steps between two looks at the bar."""

_WIDTH = 120
_ID = 10


def progress(steps: Iterable[T], count: int, *, what: str = "judging") -> Iterator[T]:
    """The steps, and on a terminal how many there have been. No thread: workers are forked."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from steps
        return
    with Progress(TextColumn(what), MofNCompleteColumn(), TimeRemainingColumn(),
                  console=console, auto_refresh=False, transient=True) as bar:
        task = bar.add_task("", total=count)
        for number, step in enumerate(steps, 1):
            bar.update(task, advance=1, refresh=number % EVERY == 0 or number < EVERY)
            yield step


def show(heading: Heading, tally: Tally, steps: Iterator[Step]) -> bool:
    """Judge and print; whether it was stopped by Ctrl-C, and then what there was until then."""
    stopped = False
    try:
        for _ in steps:
            pass
    except KeyboardInterrupt:
        stopped = True
    summary = tally.summary()
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDTH)
    for line in _head(heading, summary, stopped=stopped):
        console.print(Text(printable(line)), soft_wrap=True)
    if summary.judged:
        console.print(_table(summary))
    for line in _below(summary):
        console.print(Text(line), soft_wrap=True)
    return stopped


def json(heading: Heading, tally: Tally, steps: Iterator[Step]) -> bool:
    """Judge and print one object; steps are printed as they come. Whether Ctrl-C stopped it."""
    head = {"repository": heading.repository, "branch": heading.branch, "pusher": heading.pusher,
            "policies": [policy.name for policy in heading.policies],
            "notes": list(heading.notes)}
    click.echo(_object(head)[:-1] + ', "steps": [')
    stopped, comma = False, ""
    try:
        for step in steps:
            if step.found or step.unjudged is not None:
                click.echo(comma + _object(_step(step)), nl=False)
                comma = ",\n"
    except KeyboardInterrupt:
        stopped = True
    tail = {**_plain(tally.summary()), "stopped": stopped}
    click.echo("], " + _object(tail)[1:])
    return stopped


def _object(told: Any) -> str:
    """All that is no visible ASCII is escaped, as JSON escapes."""
    return plain.dumps(told).replace("\x7f", "\\u007f")


def _step(step: Step) -> dict[str, Any]:
    return {"commit": step.commit, "parent": step.parent, "time": step.time,
            "subject": step.subject, "milliseconds": round(step.milliseconds, 2),
            "findings": [asdict(found) for found in step.found], "unjudged": step.unjudged}


def _plain(summary: Summary) -> dict[str, Any]:
    told = {name: value for name, value in asdict(summary).items()
            if name not in ("rows", "reasons", "steps")}
    return {"tried": summary.steps, **told,
            "rules": [{**asdict(row), "examples": [step.commit for step, _ in row.examples]}
                      for row in summary.rows],
            "unjudged": [asdict(reason) for reason in summary.reasons]}


def _head(heading: Heading, summary: Summary, *, stopped: bool) -> Iterator[str]:
    names = ", ".join(f"{policy.name} ({policy.mode.value})" for policy in heading.policies)
    yield (f"{heading.repository}, {heading.branch.removeprefix('refs/heads/')}: "
           f"{_many(summary.steps, 'step')}"
           + (f", {summary.first} to {summary.last}" if summary.steps else "")
           + f", as pushed by {heading.pusher or 'nobody known'}, under {names}")
    if stopped:
        yield "stopped: what follows is about the newest steps only"
    yield from (f"note: {note}" for note in heading.notes)
    unjudged = summary.steps - summary.judged
    yield (f"refused: {_share(summary.refused, summary.judged)}; warned: "
           f"{_share(summary.warned, summary.judged)}; only observed: "
           f"{_share(summary.would_refuse, summary.judged)}; could not be judged: {unjudged}")
    if summary.slow:
        yield (f"note: {_many(summary.slow, 'step')} took longer here than the bound `seconds` of "
               "the policy; a push that does could not be judged")


def _table(summary: Summary) -> Table:
    table = Table(box=SIMPLE, padding=0, pad_edge=False)
    table.add_column("rule", no_wrap=True)
    table.add_column("mode", no_wrap=True)
    for heading in ("refused", "warned", "would\nrefuse", "share", "median\nms", "p99\nms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in summary.rows:
        _add(table, row.rule, row.mode, row.refused, row.warned, row.would_refuse,
             f"{row.share:.1%}", f"{row.median:.2f}", f"{row.p99:.2f}")
    _add(table, "a step as a whole", "", summary.refused, summary.warned,
         summary.would_refuse, "", f"{summary.median:.2f}", f"{summary.p99:.2f}")
    return table


def _below(summary: Summary) -> Iterator[str]:
    for row in summary.rows:
        if row.examples:
            yield f"{row.rule}, {row.mode}: {_many(row.findings, 'finding')}; the latest:"
            yield from (f"  {_example(row, *both)}" for both in row.examples)
    if summary.reasons:
        yield "could not be judged:"
    for reason in summary.reasons:
        yield (f"  {_many(reason.steps, 'step')}, such as {reason.example[:_ID]}: "
               + printable(reason.says))


def _example(row: Row, step: Step, found: Found) -> str:
    mode = "" if found.mode == row.mode else f" [{found.mode}]"
    subject = shortened(printable(step.subject), 50)
    text = shortened(printable(found.says + _where(found)), _WIDTH - 16)
    return f"{step.commit[:_ID]} {subject}{mode}: {text}"


def _where(found: Found) -> str:
    """The first place that the finding does not name anyway."""
    for spot in found.spots:
        if spot.path is not None and (spot.line or spot.path not in found.says):
            return f", {spot.path}" + (f":{spot.line}" if spot.line else "")
    return ""


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.1%})" if whole else str(part)


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _add(table: Table, *cells: object) -> None:
    """As text, never as markup."""
    table.add_row(*(Text(printable(str(cell))) for cell in cells))
