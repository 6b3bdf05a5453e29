"""Last days: when a row is over, and the days on which its end is announced. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from policyd.core.rows import DatedRow, Kind

LADDER = (30, 14, 7, 1)
"""Days before the last one on which a row's end is announced, once each."""

LONGEST = {Kind.FLAKE: 30, Kind.QUARANTINE: 30, Kind.FREEZE: 14, Kind.LEASE: 180, Kind.POLICY: 180}
"""Days that a row of a kind is meant to last at most."""


def is_over(row: DatedRow, today: date) -> bool:
    """Whether the last day, which is inclusive, is over."""
    return row.last is not None and today > row.last


def days_left(row: DatedRow, today: date) -> int | None:
    """Days until the last one, 0 on it; None for a row that has none."""
    return None if row.last is None else (row.last - today).days


def steps(row: DatedRow) -> tuple[int, ...]:
    """The days before the last one on which a row's end is announced, the farthest first.

    A row that is shorter than the ladder is not announced before its own half. One that does
    not say when it began is taken to be as long as its kind may be.
    """
    if row.last is None:
        return ()
    half = max((row.last - row.first).days if row.first else LONGEST[row.kind], 0) // 2
    if half >= LADDER[0]:
        return LADDER
    return (half, *(step for step in LADDER if step < half - 1))


def step_of(row: DatedRow, today: date) -> int | None:
    """The step that a row stands on: the nearest one that was reached; None before the first."""
    left = days_left(row, today)
    if left is None or left < 0:
        return None
    return min((step for step in steps(row) if step >= left), default=None)


def days_ahead(row: DatedRow, today: date) -> Iterator[date]:
    """The days after today on which something is to be said or done about a row.

    A row may end on the last day that there is: no day comes after it.
    """
    left = days_left(row, today)
    if left is None:
        return
    for ahead in (*(left - step for step in steps(row)), left + 1):
        if 0 < ahead <= (date.max - today).days:
            yield today + timedelta(days=ahead)


def soon(rows: Iterable[DatedRow], today: date, days: int) -> tuple[DatedRow, ...]:
    """The rows that end within so many days and are not over, the nearest first."""
    left = ((days_left(row, today), row) for row in rows)
    near = [(n, row.path, row.line, row) for n, row in left if n is not None and 0 <= n <= days]
    return tuple(row for *_, row in sorted(near, key=lambda item: item[:3]))


def key_of(row: DatedRow) -> str:
    """A row with its date as one text: re-dated, it is announced anew."""
    return f"{row.kind.value}:{row.subject}:{row.last}"
