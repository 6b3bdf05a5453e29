"""What `enroll` and `unenroll` share: each repository by itself, each step as whose it is."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import click

from policyd.adapters import asowner, hookfiles, repoconfig, repoindex
from policyd.adapters.hosts import seat as seats
from policyd.adapters.hosts.seat import Seat
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


def typed(home: Path, command: str, repositories: Sequence[Path],
          options: Mapping[str, object] | None = None) -> str:
    """The command line, for who must run it as somebody else. Options that are unset are left."""
    words: list[str] = []
    for name, value in (options or {}).items():
        if isinstance(value, Path):
            words += [name, os.path.abspath(value)]
        elif value:
            words += [name] if value is True else [name, str(value)]
    paths = [os.path.abspath(repository) for repository in repositories]
    return shlex.join(["policyd", "--home", str(home), command, *words, *paths])


def operator() -> str:
    """Who runs this, as the log names them."""
    return asowner.user_name(os.getuid()) or f"uid {os.getuid()}"


def take_out(git_dir: Path, *, key: bool = True) -> list[str]:
    """Take what policyd put into a repository out of it; a line a step. As its owner."""
    lines = [_taken_out(seat) for seat in seats_of(git_dir) or [seats.own(git_dir)]]
    repoconfig.forget_hooks(git_dir)
    if repoconfig.withdraw_push_options(git_dir):
        lines.append(f"{repoconfig.OFFERED} unset")
    if key and repoindex.remove_key(git_dir):
        lines.append(f"{repoindex.KEY_FILE} removed")
    return lines


def seats_of(git_dir: Path) -> list[Seat]:
    """Where its hooks stand; where that cannot be read, git's own place if ours is there."""
    try:
        return hookfiles.of(git_dir)
    except CannotJudge:
        own = seats.own(git_dir)
        return [own] if hookfiles.is_there(own) else []


def _taken_out(seat: Seat) -> str:
    if seat.is_common:
        return f"the hook of all in {seat.folder} stays, and takes no notice of it"
    return hookfiles.take_out(seat).value


def _failed(repository: Path, sentence: str) -> int:
    click.echo(f"{repository}: failed: {sentence}", err=True)
    return FAULTS
