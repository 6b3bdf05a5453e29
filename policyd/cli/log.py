"""`policyd log`: the decision log, for who must be able to trust it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from policyd.adapters import activepolicy, decisionlog, logcheck
from policyd.core.chaincheck import LogReport

WHOLE, FAULTY = 0, 1


@click.group("log")
def command() -> None:
    """Look after the decision log."""


group = command


@command.command()
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text",
              show_default=True, help="How the result is printed.")
@click.pass_obj
def verify(home: Path, form: str) -> int:
    """Check that no entry was edited, removed, moved or put in.

    Exit code 0: the log is whole. 1: it is not, and each fault is printed with its line.
    """
    report = logcheck.verify(_state(home) / decisionlog.NAME)
    click.echo(_as_json(report) if form == "json" else _as_text(report))
    return WHOLE if report.whole else FAULTY


def _state(home: Path) -> Path:
    from policyd.rules import OPTIONS

    return Path(activepolicy.load(home, OPTIONS).settings.state)


def _as_text(report: LogReport) -> str:
    lines = [f"{decisionlog.NAME}:{fault.line}: {fault.message}" for fault in report.faults]
    if report.whole:
        lines += [f"{decisionlog.NAME}:{line}: note: torn by a crash or a power cut, and closed"
                  for line in report.tears]
        lines.append(f"whole: {report.entries} entries, head {report.head.hash}")
    return "\n".join(lines)


def _as_json(report: LogReport) -> str:
    return json.dumps({
        "whole": report.whole,
        "entries": report.entries,
        "head": report.head.hash,
        "faults": [{"line": fault.line, "message": fault.message} for fault in report.faults],
        "tears": list(report.tears),
    })
