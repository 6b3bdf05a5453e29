"""`policyd retire REPO REF`: a guarded branch that is no longer one stays accepted history."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.adapters import activepolicy, asowner, decisionlog, repoindex
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.reponame import known_as
from policyd.cli import OK
from policyd.cli import repositories as shared
from policyd.core import index as indexes
from policyd.core.errors import PolicydError
from policyd.judge import policies_for
from policyd.rules import OPTIONS


@click.command("retire")
@click.argument("repository", type=click.Path(path_type=Path), metavar="REPO")
@click.argument("ref", metavar="REF")
@click.pass_obj
def command(home: Path, repository: Path, ref: str) -> int:
    """Take a branch out of the record of guarded branches; what it held stays accepted.

    For a branch that is gone, or that no policy guards any more. One that is guarded and there
    is not retired: delete it first, as one of its creators.
    """
    home = Path.cwd() / home
    state = Path(activepolicy.load(home, OPTIONS).settings.state)
    git_dir = shared.git_dir_of(repository)
    name = ref if ref.startswith("refs/") else f"refs/heads/{ref}"
    line = shared.typed(home, "retire", [repository]) + f" {name}"
    told = asowner.run(asowner.owner_of(state), lambda: _retire(home, git_dir, name), command=line)
    click.echo(told)
    return OK


def _retire(home: Path, git_dir: Path, ref: str) -> str:
    active = activepolicy.load(home, OPTIONS)
    state = Path(active.settings.state)
    key, repo = repoindex.key_of(git_dir), PushedRepo(str(git_dir))
    index = repoindex.load(state, key)
    repository = known_as(git_dir, active.settings, index.name)
    tip = index.branches.get(ref)
    if tip is None:
        held = ", ".join(sorted(index.branches)) or "none"
        raise PolicydError(f"{ref} is no recorded branch of {repository}; recorded are {held}")
    guarded = any(policy.guards(ref) for policy in policies_for(active, repository))
    if guarded and repo.resolve(ref)[1] is not None:
        raise PolicydError(f"{ref} is there and guarded; a creator deletes it with git push")
    decisionlog.amend(state, key, {
        "verdict": "retired", "repository": repository, "operator": shared.operator(),
        "ref": ref, "tip": tip}, lambda index: indexes.without(index, ref))
    return f"{repository}: {ref} retired; what it held ({tip[:12]}) stays accepted history"
