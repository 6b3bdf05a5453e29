"""The moment that counts: a clock that is set back, jumps, or is right again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.core.errors import CannotJudge
from policyd.core.highwater import HighWater, from_json, to_json

NOON = datetime(2026, 9, 22, 12, tzinfo=UTC)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


def told(*readings: datetime, start: HighWater | None = None) -> HighWater:
    high = start or HighWater()
    for reading in readings:
        high = high.after(reading)
    return high


def test_a_clock_set_back_does_not_take_the_day_back():
    high = told(NOON)
    assert high.at(NOON - DAY) == NOON
    assert told(NOON - DAY, start=high) == high


def test_a_jump_far_ahead_counts_at_once_and_is_not_kept():
    high = told(NOON, NOON + 3650 * DAY)
    assert high.at(NOON + 3650 * DAY) == NOON + 3650 * DAY
    assert high.mark == NOON
    assert told(NOON + MINUTE, start=high) == HighWater(NOON + MINUTE)


def test_two_days_are_not_far():
    assert told(NOON, NOON + 2 * DAY).mark == NOON + 2 * DAY
    assert told(NOON, NOON + 2 * DAY + MINUTE).mark == NOON


def test_a_jump_is_kept_once_a_reading_ten_minutes_later_agrees():
    far = NOON + 30 * DAY
    assert told(NOON, far, far + 9 * MINUTE).mark == NOON
    assert told(NOON, far, far + 9 * MINUTE, far + 10 * MINUTE) == HighWater(far + 10 * MINUTE)


def test_readings_that_disagree_keep_nothing():
    far = NOON + 30 * DAY
    assert told(NOON, far, far - 5 * DAY, far, far + MINUTE).mark == NOON
    assert told(NOON, far, far + 90 * DAY, far + 180 * DAY).mark == NOON
    assert told(NOON, far, NOON + MINUTE, far + 10 * MINUTE).mark == NOON + MINUTE


@given(st.lists(st.integers(0, 200_000), min_size=1, max_size=30))
def test_the_moment_that_counts_never_goes_back_but_for_a_doubted_jump(minutes):
    high, counted = HighWater(), NOON
    for minute in minutes:
        now = NOON + minute * MINUTE
        before = high
        high = high.after(now)
        assert high.mark is not None
        assert before.mark is None or high.mark >= before.mark
        assert high.at(now) >= now
        if now <= counted + 2 * DAY:
            assert high.at(now) >= min(counted, high.mark)
        counted = high.mark


def test_it_survives_the_disk():
    for high in (HighWater(), told(NOON), told(NOON, NOON + 9 * DAY)):
        assert from_json(to_json(high), source="clock.json") == high


@pytest.mark.parametrize("data", [
    b"", b"{}", b"[]", b"null", b'{"format": 2}', b"\xff",
    b'{"format": 1, "mark": "soon", "doubted": null}',
    b'{"format": 1, "mark": "2026-01-01T00:00:00", "doubted": null}',
    b'{"format": 1, "mark": 7, "doubted": null}'])
def test_damage_names_the_way_out(data):
    with pytest.raises(CannotJudge, match="clock reset"):
        from_json(data, source="clock.json")
