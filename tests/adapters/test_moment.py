"""The moment that counts, on disk: the mark that is kept, the pretended clock, and damage."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path

import pytest
from conftest import NOBODY

from policyd.adapters import clock, moment
from policyd.core.errors import CannotJudge
from policyd.core.policy import Settings

DAY, MINUTE, SECOND = timedelta(days=1), timedelta(minutes=1), timedelta(seconds=1)
NEVER = timedelta(0)
NOON = datetime(2026, 9, 22, 12, 7, 8, tzinfo=UTC)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    return Settings(str(state), pretended_clock=True)


def shows(settings: Settings, at: datetime) -> datetime:
    """Let the clock show a moment, and decide something; the moment that counts."""
    moment.pretend(settings, at)
    return moment.of(settings)


def mark(settings: Settings) -> Path:
    return Path(settings.state, moment.MARK)


def about(at: datetime | None, wanted: datetime) -> bool:
    return at is not None and timedelta(0) <= at - wanted < 5 * SECOND


def test_the_first_moment_is_kept_and_the_next_ones_once_a_minute(settings):
    shows(settings, NOON)
    first = mark(settings).stat()
    assert about(shows(settings, NOON + 50 * SECOND), NOON + 50 * SECOND)
    assert mark(settings).stat() == first
    shows(settings, NOON + 61 * SECOND)
    assert about(moment.mark(settings).mark, NOON + 61 * SECOND)


def test_a_clock_set_back_by_seconds_at_midnight_does_not_take_the_day_back(settings):
    """What is kept once a minute is kept at once where a day may begin."""
    night = datetime(2026, 9, 23, tzinfo=UTC)
    shows(settings, night - 10 * SECOND)
    shows(settings, night + 10 * SECOND)
    assert shows(settings, night - 20 * SECOND) >= night


def test_a_clock_set_back_changes_nothing_and_looking_writes_nothing(settings):
    shows(settings, NOON)
    before = mark(settings).read_bytes()
    assert about(shows(settings, NOON - DAY), NOON)
    moment.pretend(settings, NOON + DAY)
    assert about(moment.seen(settings), NOON + DAY)
    assert mark(settings).read_bytes() == before


def test_a_jump_counts_at_once_and_is_kept_when_another_reading_agrees(settings):
    far = NOON + 3650 * DAY
    shows(settings, NOON)
    assert about(shows(settings, far), far)
    assert about(moment.mark(settings).mark, NOON)
    assert about(shows(settings, far + 11 * MINUTE), far + 11 * MINUTE)
    assert about(moment.mark(settings).mark, far + 11 * MINUTE)


def test_a_server_that_slept_long_and_was_asked_seldom_keeps_its_mark_again(settings):
    """The second reading far ahead replaces the first; else none would ever agree with it."""
    shows(settings, NOON)
    shows(settings, NOON + 10 * DAY)
    shows(settings, NOON + 20 * DAY)
    shows(settings, NOON + 20 * DAY + 11 * MINUTE)
    assert about(moment.mark(settings).mark, NOON + 20 * DAY + 11 * MINUTE)


def test_a_jump_that_another_one_contradicts_is_not_kept(settings):
    for ahead in (NEVER, 30 * DAY, 90 * DAY, 30 * DAY + 11 * MINUTE):
        shows(settings, NOON + ahead)
    assert about(moment.mark(settings).mark, NOON)


def test_the_operator_puts_the_mark_back(settings):
    shows(settings, NOON + 20 * DAY)
    moment.pretend(settings, NOON)
    moment.put_back(settings)
    assert about(moment.of(settings), NOON)


def test_the_mark_goes_nowhere_but_on_when_many_write_it(settings):
    shows(settings, NOON)
    with ProcessPoolExecutor(4, mp_context=get_context("fork")) as pool:
        found = list(pool.map(_many, [(settings, n) for n in range(4)]))
    assert all(moments == sorted(moments) for moments in found)
    kept = moment.mark(settings).mark
    assert kept is not None
    assert kept + MINUTE >= max(map(max, found))
    assert not [name for name in os.listdir(settings.state) if name.startswith(".")]


def _many(asked: tuple[Settings, int]) -> list[datetime]:
    """As many pushes, while one process moves the clock on by two minutes each time."""
    settings, number = asked
    found = []
    for step in range(1, 26):  # a step of 0 would set the clock back by the time that a fork takes
        if number == 0:
            moment.pretend(settings, NOON + step * 2 * MINUTE)
        found.append(moment.of(settings))
    return found


@pytest.mark.parametrize("data", [b"", b"{", b"\0" * 80, b'{"format": 1}', b"x" * 5000])
def test_a_damaged_mark_is_no_moment_and_names_the_way_out(settings, data):
    mark(settings).write_bytes(data)
    for asked in (moment.of, moment.seen, moment.mark):
        with pytest.raises(CannotJudge, match="clock reset"):
            asked(settings)
    assert mark(settings).read_bytes() == data
    moment.put_back(settings)
    assert moment.of(settings)


def test_what_cannot_be_read_or_written_is_no_moment(settings):
    mark(settings).mkdir()
    with pytest.raises(CannotJudge, match=r"clock\.json cannot be read: is a directory"):
        moment.of(settings)
    mark(settings).rmdir()
    Path(settings.state, "lock").mkdir()
    with pytest.raises(CannotJudge, match=r"lock .* cannot be written"):
        moment.of(settings)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act for another user")
def test_a_state_folder_that_its_owner_cannot_write_is_no_moment(open_folder):
    state = open_folder / "read-only"
    state.mkdir(mode=0o500)
    os.chown(state, NOBODY, NOBODY)
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        said = pool.submit(_as_nobody, Settings(str(state))).result()
    assert "cannot be written: permission denied; let its owner write there again" in said


def _as_nobody(settings: Settings) -> str:
    os.setresuid(NOBODY, NOBODY, NOBODY)
    try:
        moment.of(settings)
    except CannotJudge as error:
        return str(error)
    return "it was written"


def test_a_home_that_allows_no_pretended_clock_looks_at_the_real_one(settings):
    moment.pretend(settings, NOON - 900 * DAY)
    real = Settings(settings.state)
    assert about(moment.now(real), clock.now() - SECOND)
    with pytest.raises(CannotJudge, match="allows no pretended clock"):
        moment.pretend(real, NOON)


def test_the_real_time_comes_back(settings):
    moment.pretend(settings, NOON)
    for _ in range(2):
        moment.pretend(settings, None)
        assert about(moment.now(settings), clock.now() - SECOND)


@pytest.mark.parametrize("data", [b"soon", b"", b"nan", b"inf", b"1e300", b"9e12", b"-9e12",
                                  b"\xff"])
def test_a_damaged_pretended_clock_is_no_moment(settings, data):
    Path(settings.state, moment.PRETENDED).write_bytes(data)
    for asked in (moment.now, moment.of, moment.seen):
        with pytest.raises(CannotJudge, match="pretended clock"):
            asked(settings)
