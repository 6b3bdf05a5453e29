"""Last days: when a row is over, and when its end is told. Dates are counted by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.core import calendar
from policyd.core.calendar import LADDER
from policyd.core.rows import DatedRow, Kind

ROW = DatedRow(Kind.LEASE, "fixtures/leases/rates.yaml", 5, "rates", "fixtures/data/rates.csv",
               "billing", last=date(2026, 9, 22))
OPEN = replace(ROW, last=None)

DAYS = st.dates(date(1900, 1, 1), date(2100, 1, 1))


def lasting(days: int) -> DatedRow:
    """The row with a first day so many days before its last."""
    return replace(ROW, first=date(2026, 9, 22) - timedelta(days=days))


OVER = [
    # last day, today, is it over, days left
    (date(2026, 9, 22), date(2026, 9, 21), False, 1),
    (date(2026, 9, 22), date(2026, 9, 22), False, 0),
    (date(2026, 9, 22), date(2026, 9, 23), True, -1),
    (date(2028, 2, 28), date(2028, 2, 29), True, -1),
    (date(2028, 2, 29), date(2028, 2, 29), False, 0),
    (date(2028, 2, 29), date(2028, 3, 1), True, -1),
    (date(2027, 2, 28), date(2027, 3, 1), True, -1),
    (date(2028, 3, 1), date(2028, 2, 28), False, 2),
    (date(2027, 3, 1), date(2027, 2, 28), False, 1),
    (date(2026, 12, 31), date(2027, 1, 1), True, -1),
    (date.max, date(2026, 9, 22), False, (date.max - date(2026, 9, 22)).days),
    (None, date.max, False, None),
]


@pytest.mark.parametrize(("last", "today", "is_over", "left"), OVER)
def test_the_last_day_is_inclusive(last, today, is_over, left):
    row = replace(ROW, last=last)
    assert calendar.is_over(row, today) == is_over
    assert calendar.days_left(row, today) == left


STEPS = [
    # how many days from the first to the last, days ahead on which the end is told
    (365, (30, 14, 7, 1)),
    (60, (30, 14, 7, 1)),
    (59, (29, 14, 7, 1)),
    (30, (15, 7, 1)),
    (28, (14, 7, 1)),
    (16, (8, 1)),
    (14, (7, 1)),
    (6, (3, 1)),
    (4, (2,)),
    (2, (1,)),
    (1, (0,)),
    (0, (0,)),
    (-3, (0,)),
]


@pytest.mark.parametrize(("days", "steps"), STEPS)
def test_a_row_that_is_shorter_than_the_ladder_is_told_at_its_half(days, steps):
    assert calendar.steps(lasting(days)) == steps


def test_a_lease_without_a_first_day_has_the_whole_ladder_and_one_without_a_last_none():
    assert calendar.steps(ROW) == LADDER == (30, 14, 7, 1)
    assert calendar.steps(OPEN) == ()


STANDS = [
    # days left, the step that was reached
    (31, None), (30, 30), (29, 30), (15, 30), (14, 14), (8, 14), (7, 7), (2, 7), (1, 1), (0, 1),
    (-1, None), (-400, None),
]


@pytest.mark.parametrize(("left", "step"), STANDS)
def test_a_row_stands_on_the_nearest_step_that_it_reached(left, step):
    assert calendar.step_of(ROW, date(2026, 9, 22) - timedelta(days=left)) == step


def test_a_row_that_is_never_due_stands_on_no_step():
    assert calendar.step_of(OPEN, date(2026, 9, 22)) is None


def test_the_days_ahead_are_the_steps_and_the_day_after_the_last():
    assert list(calendar.days_ahead(ROW, date(2026, 8, 1))) == [
        date(2026, 8, 23), date(2026, 9, 8), date(2026, 9, 15), date(2026, 9, 21),
        date(2026, 9, 23)]
    assert list(calendar.days_ahead(ROW, date(2026, 9, 15))) == [
        date(2026, 9, 21), date(2026, 9, 23)]
    assert list(calendar.days_ahead(ROW, date(2026, 9, 22))) == [date(2026, 9, 23)]
    assert list(calendar.days_ahead(ROW, date(2026, 9, 23))) == []
    assert list(calendar.days_ahead(OPEN, date(2026, 9, 23))) == []


def test_the_ladder_counts_a_leap_day():
    row = replace(ROW, last=date(2028, 3, 1))
    assert date(2028, 2, 29) in calendar.days_ahead(row, date(2028, 2, 1))
    assert date(2028, 2, 23) in calendar.days_ahead(row, date(2028, 2, 1))
    assert date(2027, 2, 28) in calendar.days_ahead(replace(row, last=date(2027, 3, 1)),
                                                    date(2027, 2, 1))


def test_the_ends_of_the_calendar_are_no_days_ahead_of_them():
    """C128: a row that ends in 9999 is refused, and stops nobody who looks at it."""
    assert list(calendar.days_ahead(replace(ROW, last=date.max), date.max)) == []
    assert list(calendar.days_ahead(replace(ROW, last=date.max), date(9999, 12, 1))) == [
        date(9999, 12, 1) + timedelta(days=n) for n in (16, 23, 29)]
    assert list(calendar.days_ahead(replace(ROW, last=date.min), date.min)) == [date(1, 1, 2)]


@given(DAYS, st.none() | DAYS, DAYS)
def test_between_the_days_ahead_nothing_happens(last, first, today):
    """Whoever sleeps until the next of them misses neither a step nor the end."""
    row = replace(ROW, last=last, first=first)
    coming = min(calendar.days_ahead(row, today), default=date(2200, 1, 1))
    before = coming - timedelta(days=1)
    assert calendar.is_over(row, before) == calendar.is_over(row, today)
    assert calendar.step_of(row, before) == calendar.step_of(row, today)


@given(DAYS, st.none() | DAYS)
def test_the_steps_go_down_and_never_below_the_last_day(last, first):
    steps = calendar.steps(replace(ROW, last=last, first=first))
    assert list(steps) == sorted(set(steps), reverse=True)
    assert all(0 <= step <= LADDER[0] for step in steps)


def test_the_rows_that_end_soon_are_told_nearest_first():
    today = date(2026, 9, 20)
    far, over = replace(ROW, last=date(2026, 9, 28)), replace(ROW, last=date(2026, 9, 19))
    near, same = replace(ROW, last=today), replace(ROW, last=today, line=1)
    assert calendar.soon((far, over, ROW, OPEN, near, same), today, 7) == (same, near, ROW)


def test_a_row_that_is_dated_anew_is_told_of_anew():
    assert calendar.key_of(ROW) == calendar.key_of(replace(ROW, id="again", line=9))
    assert calendar.key_of(ROW) != calendar.key_of(replace(ROW, last=date(2026, 9, 23)))
    assert calendar.key_of(ROW) != calendar.key_of(replace(ROW, kind=Kind.QUARANTINE))
