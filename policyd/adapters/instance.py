"""One daemon for a state folder: STATE/serve.lock is held as long as it lives.

Somebody may remove the file while it is held. Whoever locks looks whether it is still the one
that others will find, and whoever holds it looks again at each tick.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from policyd.adapters import statefolder
from policyd.adapters.statefolder import StrPath, cannot_write
from policyd.core.errors import CannotJudge

NAME = "serve.lock"


class Lock:
    """STATE/serve.lock, held."""

    def __init__(self, state: StrPath) -> None:
        self._state, self._path = os.fspath(state), os.path.join(state, NAME)
        self._fd = self._taken()

    def renew(self) -> bool:
        """Whether the file had to be made again. Raises CannotJudge where another has it now."""
        if _is_still(self._path, self._fd):
            return False
        old, self._fd = self._fd, self._taken()
        os.close(old)
        return True

    def close(self) -> None:
        os.close(self._fd)

    def _taken(self) -> int:
        while True:
            fd = self._opened()
            try:
                self._lock(fd)
                if _is_still(self._path, fd):
                    os.ftruncate(fd, 0)
                    os.pwrite(fd, f"{os.getpid()}\n".encode("ascii"), 0)
                    return fd
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)

    def _opened(self) -> int:
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW,
                           0o600)
        except OSError as error:
            raise cannot_write("lock", self._path, error) from error

    def _lock(self, fd: int) -> None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 20, 0).decode("ascii", "replace").strip() or "?"
            raise CannotJudge(f"policyd serve runs already for {self._state}, as process "
                              f"{holder}; one is enough") from None


@contextmanager
def only(state: StrPath) -> Iterator[Lock]:
    """Hold the lock. Raises CannotJudge where another process holds it, naming that one."""
    statefolder.check(state)
    lock = Lock(state)
    try:
        yield lock
    finally:
        lock.close()


def _is_still(path: str, fd: int) -> bool:
    """Whether the locked file is the one that others will open."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(fd))
    except FileNotFoundError:
        return False
