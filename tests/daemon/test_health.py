"""Over real connections, also by clients that mean ill."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

from policyd.adapters.gatefiles import Heartbeat
from policyd.core.errors import CannotJudge
from policyd.daemon import health
from policyd.daemon.health import Server
from policyd.daemon.metrics import Metrics

BEAT = Heartbeat(1, "2026-05-02T00:00:00+00:00", "2026-05-02T00:00:05+00:00", "1.0", "ab", 2, 60.0)
PATIENCE = 0.4


@pytest.fixture(scope="module")
def metrics() -> Metrics:
    return Metrics("1.0")


@pytest.fixture(scope="module")
def server(metrics: Metrics) -> Iterator[Server]:
    with Server("127.0.0.1:0", metrics, patience=PATIENCE) as one:
        yield one


def ask(server: Server, path: str, method: str = "GET",
        host: str = "127.0.0.1") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(host, server.port, timeout=5)
    connection.request(method, path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def connected(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=5)


def ended(client: socket.socket) -> float:
    """Seconds until the other side closes."""
    start = time.monotonic()
    try:
        while client.recv(4_096):
            pass
    except ConnectionResetError:
        pass
    return time.monotonic() - start


def test_metrics_are_what_prometheus_reads(server: Server, metrics: Metrics):
    metrics.beats(BEAT, [], None)
    status, body = ask(server, "/metrics")
    assert status == 200
    assert b'policyd_build_info{version="1.0"} 1.0\n' in body


def test_health_is_yes_after_a_sign_and_no_before_it_and_long_after(server: Server,
                                                                    metrics: Metrics):
    metrics.beat = None
    assert ask(server, "/healthz") == (503, b'{"ok": false, "reason": "no look yet"}')
    metrics.beats(BEAT, [], None)
    status, body = ask(server, "/healthz")
    assert (status, json.loads(body)) == (200, {
        "ok": True, "heartbeat": BEAT.beat, "repositories": 2, "lost": "",
        "trouble": "", "hooks_broken": 0})
    metrics.beaten -= 3 * 60 + 1
    status, body = ask(server, "/healthz")
    assert (status, json.loads(body)["reason"]) == (503, "the last sign is old")


def test_a_sign_is_old_after_three_rescans(metrics: Metrics):
    metrics.beats(BEAT, [], None)
    assert health._health(metrics, metrics.beaten + 179)[0] == 200
    assert health._health(metrics, metrics.beaten + 181)[0] == 503
    metrics.beats(replace(BEAT, rescan_seconds=1.0), [], None)
    assert health._health(metrics, metrics.beaten + 29)[0] == 200


@pytest.mark.parametrize(("method", "path"), [
    ("GET", "/"), ("GET", "/metrics/"), ("GET", "/metrics?x"), ("GET", "/../etc/passwd"),
    ("POST", "/metrics"), ("DELETE", "/healthz"), ("BREW", "/<script>")])
def test_everything_else_is_not_found(server: Server, method: str, path: str):
    assert ask(server, path, method) == (404, b"GET /metrics or /healthz\n")


@pytest.mark.parametrize("said", [
    b"", b"GET /metr", b"\r\n", b"GET /metrics HTTP/1.1\r\nX: y\r\n"])
def test_who_does_not_come_to_an_end_is_left_and_holds_up_nobody(server: Server, said: bytes):
    with connected(server) as silent:
        silent.sendall(said)
        assert ask(server, "/healthz")[0] in {200, 503}
        assert ended(silent) < 3


def test_who_drips_is_left(server: Server):
    with connected(server) as slow:
        slow.sendall(b"GET /")
        start, broken = time.monotonic(), False
        while not broken and time.monotonic() - start < 3:
            time.sleep(0.05)
            try:
                slow.sendall(b"x")
            except OSError:
                broken = True
        assert broken


def test_a_request_has_a_bound(server: Server):
    with connected(server) as long:
        with suppress(OSError):
            long.sendall(b"GET /" + b"x" * 1_000_000)
        assert ended(long) < 3


def test_a_crowd_is_turned_away_and_leaves_room_again(server: Server):
    crowd = [connected(server) for _ in range(health.AT_ONCE)]
    time.sleep(0.05)
    with connected(server) as late:
        assert ended(late) < PATIENCE / 2
    for one in crowd:
        ended(one)
        one.close()
    assert ask(server, "/")[0] == 404


def test_a_client_that_goes_away_leaves_nothing_in_the_log(server: Server,
                                                           capfd: pytest.CaptureFixture[str]):
    for _ in range(3):
        with connected(server) as rude:
            rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            rude.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
    time.sleep(0.1)
    assert ask(server, "/")[0] == 404
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:80", "example.org:80",
                                    "127.0.0.1", "127.0.0.1:http", "127.0.0.1:-1", "127.0.0.2:0"])
def test_only_loopback_is_listened_on(listen: str):
    with pytest.raises(CannotJudge, match=r"is no place on loopback, such as 127\.0\.0\.1:9464"):
        Server(listen, Metrics("1.0"))


def test_a_place_that_is_taken_is_named(server: Server):
    listen = f"127.0.0.1:{server.port}"
    with pytest.raises(CannotJudge, match=f"^{listen} cannot be listened on: Address already"), \
            Server(listen, Metrics("1.0")):
        pass
    with pytest.raises(CannotJudge, match="cannot be listened on: no such port"), \
            Server("127.0.0.1:99999", Metrics("1.0")):
        pass


def test_the_other_loopback_answers_too():
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("no IPv6 here")
    with Server("[::1]:0", Metrics("1.0")) as six:
        assert ask(six, "/metrics", host="::1")[0] == 200
        port = six.port
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("::1", port), timeout=2)
