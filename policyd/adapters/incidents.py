"""What went wrong inside policyd, for its operator. Must never raise, nor write a secret."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from policyd.adapters import clock, statefolder, syslogd
from policyd.adapters.statefolder import StrPath

NAME = "incidents.jsonl"

_LONGEST = 65_536


def report(state: StrPath | None, where: str, error: BaseException) -> str:
    """Leave a traceback in STATE/incidents.jsonl and a line in syslog; the incident's id.

    The id is six hex digits. Both are best effort: the push is refused whatever happens here.
    The environment and the values of variables are not written.
    """
    incident = os.urandom(3).hex()
    with suppress(Exception):
        syslogd.send(_one_line(f"incident {incident} in {where}: {_summary(error)}"),
                     syslogd.ERROR)
    if state is not None:
        with suppress(Exception):
            _to_file(os.path.join(state, NAME), incident, where, error)
    return incident


def _to_file(path: str, incident: str, where: str, error: BaseException) -> None:
    import traceback

    trace = "".join(traceback.format_exception(error))
    entry = {"id": incident, "time": clock.now().isoformat(timespec="milliseconds"),
             "where": where, "error": _summary(error), "traceback": trace[-_LONGEST:]}
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    fd = os.open(path, flags, 0o600)
    try:
        statefolder.write_all(fd, json.dumps(entry).encode("ascii") + b"\n")
    finally:
        os.close(fd)


def _one_line(text: str) -> str:
    """Printable ASCII, so that nothing pushed can write a log line of its own."""
    plain = text.encode("ascii", "backslashreplace").decode("ascii")
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in plain)[:1_000]


def _summary(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:
        said = "(it cannot say what)"
    return f"{type(error).__name__}: {said}"[:_LONGEST]
