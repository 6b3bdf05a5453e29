"""What a test run honours: rows of the flake ledger and of the quarantine, on one day."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from policyd.core import nodeids, parsedjson
from policyd.core.rows import DatedRow, Kind, Parsed


@dataclass(frozen=True, slots=True)
class Held:
    """The rows that name one test."""

    flake: DatedRow | None = None
    quarantine: DatedRow | None = None

    @property
    def rows(self) -> tuple[DatedRow, ...]:
        return tuple(row for row in (self.flake, self.quarantine) if row is not None)

    @property
    def subject(self) -> str:
        """The normalised id of the test."""
        return self.rows[0].subject

    @property
    def frozen(self) -> DatedRow | None:
        """The row that skips the test; no row that is over gets as far as this."""
        row = self.quarantine
        return row if row is not None and row.last is not None else None


@dataclass(frozen=True, slots=True)
class Listed:
    """All rows, and the day that counts in every process of the run."""

    today: date | None = None
    """None where there are no record files."""
    rows: tuple[DatedRow, ...] = ()
    by_test: Mapping[str, Held] = field(default_factory=dict)
    """Normalised node id to what names it."""

    @classmethod
    def of(cls, rows: Iterable[DatedRow], today: date) -> Listed:
        kept = tuple(rows)
        by_kind = {kind: {row.subject: row for row in kept if row.kind is kind}
                   for kind in (Kind.FLAKE, Kind.QUARANTINE)}
        return cls(today, kept, {row.subject: Held(
            by_kind[Kind.FLAKE].get(row.subject), by_kind[Kind.QUARANTINE].get(row.subject))
            for row in kept})

    def normalised(self, nodeid: str) -> str:
        """The form in which a row names a test; empty where none could."""
        try:
            return nodeids.normalised(nodeid) if self.rows else ""
        except ValueError:
            return ""


def to_text(listed: Listed) -> str:
    """For the workers of a run, which read no files."""
    today = listed.today.isoformat() if listed.today else None
    return json.dumps({"today": today, **parsedjson.to_plain(Parsed(rows=listed.rows))})


def from_text(text: str) -> Listed:
    plain = json.loads(text)
    if plain["today"] is None:
        return Listed()
    return Listed.of(parsedjson.from_plain(plain).rows, date.fromisoformat(plain["today"]))
