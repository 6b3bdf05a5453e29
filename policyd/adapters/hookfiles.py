"""Puts the hook into its place and takes it out again, with what was there before kept.

A crash at any moment leaves a file there that either judges or is the old hook: git never finds
nothing where there was a hook.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from shlex import quote, split

from policyd.adapters import repoconfig, shipped, statefolder
from policyd.adapters.hosts import seat as seats
from policyd.adapters.hosts.seat import Seat
from policyd.core.errors import CannotJudge

TEMPLATE = "hooks/pre-receive"

MARK = b"# policyd judges this push."
"""What a line of our hook begins with; nothing else tells it from another's."""
_MADE = b"# The folder was made for it."
"""Once for each folder."""
_SPARE = """\
# A hook that is broken must not lock everybody out, unless this was enrolled by name.
case $(pwd -P) in */{name})
	[ -e policyd-key ] || {{
		[ ! -x {chained} ] || exec {chained}
		exit 0
	}} ;;
esac
"""

_RENAME_EXCHANGE = 2
_AT_FDCWD = -100


class _Kind(Enum):
    ABSENT = "absent"
    OURS = "ours"
    OTHER = "other"


class Installed(Enum):
    """What `put_in` met."""

    NEW = "hook put in"
    REPLACED = "hook put in; the one that was there runs last"
    RENEWED = "hook renewed"
    SAME = "hook is in place"


class Removed(Enum):
    """What `take_out` met."""

    TAKEN_OUT = "hook taken out"
    RESTORED = "hook taken out; the one that was there before is back"
    NOT_OURS = "hook left alone; it is not policyd's"
    ABSENT = "no hook was there"


def text(program: Path, home: Path, seat: Seat | None = None) -> bytes:
    """The hook that runs `program` (a Python with policyd in it) with `home`, for its place."""
    kind = seats.Kind.OWN if seat is None else seat.kind
    found = shipped.read(TEMPLATE).replace(b"@PYTHON@", os.fsencode(quote(str(program)))).replace(
        b"@HOME@", os.fsencode(quote(str(home)))).replace(b"@KIND@", kind.value.encode())
    if seat is None or not seat.spared:
        return found
    spare = _SPARE.format(name=seat.spared, chained=quote(str(seat.chained)))
    head, _, rest = found.partition(b"[ -x ")
    return head + os.fsencode(spare) + b"[ -x " + rest


def named(hook: bytes) -> tuple[Path, Path] | None:
    """The program and the home that a hook of ours names; None where it names none."""
    for line in reversed(hook.splitlines()):
        if line.startswith(b"exec "):
            with suppress(ValueError):
                match split(os.fsdecode(line)):
                    case ["exec", program, "-I", "-m", "policyd", "--home", home, "hook"]:
                        return Path(program), Path(home)
            return None
    return None


def is_untouched(hook: bytes, seat: Seat) -> bool:
    """Whether `text` made it, whichever program and home it names."""
    told = named(hook)
    if told is None:
        return False
    made = text(*told, seat)
    return hook.startswith(made) and set(hook[len(made):].splitlines()) <= {_MADE}


def is_installed(git_dir: Path) -> bool:
    """Whether the hook is where git looks unless it is told otherwise."""
    return is_there(seats.own(git_dir))


def is_there(seat: Seat) -> bool:
    return _kind(seat.path) is _Kind.OURS


def is_current(seat: Seat, hook: bytes) -> bool:
    """Whether `put_in` would change nothing."""
    try:
        return _is_current(seat, hook)
    except OSError:
        return False


def of(git_dir: Path, told: Sequence[str] | None = None) -> list[Seat]:
    """Where hooks of this repository stand or may stand, the latest last. Raises CannotJudge.

    `told` is what its configuration remembers, where that was asked for already.
    """
    told = repoconfig.remembered(git_dir) if told is None else told
    found = [seats.read(text, git_dir) for text in told]
    own = seats.own(git_dir)
    return [own, *found] if is_there(own) and own.path not in [s.path for s in found] else found


def install(git_dir: Path, hook: bytes) -> Installed:
    """`put_in` where git looks unless it is told otherwise."""
    return put_in(seats.own(git_dir), hook)


def uninstall(git_dir: Path) -> Removed:
    """`take_out` where git looks unless it is told otherwise."""
    return take_out(seats.own(git_dir))


def put_in(seat: Seat, hook: bytes) -> Installed:
    """Make `hook` what is run there from now on.

    Raises CannotJudge with one sentence where that cannot be; then nothing changed.
    """
    try:
        return _install(seat, hook, made=_make(seat.folder))
    except OSError as error:
        raise statefolder.cannot_write("hook", str(seat.path), error) from error


def take_out(seat: Seat) -> Removed:
    """Take our hook out and put back what was there before it. Raises CannotJudge."""
    try:
        return _uninstall(seat)
    except FileNotFoundError:
        return Removed.ABSENT
    except OSError as error:
        raise statefolder.cannot_write("hook", str(seat.path), error) from error


