"""How often rows were dated anew, told from the versions of their records. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from datetime import date

from policyd.core.facts import Past
from policyd.core.rows import DatedRow, Identity
from policyd.core.values import dataclass


@dataclass(slots=True)
class _Told:
    """What one row's story is so far."""

    promised: date | None = None
    """The last day that it had when it last had one."""
    present: bool = False
    met: bool = False
    times: int = 0
    reasons: set[str] = field(default_factory=set)

    def goes_on(self, row: DatedRow | None) -> None:
        if row is not None and row.last is not None:
            came_back = self.met and not self.present
            if came_back or (self.promised is not None and row.last > self.promised):
                self.times += 1
            self.promised = row.last
        if row is not None:
            self.met = True
            self.reasons.add(row.reason)
        self.present = row is not None


def is_renewed(row: DatedRow, before: DatedRow) -> bool:
    """Whether a row may be a renewal of what it was: it ends later, or it ends again."""
    return row.last is not None and (before.last is None or row.last > before.last)


def past(versions: Iterable[Iterable[DatedRow]],
         wanted: Iterable[Identity]) -> dict[Identity, Past]:
    """The story of each wanted row, from its record's versions, the oldest first."""
    stories = {identity: _Told() for identity in wanted}
    for version in versions:
        rows = {row.identity: row for row in version if row.identity in stories}
        for identity, story in stories.items():
            story.goes_on(rows.get(identity))
    return {identity: Past(story.times, frozenset(story.reasons))
            for identity, story in stories.items()}
