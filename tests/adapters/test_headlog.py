"""The head of the log reaches syslog, and no syslog can keep a push waiting."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from policyd.adapters import decisionlog, headlog, syslogd
from policyd.core.chain import Position
from policyd.core.index import Index

KEY = "1" * 32
HEAD = Position(7, "ab" * 32)


@pytest.fixture
def syslog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A socket in the place of /dev/log."""
    device = str(tmp_path / "log")
    monkeypatch.setattr(syslogd, "DEVICE", device)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(device)
        end.setblocking(False)
        yield end


def test_each_entry_tells_the_head_in_one_line(syslog: socket.socket, tmp_path: Path):
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    start = Index(KEY, "2026-05-04T12:00:00+00:00", True, {})
    ids = [decisionlog.begin(state, start, {"verdict": "enrolled"}),
           decisionlog.append(state, {"verdict": "refused"}),
           decisionlog.record(state, KEY, {"verdict": "accepted", "updates": []})]
    decisionlog.rotate(state, "root")
    told = [syslog.recv(4096).decode() for _ in range(4)]
    form = re.compile(r"<29>policyd\[\d+\]: decisions n=(\d) head=([0-9a-f]{64}) verdict=(\w+)")
    found = [match.groups() for line in told if (match := form.fullmatch(line))]
    assert [(n, verdict) for n, _, verdict in found] == [
        ("1", "enrolled"), ("2", "refused"), ("3", "accepted"), ("4", "rotated")]
    assert [head[:6] for _, head, _ in found[:3]] == ids


def test_a_syslog_that_reads_nothing_keeps_nobody_waiting(syslog: socket.socket):
    begun = time.monotonic()
    for _ in range(2_000):
        headlog.tell(HEAD, "refused")
    assert time.monotonic() - begun < 30
    assert syslog.recv(4096)


@pytest.mark.parametrize("kind", ["absent", "a file", "a stream", "nobody listens"])
def test_what_is_no_syslog_is_passed_over(tmp_path: Path, kind: str):
    device = tmp_path / "log"
    if kind == "a file":
        device.touch()
    elif kind != "absent":
        family = socket.SOCK_STREAM if kind == "a stream" else socket.SOCK_DGRAM
        with socket.socket(socket.AF_UNIX, family) as end:
            end.bind(str(device))
    headlog.tell(HEAD, "refused", device=str(device))


def test_a_verdict_writes_no_line_of_its_own(syslog: socket.socket):
    headlog.tell(HEAD, "caf\u00e9")
    assert syslog.recv(4096).isascii()
