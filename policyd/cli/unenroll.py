"""`policyd unenroll REPO...`: the way out. It must work when nothing else does any more."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import click

from policyd.adapters import activepolicy, asowner, decisionlog, hookfiles, repoindex
from policyd.adapters.hosts import seat as seats
from policyd.adapters.hosts.seat import Seat
from policyd.adapters.reponame import name_of
from policyd.cli import repositories as shared
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.policy import Active
from policyd.rules import OPTIONS


@click.command("unenroll")
@click.argument("repositories", nargs=-1, metavar="REPO...", type=click.Path(path_type=Path))
@click.option("--hooks-path", metavar="DIR", type=click.Path(path_type=Path),
              help="Then take the hook of all out of DIR, unless it still serves somebody.")
@click.pass_obj
def command(home: Path, repositories: Sequence[Path], *, hooks_path: Path | None) -> int:
    """Have pushes into repositories judged no more.

    Takes the hook out, puts back what was there before, and forgets what was recorded. Without
    a usable home too; then nothing can be logged, and a line says so.
    """
    if not repositories and hooks_path is None:
        raise click.UsageError("name a REPO, or --hooks-path")
    home = Path(os.path.abspath(home))
    line = shared.typed(home, "unenroll", repositories, {"--hooks-path": hooks_path})
    code = shared.each(repositories, lambda repository: _unenrol(
        home, shared.git_dir_of(repository), command=line))
    if hooks_path is None:
        return code
    return max(code, shared.each([hooks_path], lambda folder: _take_from_all(
        home, Path(os.path.realpath(folder)), command=line)))


def _take_from_all(home: Path, folder: Path, *, command: str) -> Iterator[str]:
    """The hook of all, once no enrolled repository is judged by it."""
    found = [seat for seat in seats.common_in(folder) if hookfiles.is_there(seat)]
    if not found:
        raise PolicydError("no hook of policyd is there")
    try:
        active = activepolicy.load(home, OPTIONS)
        state = Path(active.settings.state)
        served = asowner.run(asowner.owner_of(state), lambda: _served(str(state), folder),
                             command=command)
    except CannotJudge as error:
        yield f"note: whom it serves is not known: {error}"
    else:
        if served:
            raise PolicydError(f"it serves {served[0]} and {len(served) - 1} more; unenroll them "
                               "first" if served[1:] else f"it serves {served[0]}; unenroll that "
                               "first")
    owner = asowner.owner_of(folder)
    for seat in found:
        yield asowner.run(owner, partial(_out_of, seat), command=command)


def _out_of(seat: Seat) -> str:
    return hookfiles.take_out(seat).value


def _served(state: str, folder: Path) -> list[str]:
    """The enrolled repositories whose hook stands in a folder or in one below it."""
    found = []
    for key in repoindex.keys(state):
        with suppress(PolicydError):
            git_dir = Path(repoindex.load(state, key).git_dir)
            if any(seat.folder.is_relative_to(folder) for seat in shared.seats_of(git_dir)):
                found.append(str(git_dir))
    return found


def _unenrol(home: Path, git_dir: Path, *, command: str) -> Iterator[str]:
    """The log entry first, so that nothing is taken out that the log does not know of."""
    keeper = asowner.owner_of(git_dir)
    asowner.demand(keeper, command=command)
    if not (os.path.lexists(git_dir / repoindex.KEY_FILE) or asowner.run(
            keeper, lambda: bool(shared.seats_of(git_dir)), command=command)):
        raise PolicydError("it is not enrolled")
    try:
        active = activepolicy.load(home, OPTIONS)
        state = Path(active.settings.state)
        judge = asowner.owner_of(state)
    except PolicydError as error:
        yield f"note: not logged: {error}"
        yield from asowner.run(keeper, lambda: shared.take_out(git_dir), command=command)
        return
    asowner.demand(judge, command=command)
    entry = {"verdict": "unenrolled", "operator": shared.operator(), "git_dir": str(git_dir)}
    key, note = asowner.run(judge, lambda: _log(active, git_dir, entry), command=command)
    if note:
        yield f"note: {note}"
    yield from asowner.run(keeper, lambda: shared.take_out(git_dir), command=command)
    if key and asowner.run(judge, lambda: repoindex.remove(state, key), command=command):
        yield "its record is forgotten"


def _log(active: Active, git_dir: Path, entry: Mapping[str, object]) -> tuple[str, str]:
    """The key, and what could not be logged; each may be empty."""
    state = active.settings.state
    key = tips = None
    try:
        name = name_of(git_dir, active.settings.roots)
        key = repoindex.key_of(git_dir)
        tips = dict(repoindex.load(state, key).branches)
    except PolicydError as error:
        name, note = str(git_dir), str(error)
    else:
        note = ""
    try:
        decisionlog.append(state, {**entry, "repository": name, "key": key, "tips": tips})
    except PolicydError as error:
        return "", f"not logged: {error}"
    return key or "", note