def _install(seat: Seat, hook: bytes, *, made: int) -> Installed:
    """Write a draft, keep what is there under its second name, put the draft in its place.

    The order is what keeps the repository guarded: the old hook stays at the name that git runs
    until one rename puts ours there, and by then it has its second name, so that ours finds it.
    """
    path, chained, draft = seat.path, seat.chained, seat.draft
    kind = _kind(path)
    if kind is _Kind.OURS:
        made = made or _made(path)
        if _is_current(seat, hook):
            return Installed.SAME
    if kind is _Kind.OTHER and chained is None:
        raise CannotJudge(f"{path} is there and is not policyd's; remove it")
    _write(draft, _with_note(hook, made))
    if chained is not None and _kind(chained) is _Kind.OURS:
        os.unlink(chained)  # left by a crash; ours must never chain itself
    if kind is _Kind.OTHER and chained is not None:
        _keep(path, chained, draft)
    else:
        os.rename(draft, path)
    statefolder.sync_folder(seat.folder)
    return {_Kind.OTHER: Installed.REPLACED, _Kind.OURS: Installed.RENEWED,
            _Kind.ABSENT: Installed.NEW}[kind]


def _keep(path: Path, chained: Path, draft: Path) -> None:
    """Put the draft at `path`, and what is there to `chained`, with no moment in between."""
    if not _second_name(path, chained):
        # Linking another user's file is forbidden on most servers. Two names can still change
        # places in one step; until then git takes no notice of the second one.
        os.rename(draft, chained)
        _exchange(chained, path)
        return
    statefolder.sync_folder(path.parent)
    os.rename(draft, path)


def _second_name(path: Path, chained: Path) -> bool:
    """Give the file at `path` a second name; False where the system does not allow it."""
    if not stat.S_ISREG(os.lstat(path).st_mode) and not path.is_symlink():
        raise CannotJudge(f"{path} is neither a file nor a link; remove it")
    if os.path.lexists(chained):
        if _is_same(path, chained):
            return True  # an earlier attempt came this far, or a server wrote its hook again
        raise CannotJudge(f"{path} is not policyd's, and {chained} is there too; remove the one "
                          "that is not to run")
    with suppress(OSError):
        os.link(path, chained, follow_symlinks=False)
        return True
    return False


def _is_same(one: Path, other: Path) -> bool:
    """Whether it makes no difference which of two files runs."""
    first, second = os.lstat(one), os.lstat(other)
    if os.path.samestat(first, second):
        return True
    return (stat.S_ISREG(first.st_mode) and first.st_mode == second.st_mode
            and one.read_bytes() == other.read_bytes())


def _exchange(one: Path, other: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other),
                      _RENAME_EXCHANGE):
        code = ctypes.get_errno()
        os.unlink(one)
        raise OSError(code, os.strerror(code))


def _uninstall(seat: Seat) -> Removed:
    path, chained = seat.path, seat.chained
    kind, made = _kind(path), 0
    _remove(seat.draft)
    if chained is not None and _kind(chained) is _Kind.OURS:
        os.unlink(chained)
    if kind is _Kind.OTHER:
        if chained is not None and os.path.lexists(chained) and _is_same(path, chained):
            os.unlink(chained)  # left by a crash; the file keeps its first name
        return Removed.NOT_OURS
    if kind is _Kind.OURS:
        made = _made(path)
    found = Removed.ABSENT if kind is _Kind.ABSENT else Removed.TAKEN_OUT
    if chained is not None and os.path.lexists(chained):
        os.rename(chained, path)  # in one step: at no moment is there no hook
        found = Removed.RESTORED
    else:
        _remove(path)
    statefolder.sync_folder(seat.folder)
    _unmake(seat.folder, made)
    return found


def _kind(path: Path) -> _Kind:
    """Whose hook it is. A link to one of ours counts as ours: chained, it would run for ever."""
    if not os.path.lexists(path):
        return _Kind.ABSENT
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            start = file.read(4_096)
    except OSError:
        return _Kind.OTHER
    ours = any(line.startswith(MARK) for line in start.splitlines())
    return _Kind.OURS if ours else _Kind.OTHER


def _is_current(seat: Seat, hook: bytes) -> bool:
    path = seat.path
    if _kind(path) is not _Kind.OURS or path.read_bytes() != _with_note(hook, _made(path)):
        return False
    found = os.lstat(path)
    return (stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o755
            and (seat.chained is None or _kind(seat.chained) is not _Kind.OURS))


def _with_note(hook: bytes, made: int) -> bytes:
    return hook + (_MADE + b"\n") * made


def _made(path: Path) -> int:
    """How many folders were made for the hook of ours that is there."""
    return path.read_bytes().splitlines().count(_MADE)


def _make(folder: Path) -> int:
    """Make a folder, and those above that are absent; how many."""
    if folder.is_dir():
        return 0
    made = _make(folder.parent) + 1
    os.mkdir(folder)
    statefolder.sync_folder(folder.parent)
    return made


def _unmake(folder: Path, made: int) -> None:
    with suppress(OSError):  # others may have put theirs there
        for _ in range(made):
            folder.rmdir()
            folder = folder.parent


def _write(draft: Path, hook: bytes) -> None:
    _remove(draft)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(draft, flags, 0o600), "wb") as file:
        file.write(hook)
        file.flush()
        os.fchmod(file.fileno(), 0o755)
        os.fsync(file.fileno())


def _remove(path: Path) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
