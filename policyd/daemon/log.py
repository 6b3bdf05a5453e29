"""The daemon's log: one JSON object a line, or words for a terminal; levels for the journal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from typing import Any, TextIO, cast

import structlog

from policyd.core.render import printable

Log = structlog.typing.FilteringBoundLogger

_PRIORITIES = {"debug": 7, "info": 6, "warning": 4, "error": 3, "critical": 2}
"""syslog(3)."""


def logger(environment: Mapping[str, str], stream: TextIO | None = None) -> Log:
    """A logger on standard error, or on `stream`. Every value is made safe for a terminal.

    It never raises: a log that nobody takes any more does not end what is logged.
    """
    out: TextIO | None = stream if stream is not None else sys.stderr
    plain = out is not None and out.isatty()
    last: Any = _words if plain else structlog.processors.JSONRenderer(ensure_ascii=True)
    marks = [_marked] if "JOURNAL_STREAM" in environment and not plain else []
    chain: Any = [structlog.processors.add_log_level,
                  structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"), last, *marks]
    made: Log = structlog.wrap_logger(
        structlog.PrintLogger(cast(TextIO, _Out(out))), processors=chain,
        cache_logger_on_first_use=False, wrapper_class=structlog.make_filtering_bound_logger(0))
    return made


class _Out:
    """A stream whose failures are swallowed: full, closed, absent, or with no reader."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            return 0 if self._stream is None else self._stream.write(text)
        return 0

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            if self._stream is not None:
                self._stream.flush()


def _words(_: Any, method: str, fields: MutableMapping[str, Any]) -> str:
    """For a person who runs the daemon by hand."""
    time, level, event = (str(fields.pop(name, "")) for name in ("time", "level", "event"))
    rest = [f"{name}={printable(str(value))}" for name, value in fields.items()]
    return " ".join([time, f"{level or method:<7}", printable(event), *rest])


def _marked(_: Any, method: str, event: str | MutableMapping[str, Any]) -> str:
    """journald reads the level in front of the line, sd-daemon(3)."""
    return f"<{_PRIORITIES.get(method, 6)}>{event}"
