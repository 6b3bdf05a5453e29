"""`policyd log`: the decision log, for who must be able to trust it."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from policyd.adapters import (
    activepolicy,
    asowner,
    decisionlog,
    logcheck,
    logfiles,
    logprune,
    statefolder,
)
from policyd.core.chaincheck import LogFault, LogReport
from policyd.core.errors import CannotJudge
from policyd.core.logsummary import Summary, Tally, Wanted

WHOLE, FAULTY = 0, 1

_form = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text",
                     show_default=True, help="How the result is printed.")
_DAY = click.DateTime(formats=["%Y-%m-%d"])


@click.group("log")
def command() -> None:
    """Look after the decision log."""


group = command


@command.command()
@_form
@click.pass_obj
def verify(home: Path, form: str) -> int:
    """Check that no entry was edited, removed, moved or put in.

    Rotated files and the present one are one chain. Exit code 0: the log is whole. 1: it is not,
    and each fault is printed with its line.
    """
    report = logcheck.verify(_state(home) / decisionlog.NAME)
    click.echo(_as_json(report) if form == "json" else _as_text(report))
    return WHOLE if report.whole else FAULTY


@command.command()
@click.option("--keep", type=click.IntRange(min=0), metavar="N",
              help="Verify, then remove, the oldest rotated files beyond N.")
@click.option("--lost", is_flag=True,
              help="The present log is gone for good: go on behind the newest rotated file.")
@click.pass_obj
def rotate(home: Path, keep: int | None, lost: bool) -> None:
    """Close the log under another name and carry its chain on in a new one."""
    home = Path(os.path.abspath(home))
    state = _state(home)
    options = [*(["--lost"] if lost else []), *([f"--keep={keep}"] if keep is not None else [])]
    line = shlex.join(["policyd", "--home", str(home), "log", "rotate", *options])
    who = asowner.user_name(os.getuid()) or f"uid {os.getuid()}"
    owner = asowner.owner_of(state)
    click.echo(asowner.run(owner, lambda: _rotate(state, who, lost=lost), command=line))
    if keep is not None:
        for name in asowner.run(owner, lambda: _prune(state, keep, who), command=line):
            click.echo(f"{name} removed")


@command.command()
@click.option("--since", type=_DAY, metavar="DATE", help="The first day, in UTC.")
@click.option("--until", type=_DAY, metavar="DATE", help="The last day, in UTC.")
@click.option("--repo", "repository", metavar="NAME", help="One repository, as the log names it.")
@_form
@click.pass_obj
def report(home: Path, since: datetime | None, until: datetime | None, repository: str | None,
           form: str) -> None:
    """Count what rules found: what observing and warning ones would have refused.

    By rule and mode: pushes with findings, how many of them were accepted all the same, findings
    and pushers; then by repository and pusher; the latest examples; milliseconds by rule.
    Checks are counted in the totals and in the milliseconds only.
    """
    from policyd.cli import logtable

    wanted = Wanted(since.date() if since else None, until.date() if until else None, repository)
    summary = _summary(_state(home), wanted)
    if form == "json":
        click.echo(logtable.as_json(summary))
    else:
        logtable.show(summary)


@command.command()
@click.argument("repository", type=click.Path(path_type=Path), metavar="[REPO]", required=False)
@click.option("--last", type=click.IntRange(min=1), default=50, show_default=True, metavar="N",
              help="Pushes of each repository.")
@click.option("--most", type=click.IntRange(min=1), default=200, show_default=True, metavar="N",
              help="Pushes in all.")
@click.option("--seconds", type=click.FloatRange(min=0), default=30.0, show_default=True)
@_form
@click.pass_obj
def rejudge(home: Path, repository: Path | None, last: int, most: int, seconds: float,
            form: str) -> int:
    """Judge the latest pushes again, by what is in force and by this program; say what differs.

    Each is judged as of its own moment, on what was accepted then, without permits and overrides.
    Nothing is written. Exit code 1: a push would be judged otherwise than it was.
    """
    from policyd.cli import logagain

    bounds = {"--last": last, "--most": most, "--seconds": seconds}
    report = logagain.report(home, repository, bounds)
    click.echo(json.dumps(report) if form == "json" else "\n".join(logagain.lines(report)))
    return FAULTY if any(one["differs"] for one in report["pushes"]) else WHOLE


def _state(home: Path) -> Path:
    from policyd.rules import OPTIONS

    return Path(activepolicy.load(home, OPTIONS).settings.state)


def _rotate(state: Path, operator: str, *, lost: bool) -> str:
    if lost:
        closed = decisionlog.go_on_after_loss(state, operator)
        return f"the log goes on behind {closed.name}"
    done = decisionlog.rotate(state, operator)
    return "nothing to rotate" if done is None else f"closed as {done.name}"


def _prune(state: Path, keep: int, operator: str) -> list[str]:
    return [closed.name for closed in logprune.prune(state, keep, operator)]


def _summary(state: Path, wanted: Wanted) -> Summary:
    tally = Tally(wanted)
    try:
        with closing(logfiles.read_undisturbed(state)) as log:
            for closed in log.rotated:
                _feed(tally, closed.name, log.of(closed))
            _feed(tally, logfiles.NAME, log.of_present())
    except OSError as error:
        raise CannotJudge(f"decision log in {state} cannot be read: "
                          f"{statefolder.because(error)}") from error
    return tally.summary()


def _feed(tally: Tally, file: str, lines: Iterable[bytes]) -> None:
    for number, line in enumerate(lines, 1):
        tally.feed(line.removesuffix(b"\n"), file=file, number=number,
                   ended=line.endswith(b"\n"))


def _as_text(report: LogReport) -> str:
    lines = [f"{fault.file}:{fault.line}: {fault.message}" for fault in report.faults]
    lines += [f"{note.file}:{note.line}: note: {note.message}" for note in report.notes]
    if report.whole:
        lines.append(f"whole: {report.entries} entries, head {report.head.hash}")
    return "\n".join(lines)


def _as_json(report: LogReport) -> str:
    return json.dumps({
        "whole": report.whole,
        "entries": report.entries,
        "head": report.head.hash,
        "faults": [_as_object(fault) for fault in report.faults],
        "notes": [_as_object(note) for note in report.notes],
        "tears": list(report.tears),
    })


def _as_object(fault: LogFault) -> dict[str, Any]:
    return {"file": fault.file, "line": fault.line, "message": fault.message}
