"""Days and where they begin, in every zone of the data base."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest

from policyd.adapters import clock
from policyd.core.errors import CannotJudge

DAY, MOMENT = timedelta(days=1), timedelta(microseconds=1)
ODD = ("America/Sao_Paulo", "Africa/Cairo", "Pacific/Apia", "Asia/Beirut", "America/Havana",
       "Asia/Amman", "America/Asuncion", "Asia/Tehran", "Atlantic/Azores", "America/St_Johns",
       "Pacific/Kiritimati", "Australia/Lord_Howe")
"""Zones whose clocks changed at midnight, by half an hour, or by a whole day."""

SKIPPED = {("Pacific/Apia", date(2011, 12, 30)), ("Pacific/Kiritimati", date(1994, 12, 31))}
"""Days that a zone never had."""


def days(first: date, last: date) -> Iterator[date]:
    while first <= last:
        yield first
        first += DAY


def faults(zone: str, first: date, last: date) -> list[tuple[str, date]]:
    """The days that do not begin where `midnight` says so."""
    found = []
    for day in days(first, last):
        start = clock.midnight(zone, day)
        there = day + DAY if (zone, day) in SKIPPED else day
        if clock.today(zone, start) != there or clock.today(zone, start - MOMENT) >= day:
            found.append((zone, day))
    return found


@pytest.mark.parametrize("zone", ODD)
def test_every_day_of_an_odd_zone_begins_with_its_midnight(zone):
    assert faults(zone, date(1990, 1, 1), date(2030, 12, 31)) == []


def test_every_day_of_a_leap_year_begins_everywhere():
    zones = sorted(available_timezones() - {"localtime", "Factory"})
    assert len(zones) > 300
    assert [fault for zone in zones for fault in faults(zone, date(2028, 2, 25), date(2028, 5, 1))
            ] == []


@pytest.mark.parametrize(("zone", "day", "begins"), [
    ("UTC", date(2028, 2, 29), "2028-02-29 00:00"),
    ("America/Sao_Paulo", date(2018, 11, 4), "2018-11-04 03:00"),  # 00:00 was 01:00
    ("Africa/Cairo", date(2023, 4, 28), "2023-04-27 22:00"),  # so here
    ("America/Havana", date(2025, 11, 2), "2025-11-02 04:00"),  # 00:00 came twice: the first
    ("Asia/Beirut", date(2025, 10, 26), "2025-10-25 22:00"),  # 23:00 came twice before it
    ("Pacific/Apia", date(2011, 12, 30), "2011-12-30 10:00"),  # there was no such day
    ("Pacific/Apia", date(2011, 12, 31), "2011-12-30 10:00"),
])
def test_a_day_begins_where_the_clock_changes(zone, day, begins):
    assert clock.midnight(zone, day) == datetime.fromisoformat(begins).replace(tzinfo=UTC)


def test_today_is_that_of_the_zone():
    at = datetime(2026, 2, 28, 23, 30, tzinfo=UTC)
    assert clock.today("UTC", at) == date(2026, 2, 28)
    assert clock.today("Pacific/Kiritimati", at) == date(2026, 3, 1)
    assert clock.today("UTC", at.astimezone(ZoneInfo("Pacific/Kiritimati"))) == date(2026, 2, 28)


@pytest.mark.parametrize("zone", ["Nowhere/Town", "../etc/passwd", "", "Europe", "a\0b"])
def test_a_zone_that_is_not_known_is_named(zone):
    with pytest.raises(CannotJudge, match="is not known here; install tzdata"):
        clock.today(zone, clock.now())
