"""How often rows were dated anew, told from the versions of their records. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from policyd.core.facts import Past
from policyd.core.rows import DatedRow, Identity


@dataclass(slots=True)
class _Told:
    """What one row's story is so far."""

    last: DatedRow | None = None
    present: bool = False
    times: int = 0
    reasons: set[str] = field(default_factory=set)

    def goes_on(self, row: DatedRow | None) -> None:
        if row is not None and self.last is not None and (
                not self.present or is_later(row, self.last)):
            self.times += 1
        if row is not None:
            self.last = row
            self.reasons.add(row.reason)
        self.present = row is not None


def is_later(row: DatedRow, before: DatedRow) -> bool:
    """Whether a row's last day was moved to a later one, or taken away."""
    return before.last is not None and (row.last is None or row.last > before.last)


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
