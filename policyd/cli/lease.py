"""`policyd lease`: hashes leased corpora ahead of the push that is too short a time for them."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.adapters.gitrepo import Missing
from policyd.cli import OK, operating
from policyd.core.errors import PolicydError
from policyd.gatehouse import Standing, outside_of_pushes


@click.group("lease")
def command() -> None:
    """See to the digests of leased corpora."""


@command.command()
@click.argument("repository", type=click.Path(path_type=Path), metavar="REPO")
@click.argument("revision", metavar="[REF]", required=False)
@click.pass_obj
def warm(home: Path, repository: Path, revision: str | None) -> int:
    """Hash what the leases of REF pin (every branch unless given), however large it is.

    A corpus that is larger than `lease_bytes` of the policy is pushed to a branch of its own
    first, with its lease; then this; then the same commit to the guarded branch.
    """
    words = ["lease", "warm", str(repository), *([revision] if revision else [])]

    def work() -> list[str]:
        there = operating.opened(home, repository)
        files = outside_of_pushes(str(there.git_dir), there.repo,
                                  Standing(there.state, there.key), budget=1 << 60,
                                  seconds=86_400.0)
        said: dict[str, None] = {}
        for ref, tip in _tips(there, revision):
            tree = there.repo.header(bytes.fromhex(tip))[0]
            for policy in there.policies:
                for corpus, digest in files.warmed(tree, policy.records):
                    said[f"{ref.removeprefix('refs/heads/')}: {corpus} {digest}"] = None
        return list(said)

    lines = operating.as_keeper(home, words, work)
    for line in lines or ["no lease pins anything there"]:
        click.echo(line)
    return OK


def _tips(there: operating.Opened, revision: str | None) -> list[tuple[str, str]]:
    names = [revision if revision.startswith("refs/") else f"refs/heads/{revision}"] \
        if revision else list(there.repo.names("refs/heads/"))
    found = [(name, oid) for name in names if (oid := there.repo.resolve(name)[1]) is not None]
    if revision and not found:
        raise PolicydError(f"there is no ref {names[0]} in {there.name}")
    try:
        return [(name, peeled.oid.hex()) for name, oid in found
                if (peeled := there.repo.peel(bytes.fromhex(oid))).kind == "commit"]
    except Missing as error:
        raise PolicydError(f"the object {error} is missing; see `git fsck`") from error
