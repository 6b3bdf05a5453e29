"""One POST to a webhook: where to, signed how, and what the answer means. Follows no redirect.

The URL may carry a token and the file holds a secret: neither is in a repr, a reason or an error.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import os
import socket
import ssl
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from pathlib import Path
from urllib.parse import urlsplit

from policyd.adapters.outbox import Message
from policyd.adapters.statefolder import because
from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass

LONGEST_WAIT = 3_600.0
"""Seconds, of what an endpoint may ask for in Retry-After."""


class Fate(Enum):
    """What becomes of a message."""

    DELIVERED = "delivered"
    REFUSED = "refused"
    """Trying again is no use."""
    LATER = "later"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one try."""

    fate: Fate
    reason: str
    wait: float = 0.0
    """Seconds that the endpoint asks for."""
    aside: bool = False
    """The endpoint is there and this message is what it fails on: others may pass it."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked URL, taken apart."""

    origin: str
    """Scheme, host and port: all that is ever written down."""
    host: str
    port: int
    tls: bool
    target: str
    secret: Path | None = None
    """The file that holds the key for signatures; read at each try."""
    timeout: float = 10.0
    """Seconds for one whole exchange."""

    def __repr__(self) -> str:
        return f"Endpoint({self.origin})"

    @classmethod
    def of(cls, url: str, secret: Path | None, *, timeout: float = 10.0) -> Endpoint:
        """Raises CannotJudge with a sentence that does not repeat the URL."""
        if not url.isascii() or not url.isprintable() or " " in url:
            raise CannotJudge("the webhook's URL holds a character that no URL may hold")
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise CannotJudge("the webhook's URL has no valid host and port") from error
        if parts.scheme not in {"http", "https"} or not host:
            raise CannotJudge("the webhook's URL must begin with http:// or https:// and a host")
        if parts.username is not None:
            raise CannotJudge("the webhook's URL must hold no user or password; sign with a secret")
        tls = parts.scheme == "https"
        port = (443 if tls else 80) if port is None else port
        shown = f"[{host}]" if ":" in host else host
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(f"{parts.scheme}://{shown}:{port}", host, port, tls, target, secret, timeout)


class Exchange:
    """One try at one message; `cut` ends it from another thread."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._connection = _connection(endpoint)

    def post(self, message: Message, now: datetime) -> Answer:
        """Never raises."""
        try:
            headers = _headers(self._endpoint, message)
        except OSError as error:
            return Answer(Fate.LATER, f"the secret {self._endpoint.secret} cannot be used: "
                                      f"{because(error)}")
        try:
            self._connection.connect()
        except Exception as error:
            self._connection.close()
            return Answer(Fate.LATER, f"no connection: {why(error)}")
        try:
            with self._deadline():
                self._connection.request("POST", self._endpoint.target, message.body, headers)
                response = self._connection.getresponse()
                return _meaning(response.status, response.getheader("Retry-After"), now)
        except Exception as error:
            return Answer(Fate.LATER, f"no answer: {why(error)}", aside=True)
        finally:
            self._connection.close()

    def cut(self) -> None:
        sock = self._connection.sock
        with suppress(OSError):
            if sock is not None:  # past ssl, which would lose its state under the reader's hands
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    @contextmanager
    def _deadline(self) -> Iterator[None]:
        """A socket's own timeout begins anew with every byte that drips in."""
        timer = threading.Timer(self._endpoint.timeout, self.cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _connection(endpoint: Endpoint) -> http.client.HTTPConnection:
    if endpoint.tls:
        return http.client.HTTPSConnection(endpoint.host, endpoint.port, timeout=endpoint.timeout,
                                           context=ssl.create_default_context())
    return http.client.HTTPConnection(endpoint.host, endpoint.port, timeout=endpoint.timeout)


def _headers(endpoint: Endpoint, message: Message) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "User-Agent": "policyd",
               "Connection": "close", "X-Policyd-Event": message.event,
               "X-Policyd-Delivery": message.id}
    if endpoint.secret is not None:
        key = _key(endpoint.secret)
        signature = hmac.new(key, message.body, hashlib.sha256).hexdigest()
        headers["X-Policyd-Signature"] = f"sha256={signature}"
    return headers


def _key(file: Path) -> bytes:
    """Without the line's end that editors put there."""
    with file.open("rb") as opened:
        if os.fstat(opened.fileno()).st_mode & stat.S_IROTH:
            raise OSError(f"everybody may read it; `chmod o-rwx {file}`")
        key = opened.read(65_536).rstrip(b"\r\n")
    if not key:
        raise OSError("it is empty")
    return key


def _meaning(status: int, retry_after: str | None, now: datetime) -> Answer:
    said = f"status {status}"
    if 200 <= status < 300:
        return Answer(Fate.DELIVERED, said)
    if 400 <= status < 500 and status not in {408, 425, 429}:
        return Answer(Fate.REFUSED, said)
    wait = _seconds(retry_after, now)
    return Answer(Fate.LATER, said, wait, aside=not wait and status not in {429, 503})


def _seconds(retry_after: str | None, now: datetime) -> float:
    """Of a header that holds seconds or a date; 0 for anything else."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), LONGEST_WAIT)
    with suppress(ValueError, TypeError, OverflowError):
        asked = (parsedate_to_datetime(text) - now).total_seconds()
        return min(max(asked, 0.0), LONGEST_WAIT)
    return 0.0


def why(error: Exception) -> str:
    """Without what the other side sent."""
    return because(error) if isinstance(error, OSError) else type(error).__name__
