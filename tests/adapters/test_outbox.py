from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from policyd.adapters.outbox import Message, Outbox
from policyd.core.errors import CannotJudge

AT = datetime(2026, 5, 2, tzinfo=UTC)
PUT_AND_SAY = """
import sys
from datetime import UTC, datetime
from policyd.adapters.outbox import Outbox
outbox = Outbox(sys.argv[1])
while True:
    print(outbox.put("gate.closed", {"x": "y" * 5_000}, datetime.now(UTC)), flush=True)
"""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def test_messages_come_out_as_they_went_in_and_in_order(state: Path):
    outbox = Outbox(state)
    put = [outbox.put("gate.closed", {"n": n, "text": "\u00e9\udcff"}, AT) for n in range(3)]
    assert Outbox(state).waiting() == put
    assert Outbox(state).read(put[1]) == Message(
        put[1], "gate.closed", AT, b'{"n":1,"text":"\\u00e9\\udcff"}')
    assert {(state / "outbox" / f"{one}.json").stat().st_mode & 0o777 for one in put} == {0o600}


def test_a_clock_set_back_does_not_change_the_order(state: Path):
    outbox = Outbox(state)
    put = [outbox.put("e", {}, AT - timedelta(days=n)) for n in range(5)]
    assert outbox.waiting() == put


def test_what_was_removed_is_gone_and_can_be_removed_twice(state: Path):
    outbox = Outbox(state)
    one = outbox.put("e", {}, AT)
    outbox.remove(one)
    outbox.remove(one)
    assert (len(outbox), outbox.read(one), outbox.dropped) == (0, None, 0)


def test_an_outbox_that_is_not_there_is_empty(state: Path):
    assert (len(Outbox(state)), Outbox(state).waiting()) == (0, [])
    Outbox(state).tidy()


def test_beyond_its_bound_the_oldest_is_dropped_and_counted(state: Path):
    outbox = Outbox(state, most=3)
    put = [outbox.put("e", {"n": n}, AT) for n in range(5)]
    assert (outbox.waiting(), outbox.dropped) == (put[2:], 2)


@pytest.mark.parametrize("damage", [b"", b"{}\n{}", b'{"event":"e","since":"soon"}\n{}', b"[]\n{}",
                                    b'{"event":"e","since":"2026-05-02T00:00:00+00:00"}\n{"n":'])
def test_a_damaged_message_is_dropped_and_counted(state: Path, damage: bytes):
    outbox = Outbox(state)
    one, other = outbox.put("e", {}, AT), outbox.put("e", {}, AT)
    (state / f"outbox/{one}.json").write_bytes(damage)
    assert outbox.read(one) is None
    assert (outbox.waiting(), outbox.dropped) == ([other], 1)


def test_foreign_files_are_no_messages_and_old_drafts_go(state: Path):
    outbox = Outbox(state)
    one = outbox.put("e", {}, AT)
    for name, age in ((f".{one}.json.1", 7_200), (f".{one}.json.2", 0), ("README", 7_200)):
        (state / "outbox" / name).touch()
        os.utime(state / "outbox" / name, (time.time() - age,) * 2)
    outbox.tidy()
    assert outbox.waiting() == [one]
    assert sorted(os.listdir(state / "outbox")) == [f".{one}.json.2", f"{one}.json", "README"]


def test_what_cannot_be_written_is_refused_and_drops_nothing(state: Path):
    outbox = Outbox(state, most=1)
    one = outbox.put("e", {}, AT)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(CannotJudge, match="cannot be written: file too large"):
            outbox.put("e", {"x": "y" * 2_000}, AT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (outbox.waiting(), outbox.dropped) == ([one], 0)


def test_a_folder_that_is_none_is_named(state: Path):
    (state / "outbox").touch()
    with pytest.raises(CannotJudge, match=f"^folder {state}/outbox cannot be written: not a dir"):
        Outbox(state).put("e", {}, AT)


def test_two_threads_put_in_without_losing_any(state: Path):
    outbox = Outbox(state)
    threads = [threading.Thread(target=lambda: [outbox.put("e", {}, AT) for _ in range(20)])
               for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outbox) == 60


@pytest.mark.parametrize("lines", [1, 7, 30])
def test_what_put_returned_survives_kill(state: Path, lines: int):
    process = subprocess.Popen([sys.executable, "-c", PUT_AND_SAY, state], text=True,
                               stdout=subprocess.PIPE)
    assert process.stdout is not None
    said = [process.stdout.readline().strip() for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    said += process.communicate()[0].split()
    outbox = Outbox(state)
    assert set(said) <= set(outbox.waiting())
    assert len(outbox) <= len(said) + 1
    assert all(outbox.read(one) for one in outbox.waiting())
    assert outbox.dropped == 0
