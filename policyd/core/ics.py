"""Last days as a file that calendars read (RFC 5545): a whole-day event a row, with alarms. Pure.

An event is known by kind and subject of its row, as the row is: re-dated it is the same event,
and a reader that takes the file in again moves it, by the later stamp.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256

from policyd.core.rows import DatedRow

ALARMS = (14, 7, 1)
"""Days ahead."""

_OCTETS = 75
_SPECIAL = re.compile(r"[\\;,]")
_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029\x0b\x0c]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def calendar(rows: Iterable[DatedRow], name: str, at: datetime) -> bytes:
    """The file for the dated rows of a repository, as of a moment; rows without a day are left
    out."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//policyd//calendar//EN",
             "CALSCALE:GREGORIAN", "METHOD:PUBLISH", f"X-WR-CALNAME:{escaped(name)}"]
    stamp = at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    for row in rows:
        if row.last is not None:
            lines.extend(_event(row, row.last, name, stamp))
    lines.append("END:VCALENDAR")
    return "".join(folded(line) + "\r\n" for line in lines).encode("utf-8")


def uid(row: DatedRow, name: str) -> str:
    """The same for as long as the row is about the same."""
    digest = sha256("\0".join((name, row.kind.value, row.subject)).encode(
        "utf-8", "surrogatepass")).hexdigest()
    return f"{row.kind.value}-{digest[:32]}@policyd"


def escaped(text: str) -> str:
    """A text as a value: RFC 5545, 3.3.11."""
    plain = _CONTROL.sub("?", _BREAK.sub("\n", text))
    return _SPECIAL.sub(r"\\\g<0>", plain).replace("\n", "\\n")


def folded(line: str) -> str:
    """A line in pieces of 75 octets at most, none of them in the middle of a character: 3.1."""
    pieces, piece, room = [], "", _OCTETS
    for character in line:
        size = len(character.encode("utf-8"))
        if size > room:
            pieces.append(piece)
            piece, room = "", _OCTETS - 1
        piece, room = piece + character, room - size
    return "\r\n ".join((*pieces, piece))


def _event(row: DatedRow, last: date, name: str, stamp: str) -> Iterator[str]:
    about = row.subject if row.subject == row.id else f"{row.id} ({row.subject})"
    summary = f"{row.kind.value} {row.id} ends, {row.owner}"
    yield from ("BEGIN:VEVENT", f"UID:{uid(row, name)}", f"DTSTAMP:{stamp}",
                f"DTSTART;VALUE=DATE:{last:%Y%m%d}")
    if last < date.max:  # without an end the event lasts for its day; most readers want one
        yield f"DTEND;VALUE=DATE:{last + timedelta(days=1):%Y%m%d}"
    yield from (f"SUMMARY:{escaped(summary)}",
                f"DESCRIPTION:{escaped(_description(row, about, name))}",
                f"CATEGORIES:{escaped(row.kind.value)}", "TRANSP:TRANSPARENT")
    for days in ALARMS:
        yield from ("BEGIN:VALARM", "ACTION:DISPLAY", f"TRIGGER:-P{days}D",
                    f"DESCRIPTION:{escaped(f'{summary}, {_days(days)} left')}", "END:VALARM")
    yield "END:VEVENT"


def _days(number: int) -> str:
    return "1 day" if number == 1 else f"{number} days"


def _description(row: DatedRow, about: str, name: str) -> str:
    reason = f"\n{row.reason}" if row.reason else ""
    return f"{about}{reason}\n{name}, {row.path}:{row.line}. This is the last day that counts."
