from __future__ import annotations

import json
from dataclasses import fields

import pytest

from policyd.core.sheet import (
    Assertion,
    Defined,
    Keyed,
    Kind,
    Literal,
    Mark,
    Marker,
    Mock,
    Opened,
    Role,
    Sample,
    Setting,
    Sheet,
    Suspect,
    Test,
    Trick,
    packed,
    unpacked,
)

FULL = Sheet(
    (Literal('"EUR 19.25"', 3, "compared", Role.ANSWER), Literal("1024", 4, "used")),
    (Test("TestCart::test_total", 7, "4e1c", (
        Assertion(9, Kind.EQUAL, "total($0) == 7", "total($0)", "literal", "7"),
        Assertion(10, Kind.CLOSE, "x", tolerance=0.5, types=("ValueError",))), ("app",), 2,
        ("Cart", "total")),),
    (Marker(Mark.SKIP, 6, "test_x", "@pytest.mark.skip"), Marker(Mark.TIMEOUT, 7, amount=2,
                                                                    asks="IS_SLOW")),
    (Keyed(3, ('"a"', "7"), "9", "table"),), (Sample(2, ("7",), "9"),),
    (Suspect(Trick.EXITS, 1, "os._exit"),), (Opened(4, "oracle/**/x.json", "file", True),),
    (Mock(5, "app.total", "test_x"),), (Setting("pytest.addopts", "-x", 3),), ("app", ".x"),
    ("total",), (Defined("total", ("prices",)),))


def test_a_sheet_crosses_a_pipe_whole():
    assert all(getattr(FULL, one.name) for one in fields(Sheet)), "a part is not tried"
    assert unpacked(json.loads(json.dumps(packed(FULL))), Sheet) == FULL
    assert unpacked(packed(Sheet()), Sheet) == Sheet()


@pytest.mark.parametrize("raw", [
    None, [], {}, "", [[]] * 11, [[]] * 13, [[["x", 1, "used", "boss", ""]], *[[]] * 11],
    [[["x", "1", "used", "plain", ""]], *[[]] * 11],
    [[["x", True, "used", "plain", ""]], *[[]] * 11], [[["x", 1, "used"]], *[[]] * 11],
    [*[[]] * 11, [7]], [[], [], [["skip", 1, "", "", "", "soon", ""]], *[[]] * 9]])
def test_what_is_no_sheet_is_none(raw):
    with pytest.raises((ValueError, TypeError)):
        unpacked(raw, Sheet)
