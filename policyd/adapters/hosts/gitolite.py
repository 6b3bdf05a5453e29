"""gitolite: one common hook, or a hook for the repositories that its configuration names.

Both are links in each repository that gitolite makes anew, the common one at `gitolite setup`,
the other at each push to gitolite-admin; where both are there they replace each other in turn.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from policyd.adapters.hosts.seat import ADMIN, NAME, PART, Kind, Seat
from policyd.core.errors import CannotJudge

TAKES_FOLDER = True
COMMON, SPECIFIC = "common", "repo-specific"
DRIVER = "multi-hook-driver"
_SETUP = "gitolite setup --hooks-only"
_OPTION = "option hook.pre-receive = policyd"


def seat(git_dir: Path, hooks_path: Path | None, roots: Sequence[str]) -> Seat:  # noqa: ARG001
    """LOCAL_CODE/hooks/common, or .../repo-specific where that was named. Raises CannotJudge."""
    folder = Path(os.path.realpath(hooks_path or _local_code(git_dir) / "hooks" / COMMON))
    if folder.name not in (COMMON, SPECIFIC) or folder.parent.name != "hooks":
        raise CannotJudge(f"{folder} is neither LOCAL_CODE/hooks/{COMMON} nor "
                          f"LOCAL_CODE/hooks/{SPECIFIC}")
    is_common = folder.name == COMMON
    found = Seat("gitolite", Kind.COMMON if is_common else Kind.COMMON_PART, folder,
                 NAME if is_common else PART)
    for says, remedy in _conflicts(git_dir, found):
        raise CannotJudge(f"{says}; {remedy}")
    return found


def faults(git_dir: Path, taken: Seat,
           folder: Path | None = None) -> Iterator[tuple[str, str]]:  # noqa: ARG001
    """What keeps git from running the hook, each with what to do."""
    conflicts = list(_conflicts(git_dir, taken))
    yield from conflicts
    if not conflicts:
        yield from _unlinked(git_dir, taken)


def after(git_dir: Path, taken: Seat) -> Iterator[str]:
    """The line that makes gitolite link the hook into the repository."""
    if not any(_unlinked(git_dir, taken)):
        return
    if taken.name == NAME:
        yield f"now run `{_SETUP}`, as gitolite's user; until then its pushes are not judged"
    else:
        yield (f"now put `{_OPTION}` below `repo {git_dir.name.removesuffix('.git')}` into "
               "gitolite.conf and push it (gitolite.rc must enable repo-specific-hooks); until "
               "then its pushes are not judged")


def spares(place: str) -> str:
    """A hook that breaks there locks everybody out."""
    return "it is enrolled only when it is named" if place == ADMIN else ""


def _conflicts(git_dir: Path, taken: Seat) -> Iterator[tuple[str, str]]:
    """Where both kinds of hook are there, one of them silently does not run."""
    hooks = git_dir / "hooks"
    driver = os.path.basename(os.path.realpath(hooks / NAME)) == DRIVER
    common = taken.folder.parent / COMMON / NAME
    if taken.name == NAME and (driver or _driven(hooks)):
        yield (f"{hooks} has repo-specific pre-receive hooks, and {taken.path} is a common one: "
               "gitolite runs whichever it linked last",
               f"use one: `policyd enroll --server gitolite --hooks-path "
               f"{taken.folder.parent / SPECIFIC} {git_dir}`, or take `option hook.pre-receive` "
               "out of gitolite.conf")
    elif taken.name != NAME and os.path.lexists(common):
        yield (f"{common} is a common hook, and {taken.path} a repo-specific one: gitolite runs "
               "whichever it linked last", "use one: remove the common hook, or `policyd enroll "
               f"--server gitolite --hooks-path {common.parent} {git_dir}`")


def _unlinked(git_dir: Path, taken: Seat) -> Iterator[tuple[str, str]]:
    path = git_dir / "hooks" / NAME
    if taken.name == NAME:
        if Path(os.path.realpath(path)) != taken.path:
            yield (f"{path} is no link to {taken.path}: pushes are not judged",
                   f"`{_SETUP}`, as gitolite's user")
        return
    if os.path.basename(os.path.realpath(path)) != DRIVER or not os.access(path, os.X_OK):
        yield (f"{path} is no link to gitolite's {DRIVER}: pushes are not judged",
               f"`{_OPTION}` in gitolite.conf, and push it")
    elif taken.path not in map(Path, map(os.path.realpath, _driven(git_dir / "hooks"))):
        yield (f"no {path}.h* leads to {taken.path}: pushes are not judged",
               f"`{_OPTION}` in gitolite.conf, and push it")


def _driven(hooks: Path) -> list[Path]:
    return sorted(hooks.glob(f"{NAME}.h[0-9]*-*"))


def _local_code(git_dir: Path) -> Path:
    """What gitolite.rc calls LOCAL_CODE, asked as the user that this runs as."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    path = f"{kept.get('PATH', os.defpath)}:{kept.get('HOME', '')}/bin"
    try:
        done = subprocess.run(["gitolite", "query-rc", "LOCAL_CODE"], cwd=git_dir,
                              env={**kept, "PATH": path}, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)
        told = os.fsdecode(done.stdout).strip()
    except OSError:
        told = ""
    if not told.startswith("/"):
        raise CannotJudge("gitolite does not say where LOCAL_CODE is; uncomment it in gitolite.rc, "
                          f"or name the folder: --hooks-path LOCAL_CODE/hooks/{COMMON}")
    return Path(told)
