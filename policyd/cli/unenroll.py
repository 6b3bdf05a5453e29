"""`policyd unenroll REPO...`: the way out. It must work when nothing else does any more."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from policyd.adapters import activepolicy, asowner, decisionlog, hookfiles, repoindex
from policyd.adapters.reponame import name_of
from policyd.cli import repositories as shared
from policyd.core.errors import PolicydError
from policyd.core.policy import Active
from policyd.rules import OPTIONS


@click.command("unenroll")
@click.argument("repositories", nargs=-1, required=True, metavar="REPO...",
                type=click.Path(path_type=Path))
@click.pass_obj
def command(home: Path, repositories: Sequence[Path]) -> int:
    """Have pushes into repositories judged no more.

    Takes the hook out, puts back what was there before, and forgets what was recorded. Without
    a usable home too; then nothing can be logged, and a line says so.
    """
    home = Path(os.path.abspath(home))
    line = shared.typed(home, "unenroll", repositories)
    return shared.each(repositories, lambda repository: _unenrol(
        home, shared.git_dir_of(repository), command=line))


def _unenrol(home: Path, git_dir: Path, *, command: str) -> Iterator[str]:
    """The log entry first, so that nothing is taken out that the log does not know of."""
    keeper = asowner.owner_of(git_dir)
    asowner.demand(keeper, command=command)
    if not (hookfiles.is_installed(git_dir) or os.path.lexists(git_dir / repoindex.KEY_FILE)):
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
