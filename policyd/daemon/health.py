"""/metrics and /healthz on loopback; a client that says nothing holds up nobody."""

from __future__ import annotations

import json
import socket
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from policyd.core.errors import CannotJudge
from policyd.daemon.metrics import Metrics

PATIENCE = 5.0
"""Seconds for a client to say what it wants."""
LATE = 3
"""Rescan intervals after which a heartbeat is none any more."""


class Server:
    """Answers while it is entered. Raises CannotJudge where the place is taken."""

    def __init__(self, listen: str, metrics: Metrics) -> None:
        host, _, port = listen.rpartition(":")
        self._listen, self._address = listen, (host.strip("[]"), int(port))
        self._metrics = metrics
        self._server: ThreadingHTTPServer | None = None

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.server_address[1])

    def __enter__(self) -> Server:
        metrics = self._metrics

        class Handler(_Handler):
            figures = metrics

        kind = _Six if ":" in self._address[0] else ThreadingHTTPServer
        try:
            self._server = kind(self._address, Handler)
        except OSError as error:
            raise CannotJudge(f"{self._listen} cannot be listened on: {error.strerror}; name "
                              "another port under `service` in policyd.yaml") from error
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="health", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


class _Six(ThreadingHTTPServer):
    address_family = socket.AF_INET6


class _Handler(BaseHTTPRequestHandler):
    figures: Metrics
    timeout = PATIENCE
    server_version, sys_version = "policyd", ""

    def do_GET(self) -> None:
        if self.path == "/metrics":
            self._answer(200, "text/plain; version=0.0.4", self.figures.page())
        elif self.path == "/healthz":
            code, told = _health(self.figures, datetime.now(UTC))
            self._answer(code, "application/json", json.dumps(told).encode("ascii"))
        else:
            self._answer(404, "text/plain", b"/metrics and /healthz\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the log is for what happens to gates."""

    def _answer(self, code: int, kind: str, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _health(figures: Metrics, now: datetime) -> tuple[int, dict[str, object]]:
    beat = figures.beat
    if beat is None:
        return 503, {"ok": False, "reason": "no look yet"}
    late = now - figures.beaten > timedelta(seconds=LATE * max(beat.rescan_seconds, 10.0))
    told: dict[str, object] = {"ok": not late, "heartbeat": beat.beat,
                               "repositories": beat.repositories, "lost": beat.lost}
    return (503, {**told, "reason": "the last sign is old"}) if late else (200, told)
