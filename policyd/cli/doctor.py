"""`policyd doctor [REPO...]`: what would make the hook silently not run, or run wrongly."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from policyd.adapters import asowner, canary, repoindex, reponame
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.statefolder import because
from policyd.cli import FAULTS, OK
from policyd.cli import repositories as shared
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.policy import Active
from policyd.doctor import repository, server
from policyd.doctor.findings import Finding, Weight, fault, note


@click.command("doctor")
@click.argument("repositories", nargs=-1, type=click.Path(path_type=Path), metavar="[REPO...]")
@click.option("--fix", is_flag=True, help="Mend what is safe to mend.")
@click.option("--no-canary", is_flag=True, help="Push nothing.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text",
              show_default=True, help="How the result is printed.")
@click.pass_obj
def command(home: Path, repositories: Sequence[Path], *, fix: bool, no_canary: bool,
            form: str) -> int:
    """Look at the server and at REPO (every enrolled repository unless given).

    Each finding comes with its remedy. A canary, a push to refs/check/... through the real
    receive-pack, proves that the hook runs; it moves nothing. Exit code 1: there is a fault.
    """
    home = Path(os.path.abspath(home))
    active, wrong = server.in_force(home)
    findings = [_plain(finding, fix=False) for finding in wrong] if active is None else \
        _as_judge(home, active, list(repositories), fix=fix, canaries=not no_canary)
    if form == "json":
        click.echo(json.dumps(findings))
    else:
        _show(findings)
    return FAULTS if any(one["weight"] == Weight.FAULT.value for one in findings) else OK


def _as_judge(home: Path, active: Active, repositories: list[Path], *, fix: bool,
              canaries: bool) -> Any:
    state = Path(active.settings.state)
    line = shared.typed(home, "doctor", repositories)
    try:
        owner = asowner.owner_of(state)
    except CannotJudge as error:
        return [_plain(fault("state folder", str(state), str(error), "policyd enroll REPO makes "
                             "it"), fix=False)]
    return asowner.run(owner, lambda: [
        _plain(finding, fix=fix)
        for finding in _all(home, active, repositories, canaries=canaries)], command=line)


def _all(home: Path, active: Active, repositories: list[Path], *,
         canaries: bool) -> Iterable[Finding]:
    yield from server.look(home, active)
    for path in repositories or _enrolled(active):
        yield from _one(home, active, path, canaries=canaries)


def _enrolled(active: Active) -> list[Path]:
    found = []
    for key in repoindex.keys(active.settings.state):
        try:
            found.append(Path(repoindex.load(active.settings.state, key).git_dir))
        except CannotJudge:
            continue
    return sorted(path for path in found if path != Path())


def _one(home: Path, active: Active, path: Path, *, canaries: bool) -> Iterable[Finding]:
    try:
        git_dir = shared.git_dir_of(path)
        yield from repository.look(repository.Place(active, home, git_dir, Path(sys.executable)))
        if canaries:
            yield from _canaries(git_dir, active)
    except PolicydError as error:
        yield fault("repository", str(path), str(error), "see the sentence")
    except OSError as error:
        yield fault("repository", str(path), f"{error.filename or 'a file'}: {because(error)}",
                    "let the owner of the state folder read it")


def _canaries(git_dir: Path, active: Active) -> Iterable[Finding]:
    """A push from here is one through the server only where git itself is the server."""
    source = active.settings.identity.source
    if source in reponame.TELLING:
        yield note("canary", str(git_dir), f"none was pushed: {source} tells its hooks what a push "
                   "from here would not", "ask through the server: git push origin "
                   "HEAD:refs/check/main")
        return
    for branch in _branches(git_dir, active):
        yield from _canary(git_dir, branch)


def _canary(git_dir: Path, branch: str) -> Iterable[Finding]:
    found = canary.push(git_dir, branch)
    if found is None or found.answered:
        return
    if found.taken:
        yield fault("canary", str(git_dir), "a push that policyd must refuse was taken: no hook "
                    "of policyd runs there", f"policyd enroll {git_dir}")
    else:
        yield fault("canary", str(git_dir), "a push was refused, and not by a judgement: "
                    f"{found.said}", "see the sentence, and STATE/incidents.jsonl")


def _branches(git_dir: Path, active: Active) -> list[str]:
    """One guarded branch that is there: where the canary asks."""
    repo = PushedRepo(str(git_dir))
    names = [name for name in repo.names("refs/heads/") if repo.resolve(name)[0] == name
             and any(policy.guards(name) for policy in active.policies)]
    return [sorted(names)[0].removeprefix("refs/heads/")] if names else []


def _plain(finding: Finding, *, fix: bool) -> dict[str, str]:
    mended = ""
    if fix and finding.mend is not None:
        try:
            mended = finding.mend()
        except PolicydError as error:
            mended = f"could not be mended: {error}"
        except OSError as error:
            mended = f"could not be mended: {because(error)}"
    return {"weight": finding.weight.value, "check": finding.check, "about": finding.about,
            "says": finding.says, "remedy": finding.remedy, "mended": mended}


def _show(findings: Sequence[dict[str, str]]) -> None:
    from policyd.core.render import printable

    for one in findings:
        about = f" {one['about']}" if one["about"] else ""
        click.echo(printable(f"{one['weight']}: {one['check']}{about}: {one['says']}"))
        click.echo(printable(f"    {one['mended'] or one['remedy']}"))
    counted = {weight: sum(one["weight"] == weight.value for one in findings)
               for weight in Weight}
    click.echo(f"{counted[Weight.FAULT]} faults, {counted[Weight.WARNING]} warnings, "
               f"{counted[Weight.NOTE]} notes")
