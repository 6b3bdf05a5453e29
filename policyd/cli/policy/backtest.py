"""`policyd policy backtest REPO`: what a policy would have said of what is merged already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.adapters import gitfolder, workers
from policyd.adapters.gitrepo import PushedRepo
from policyd.cli import CANNOT, OK
from policyd.cli.policy import files, tried
from policyd.core import backtesting
from policyd.core.backtesting import Step, Tally
from policyd.core.cases import pusher
from policyd.core.errors import PolicydError
from policyd.core.policy import Active, Mode, Policy, Settings
from policyd.core.values import dataclass

if TYPE_CHECKING:
    from policyd.backtest import Backtest


@dataclass(frozen=True, slots=True)
class Heading:
    """What is judged, how, and what to know about it."""

    repository: str
    branch: str
    pusher: str | None
    policies: tuple[Policy, ...]
    notes: tuple[str, ...]


@click.command("backtest")
@click.argument("repository", type=click.Path(path_type=Path), metavar="REPO")
@click.option("--branch", metavar="NAME",
              help="Its own (HEAD) where that is guarded, else the first guarded one.")
@click.option("--since", type=click.DateTime(formats=["%Y-%m-%d"]), metavar="DATE",
              help="The first day, in UTC, by committer dates.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="The newest N steps; all of them unless given.")
@click.option("--against", metavar="POLICY",
              help="A policy of HOME by its name, or a file; those that hold for REPO by default.")
@click.option("--as", "name", metavar="NAME",
              help="Who pushed all of it; nobody known by default. Or mei#SHA256:...")
@click.option("--rule", "only", multiple=True, metavar="ID",
              help="This rule only, also where it is off; may be given several times.")
@click.option("--all-rules", "every", is_flag=True,
              help="As if each rule that the policy names enforced, whatever its mode.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N",
              help="Processes; as many as there are processors by default.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text",
              show_default=True, help="JSON has every finding.")
@click.pass_obj
def command(home: Path, repository: Path, branch: str | None, since: datetime | None,
            limit: int | None, against: str | None, name: str | None, only: tuple[str, ...],
            jobs: int | None, form: str, *, every: bool) -> int:
    """Judge the history of REPO as if each first-parent step of a branch had been a push.

    Under HOME's policy files as they are edited, applied or not. Accepted history is what the
    branch held before the step, so that commits which a merge brings are judged; the day, dates
    in records and the days that literal-overlap looks back are by committer dates. Holds, waivers
    and permits do not count.

    Nothing is written. REPO may be bare or have a work tree. Findings are no failure: the exit
    code is 0, and 2 where nothing can be judged. Ctrl-C ends it and tells what was judged.
    """
    from policyd import backtest
    from policyd.cli import backtesttable

    who, credential = _pusher(name)
    git_dir = gitfolder.git_dir(repository)
    repo = PushedRepo(str(git_dir))
    chosen = tried.policies(home, against, git_dir)
    tried.demand_rules(chosen.policies, only)
    ref = tried.branch(chosen.policies, repo, branch)
    listed = tuple(backtesting.as_tried(policy, ref, only=only, every=every)
                   for policy in chosen.policies)
    asked = backtest.Asked(str(git_dir), chosen.repository, ref, who, credential,
                           since.replace(tzinfo=UTC) if since else None, limit)
    made = backtest.prepared(asked, Active("0" * 64, Settings("/nonexistent"), listed), repo)
    heading = Heading(chosen.repository, ref, name, listed,
                      (*chosen.notes, *_notes(made, chosen.policies, only, ref)))
    tally = Tally(_modes(made), min(policy.bounds.seconds for policy in chosen.policies))
    with closing(made.steps(jobs or workers.processors())) as steps:
        fed = _fed(tally, backtesttable.progress(steps, made.history.steps))
        stopped = backtesttable.json(heading, tally, fed) if form == "json" else \
            backtesttable.show(heading, tally, fed)
    if stopped:
        raise click.Abort
    summary = tally.summary()
    return CANNOT if summary.steps and not summary.judged else OK


def _fed(tally: Tally, steps: Iterator[Step]) -> Iterator[Step]:
    for step in steps:
        tally.feed(step)
        yield step


def _pusher(name: str | None) -> tuple[str | None, str | None]:
    if name is None:
        return None, None
    try:
        return pusher(name)
    except ValueError as error:
        raise PolicydError(f"--as: {error}") from None


def _modes(made: Backtest) -> dict[str, str]:
    """The rules that run, in the order in which findings are told."""
    asked, listed = made.asked, made.active.policies
    groups = {policy.name: policy.groups_of(asked.pusher, asked.credential) for policy in listed}
    newest = made.at(0) if made.history.commits else datetime.now(UTC)
    found = backtesting.modes(listed, groups, newest.date())
    return {rule: found[rule] for rule in files.rules() if rule in found}


def _notes(made: Backtest, policies: Sequence[Policy], only: Sequence[str],
           ref: str) -> Iterator[str]:
    for policy in policies:
        if not policy.guards(ref):
            yield f"{policy.name} does not guard {ref}; judged as if it did"
        if policy.mode is Mode.OFF:
            yield f"{policy.name} is off as a whole"
    left = tried.unnamed(policies)
    if left and not only:
        yield f"named by no policy, so not tried: {', '.join(left)}"
    if made.history.ends:
        yield f"history could not be followed to its beginning: {made.history.ends}"
    elif made.history.rooted:
        yield "the first commit of the branch is taken as it is"
