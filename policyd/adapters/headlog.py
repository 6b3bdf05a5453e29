"""The head of the decision log to syslog, where whoever edits the log cannot reach it."""

from __future__ import annotations

from policyd.adapters import syslogd
from policyd.core.chain import Position


def tell(head: Position, verdict: object, *, device: str | None = None) -> None:
    """One line a decision; `verdict` is a word of policyd's own."""
    syslogd.send(f"decisions n={head.n} head={head.hash} verdict={verdict}", syslogd.NOTICE,
                 device=device)
