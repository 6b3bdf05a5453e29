"""The head of the decision log to syslog, where whoever edits the log cannot reach it.

Best effort, and it never waits: libc's own syslog() blocks when the daemon behind /dev/log has
stopped reading, and no push may hang on that.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress

from policyd.core.chain import Position

DEVICE = "/dev/log"

_PRIORITY = 3 << 3 | 5  # daemon, notice


def tell(head: Position, verdict: object, *, device: str | None = None) -> None:
    """One datagram, dated by whoever takes it; lost when nobody takes it at once.

    `verdict` is a word of policyd's own.
    """
    path = device or DEVICE
    with suppress(OSError):
        if os.path.exists(path):
            _send(path, f"decisions n={head.n} head={head.hash} verdict={verdict}")


def _send(device: str, text: str) -> None:
    import _socket  # the C module alone: a push would wait ten times as long for all of socket

    line = f"<{_PRIORITY}>policyd[{os.getpid()}]: {text}"
    with closing(_socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)) as syslog:
        syslog.setblocking(False)
        syslog.connect(device)
        syslog.send(line.encode("ascii", "backslashreplace"))
