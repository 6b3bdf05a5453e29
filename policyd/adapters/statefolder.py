"""The state folder: whose it is, its one lock, and files that are replaced whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager

from policyd.core.errors import CannotJudge

StrPath = str | os.PathLike[str]

_PAUSES = (0.001, 0.002, 0.005, 0.01, 0.02)


def check(state: StrPath) -> None:
    """Raises CannotJudge unless the folder is this process's own and nobody else writes to it."""
    try:
        there = os.lstat(state)
    except OSError as error:
        raise CannotJudge(f"state folder {os.fspath(state)} cannot be used: {because(error)}; "
                          "see `policyd doctor`") from error
    if not stat.S_ISDIR(there.st_mode):
        raise CannotJudge(f"state folder {os.fspath(state)} is not a folder (a symlink is not "
                          "followed); name the real one in policyd.yaml")
    if there.st_uid != os.geteuid():
        raise CannotJudge(f"pushes must arrive as {_user(there.st_uid)}, the owner of "
                          f"{os.fspath(state)}; this one arrived as {_user(os.geteuid())}")
    if there.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CannotJudge(f"state folder {os.fspath(state)} may be written by others; "
                          f"`chmod go-w {os.fspath(state)}`")


@contextmanager
def locked(state: StrPath, *, wait: float = 10.0) -> Iterator[None]:
    """Hold the one lock of a state folder. Not re-entrant. Raises CannotJudge after `wait` s."""
    check(state)
    fd = _acquire(os.path.join(state, "lock"), wait)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)


@contextmanager
def undisturbed(state: StrPath, *, wait: float = 10.0) -> Iterator[None]:
    """Keep writers out while reading, for whoever may read the folder; changes nothing in it."""
    try:
        fd = os.open(os.path.join(state, "lock"), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield
        return
    except OSError as error:
        raise CannotJudge(f"state folder {os.fspath(state)} cannot be read: "
                          f"{because(error)}") from error
    try:
        _wait_for(fd, fcntl.LOCK_SH, os.fspath(state), time.monotonic() + wait)
        yield
    finally:
        os.close(fd)


def subfolder(state: StrPath, name: str) -> str:
    """A folder in the state folder, made when it is absent."""
    path = os.path.join(state, name)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return path
    except OSError as error:
        raise cannot_write("folder", path, error) from error
    sync_folder(state)
    return path


def replace(path: str, data: bytes, *, mode: int = 0o600, durable: bool = True) -> None:
    """Put a file in place, durably: after a power cut it is the old one or the new one, whole.

    What can be worked out anew need not be `durable`; a killed process still leaves it whole.
    Raises CannotJudge, and leaves the old file.
    """
    folder, name = os.path.split(path)
    draft = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        _write_draft(draft, data, mode, durable=durable)
        os.replace(draft, path)
        if durable:
            sync_folder(folder)
    except OSError as error:
        _forget(draft)
        raise cannot_write("file", path, error) from error


def write_all(fd: int, data: bytes) -> None:
    """Raises OSError; then any part may have been written."""
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left):]


def sync_folder(folder: StrPath) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def because(error: OSError) -> str:
    """The reason in an OSError, in lower case and without the path."""
    reason = error.strerror or str(error) or type(error).__name__
    return reason[:1].lower() + reason[1:]


def cannot_write(what: str, path: str, error: OSError) -> CannotJudge:
    """The sentence for a write that failed, with what to do where that is known."""
    remedy = ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "; free some space there and push again"
    elif error.errno == errno.EFBIG:
        remedy = "; raise the file size limit of the server's user"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        remedy = "; let its owner write there again"
    return CannotJudge(f"{what} {path} cannot be written: {because(error)}{remedy}")


def _acquire(path: str, wait: float) -> int:
    deadline = time.monotonic() + wait
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        try:
            fd = os.open(path, flags, 0o600)
        except OSError as error:
            raise cannot_write("lock", path, error) from error
        try:
            _wait_for(fd, fcntl.LOCK_EX, os.path.dirname(path), deadline)
            if _is_still(path, fd):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _wait_for(fd: int, how: int, state: str, deadline: float) -> None:
    attempt = 0
    while True:
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pass
        if time.monotonic() >= deadline:
            raise CannotJudge(f"state folder {state} is locked by another process for too long; "
                              "push again, and if that stays so see `policyd doctor`")
        time.sleep(_PAUSES[min(attempt, len(_PAUSES) - 1)])
        attempt += 1


def _is_still(path: str, fd: int) -> bool:
    """Whether the locked file is the one that others will open; someone may have removed it."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(fd))
    except FileNotFoundError:
        return False


def _write_draft(draft: str, data: bytes, mode: int, *, durable: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    fd = os.open(draft, flags, mode)
    try:
        write_all(fd, data)
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)


def _forget(draft: str) -> None:
    try:
        os.unlink(draft)
    except OSError:
        return


def _user(uid: int) -> str:
    import pwd

    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"
