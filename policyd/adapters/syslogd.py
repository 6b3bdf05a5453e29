"""Lines to the machine's syslog. Best effort, and it never waits.

libc's own syslog() blocks when the daemon behind /dev/log has stopped reading, and no push may
hang on that.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress

DEVICE = "/dev/log"

NOTICE, ERROR = 5, 3
"""Severities of syslog(3)."""

_DAEMON = 3 << 3


def send(text: str, severity: int, *, device: str | None = None) -> None:
    """One datagram of printable ASCII, dated by whoever takes it; lost when nobody takes it."""
    path = device or DEVICE
    with suppress(OSError):
        if os.path.exists(path):
            _send(path, f"<{_DAEMON | severity}>policyd[{os.getpid()}]: {text}")


def _send(device: str, line: str) -> None:
    import _socket  # the C module alone: a push would wait ten times as long for all of socket

    with closing(_socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)) as syslog:
        syslog.setblocking(False)
        syslog.connect(device)
        syslog.send(line.encode("ascii", "backslashreplace"))
