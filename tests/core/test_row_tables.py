"""Rows that go from a test while it stays."""

from __future__ import annotations

from collections import Counter

import pytest

from policyd.core.kin import Placed
from policyd.core.sheet import Assertion, Kind, Sample, Sheet, Test
from policyd.core.tables import changes, rows

OLD = Test("test_old", 2, "o", (Assertion(3, Kind.EQUAL, "f(1) == 2"),))
TABLE = Test("test_all", 20, "t", cases=3)


def sheet(*pairs: tuple[str, str]) -> Sheet:
    """A table, behind another test with a sample of its own."""
    samples = [Sample(3, ("1",), "2")]
    samples += [Sample(10 + n, tuple(given.split()), result)
                for n, (given, result) in enumerate(pairs)]
    return Sheet(tests=(OLD, TABLE), samples=tuple(samples))


def said(before: Sheet, after: Sheet) -> list[str]:
    placed = Placed("t.py", TABLE)
    given = Counter(one.given for one in after.samples)
    return [f"{says} {row}" for _, says, row in changes(
        (placed, rows(before, TABLE)), (placed, rows(after, TABLE)), given)]


A, B, C = ("'a'", "'A'"), ("'b'", "'B'"), ("'c'", "'C'")

ROWS = [
    # title, before, after, what is said
    ("the same", [A, B], [B, A], []),
    ("one more", [A, B], [A, B, C], []),
    ("another one", [A, B], [A, C], ["loses an input 'b'"]),
    ("another one, and one more", [A, B], [A, C, ("'d'", "'D'")], ["loses an input 'b'"]),
    ("all others", [A], [B], ["loses an input 'a'"]),
    ("all others, whose results nobody knows", [("'a'", "")], [("'b'", "")], []),
    ("another result", [A, B], [A, ("'b'", "'X'")], []),
    ("a result that is computed", [A, B], [A, ("'b'", "")], ["computes what it expects 'b'"]),
    ("one column more", [A, B], [("'a' 1", "'A'"), ("'b' 1", "'B'")], []),
]


@pytest.mark.parametrize(("before", "after", "says"), [row[1:] for row in ROWS],
                         ids=[row[0] for row in ROWS])
def test_what_became_of_rows(before, after, says):
    assert said(sheet(*before), sheet(*after)) == says


def test_a_row_that_another_test_has_now_is_there():
    after = sheet(A, C)
    more = Sheet(tests=after.tests, samples=(*after.samples, Sample(30, ("'b'",), "'B'")))
    assert said(sheet(A, B), more) == []


def test_what_runs_once_has_no_rows():
    assert rows(sheet(A), OLD) == ()
    assert rows(None, TABLE) == ()
