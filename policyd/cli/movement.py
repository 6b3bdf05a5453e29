"""`policyd movement`: branches that moved past policyd, listed and taken for accepted history."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.adapters import decisionlog, gatefiles, hints, repoindex
from policyd.cli import OK, operating
from policyd.cli import repositories as shared
from policyd.core import index as indexes
from policyd.core import operating as acts
from policyd.core.errors import PolicydError
from policyd.core.index import Index
from policyd.core.movement import Movement
from policyd.gatehouse import guarded_names, strangers

_REPO = click.argument("repository", type=click.Path(path_type=Path), metavar="REPO")


@click.group("movement")
def command() -> None:
    """See to guarded branches that moved without an accepted push."""


@command.command("list")
@_REPO
@click.pass_obj
def listed(home: Path, repository: Path) -> int:
    """Say what moved: the recorded tip, and what is there now."""

    def work() -> list[str]:
        there = operating.opened(home, repository)
        return [_line(m) for m in _movements(there, repoindex.load(there.state, there.key))]

    lines = operating.as_keeper(home, ["movement", "list", str(repository)], work)
    for line in lines or ["nothing moved past policyd"]:
        click.echo(line)
    return OK


@command.command()
@_REPO
@click.argument("branch", metavar="[BRANCH]", required=False)
@click.option("--all", "every", is_flag=True, help="All branches that moved.")
@click.option("--reason", required=True, metavar="TEXT", help="What the log says of it.")
@click.pass_obj
def accept(home: Path, repository: Path, branch: str | None, *, every: bool,
           reason: str) -> int:
    """Take what is there for accepted history: look at it first, nobody judged it."""
    if every is (branch is not None):
        raise click.UsageError("name a BRANCH, or say --all")
    who = shared.operator()

    def work() -> list[str]:
        there = operating.opened(home, repository)
        ref = None if branch is None else there.branch(branch)
        return _accept(there, ref, reason, who)

    for line in operating.as_keeper(home, [
            "movement", "accept", str(repository), *([branch] if branch else ["--all"]),
            "--reason", reason], work):
        click.echo(line)
    return OK


def _accept(there: operating.Opened, ref: str | None, reason: str, who: str) -> list[str]:
    taken = acts.chosen(_movements(there, repoindex.load(there.state, there.key)), ref)

    def change(index: Index) -> Index:
        if acts.chosen(_movements(there, index), ref) != taken:
            raise PolicydError("it moved again meanwhile; look, and say so once more")
        for movement in taken:
            index = acts.accepting(index, movement, there.repo.holds)
        return index

    decisionlog.amend(there.state, there.key, {
        "verdict": "movement-accepted", "repository": there.name, "reason": reason,
        "operator": who, "movements": [[m.ref, m.recorded, m.live] for m in taken]}, change)
    hints.leave(there.state, there.key, hints.Hint(str(there.git_dir)))
    left = gatefiles.acts(there.state, there.key).holds
    held = {hold.ref for hold in left}
    return [f"{_line(m)}; accepted{', and still held' if m.ref in held else ''}" for m in taken]


def _movements(there: operating.Opened, index: Index) -> tuple[Movement, ...]:
    settled, moved = indexes.settle(index, {
        ref: there.repo.resolve(ref)[1] for ref in indexes.watched(index)})
    live = {name: oid for name in guarded_names(there.repo, there.policies)
            if (oid := there.repo.resolve(name)[1]) is not None}
    return (*moved, *strangers(settled, live))


def _line(movement: Movement) -> str:
    was, now = (oid or "absent" for oid in (movement.recorded, movement.live))
    return f"{movement.ref}: {was} is recorded, {now} is there"
