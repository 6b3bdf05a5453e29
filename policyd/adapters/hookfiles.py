"""Puts the hook into a repository and takes it out again, with what was there before kept.

A crash at any moment leaves a file at hooks/pre-receive that either judges or is the old hook:
git never finds nothing where there was a hook.
"""

from __future__ import annotations

import ctypes
import os
import stat
from contextlib import suppress
from enum import Enum
from pathlib import Path
from shlex import quote

from policyd.adapters import repoconfig, shipped, statefolder
from policyd.adapters.nexthook import CHAINED
from policyd.core.errors import CannotJudge

TEMPLATE = "hooks/pre-receive"
NAME = "pre-receive"
DRAFT = ".pre-receive.policyd"

MARK = b"# policyd judges this push."
"""What a line of our hook begins with; nothing else tells it from another's."""
_MADE = b"# The folder was made for it."

_RENAME_EXCHANGE = 2
_AT_FDCWD = -100


class _Kind(Enum):
    ABSENT = "absent"
    OURS = "ours"
    OTHER = "other"


class Installed(Enum):
    """What `install` met."""

    NEW = "hook put in"
    REPLACED = "hook put in; the one that was there runs last, as hooks/" + CHAINED
    RENEWED = "hook renewed"
    SAME = "hook is in place"


class Removed(Enum):
    """What `uninstall` met."""

    TAKEN_OUT = "hook taken out"
    RESTORED = "hook taken out; the one that was there before is back"
    NOT_OURS = "hook left alone; it is not policyd's"
    ABSENT = "no hook was there"


def text(program: Path, home: Path) -> bytes:
    """The hook that runs `program` (a Python with policyd in it) with `home`."""
    return shipped.read(TEMPLATE).replace(b"@PYTHON@", os.fsencode(quote(str(program)))).replace(
        b"@HOME@", os.fsencode(quote(str(home))))


def is_installed(git_dir: Path) -> bool:
    return _kind(git_dir / "hooks" / NAME) is _Kind.OURS


def install(git_dir: Path, hook: bytes) -> Installed:
    """Make `hook` the repository's pre-receive hook, run by git from now on.

    Raises CannotJudge with one sentence where that cannot be; then nothing changed.
    """
    folder = repoconfig.hooks_folder(git_dir)
    try:
        made = _make(folder)
        return _install(folder, hook, made=made)
    except OSError as error:
        raise statefolder.cannot_write("hook", str(folder / NAME), error) from error


def uninstall(git_dir: Path) -> Removed:
    """Take our hook out and put back what was there before it. Raises CannotJudge.

    Wherever git looks for hooks by now: ours was put into the repository's own folder.
    """
    folder = Path(os.path.realpath(git_dir / "hooks"))
    try:
        return _uninstall(folder)
    except FileNotFoundError:
        return Removed.ABSENT
    except OSError as error:
        raise statefolder.cannot_write("hook", str(folder / NAME), error) from error


def _install(folder: Path, hook: bytes, *, made: bool) -> Installed:
    """Write a draft, keep what is there under its second name, put the draft in its place.

    The order is what keeps the repository guarded: the old hook stays at the name that git runs
    until one rename puts ours there, and by then it has its second name, so that ours finds it.
    """
    path, chained, draft = folder / NAME, folder / CHAINED, folder / DRAFT
    kind = _kind(path)
    if kind is _Kind.OURS and (old := path.read_bytes()) is not None:
        made = made or _MADE in old
        if _with_note(hook, made) == old and _is_in_order(path, chained):
            return Installed.SAME
    _write(draft, _with_note(hook, made))
    if _kind(chained) is _Kind.OURS:
        os.unlink(chained)  # left by a crash; ours must never chain itself
    if kind is _Kind.OTHER:
        _keep(path, chained, draft)
    else:
        os.rename(draft, path)
    statefolder.sync_folder(folder)
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
        if os.path.samestat(os.lstat(path), os.lstat(chained)):
            return True  # an earlier attempt came this far
        raise CannotJudge(f"{path} is not policyd's, and {chained} is there too; remove the one "
                          "that is not to run")
    with suppress(OSError):
        os.link(path, chained, follow_symlinks=False)
        return True
    return False


def _exchange(one: Path, other: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other),
                      _RENAME_EXCHANGE):
        code = ctypes.get_errno()
        os.unlink(one)
        raise OSError(code, os.strerror(code))


def _uninstall(folder: Path) -> Removed:
    path, chained = folder / NAME, folder / CHAINED
    kind, made = _kind(path), False
    _remove(folder / DRAFT)
    if _kind(chained) is _Kind.OURS:
        os.unlink(chained)
    if kind is _Kind.OTHER:
        if os.path.lexists(chained) and os.path.samestat(os.lstat(path), os.lstat(chained)):
            os.unlink(chained)  # left by a crash; the file keeps its first name
        return Removed.NOT_OURS
    if kind is _Kind.OURS:
        made = _MADE in path.read_bytes()
    found = Removed.ABSENT if kind is _Kind.ABSENT else Removed.TAKEN_OUT
    if os.path.lexists(chained):
        os.rename(chained, path)  # in one step: at no moment is there no hook
        found = Removed.RESTORED
    else:
        _remove(path)
    statefolder.sync_folder(folder)
    if made:
        with suppress(OSError):
            folder.rmdir()  # others may have put theirs there
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


def _is_in_order(path: Path, chained: Path) -> bool:
    found = os.lstat(path)
    return (stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o755
            and _kind(chained) is not _Kind.OURS)


def _with_note(hook: bytes, made: bool) -> bytes:
    return hook + _MADE + b"\n" if made else hook


def _make(folder: Path) -> bool:
    try:
        os.mkdir(folder)
    except FileExistsError:
        return False
    statefolder.sync_folder(folder.parent)
    return True


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
