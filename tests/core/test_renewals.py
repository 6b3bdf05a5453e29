"""How often a row was renewed, told from the versions of its record."""

from __future__ import annotations

from datetime import date

import pytest

from policyd.core.facts import Past
from policyd.core.renewals import past
from policyd.core.rows import DatedRow, Kind

WHO = (Kind.QUARANTINE, "tests/test_a.py::test_x")


def version(day: int | str | None) -> list[DatedRow]:
    """A record with the row, ending on a day of September; open without one, "" without it."""
    if day == "":
        return []
    last = None if day is None else date(2026, 9, int(day))
    return [DatedRow(*_place(), "id", WHO[1], "joe", f"reason {day}", last=last)]


def _place() -> tuple[Kind, str, int]:
    return WHO[0], "oracle/quarantine.yaml", 4


@pytest.mark.parametrize(("days", "times"), [
    ([], 0), ([""], 0), ([10], 0), ([10, 10], 0), ([10, 12], 1), ([10, 12, 12, 14], 2),
    ([10, 8], 0), ([10, 8, 9], 1), (["", 10], 0),
    ([10, "", 10], 1), ([10, "", 8], 1), ([10, "", 12, "", 14], 2), ([10, "", ""], 0),
    ([None, 10], 0), ([10, None], 0), ([10, None, 10], 0), ([10, None, 12], 1),
    ([None, "", None], 0), ([None, "", 10], 1),
])
def test_a_later_last_day_or_a_return_is_a_renewal(days, times):
    found = past([version(day) for day in days], [WHO])
    assert found[WHO].times == times


def test_every_reason_is_remembered():
    assert past([version(10), version(""), version(12)], [WHO]) == {
        WHO: Past(1, frozenset({"reason 10", "reason 12"}))}


def test_a_row_that_history_does_not_know_has_no_past():
    other = (Kind.FLAKE, WHO[1])
    assert past([version(10), version(12)], [other]) == {other: Past(0)}
