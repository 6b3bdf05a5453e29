"""What `enroll` and `unenroll` share: each repository by itself, each step as whose it is."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

from policyd.adapters import asowner, hookfiles, repoconfig, repoindex
from policyd.adapters.statefolder import because
from policyd.cli import FAULTS, OK
from policyd.core.errors import CannotJudge, PolicydError


def each(repositories: Sequence[Path], work: Callable[[Path], Iterable[str]]) -> int:
    """Work on one after the other, a line a step; one that fails does not stop the others."""
    code = OK
    for repository in repositories:
        try:
            for line in work(repository):
                click.echo(f"{repository}: {line}")
        except PolicydError as error:
            code = _failed(repository, str(error))
        except OSError as error:
            code = _failed(repository, f"{error.filename or 'a file'}: {because(error)}")
    return code


def git_dir_of(repository: Path) -> Path:
    """The folder that git would give to the hook. Raises CannotJudge where it is none."""
    real = Path(os.path.realpath(repository))
    if not ((real / "HEAD").is_file() and (real / "objects").is_dir()):
        raise CannotJudge("it is not a bare repository; name the folder that holds its HEAD "
                          "and objects")
    return real


def typed(home: Path, command: str, repositories: Sequence[Path]) -> str:
    """The command line, for who must run it as somebody else."""
    paths = [os.path.abspath(repository) for repository in repositories]
    return shlex.join(["policyd", "--home", str(home), command, *paths])


def operator() -> str:
    """Who runs this, as the log names them."""
    return asowner.user_name(os.getuid()) or f"uid {os.getuid()}"


def take_out(git_dir: Path, *, key: bool = True) -> list[str]:
    """Take what policyd put into a repository out of it; a line a step. As its owner."""
    lines = [hookfiles.uninstall(git_dir).value]
    if repoconfig.withdraw_push_options(git_dir):
        lines.append(f"{repoconfig.OFFERED} unset")
    if key and repoindex.remove_key(git_dir):
        lines.append(f"{repoindex.KEY_FILE} removed")
    return lines


def _failed(repository: Path, sentence: str) -> int:
    click.echo(f"{repository}: failed: {sentence}", err=True)
    return FAULTS
