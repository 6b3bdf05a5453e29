"""The daemon's figures for Prometheus, in a registry of their own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from policyd.adapters.gatefiles import Heartbeat
from policyd.adapters.webhook import Webhook
from policyd.daemon.fleet import Entry


class Metrics:
    """What is counted. Only closed gates are told by name: open ones are too many."""

    def __init__(self, version: str) -> None:
        self.registry = CollectorRegistry()
        self.beat: Heartbeat | None = None
        self.beaten = datetime.now(UTC)
        made: Any = {"registry": self.registry}
        Gauge("policyd_build_info", "The version.", ["version"], **made).labels(version).set(1)
        self._repositories = Gauge("policyd_repositories", "Enrolled repositories.", **made)
        self._problems = Gauge("policyd_repositories_unreadable",
                               "Repositories that cannot be looked at.", **made)
        self._closed = Gauge("policyd_gates_closed", "Closed gates.", **made)
        self._open = Gauge("policyd_gates_open", "Open gates.", **made)
        self._by_name = Gauge("policyd_gate_closed", "1 for each closed gate.",
                              ["repository", "branch"], **made)
        self._moved = Gauge("policyd_movements", "Branches that moved past policyd.", **made)
        self._due = Gauge("policyd_rows_due", "Rows by the step of their announcement.",
                          ["days"], **made)
        self._look_at = Gauge("policyd_heartbeat_timestamp_seconds", "The last sign.", **made)
        self._looks = Histogram("policyd_look_seconds", "How long a look takes.", **made)
        self._hints = Counter("policyd_hints", "Hints that came.", **made)
        self._lost = Counter("policyd_events_lost", "Times that events may be lost.", **made)
        self._queue = Gauge("policyd_webhook_queue", "Notices that wait.", **made)
        self._delivered = Gauge("policyd_webhook_delivered", "Notices delivered.", **made)
        self._dropped = Gauge("policyd_webhook_dropped", "Notices given up.", **made)

    def looked(self, seconds: float) -> None:
        self._looks.observe(seconds)

    def hinted(self) -> None:
        self._hints.inc()

    def lost(self) -> None:
        self._lost.inc()

    def beats(self, beat: Heartbeat, entries: Sequence[Entry], webhook: Webhook | None) -> None:
        self.beat, self.beaten = beat, datetime.now(UTC)
        self._look_at.set(datetime.fromisoformat(beat.beat).timestamp())
        self._repositories.set(len(entries))
        self._problems.set(sum(bool(entry.problem) for entry in entries))
        self._closed.set(sum(len(entry.closed) for entry in entries))
        self._open.set(sum(len(entry.branches) - len(entry.closed) for entry in entries))
        self._moved.set(sum(entry.moved for entry in entries))
        self._by_name.clear()
        due: dict[int, int] = {}
        for entry in entries:
            for branch in entry.closed:
                self._by_name.labels(entry.name, branch).set(1)
            for step, rows in entry.due.items():
                due[step] = due.get(step, 0) + rows
        self._due.clear()
        for step, rows in due.items():
            self._due.labels(str(step)).set(rows)
        if webhook is not None:
            self._queue.set(webhook.queued)
            self._delivered.set(webhook.delivered)
            self._dropped.set(webhook.dropped)

    def page(self) -> bytes:
        """What Prometheus reads."""
        return generate_latest(self.registry)
