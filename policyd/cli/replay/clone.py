"""What the commands for a clone share: two revisions, and how they are replayed."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

import click

from policyd.adapters import clock
from policyd.adapters.gitrepo import PushedRepo
from policyd.core.errors import PolicydError
from policyd.core.policy import Places, Replaying
from policyd.core.trees import Trees
from policyd.core.values import dataclass
from policyd.replay import prepare
from policyd.replay.job import Given
from policyd.replay.prepare import Sides, Trial
from policyd.replay.table import Table

OWN_SECRET = b"a clone has no secret; its draws are not those of the server"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks for on the command line."""

    base: str
    head: str
    seed: str | None = None
    """A number as a policy pins it, or 32 hex digits as a report names it."""
    site: Path | None = None
    python: Path | None = None
    sandbox: str = "bubblewrap"


def options(function: click.decorators.FC) -> click.decorators.FC:
    """The options that say what is replayed."""
    for one in (
            click.option("--base", metavar="REV", default="origin/HEAD", show_default=True,
                         help="Whose oracle judges."),
            click.option("--head", metavar="REV", default="HEAD", show_default=True,
                         help="Whose source is judged."),
            click.option("--site", type=click.Path(path_type=Path, file_okay=False, exists=True),
                         help="A folder of packages that the source may import."),
            click.option("--python", type=click.Path(path_type=Path, dir_okay=False, exists=True),
                         help="The interpreter of the source; this one by default."),
            click.option("--sandbox", type=click.Choice(["bubblewrap", "none"]),
                         default="bubblewrap", show_default=True,
                         help="`none` isolates nothing: for your own code alone.")):
        function = one(function)
    return function


@contextmanager
def prepared(asked: Asked) -> Iterator[tuple[Table, Trial, Given]]:
    """The job for two revisions of the clone around the current folder."""
    repo = PushedRepo(os.path.realpath(_git("rev-parse", "--git-common-dir")))
    trees = Trees(repo.tree)
    base, head = _commit(asked.base), _commit(asked.head)
    sides = Sides(base, _tree(repo, base), head, _tree(repo, head))
    replaying = Replaying(
        python=None if asked.python is None else str(asked.python.absolute()),
        site=None if asked.site is None else str(asked.site.absolute()), sandbox=asked.sandbox,
        seed=int(asked.seed) if asked.seed is not None and len(asked.seed) < 32 else None)
    found = prepare.trial(repo, trees, sides, replaying, Places(), _today(), lambda: OWN_SECRET,
                          always=True)
    if found is None:
        raise PolicydError(f"{asked.base} has no relation table below {Places().relations}")
    there, trial = found
    if asked.seed is not None and len(asked.seed) == 32:
        trial = replace(trial, seed=asked.seed.lower())
    with tempfile.TemporaryDirectory(prefix="policyd-replay-") as folder:
        place = Path(folder)
        place.chmod(0o755)
        yield there, trial, prepare.written(repo, trees, there, trial, place, {})


def seed(text: str | None) -> str | None:
    """A seed from the command line. Raises PolicydError where it is none."""
    if text is None or (text.removeprefix("-").isdigit() and len(text) < 32):
        return text
    if len(text) == 32 and all(digit in "0123456789abcdefABCDEF" for digit in text):
        return text
    raise PolicydError(f"{text!r} is no seed: a number, or the 32 hex digits of a report")


def _today() -> date:
    return clock.today("UTC", clock.now())


def _tree(repo: PushedRepo, commit: str) -> bytes:
    return repo.header(bytes.fromhex(commit))[0]


def _commit(revision: str) -> str:
    try:
        return _git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    except PolicydError as error:
        raise PolicydError(f"no commit {revision!r} in this clone ({error}); `git fetch`, or name "
                           "another with --base or --head") from error


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise PolicydError(done.stderr.strip().removeprefix("fatal: ") or "git failed")
    return done.stdout.strip()
