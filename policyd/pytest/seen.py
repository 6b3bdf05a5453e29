"""What the collection showed of the rows and relations, in this process or in all workers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

from policyd.core import nodeids
from policyd.core.rows import DatedRow
from policyd.pytest import told
from policyd.pytest.listed import Held, Listed
from policyd.pytest.relations import MARK

HELD = pytest.StashKey[Held]()


@dataclass(slots=True)
class Seen:
    """Plain values, because a worker sends them to its controller."""

    collected: bool = False
    """Whether anybody got to the end of a collection."""
    there: list[str] = field(default_factory=list)
    """The listed tests that exist, by normalised id."""
    several: list[str] = field(default_factory=list)
    """Those that name parametrised tests without their parameters."""
    unread: list[str] = field(default_factory=list)
    """Files and folders that could not be collected, or skip themselves."""
    relations: int = 0
    """Relation tests that were chosen to run."""
    faults: list[str] = field(default_factory=list)

    def look(self, named: Sequence[tuple[str, pytest.Item]], chosen: Iterable[pytest.Item],
             listed: Listed) -> None:
        """Take in all that was collected, and put on each listed test what names it."""
        self.collected = True
        self.relations = sum(is_relation(item) for item in chosen)
        for name, item in named:
            if (held := listed.by_test.get(name)) is not None:
                self.there.append(name)
                self._hold(item, held)
        names = {name for name, _ in named}
        bases = {name.partition("[")[0] for name in names if "[" in name}
        self.several = [row.subject for row in listed.rows
                        if row.subject in bases and row.subject not in names]

    def _hold(self, item: pytest.Item, held: Held) -> None:
        if is_relation(item):
            self.faults += [told.relation_row(row) for row in held.rows]
            return
        item.stash[HELD] = held
        item.user_properties += [("policyd.row", row.id) for row in held.rows]
        if held.quarantine is not None:
            item.user_properties.append(("policyd.quarantine", told.state(held.quarantine)))
        if held.frozen is not None:
            item.add_marker(pytest.mark.skip(reason=told.skip_reason(held.frozen)))

    def take(self, plain: dict[str, Any]) -> None:
        """What a worker saw; all of them see the same."""
        for name, value in plain.items():
            setattr(self, name, value)

    def plain(self) -> dict[str, Any]:
        return asdict(self)

    def missing(self, listed: Listed, searched: Iterable[Path], root: Path) -> list[DatedRow]:
        """Rows that name no test, as far as that can be told from the folders searched."""
        if not self.collected:
            return []
        folders = [path.relative_to(root).as_posix() for path in searched
                   if path.is_relative_to(root) and "::" not in str(path)]
        return [row for row in listed.rows if row.subject not in self.there
                and _is_in(row.subject, folders) and not _is_in(row.subject, self.unread)]


def is_relation(item: pytest.Item) -> bool:
    return item.get_closest_marker(MARK) is not None


def _is_in(nodeid: str, folders: Iterable[str]) -> bool:
    return any(folder == "." or nodeids.is_below(nodeid, folder) for folder in folders)
