from __future__ import annotations

import json
import os
import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from policyd.adapters import clock, incidents
from policyd.core.errors import CannotJudge


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def fail(error: BaseException) -> BaseException:
    secret = "s3cret"  # a variable of the frame, which must stay out of the file
    try:
        raise error if secret else RuntimeError
    except BaseException as raised:
        return raised


def written(state: Path) -> list[dict]:
    lines = (state / incidents.NAME).read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_an_incident_leaves_its_traceback_and_gives_an_id(tmp_path: Path):
    found = [incidents.report(tmp_path, "hook", fail(KeyError("x"))) for _ in range(2)]
    assert all(re.fullmatch("[0-9a-f]{6}", one) for one in found)
    first, second = written(tmp_path)
    assert [first["id"], second["id"]] == found
    assert (first["where"], first["error"]) == ("hook", "KeyError: 'x'")
    assert "in fail" in first["traceback"]
    assert datetime.fromisoformat(first["time"]).tzinfo is not None
    assert (tmp_path / incidents.NAME).stat().st_mode & 0o777 == 0o600


def test_neither_environment_nor_variables_are_written(tmp_path: Path,
                                                       monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_AUTHORIZATION", "Basic dXNlcjpwYXNz")
    incidents.report(tmp_path, "hook", fail(ValueError("plain")))
    text = (tmp_path / incidents.NAME).read_text()
    assert "dXNlcjpwYXNz" not in text
    assert "s3cret" not in text


def test_the_causes_of_an_error_are_written(tmp_path: Path):
    error = CannotJudge("the sentence")
    error.__cause__ = fail(OSError(5, "disk"))
    incidents.report(tmp_path, "hook", fail(error))
    assert "disk" in written(tmp_path)[0]["traceback"]


@pytest.mark.parametrize("error", [Mute(), ValueError("a\nb\x1b[0m\x00\udcff" * 50_000),
                                   KeyboardInterrupt(), SystemExit(3)], ids=type)
def test_no_error_is_too_odd_to_report(tmp_path: Path, error: BaseException):
    assert len(incidents.report(tmp_path, "hook \x00\n\udcff", fail(error))) == 6
    (entry,) = written(tmp_path)
    assert len(entry["traceback"]) <= 65_536


@pytest.mark.parametrize("where", ["none", "missing", "link", "pipe", "full"])
def test_no_place_is_too_broken_to_go_on(tmp_path: Path, where: str):
    state = None if where == "none" else tmp_path
    if where == "missing":
        state = tmp_path / "gone"
    if where == "link":
        (tmp_path / incidents.NAME).symlink_to(tmp_path / "elsewhere")
    if where == "pipe":
        os.mkfifo(tmp_path / incidents.NAME)
    if where == "full":
        (tmp_path / incidents.NAME).symlink_to("/dev/full")
    assert len(incidents.report(state, "hook", fail(ValueError("x")))) == 6
    assert not (tmp_path / "elsewhere").exists()


def test_a_line_for_syslog_holds_nothing_but_printable_ascii():
    assert incidents._one_line("a\nb\x1b\x7f\udcff\u202eü") == (
        "a\\x0ab\\x1b\\x7f\\udcff\\u202e\\xfc")


def test_the_clock_is_aware_and_utc():
    assert clock.now().utcoffset() == datetime.now(UTC).utcoffset()


@pytest.mark.parametrize(("zone", "day"), [
    ("UTC", date(2026, 5, 4)), ("Asia/Tokyo", date(2026, 5, 5)),
    ("America/New_York", date(2026, 5, 4)), ("Pacific/Kiritimati", date(2026, 5, 5)),
])
def test_the_day_is_that_of_the_zone(zone: str, day: date):
    assert clock.today(zone, datetime(2026, 5, 4, 22, 0, tzinfo=UTC)) == day


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "", "Europe"])
def test_an_unknown_zone_cannot_be_judged(zone: str):
    with pytest.raises(CannotJudge, match="is not known here"):
        clock.today(zone, datetime(2026, 5, 4, tzinfo=UTC))
