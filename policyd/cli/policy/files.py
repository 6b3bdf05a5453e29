"""What the commands about policies share: the files as edited, and what is in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from policyd.adapters import activepolicy, policyfiles
from policyd.core.compiled import Compiled, compile_home
from policyd.core.errors import CannotJudge, Fault
from policyd.core.policy import Active
from policyd.core.rule import Rule


def rules() -> Mapping[str, Rule]:
    """All rules by id."""
    from policyd.rules import BY_ID

    return BY_ID


def options() -> dict[str, type]:
    """The types of the rules' options, by rule id."""
    return {rule.id: rule.options for rule in rules().values()}


def compiled(home: Path) -> Compiled:
    """The files as they are edited. Raises FileInvalid."""
    return compile_home(policyfiles.sources(home), rules(),
                        knows_timezone=policyfiles.knows_timezone)


def in_force(home: Path) -> Active | None:
    """What is in force; None where nothing was put in force yet. Raises CannotJudge."""
    if not (home / activepolicy.FOLDER / activepolicy.CURRENT).exists():
        return None
    return activepolicy.load(home, options())


def replaceable(home: Path) -> Active | None:
    """What is in force and can be read; None, and a line about it, where it cannot."""
    try:
        return in_force(home)
    except CannotJudge as error:
        click.echo(f"replaces what cannot be used: {error}")
        return None


def warn(warnings: Sequence[Fault]) -> None:
    """A line a warning, as compilers write them."""
    for warning in warnings:
        click.echo(f"{warning.source}:{warning.line}:{warning.column}: "
                   f"warning: {warning.message}")
