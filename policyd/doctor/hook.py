"""One repository's hook: whether it is there, is ours, and is what git runs on this server."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from policyd.adapters import hookfiles
from policyd.adapters.hosts import HOSTS
from policyd.adapters.hosts import seat as seats
from policyd.adapters.hosts.seat import NAME, Seat
from policyd.adapters.repoconfig import Hooks
from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass
from policyd.doctor.findings import Finding, fault, warning


@dataclass(frozen=True, slots=True)
class Place:
    """A repository whose hook is looked at."""

    git_dir: Path
    home: Path
    program: Path
    """The Python that an installed hook has to name."""

    @property
    def name(self) -> str:
        return str(self.git_dir)

    @property
    def remedy(self) -> str:
        return f"policyd enroll {self.git_dir}"


def look(place: Place, hooks: Hooks | None = None) -> Iterator[Finding]:
    """The file itself, and whether what runs on this server comes as far as it.

    `hooks` is what git's configuration says, where that was asked for already.
    """
    try:
        seat = seat_of(place, hooks)
        faults = list(HOSTS[seat.server].faults(
            place.git_dir, seat, hooks.folder if hooks else None))
    except CannotJudge as error:
        yield fault("hook", place.name, str(error), place.remedy)
        return
    for says, remedy in faults:
        yield fault("hook", place.name, says, remedy)
    if not hookfiles.is_there(seat):
        what = "is not policyd's" if os.path.lexists(seat.path) else "is absent"
        yield fault("hook", str(seat.path), f"it {what}: pushes are not judged", place.remedy,
                    None if seat.is_common or faults else lambda: _put_in(place, seat))
        return
    yield from _file(place, seat)
    yield from _text(place, seat)
    if seat.chained and os.path.lexists(seat.chained) and not os.access(seat.chained, os.X_OK):
        yield warning("hook", str(seat.chained), "the hook from before policyd is not executable, "
                      "and does not run", f"chmod +x {seat.chained}, or remove it")


def seat_of(place: Place, hooks: Hooks | None = None) -> Seat:
    """Where its hook stands, or ought to. Raises CannotJudge."""
    found = hookfiles.of(place.git_dir, hooks.remembered if hooks else None)
    return (found or [seats.own(place.git_dir)])[-1]


def depends_on(place: Place, seat: Seat) -> tuple[tuple[str, ...], str]:
    """The paths that `look` looks at, and the program that the hook names; for stat alone."""
    hooks = place.git_dir / "hooks"
    try:
        told = hookfiles.named(seat.path.read_bytes())
    except OSError:
        told = None
    paths = dict.fromkeys(map(str, (
        place.git_dir / "config", hooks, hooks / NAME, seat.folder, seat.path)))
    return tuple(paths), "" if told is None else str(told[0])


def _file(place: Place, seat: Seat) -> Iterator[Finding]:
    path, found = seat.path, os.stat(seat.path)
    if not found.st_mode & stat.S_IXUSR or not os.access(path, os.X_OK):
        yield fault("hook", str(path), "it is not executable: git takes no notice of it",
                    f"chmod 755 {path}", lambda: _made_executable(path))
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not path.is_symlink():
        yield fault("hook", str(path), "others than its owner may write it", f"chmod go-w {path}",
                    lambda: _made_executable(path))
    if found.st_uid not in (0, os.stat(place.git_dir).st_uid):
        yield fault("hook", str(path), f"it belongs to uid {found.st_uid}, who is neither root "
                    "nor the repository's owner", "give it to one of them")


def _text(place: Place, seat: Seat) -> Iterator[Finding]:
    """What it runs, and by which home it judges."""
    hook, path = seat.path.read_bytes(), str(seat.path)
    told = hookfiles.named(hook)
    if told is None or not hookfiles.is_untouched(hook, seat):
        yield fault("hook", path, "it was edited, or another version of policyd wrote it: whether "
                    "it judges is not known", place.remedy,
                    None if seat.is_common else lambda: _put_in(place, seat))
        return
    program, home = told
    if not os.access(program, os.X_OK):
        yield fault("hook", path, f"the program {program} that it names is not there: pushes are "
                    "refused", place.remedy)
    if os.path.realpath(home) != os.path.realpath(place.home):
        yield fault("hook", path, f"it judges by the home {home}, and this one is {place.home}",
                    place.remedy)
    elif told != (place.program, place.home):
        yield warning("hook", path, "it names another program or another home than this one",
                      place.remedy)


def _made_executable(path: Path) -> str:
    os.chmod(path, 0o755)
    return f"{path} is 0755 now"


def _put_in(place: Place, seat: Seat) -> str:
    """What was there instead is kept and runs last, as when enrolling."""
    done = hookfiles.put_in(seat, hookfiles.text(place.program, place.home, seat))
    return f"{seat.path}: {done.value}"
