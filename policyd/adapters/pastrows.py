"""What a guarded branch's history says of dated rows: the line of their record, by version.

Read-only. Commits are told apart by what stands at the record's place, so that a long history
costs one look a commit and one parse a version, and a version that was parsed before costs none.
Behind a merge the line goes on with the first parent that holds the record as the merge does:
after `git pull` the branch's own line is the second parent. Where none does, it is the first.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.recordfiles import Found, RecordFiles
from policyd.core import renewals
from policyd.core.errors import CannotJudge
from policyd.core.facts import Past
from policyd.core.policy import Places
from policyd.core.rows import DatedRow, Identity, Kind, Record
from policyd.core.trees import Entry, Trees

STEPS = 10_000
"""Commits of the line that are looked at; what is older counts no more."""

HOLDS: Mapping[Kind, Record] = {
    Kind.FLAKE: Record.FLAKES, Kind.QUARANTINE: Record.QUARANTINE, Kind.FREEZE: Record.FREEZES,
    Kind.LEASE: Record.LEASES, Kind.POLICY: Record.RELATIONS}


def past(files: RecordFiles, repo: PushedRepo, trees: Trees, tip: bytes, places: Places,
         wanted: Iterable[Identity], deadline: float) -> dict[Identity, Past]:
    """What the line behind `tip`, a raw commit id, says of these rows. Raises CannotJudge."""
    by_record: dict[Record, set[Identity]] = {}
    for identity in wanted:
        by_record.setdefault(HOLDS[identity[0]], set()).add(identity)
    found: dict[Identity, Past] = {}
    try:
        for record, identities in by_record.items():
            versions = reversed(list(_versions(files, repo, trees, tip, places, record, deadline)))
            found.update(renewals.past(versions, identities))
    finally:
        files.save()
    return found


def _versions(files: RecordFiles, repo: PushedRepo, trees: Trees, tip: bytes, places: Places,
              record: Record, deadline: float) -> Iterator[tuple[DatedRow, ...]]:
    """The rows of the record wherever it changed, the newest version first."""
    place = str(getattr(places, record.value)).encode("utf-8", "surrogateescape")
    last: Entry | str | None = "nothing was seen yet"
    commit: bytes | None = tip
    for _ in range(STEPS):
        if commit is None:
            return
        if time.monotonic() > deadline:
            raise CannotJudge("the history of the records could not be read within the policy's "
                              "bound `seconds`; the operator raises it")
        tree, parents, _ = repo.header(commit)
        entry = trees.at(tree, place)
        if entry != last:
            last = entry
            there: Mapping[str, Found] = files.files(tree, places, [record])
            yield tuple(row for path, found in there.items()
                        for row in files.parsed(path, found).rows)
        commit = _before(repo, trees, parents, place, entry)


def _before(repo: PushedRepo, trees: Trees, parents: Sequence[bytes], place: bytes,
            entry: Entry | None) -> bytes | None:
    if len(parents) < 2:
        return parents[0] if parents else None
    return next((parent for parent in parents
                 if trees.at(repo.header(parent)[0], place) == entry), parents[0])
