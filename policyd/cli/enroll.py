"""`policyd enroll REPO...`: have pushes judged, from the tips that are there now."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import click

from policyd.adapters import activepolicy
from policyd.adapters.hosts import HOSTS, below
from policyd.cli import OK, enrolling
from policyd.cli import repositories as shared
from policyd.cli.recording import Case
from policyd.core.index import Bootstrap
from policyd.core.policy import Active
from policyd.core.values import dataclass
from policyd.rules import OPTIONS


@dataclass(frozen=True, slots=True)
class _Asked:
    """The command line, as far as it goes for each repository."""

    line: str
    server: str | None
    hooks_path: Path | None
    every_ref: bool
    bootstrap: Bootstrap | None
    dry_run: bool


@click.command("enroll")
@click.argument("repositories", nargs=-1, metavar="REPO...", type=click.Path(path_type=Path))
@click.option("--server", type=click.Choice(sorted(HOSTS)),
              help="What runs the hooks there; gitea is for Forgejo too. Unless given: as it was "
                   "enrolled before, else `server` of policyd.yaml, else plain.")
@click.option("--hooks-path", metavar="DIR", type=click.Path(path_type=Path),
              help="Put one hook into DIR for all repositories that run what is there.")
@click.option("--all", "every", is_flag=True,
              help="All bare repositories below REPO..., or below the roots of policyd.yaml.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and do nothing.")
@click.option("--accept-existing", "every_ref", is_flag=True,
              help="All refs that are there count as accepted history, not the guarded ones alone.")
@click.option("--bootstrap", "until", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]),
              help="Take one push into an empty repository unjudged, until this day (inclusive).")
@click.option("--by", "group", metavar="GROUP", help="Whose members may make that push.")
@click.pass_obj
def command(home: Path, repositories: Sequence[Path], *, server: str | None,
            hooks_path: Path | None, every: bool, dry_run: bool, every_ref: bool,
            until: datetime | None, group: str | None) -> int:
    """Have pushes into bare repositories judged.

    Records the tips of the guarded branches as accepted history and puts the hook where the
    server looks for it (docs/servers.md). A hook that is there already is kept and runs last. For
    a repository that is enrolled, the hook is renewed and the record goes on; guarded branches
    that it does not hold yet are added to it.
    """
    if (until is None) is not (group is None):
        raise click.UsageError("--bootstrap DATE and --by GROUP go together")
    if not repositories and not every:
        raise click.UsageError("name a REPO, or --all")
    home = Path(os.path.abspath(home))
    active = activepolicy.load(home, OPTIONS)
    if hooks_path is not None and not HOSTS[server or active.settings.server].TAKES_FOLDER:
        raise click.UsageError(f"{server or active.settings.server} says itself where its hooks "
                               "are; leave --hooks-path out")
    chance = Bootstrap(until.date(), group) if until is not None and group is not None else None
    words = shared.typed(home, "enroll", repositories, {
        "--server": server, "--hooks-path": hooks_path, "--all": every,
        "--accept-existing": every_ref, "--bootstrap": chance and str(chance.until),
        "--by": group})
    asked = _Asked(words, server, hooks_path and Path(os.path.abspath(hooks_path)), every_ref,
                   chance, dry_run)
    if every:
        return _all(home, active, repositories, asked)
    probed: set[int] = set()
    return shared.each(repositories, lambda path: _one(home, active, path, asked, probed))


def _one(home: Path, active: Active, path: Path, asked: _Asked, probed: set[int]) -> Iterator[str]:
    case: Case = replace(
        enrolling.case_of(home, active, path), every_ref=asked.every_ref,
        bootstrap=asked.bootstrap, server=asked.server, hooks_path=asked.hooks_path,
        probed=probed)
    work = enrolling.preview if asked.dry_run else enrolling.enrol
    return work(case, command=asked.line)


def _all(home: Path, active: Active, roots: Sequence[Path], asked: _Asked) -> int:
    """One after the other; those that are enrolled are left, and one that fails stops nothing."""
    wanted = list(roots) or [Path(root) for root in active.settings.roots]
    if not wanted:
        raise click.UsageError("policyd.yaml has no roots; name a folder")
    found = list(dict.fromkeys(path for root in wanted for path in below.bare(root)))
    probed: set[int] = set()
    counted = {"enrolled": 0, "left": 0, "failed": 0}

    def work(path: Path) -> Iterator[str]:
        why = enrolling.left(active, path, asked.server or active.settings.server)
        if why is None:
            yield from _one(home, active, path, asked, probed)
            counted["enrolled"] += 1
        else:
            counted["left"] += 1
            if why:
                yield f"left: {why}"

    code = OK
    for number, path in enumerate(found, 1):
        _progress(number, len(found))
        failed = shared.each([path], work)
        counted["failed"] += failed != OK
        code = max(code, failed)
    told = {**counted, "would be enrolled": counted["enrolled"]}
    first = "would be enrolled" if asked.dry_run else "enrolled"
    click.echo(f"{len(found)} found: {told[first]} {first}, {counted['left']} left, "
               f"{counted['failed']} failed")
    return code


def _progress(number: int, of: int) -> None:
    """For a person who waits; a file gets none."""
    if sys.stderr.isatty():
        click.echo(f"\r{number} of {of}\r", err=True, nl=False)
