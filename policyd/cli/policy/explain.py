"""`policyd policy explain [RULE]`: what is in force, and what a rule is about."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from policyd.cli.policy import files
from policyd.core import explaining
from policyd.core.catalogue import page
from policyd.core.changes import Change, changes
from policyd.core.decoding import unknown
from policyd.core.errors import CannotJudge, FileInvalid, PolicydError
from policyd.core.frozen import put_together
from policyd.core.policy import Active, Policy
from policyd.core.rule import Rule
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class _Edited:
    """What lies in the files and is not in force."""

    changed: tuple[Change, ...] = ()
    faults: tuple[str, ...] = ()


@click.command("explain")
@click.argument("rule", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.pass_obj
def command(home: Path, rule: str | None, form: str) -> None:
    """Print what is in force, or the manual page of RULE and how it is used."""
    active = files.in_force(home)
    known = files.rules()
    if rule is None:
        edited = _edited(home, active)
        told = json.dumps(_plain(active, edited), indent=2) if form == "json" \
            else "\n".join(_lines(active, edited))
    elif rule in known:
        told = json.dumps(_plain_rule(active, known[rule]), indent=2) if form == "json" \
            else "\n".join(_rule_lines(active, known[rule]))
    else:
        raise PolicydError(unknown("rule", rule, list(known)))
    click.echo(told)


def _edited(home: Path, active: Active | None) -> _Edited:
    try:
        compiled = files.compiled(home)
    except FileInvalid as invalid:
        return _Edited(faults=tuple(map(str, invalid.faults)))
    except CannotJudge as error:
        return _Edited(faults=(str(error),))
    return _Edited(changes(active, put_together(compiled.settings, compiled.policies)))


def _lines(active: Active | None, edited: _Edited) -> Iterator[str]:
    if active is None:
        yield "nothing is in force; `policyd policy apply`"
    else:
        yield f"in force: {active.digest[:12]}"
        for policy in active.policies:
            yield from explaining.lines(policy, files.rules())
    if edited.faults:
        yield "edited, and not to be applied:"
        yield from (f"  {fault}" for fault in edited.faults)
    elif active is not None and edited.changed:
        yield "edited, not applied:"
        yield from explaining.change_lines(edited.changed)


def _rule_lines(active: Active | None, rule: Rule) -> Iterator[str]:
    yield page(rule)
    yield "In force:"
    yield ""
    if active is None:
        yield "- nothing is; `policyd policy apply`"
    for policy in _policies(active):
        yield from explaining.use_lines(policy, rule)


def _plain(active: Active | None, edited: _Edited) -> dict[str, Any]:
    return {"in_force": active.digest if active is not None else None,
            "policies": explaining.policies(_policies(active), files.rules()),
            "edited": explaining.edited(edited.changed), "faults": list(edited.faults)}


def _plain_rule(active: Active | None, rule: Rule) -> dict[str, Any]:
    return {"rule": rule.id, "why": rule.why, "fix": rule.fix, "page": page(rule),
            "policies": [{"policy": policy.name, **explaining.use(policy, rule)}
                         for policy in _policies(active)]}


def _policies(active: Active | None) -> tuple[Policy, ...]:
    return active.policies if active is not None else ()
