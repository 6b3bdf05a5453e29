"""Against a real datagram socket in systemd's place."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from policyd.adapters.systemd import Systemd

Supervisor = tuple[str, socket.socket]


@pytest.fixture(params=["path", "abstract"])
def supervisor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Supervisor]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        name = f"policyd-test-{os.getpid()}" if request.param == "abstract" else f"{tmp_path}/n"
        server.bind(f"\0{name}" if request.param == "abstract" else name)
        server.settimeout(2)
        yield (f"@{name}" if request.param == "abstract" else name), server


def test_systemd_hears_what_it_is_told(supervisor: Supervisor):
    name, server = supervisor
    systemd = Systemd({"NOTIFY_SOCKET": name})
    systemd.ready()
    systemd.watchdog()
    systemd.stopping()
    systemd.status("3 gates closed,\nREADY=0 \u00e9\udcff")
    assert [server.recv(999) for _ in range(4)] == [
        b"READY=1", b"WATCHDOG=1", b"STOPPING=1",
        b"STATUS=3 gates closed, READY=0 \xc3\xa9\\udcff"]


def test_a_reload_carries_the_moment(supervisor: Supervisor):
    name, server = supervisor
    before = time.monotonic_ns() // 1_000
    Systemd({"NOTIFY_SOCKET": name}).reloading()
    told = re.fullmatch(rb"RELOADING=1\nMONOTONIC_USEC=(\d+)", server.recv(999))
    assert before <= int(told[1]) <= time.monotonic_ns() // 1_000


@pytest.mark.parametrize("name", [None, "", "relative", "vsock:2:1", "/nowhere/at/all",
                                  "/" + "x" * 200])
def test_where_nobody_listens_nothing_happens(name: str | None):
    Systemd({} if name is None else {"NOTIFY_SOCKET": name}).ready()


def test_a_supervisor_that_does_not_read_is_not_waited_for(tmp_path: Path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as filler:
        server.bind(f"{tmp_path}/n")
        filler.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                filler.sendto(b"x", f"{tmp_path}/n")
        start = time.monotonic()
        Systemd({"NOTIFY_SOCKET": f"{tmp_path}/n"}).watchdog()
        assert time.monotonic() - start < 3


@pytest.mark.parametrize(("environment", "seconds"), [
    ({}, None),
    ({"WATCHDOG_USEC": "30000000"}, 15.0),
    ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 15.0),
    ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
    ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": ""}, None),
    ({"WATCHDOG_USEC": "0"}, None),
    ({"WATCHDOG_USEC": "-1"}, None),
    ({"WATCHDOG_USEC": "\u0663"}, None),
    ({"WATCHDOG_USEC": "soon"}, None),
])
def test_the_interval_is_half_of_what_systemd_waits(environment: dict[str, str],
                                                    seconds: float | None):
    assert Systemd(environment).interval() == seconds
