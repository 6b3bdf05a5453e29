"""`policyd policy lint`: what is wrong in the files, and what of them fits a repository."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli.policy import files
from policyd.core.compiled import Compiled
from policyd.core.fitting import Repository, misfits
from policyd.core.nodes import in_order
from policyd.core.policy import Policy


@click.command("lint")
@click.option("--repo", "repository", metavar="REPO", type=click.Path(path_type=Path),
              help="A bare repository to compare the patterns with.")
@click.pass_obj
def command(home: Path, repository: Path | None) -> None:
    """Print all that is wrong in policyd.yaml, policies/ and groups/."""
    compiled = files.compiled(home)
    files.warn(compiled.warnings)
    if repository is not None:
        files.warn(in_order(
            misfit for policy in compiled.policies
            for misfit in misfits(compiled.nodes[policy.name], policy,
                                  _looked_at(repository, compiled, policy))))


def _looked_at(path: Path, compiled: Compiled, policy: Policy) -> Repository:
    """What a policy would find in a repository."""
    from policyd.adapters import treepaths
    from policyd.adapters.gitrepo import PushedRepo
    from policyd.adapters.reponame import known_as
    from policyd.cli.repositories import git_dir_of

    git_dir = git_dir_of(path)
    repo = PushedRepo(str(git_dir))
    refs = repo.refs()
    tips = {tip for ref, tip in refs.items()
            if ref.startswith("refs/heads/") and policy.guards(ref)}
    return Repository(known_as(git_dir, compiled.settings, ""), refs,
                      treepaths.paths(repo, tips))
