"""What systemd is told of the daemon, over sd_notify(3). Nothing where systemd does not ask."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress

_PATIENCE = 1.0
"""Seconds; a supervisor that does not read must not hold up the daemon."""


class Systemd:
    """The supervisor that an environment names. Telling it is best effort and never raises."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._address = _address(environment.get("NOTIFY_SOCKET", ""))
        self._timeout = _timeout(environment)

    def ready(self) -> None:
        self._tell("READY=1")

    def watchdog(self) -> None:
        self._tell("WATCHDOG=1")

    def stopping(self) -> None:
        self._tell("STOPPING=1")

    def reloading(self) -> None:
        """`ready` says when that is over."""
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000
        self._tell(f"RELOADING=1\nMONOTONIC_USEC={now}")

    def status(self, text: str) -> None:
        """One line for `systemctl status`."""
        self._tell("STATUS=" + " ".join(text.split()))

    def interval(self) -> float | None:
        """Seconds between two `watchdog`s: half of what systemd waits; None where it does not."""
        return self._timeout and self._timeout / 2

    def _tell(self, message: str) -> None:
        if self._address is None:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
            supervisor.settimeout(_PATIENCE)
            supervisor.sendto(message.encode("utf-8", "backslashreplace"), self._address)


def _address(name: str) -> bytes | None:
    """A path, or behind `@` a name in the abstract namespace; other families are not for us."""
    if name.startswith("/"):
        return os.fsencode(name)
    return b"\0" + os.fsencode(name[1:]) if name.startswith("@") else None


def _timeout(environment: Mapping[str, str]) -> float | None:
    """Seconds; None unless they are meant for this process."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    microseconds = environment.get("WATCHDOG_USEC", "")
    if not (microseconds.isascii() and microseconds.isdigit()) or int(microseconds) == 0:
        return None
    return int(microseconds) / 1_000_000
