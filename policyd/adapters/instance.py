"""One daemon for a state folder: STATE/serve.lock is held as long as it lives."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from policyd.adapters import statefolder
from policyd.adapters.statefolder import StrPath, cannot_write
from policyd.core.errors import CannotJudge

NAME = "serve.lock"


@contextmanager
def only(state: StrPath) -> Iterator[None]:
    """Hold the lock. Raises CannotJudge where another process holds it, naming that one."""
    statefolder.check(state)
    path = os.path.join(state, NAME)
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise cannot_write("lock", path, error) from error
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 20, 0).decode("ascii", "replace").strip() or "?"
            raise CannotJudge(f"policyd serve runs already for {os.fspath(state)}, as process "
                              f"{holder}; one is enough") from None
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode("ascii"), 0)
        yield
    finally:
        os.close(fd)
