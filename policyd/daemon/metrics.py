"""The daemon's figures for Prometheus, in a registry of their own."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter as Tally
from collections.abc import Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from policyd.adapters import logfiles
from policyd.adapters.gatefiles import Heartbeat
from policyd.adapters.webhook import Webhook
from policyd.core import calendar
from policyd.core.errors import CannotJudge
from policyd.daemon.fleet import Entry

RESULTS = ("holds", "refuses", "undecided", "dropped", "failed")
"""What a queued replay comes to."""


class Metrics:
    """What is counted. Only closed gates and broken hooks are told by name: others are too many.

    `state` is the folder whose decision log is counted. Any thread may ask for the `page`; it is
    always that of one moment.
    """

    def __init__(self, version: str, *, state: str | None = None) -> None:
        self.registry = CollectorRegistry()
        self.beat: Heartbeat | None = None
        self.beaten = time.monotonic()
        self._lock = threading.Lock()
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
        self._hooks = Gauge("policyd_hooks_broken",
                            "Repositories whose hook is not as it must be.", **made)
        self._hook_of = Gauge("policyd_hook_broken", "1 for each broken hook.",
                              ["repository"], **made)
        self._trouble = Gauge("policyd_trouble",
                              "1 while home or program are not as they must be.", **made)
        self._due = Gauge("policyd_rows_due", "Rows by the step of their announcement.",
                          ["days"], **made)
        self._look_at = Gauge("policyd_heartbeat_timestamp_seconds", "The last sign.", **made)
        self._looks = Histogram("policyd_look_seconds", "How long a look takes.", **made)
        self._hints = Counter("policyd_hints", "Hints that came.", **made)
        self._lost = Counter("policyd_events_lost", "Times that events may be lost.", **made)
        self._queue = Gauge("policyd_webhook_queue", "Notices that wait.", **made)
        self._delivered = Counter("policyd_webhook_delivered", "Notices delivered.", **made)
        self._dropped = Counter("policyd_webhook_dropped", "Notices given up.", **made)
        self._replays = Gauge("policyd_replay_queued", "Replays that wait or run.", **made)
        self._replayed = Counter("policyd_replay_done", "Queued replays by what they came to.",
                                 ["result"], **made)
        for result in RESULTS:
            self._replayed.labels(result)
        self._replay_seconds = Histogram(
            "policyd_replay_seconds", "How long a queued replay takes.",
            buckets=(1, 2, 5, 10, 20, 60, 120, 300, 600), **made)
        self._worker_failures = Counter("policyd_replay_worker_failures",
                                        "Times that the worker ended otherwise than it must.",
                                        **made)
        self._counted = (0, 0)
        if state is not None:
            Gauge("policyd_decision_log_entries",
                  "The number of the log's last entry; NaN while it cannot be read.",
                  **made).set_function(lambda: _last_entry(state))

    def looked(self, seconds: float) -> None:
        self._looks.observe(seconds)

    def replayed(self, result: str, seconds: float) -> None:
        self._replayed.labels(result if result in RESULTS else "failed").inc()
        self._replay_seconds.observe(seconds)

    def replay_worker_failed(self) -> None:
        self._worker_failures.inc()

    def hinted(self) -> None:
        self._hints.inc()

    def lost(self) -> None:
        self._lost.inc()

    def beats(self, beat: Heartbeat, entries: Sequence[Entry], webhook: Webhook | None) -> None:
        with self._lock:
            self.beat, self.beaten = beat, time.monotonic()
            self._look_at.set_to_current_time()
            self._repositories.set(len(entries))
            self._problems.set(sum(bool(entry.problem) for entry in entries))
            self._gates(entries)
            self._broken_hooks(entries)
            self._trouble.set(bool(beat.trouble))
            self._replays.set(beat.replays_queued)
            self._rows(entries)
            if webhook is not None:
                self._notices(webhook)

    def page(self) -> bytes:
        """What Prometheus reads."""
        with self._lock:
            return generate_latest(self.registry)

    def _gates(self, entries: Sequence[Entry]) -> None:
        self._closed.set(sum(len(entry.closed) for entry in entries))
        self._open.set(sum(len(entry.branches) - len(entry.closed) for entry in entries))
        self._moved.set(sum(entry.moved for entry in entries))
        self._by_name.clear()
        for entry in entries:
            for branch in entry.closed:
                self._by_name.labels(_label(entry.name), _label(branch)).set(1)

    def _broken_hooks(self, entries: Sequence[Entry]) -> None:
        broken = [entry for entry in entries if entry.hook_broken]
        self._hooks.set(len(broken))
        self._hook_of.clear()
        for entry in broken:
            self._hook_of.labels(_label(entry.name or entry.git_dir)).set(1)

    def _rows(self, entries: Sequence[Entry]) -> None:
        """Steps without a row are 0: what is absent raises no alert and ends none."""
        due: Tally[int] = Tally(dict.fromkeys(calendar.LADDER, 0))
        for entry in entries:
            due.update(entry.due)
        self._due.clear()
        for step, rows in due.items():
            self._due.labels(str(step)).set(rows)

    def _notices(self, webhook: Webhook) -> None:
        before, self._counted = self._counted, (webhook.delivered, webhook.dropped)
        self._queue.set(webhook.queued)
        self._delivered.inc(self._counted[0] - before[0])
        self._dropped.inc(self._counted[1] - before[1])


def _label(text: str) -> str:
    """A name of git's that is no UTF-8 would spoil the whole page."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _last_entry(state: str) -> float:
    path = os.path.join(state, logfiles.NAME)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return 0.0
    except OSError:
        return float("nan")
    try:
        return float(logfiles.tail(fd, path).head.n)
    except CannotJudge:
        return float("nan")
    finally:
        os.close(fd)
