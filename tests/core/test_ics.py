"""Calendar files, by the rules of RFC 5545."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from policyd.core.ics import calendar, escaped, folded, uid
from policyd.core.rows import DatedRow, Kind

ROW = DatedRow(Kind.FLAKE, "f.json", 3, "api.rates", "tests/test_api.py::test_rates", "mei",
               "answers 429; then, late", date(2027, 1, 1), date(2027, 1, 31))
AT = datetime(2027, 1, 2, 1, 30, tzinfo=timezone(timedelta(hours=2)))
LINE = re.compile(rb"[A-Z][A-Z0-9-]*(?:;[A-Z-]+=[A-Z-]+)*:[^\x00-\x08\x0a-\x1f\x7f]*")


def unfolded(data: bytes) -> list[str]:
    """The content lines of a file (3.1)."""
    assert data.endswith(b"\r\n")
    assert data.count(b"\n") == data.count(b"\r") == data.count(b"\r\n")
    assert all(len(line) <= 75 for line in data.split(b"\r\n"))
    for line in data.split(b"\r\n"):
        line.decode("utf-8")  # no piece ends in the middle of a character
    lines = data.replace(b"\r\n ", b"").split(b"\r\n")[:-1]
    assert all(LINE.fullmatch(line) for line in lines)
    return [line.decode("utf-8") for line in lines]


def plain(value: str) -> str:
    """A value of type TEXT as it is read (3.3.11)."""
    assert re.fullmatch(r"(?:[^\\;,]|\\[\\;,nN])*", value), value
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] in "nN" else match[1], value)


def test_a_row_is_a_day_with_three_alarms():
    lines = unfolded(calendar([ROW], "team/shop", AT))
    event = lines[lines.index("BEGIN:VEVENT"):lines.index("END:VEVENT") + 1]
    assert lines[:3] == ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//policyd//calendar//EN"]
    assert lines[-1] == "END:VCALENDAR"
    assert event[1:6] == [
        f"UID:{uid(ROW, 'team/shop')}", "DTSTAMP:20270101T233000Z", "DTSTART;VALUE=DATE:20270131",
        "DTEND;VALUE=DATE:20270201", "SUMMARY:flake api.rates ends\\, mei"]
    assert "answers 429\\; then\\, late" in event[6]
    assert [line for line in event if line.startswith("TRIGGER")] == [
        "TRIGGER:-P14D", "TRIGGER:-P7D", "TRIGGER:-P1D"]
    begins, ends = event.count("BEGIN:VALARM"), event.count("END:VALARM")
    assert begins == ends == event.count("ACTION:DISPLAY") == 3
    assert event[-2:] == ["END:VALARM", "END:VEVENT"]


def test_a_row_is_the_same_event_for_as_long_as_it_is_about_the_same():
    moved = replace(ROW, last=date(2027, 2, 28), id="other", reason="x", owner="kim", line=9)
    assert uid(moved, "shop") == uid(ROW, "shop")
    others = [uid(replace(ROW, kind=Kind.QUARANTINE), "shop"), uid(ROW, "till"),
              uid(replace(ROW, subject="tests/a.py::b"), "shop")]
    assert len({uid(ROW, "shop"), *others}) == 4
    assert re.fullmatch(r"[a-z0-9-]+@policyd", uid(ROW, "shop"))


def test_what_has_no_last_day_is_left_out_and_the_last_day_that_there_is_has_no_end():
    assert "BEGIN:VEVENT" not in unfolded(calendar([replace(ROW, last=None)], "x", AT))
    lines = unfolded(calendar([replace(ROW, last=date.max)], "x", AT))
    assert "DTSTART;VALUE=DATE:99991231" in lines
    assert not any(line.startswith("DTEND") for line in lines)


def test_texts_are_escaped():
    assert escaped("a\\b;c,d\r\ne\u2028f\x1b") == "a\\\\b\\;c\\,d\\ne\\nf?"


@given(st.text(max_size=200))
def test_a_folded_line_reads_the_same(text):
    line = "SUMMARY:" + escaped(text)
    pieces = folded(line).split("\r\n")
    assert all(len(piece.encode()) <= 75 for piece in pieces)
    assert all(piece[0] == " " for piece in pieces[1:])
    assert pieces[0] + "".join(piece[1:] for piece in pieces[1:]) == line


@given(*[st.text(max_size=60)] * 4)
def test_whatever_rows_say_the_file_reads(name, owner, reason, repository):
    row = replace(ROW, id=name, subject=name, owner=owner, reason=reason)
    lines = unfolded(calendar([row, ROW], repository, datetime.now(UTC)))
    assert lines.count("BEGIN:VEVENT") == lines.count("END:VEVENT") == 2
    for line in lines:
        key, _, value = line.partition(":")
        if key in ("SUMMARY", "DESCRIPTION", "X-WR-CALNAME", "CATEGORIES"):
            plain(value)
