"""The daemon's log: one JSON object a line, or words for a terminal; levels for the journal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

import structlog

Log = structlog.typing.FilteringBoundLogger

_PRIORITIES = {"debug": 7, "info": 6, "warning": 4, "error": 3, "critical": 2}
"""syslog(3)."""


def logger(environment: Mapping[str, str], stream: TextIO | None = None) -> Log:
    """A logger on standard error, or on `stream`. Every value is made safe for a terminal."""
    out = stream if stream is not None else sys.stderr
    plain = out.isatty()
    last: Any = structlog.dev.ConsoleRenderer(colors=False) if plain else \
        structlog.processors.JSONRenderer(ensure_ascii=True)
    marks = [_marked] if "JOURNAL_STREAM" in environment and not plain else []
    chain: Any = [structlog.processors.add_log_level,
                  structlog.processors.TimeStamper(fmt="iso", utc=True), last, *marks]
    made: Log = structlog.wrap_logger(
        structlog.PrintLogger(out), processors=chain, cache_logger_on_first_use=False,
        wrapper_class=structlog.make_filtering_bound_logger(0))
    return made


def _marked(_: Any, method: str, event: str | MutableMapping[str, Any]) -> str:
    """journald reads the level in front of the line, sd-daemon(3)."""
    return f"<{_PRIORITIES.get(method, 6)}>{event}"
