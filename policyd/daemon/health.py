"""/metrics and /healthz on loopback; a client that says nothing holds up nobody."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, ClassVar

from policyd.core.errors import CannotJudge
from policyd.daemon.metrics import Metrics

PATIENCE = 5.0
"""Seconds for a client to say what it wants and to take the answer."""
AT_ONCE = 16
"""Connections that are answered at the same time; what comes beyond them is closed."""
LATE = 3
"""Rescan intervals after which a heartbeat is none any more."""

_PLACES = frozenset({"127.0.0.1", "::1", "localhost"})


class Server:
    """Answers while it is entered. Raises CannotJudge where the place is taken or not loopback."""

    def __init__(self, listen: str, metrics: Metrics, *, patience: float = PATIENCE) -> None:
        host, _, port = listen.rpartition(":")
        if host.strip("[]") not in _PLACES or not (port.isascii() and port.isdigit()):
            raise CannotJudge(f"{listen} is no place on loopback, such as 127.0.0.1:9464; what "
                              "the daemon knows is not for the network")
        self._listen, self._address = listen, (host.strip("[]"), int(port))
        self._metrics, self._patience = metrics, patience
        self._server: ThreadingHTTPServer | None = None

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.server_address[1])

    def __enter__(self) -> Server:
        metrics, patience = self._metrics, self._patience

        class Handler(_Handler):
            figures = metrics
            timeout = patience

        kind = _Six if ":" in self._address[0] else _Listener
        try:
            self._server = kind(self._address, Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "no such port"
            raise CannotJudge(f"{self._listen} cannot be listened on: {reason}; name "
                              "another port under `service` in policyd.yaml") from error
        threading.Thread(target=self._server.serve_forever, name="health", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 2 * AT_ONCE

    def __init__(self, *about: Any) -> None:
        self._free = threading.BoundedSemaphore(AT_ONCE)
        super().__init__(*about)

    def server_bind(self) -> None:
        """Without http.server's question to DNS for the name of the address."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "policyd", int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread to be had
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a client that went away is no event, and standard error is the log."""


class _Six(_Listener):
    address_family = socket.AF_INET6


class _Handler(BaseHTTPRequestHandler):
    figures: ClassVar[Metrics]
    timeout: ClassVar[float] = PATIENCE
    server_version, sys_version = "policyd", ""

    def setup(self) -> None:
        super().setup()
        # The socket's own timeout begins anew with every byte that drips in.
        self._deadline = threading.Timer(self.timeout, self._cut)
        self._deadline.daemon = True
        self._deadline.start()

    def finish(self) -> None:
        self._deadline.cancel()
        super().finish()

    def do_GET(self) -> None:
        if self.path == "/metrics":
            self._answer(200, "text/plain; version=0.0.4; charset=utf-8", self.figures.page())
        elif self.path == "/healthz":
            code, told = _health(self.figures, time.monotonic())
            self._answer(code, "application/json", json.dumps(told).encode("ascii"))
        else:
            self.send_error(404)

    def send_error(self, code: int, message: str | None = None,
                   explain: str | None = None) -> None:
        """Also for what http.server itself refuses; another method than GET is not found."""
        del message, explain  # they repeat what the client said
        self._answer(404 if code == 501 else code, "text/plain", b"GET /metrics or /healthz\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the log is for what happens to gates."""

    def _answer(self, code: int, kind: str, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _cut(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def _health(figures: Metrics, now: float) -> tuple[int, Mapping[str, object]]:
    """By a clock that nobody sets."""
    beat = figures.beat
    if beat is None:
        return 503, {"ok": False, "reason": "no look yet"}
    late = now - figures.beaten > LATE * max(beat.rescan_seconds, 10.0)
    told: dict[str, object] = {"ok": not late, "heartbeat": beat.beat,
                               "repositories": beat.repositories, "lost": beat.lost,
                               "trouble": beat.trouble, "hooks_broken": beat.hooks_broken}
    return (503, {**told, "reason": "the last sign is old"}) if late else (200, told)
