"""Reading records in tests: what is wrong in one, without its name in front."""

from __future__ import annotations

from policyd.core.rows import Parsed, Record
from policyd.records import load


def read(record: Record, text: str | bytes) -> Parsed:
    """A file f of one kind."""
    return load(record, "f", text.encode() if isinstance(text, str) else text)


def faults(record: Record, text: str | bytes) -> list[str]:
    """Its faults as LINE:COLUMN: MESSAGE."""
    found = read(record, text).faults
    assert {fault.source for fault in found} <= {"f"}
    return [str(fault).removeprefix("f:") for fault in found]


def changed(text: str, old: str, new: str) -> str:
    """A text with something that stands in it once replaced."""
    assert text.count(old) == 1, old
    return text.replace(old, new)
