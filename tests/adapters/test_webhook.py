"""Against a real HTTP server that answers as it is told to, also badly."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import queue
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from policyd.adapters import endpoint as endpoints
from policyd.adapters.endpoint import Endpoint
from policyd.adapters.outbox import Outbox
from policyd.adapters.webhook import Pace, Webhook
from policyd.core.errors import CannotJudge

DEADLINE = 5.0
FAST = Pace(first=0.02, most=0.05, idle=0.2)
SECRET = "correct horse battery"
CHILD = """
import sys, time
from pathlib import Path
from policyd.adapters.endpoint import Endpoint
from policyd.adapters.outbox import Outbox
from policyd.adapters.webhook import Webhook
url, state, start = sys.argv[1:]
webhook = Webhook(Outbox(state), Endpoint.of(url, None), lambda event, fields: None)
if start == "start":
    webhook.start()
print(webhook.put("gate.closed", {"n": 1}), flush=True)
time.sleep(60)
"""


class Receiver:
    """A server that answers as `plan` says, one entry a request, then 204."""

    def __init__(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.put((self.path, dict(self.headers), body))
                answer = receiver.plan.pop(0) if receiver.plan else 204
                if callable(answer):
                    answer(self)
                    return
                status, headers = answer if isinstance(answer, tuple) else (answer, {})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.plan: list[object] = []
        self.got: queue.Queue[tuple[str, dict[str, str], bytes]] = queue.Queue()
        self.released = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/in/tok3n?k=v"
        threading.Thread(target=self.server.serve_forever, args=(0.005,), daemon=True).start()

    def take(self) -> tuple[str, dict[str, str], bytes]:
        return self.got.get(timeout=DEADLINE)

    def numbers(self, count: int) -> list[int]:
        """The `n` of that many messages, as they arrive."""
        return [json.loads(self.take()[2])["n"] for _ in range(count)]

    def hang(self, _: BaseHTTPRequestHandler) -> None:
        self.released.wait(DEADLINE)

    def drip(self, handler: BaseHTTPRequestHandler) -> None:
        while not self.released.wait(0.05):
            handler.wfile.write(b"H")

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


def drop(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def garbage(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"\x1b[2J s3cret of theirs\r\n\r\n")


class Sending:
    """A running webhook, and what it said."""

    def __init__(self, state: Path, url: str, *, secret: Path | None = None,
                 timeout: float = DEADLINE, pace: Pace = FAST, most: int = 1_000) -> None:
        self.said: queue.Queue[tuple[str, Mapping[str, object]]] = queue.Queue()
        self.webhook = Webhook(Outbox(state, most=most), Endpoint.of(url, secret, timeout=timeout),
                               lambda event, fields: self.said.put((event, fields)), pace=pace)

    def put(self, *numbers: int) -> list[str]:
        return [self.webhook.put("gate.closed", {"n": n}) for n in numbers]

    def hears(self, event: str) -> Mapping[str, object]:
        while True:
            name, fields = self.said.get(timeout=DEADLINE)
            if name == event:
                return fields

    def counts(self) -> tuple[int, int, int]:
        return self.webhook.delivered, self.webhook.dropped, self.webhook.queued


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


Send = Callable[..., Sending]


@pytest.fixture
def send(state: Path, receiver: Receiver) -> Iterator[Send]:
    made: list[Sending] = []

    def start(*, url: str = receiver.url, **settings: object) -> Sending:
        made.append(Sending(state, url, **settings))
        return made[-1]

    yield start
    for one in made:
        one.webhook.stop()


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o640)
    return file


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_a_message_arrives_signed(send: Send, receiver: Receiver, secret: Path):
    sending = send(secret=secret)
    sending.webhook.start()
    (identity,) = sending.put(1)
    path, headers, body = receiver.take()
    assert (path, body) == ("/in/tok3n?k=v", b'{"n":1}')
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Policyd-Event"] == "gate.closed"
    assert headers["X-Policyd-Delivery"] == identity
    expected = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Policyd-Signature"] == f"sha256={expected}"
    until(lambda: sending.counts() == (1, 0, 0))
    assert sending.said.empty()


def test_without_a_secret_nothing_is_signed(send: Send, receiver: Receiver):
    sending = send()
    sending.webhook.start()
    sending.put(1)
    assert "X-Policyd-Signature" not in receiver.take()[1]


@pytest.mark.parametrize("failure", [500, 502, 503, 408, 425, 429, 301, drop, garbage])
def test_what_fails_is_sent_again_under_the_same_id(send: Send, receiver: Receiver,
                                                    failure: object):
    receiver.plan = [failure] * 3
    sending = send()
    sending.webhook.start()
    (identity,) = sending.put(1)
    tries = [receiver.take() for _ in range(4)]
    assert {(headers["X-Policyd-Delivery"], body) for _, headers, body in tries} == {
        (identity, b'{"n":1}')}
    assert sending.hears("webhook failed")["id"] == identity
    assert sending.hears("webhook answers again")["id"] == identity
    assert sending.counts() == (1, 0, 0)


@pytest.mark.parametrize("status", [400, 401, 404, 410, 422])
def test_what_is_refused_is_given_up_at_once(send: Send, receiver: Receiver, status: int):
    receiver.plan = [status]
    sending = send()
    sending.webhook.start()
    (identity, _) = sending.put(1, 2)
    assert receiver.numbers(2) == [1, 2]
    fields = sending.hears("webhook refused")
    assert (fields["id"], fields["about"], fields["reason"]) == (
        identity, "gate.closed", f"status {status}")
    until(lambda: sending.counts() == (1, 1, 0))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(send: Send, receiver: Receiver, status: int):
    receiver.plan = [(status, {"Location": "/elsewhere"})]
    sending = send()
    sending.webhook.start()
    sending.put(1)
    assert [receiver.take()[0] for _ in range(2)] == ["/in/tok3n?k=v"] * 2


@pytest.mark.parametrize("way", ["hang", "drip"])
def test_a_server_that_does_not_come_to_an_end_is_left(send: Send, receiver: Receiver, way: str):
    receiver.plan = [getattr(receiver, way)]
    sending = send(timeout=0.3)
    sending.webhook.start()
    sending.put(1)
    assert receiver.numbers(2) == [1, 1]
    assert str(sending.hears("webhook failed")["reason"]).startswith("no answer: ")


def test_putting_does_not_wait_for_a_server_that_hangs(send: Send, receiver: Receiver):
    receiver.plan = [receiver.hang]
    sending = send()
    sending.webhook.start()
    sending.put(1)
    receiver.take()
    start = time.monotonic()
    sending.put(2, 3)
    assert time.monotonic() - start < 1
    assert sending.webhook.queued == 3


def test_stopping_cuts_what_hangs_and_the_next_start_sends_it_again(send: Send,
                                                                    receiver: Receiver):
    receiver.plan = [receiver.hang]
    first = send()
    first.webhook.start()
    first.put(1)
    receiver.take()
    start = time.monotonic()
    first.webhook.stop()
    assert "webhook" not in [one.name for one in threading.enumerate()]
    first.webhook.stop()
    assert time.monotonic() - start < 1
    assert first.said.empty()
    second = send()
    second.webhook.start()
    assert receiver.numbers(1) == [1]
    until(lambda: second.counts() == (1, 0, 0))


def test_the_order_stays_while_the_endpoint_is_away(send: Send, receiver: Receiver):
    receiver.plan = [503, 429, 503]
    sending = send()
    sending.put(1, 2)
    sending.webhook.start()
    assert receiver.numbers(5) == [1, 1, 1, 1, 2]


def test_a_message_that_the_endpoint_fails_on_does_not_hold_up_the_others(send: Send,
                                                                          receiver: Receiver):
    receiver.plan = [500]
    sending = send()
    sending.put(1, 2, 3)
    sending.webhook.start()
    assert receiver.numbers(4) == [1, 2, 3, 1]


def test_nobody_listening_is_waited_out_in_order(send: Send, receiver: Receiver):
    sending = send(url=f"http://127.0.0.1:{free_port()}/")
    sending.put(1, 2)
    sending.webhook.start()
    fields = sending.hears("webhook failed")
    assert fields["reason"] == "no connection: connection refused"
    sending.webhook.stop()
    assert sending.counts() == (0, 0, 2)
    again = send()
    again.webhook.start()
    assert receiver.numbers(2) == [1, 2]


def test_retry_after_is_honoured(send: Send, receiver: Receiver):
    receiver.plan = [(503, {"Retry-After": "1"})]
    sending = send()
    sending.webhook.start()
    sending.put(1)
    receiver.take()
    start = time.monotonic()
    receiver.take()
    assert time.monotonic() - start >= 0.9


NOW = datetime(2026, 5, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(("header", "seconds"), [
    (None, 0), ("", 0), ("soon", 0), ("-5", 0), ("1.5", 0), ("7", 7), (" 7 ", 7),
    ("9" * 400, 3_600), (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90),
    (format_datetime(NOW - timedelta(days=1), usegmt=True), 0),
    (format_datetime(NOW + timedelta(days=9), usegmt=True), 3_600),
    ("Sat, 02 May 2026 12:01:00", 0), ("\u0667", 0),
])
def test_what_retry_after_may_hold(header: str | None, seconds: float):
    assert endpoints._seconds(header, NOW) == seconds


def test_pauses_grow_to_a_bound_and_are_shaken():
    pace = Pace()
    for failures, most in ((1, 1), (2, 2), (5, 16), (11, 900), (5_000, 900)):
        found = {pace.pause(failures) for _ in range(50)}
        assert len(found) > 1
        assert most / 2 <= min(found) <= max(found) <= most
    assert pace.give_up == 86_400


def test_after_a_success_the_pauses_begin_anew(send: Send, receiver: Receiver):
    receiver.plan = [500, 500, 500, 204, 500]
    sending = send(pace=Pace(first=0.1, most=10))
    sending.put(1)
    sending.webhook.start()
    grown = [sending.hears("webhook failed")["again_in"] for _ in range(3)]
    assert grown[0] <= 0.1 < grown[2]
    sending.hears("webhook answers again")
    sending.put(2)
    assert sending.hears("webhook failed")["again_in"] <= 0.1


def test_only_what_an_endpoint_fails_on_by_itself_steps_aside():
    assert endpoints._meaning(500, None, NOW).aside
    assert not endpoints._meaning(500, "5", NOW).aside
    assert not endpoints._meaning(503, None, NOW).aside


def test_what_failed_for_a_day_is_given_up(state: Path, send: Send, receiver: Receiver):
    old = Outbox(state).put("gate.closed", {"n": 1}, datetime.now(UTC) - timedelta(hours=25))
    receiver.plan = [503]
    sending = send()
    sending.put(2)
    sending.webhook.start()
    assert receiver.numbers(2) == [1, 2]
    assert sending.hears("webhook gave up")["id"] == old
    until(lambda: sending.counts() == (1, 1, 0))


def test_what_waited_for_a_day_while_nobody_ran_is_still_tried(state: Path, send: Send,
                                                               receiver: Receiver):
    Outbox(state).put("gate.closed", {"n": 1}, datetime.now(UTC) - timedelta(days=3))
    draft = state / "outbox/.draft"
    draft.touch()
    os.utime(draft, (0, 0))
    sending = send()
    sending.webhook.start()
    assert receiver.numbers(1) == [1]
    until(lambda: sending.counts() == (1, 0, 0))
    assert not draft.exists()


def test_a_full_queue_says_what_it_dropped(send: Send):
    sending = send(most=2)
    sending.put(1, 2, 3)
    assert sending.hears("webhook queue full")["dropped"] == 1
    assert sending.counts() == (0, 1, 2)


@pytest.mark.parametrize("start", ["start", "wait"])
def test_what_was_queued_survives_kill(state: Path, send: Send, receiver: Receiver, start: str):
    receiver.plan = [receiver.hang] if start == "start" else []
    process = subprocess.Popen([sys.executable, "-c", CHILD, receiver.url, state, start],
                               text=True, stdout=subprocess.PIPE)
    assert process.stdout is not None
    identity = process.stdout.readline().strip()
    if start == "start":
        receiver.take()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    sending = send()
    sending.webhook.start()
    assert receiver.take()[1]["X-Policyd-Delivery"] == identity
    until(lambda: sending.counts() == (1, 0, 0))


def break_absent(secret: Path) -> str:
    secret.unlink()
    return "no such file or directory"


def break_open(secret: Path) -> str:
    secret.chmod(0o644)
    return f"everybody may read it; `chmod o-rwx {secret}`"


def break_empty(secret: Path) -> str:
    secret.write_text("\n")
    return "it is empty"


@pytest.mark.parametrize("damage", [break_absent, break_open, break_empty])
def test_without_its_secret_nothing_is_sent_until_it_is_there(
        send: Send, receiver: Receiver, secret: Path, damage: Callable[[Path], str]):
    reason = damage(secret)
    sending = send(secret=secret)
    sending.webhook.start()
    sending.put(1)
    assert sending.hears("webhook failed")["reason"] == (
        f"the secret {secret} cannot be used: {reason}")
    assert receiver.got.empty()
    secret.write_text(SECRET)
    secret.chmod(0o600)
    assert "X-Policyd-Signature" in receiver.take()[1]


def test_neither_secret_nor_token_is_ever_said(send: Send, receiver: Receiver, secret: Path):
    receiver.plan = [garbage, drop, 500, 404]
    sending = send(secret=secret)
    sending.webhook.start()
    sending.put(1)
    said = [str(sending.hears("webhook failed")) for _ in range(3)]
    said.append(str(sending.hears("webhook refused")))
    said.append(repr(sending.webhook._endpoint))
    assert all(f"127.0.0.1:{receiver.server.server_port}" in one for one in said)
    for hidden in (SECRET, "tok3n", "theirs"):
        assert not any(hidden in one for one in said)


def test_a_disk_that_fails_does_not_end_the_thread(state: Path, send: Send, receiver: Receiver):
    (state / "outbox").write_text("not a folder")
    sending = send()
    sending.webhook.start()
    assert sending.hears("webhook broken")["reason"] == "not a directory"
    time.sleep(0.2)
    assert sending.said.qsize() < 20
    (state / "outbox").unlink()
    sending.put(1)
    assert receiver.numbers(1) == [1]


@pytest.mark.parametrize(("url", "origin", "target"), [
    ("http://h", "http://h:80", "/"),
    ("https://H.example/a/b?c=d#e", "https://h.example:443", "/a/b?c=d"),
    ("https://h:8443?x", "https://h:8443", "/?x"),
    ("http://[::1]:81/x", "http://[::1]:81", "/x"),
])
def test_a_url_is_taken_apart(url: str, origin: str, target: str):
    made = Endpoint.of(url, None)
    assert (made.origin, made.target) == (origin, target)


@pytest.mark.parametrize("url", [
    "ftp://h/tok3n", "file:///tok3n", "h/tok3n", "//h/tok3n", "http:///tok3n", "", "http://h:x/tok3n",
    "http://h:99999/tok3n", "http://u:tok3n@h/", "http://h/\r\nX:tok3n", "http://h/ tok3n",
    "http://h\u00e9/tok3n", "http://[::1/tok3n", "javascript:tok3n",
])
def test_another_url_is_refused_without_repeating_it(url: str):
    with pytest.raises(CannotJudge, match=r"^the webhook's URL ") as caught:
        Endpoint.of(url, None)
    assert "tok3n" not in str(caught.value)


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(send: Send, receiver: Receiver,
                                                              tmp_path: Path):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / "key",
                    "-out", tmp_path / "cert"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    receiver.server.socket = context.wrap_socket(receiver.server.socket, server_side=True)
    sending = send(url=receiver.url.replace("http:", "https:"))
    sending.put(1)
    sending.webhook.start()
    assert "certificate verify failed" in str(sending.hears("webhook failed")["reason"])
    assert receiver.got.empty()
