from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from policyd.daemon.log import logger


def line(environment: dict[str, str] | None = None, level: str = "warning", event: str = "x",
         **fields: object) -> str:
    out = io.StringIO()
    getattr(logger(environment or {}, out), level)(event, **fields)
    assert out.getvalue().count("\n") == 1
    return out.getvalue()


def test_a_line_is_one_json_object_with_time_and_level():
    found = json.loads(line(event="gate.closed", repository="a/b", reasons=["r"], n=1))
    moment = datetime.fromisoformat(found.pop("time"))
    assert moment.utcoffset().total_seconds() == 0
    assert abs((datetime.now(UTC) - moment).total_seconds()) < 60
    assert found == {"level": "warning", "event": "gate.closed", "repository": "a/b",
                     "reasons": ["r"], "n": 1}


def test_bound_fields_come_with_every_line():
    out = io.StringIO()
    logger({}, out).bind(state="/s").info("x", a=1)
    assert json.loads(out.getvalue()).items() >= {"state": "/s", "a": 1}.items()


@pytest.mark.parametrize(("level", "mark"), [("debug", "<7>{"), ("info", "<6>{"),
                                             ("warning", "<4>{"), ("error", "<3>{")])
def test_the_journal_reads_the_level_in_front(level: str, mark: str):
    assert line({"JOURNAL_STREAM": "8:1"}, level).startswith(mark)
    assert line({}, level).startswith("{")


@pytest.mark.parametrize("bad", ["\x1b[2J", "a\nb", "\u202e", "\udcff", "\x9b", "\r"])
def test_nothing_pushed_steers_a_terminal_or_begins_a_line(bad: str):
    found = line(event=bad, value=bad, deep=[{"k": bad}])
    assert found.rstrip("\n").isascii()
    assert found.rstrip("\n").isprintable()


@pytest.fixture
def terminal() -> tuple[io.TextIOWrapper, int]:
    ours, theirs = pty.openpty()
    return os.fdopen(theirs, "w", encoding="ascii"), ours


def test_a_terminal_gets_words_without_control_characters(terminal: tuple[io.TextIOWrapper, int]):
    stream, other = terminal
    with stream:
        logger({"JOURNAL_STREAM": "8:1"}, stream).warning(
            "gate\x1b[2J closed", branch="m\u00e9\udcff\u202e", days=3, why=["\x1b"])
        shown = os.read(other, 4_096).decode("ascii")
    os.close(other)
    assert shown.startswith("20")
    assert shown.rstrip("\r\n").isprintable()
    assert shown.rstrip().endswith("warning gate\\x1b[2J closed branch=m\\u00e9\\xff\\u202e "
                                   "days=3 why=['\\\\x1b']")


@pytest.mark.parametrize("way", ["2>/dev/full", "2>&-", "2>&1 >&3 | true", "2>/dev/null"])
def test_a_log_that_nobody_takes_does_not_end_the_daemon(way: str):
    child = ("import os, time; from policyd.daemon.log import logger; log = logger({}); "
             "time.sleep(0.1); log.error('x'); log.error('x'); "
             "logger({}, open('/dev/full', 'w')).error('x'); os.write(1, b'alive'); os._exit(0)")
    done = subprocess.run(["sh", "-c", f'exec 3>&1; "$0" -c "$1" {way}', sys.executable, child],
                          capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("alive", "")


def test_without_a_stream_it_is_standard_error(capsys: pytest.CaptureFixture[str]):
    logger({}).info("x")
    assert json.loads(capsys.readouterr().err)["event"] == "x"
