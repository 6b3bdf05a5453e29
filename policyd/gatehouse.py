"""What a tree's records say, and the gate that follows: shared by the judgement and the daemon."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import date
from typing import TYPE_CHECKING

from policyd.adapters import pastrows
from policyd.adapters.corpora import Corpora
from policyd.adapters.gitchild import GitChild
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.adapters.look import Look
from policyd.adapters.parsedcache import ParsedCache
from policyd.adapters.recordfiles import Files, RecordFiles
from policyd.core import gates
from policyd.core.errors import Fault
from policyd.core.facts import Books, Need, Op, Past, Update
from policyd.core.gates import Acts, Gate, Given
from policyd.core.index import Index
from policyd.core.movement import Movement
from policyd.core.policy import Policy
from policyd.core.renewals import is_renewed
from policyd.core.rows import DATED, Identity, Parsed, Record, Records
from policyd.core.trees import Trees
from policyd.core.values import dataclass

if TYPE_CHECKING:  # the hook keeps none
    from policyd.adapters.keptsheets import KeptSheets

_PATH = "/usr/local/bin:/usr/bin:/bin"
_DATED = tuple(sorted(DATED, key=lambda record: record.value))
_ALL = (*_DATED, Record.RECEIPTS, Record.SEEDS)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a repository's gates depend on besides its records, and where their parse is kept."""

    state: str | None = None
    """The state folder; None: nothing is kept between two judgements."""
    key: str = ""
    acts: Acts = field(default_factory=Acts)
    movements: tuple[Movement, ...] = ()
    sheets: KeptSheets | None = None
    """What was read of sources before; None: each judgement reads anew, as the hook does."""


def record_files(repo: PushedRepo, trees: Trees, child: GitChild, standing: Standing,
                 budget: int) -> RecordFiles:
    """The records of a repository; `budget` is how many bytes of corpora may be hashed anew."""
    return RecordFiles(repo, trees, _parse, ParsedCache(standing.state, standing.key),
                       Corpora(standing.state, repo, child, budget))


def outside_of_pushes(git_dir: str, repo: PushedRepo, standing: Standing, *, budget: int,
                      seconds: float) -> RecordFiles:
    """The records of a repository for who looks at its own trees, with nothing in quarantine."""
    deadline = time.monotonic() + seconds
    child = GitChild(git_dir, {"PATH": _PATH}, deadline)
    return record_files(repo, Trees(repo.tree), child, standing, budget).until(deadline)


def _parse(record: Record, path: str, data: bytes) -> Parsed:
    """Only a record that nobody has read yet costs the import of its loaders."""
    from policyd import records

    return records.load(record, path, data)


def absent(branch: str) -> Records:
    """The records of a branch that another one's gate reads, and that does not exist."""
    return Records(faults=(Fault(branch, 1, 1, "the branch whose records count here is absent"),))


def records_of(policy: Policy, ref: str, live: Mapping[str, str], repo: PushedRepo,
               files: RecordFiles) -> Records:
    """The dated records that the gate of a guarded branch reads; `live` are the branches."""
    source = policy.reads_from(ref)
    tip = live.get(source) or repo.resolve(source)[1]
    if tip is None:
        return absent(source)
    return files.dated(repo.header(bytes.fromhex(tip))[0], policy.records)


def guarded_names(repo: PushedRepo, policies: Sequence[Policy]) -> list[str]:
    """The guarded branches that are there, by their full names; symbolic refs are none."""
    return sorted(name for name in repo.names("refs/heads/")
                  if any(policy.guards(name) for policy in policies)
                  and repo.resolve(name)[0] == name)


def strangers(index: Index, live: Mapping[str, str]) -> tuple[Movement, ...]:
    """Guarded branches that are there, and that nobody pushed and nobody enrolled."""
    known = {*index.branches, *(step.ref for step in index.pending)}
    return tuple(Movement(ref, None, oid) for ref, oid in sorted(live.items())
                 if ref not in known)


class Bookkeeper:
    """Looks into the records of one push, under one policy."""

    def __init__(self, look: Look, files: RecordFiles, standing: Standing, today: date,
                 needs: frozenset[Need], deadline: float = math.inf) -> None:
        self._look, self._files, self._standing = look, files.until(deadline), standing
        self._policy: Policy = look.policy
        self._today, self._needs, self._deadline = today, needs, deadline

    def with_books(self, update: Update, pushed: Mapping[str, str]) -> Update:
        """The update with its gate and its records, where a rule asks; for guarded branches.

        `pushed` are the tips that the push leaves, by ref. Raises CannotJudge and Missing.
        """
        tip = update.tip
        if not update.guarded or update.branch is None or tip is None or not update.whole:
            return update
        if Need.GATE in self._needs:
            update = self._with_gate(update, pushed)
        if Need.RECORDS in self._needs and not _is_new_at_accepted(update):
            update = replace(update, books=self._books(update, tip))
        return update

    def _with_gate(self, update: Update, pushed: Mapping[str, str]) -> Update:
        if self._policy.mirror or _is_new_at_accepted(update):
            return update
        source = self._policy.reads_from(update.ref)
        stood = self._tip(source)
        gate = self._gate(update, pushed.get(source, stood))
        return replace(update, gate=gate,
                       stands=gate if pushed.get(source, stood) == stood
                       else self._gate(update, stood))

    def _gate(self, update: Update, commit: str | None) -> Gate:
        records = absent(self._policy.reads_from(update.ref)) if commit is None else (
            self._files.dated(self._look.tree_of(commit), self._policy.records))
        movements = self._standing.movements
        if update.old is not None and update.ref not in self._look.tips and not any(
                movement.ref == update.ref for movement in movements):
            movements = (*movements, Movement(update.ref, None, update.old))
        return gates.desired(update.ref, records,
                             Given(self._today, self._standing.acts, movements))

    def _tip(self, ref: str) -> str | None:
        tip = self._look.tips.get(ref)
        return None if tip is None else tip.hex()

    def _books(self, update: Update, tip: str) -> Books | None:
        """None where the update leaves every record as it is."""
        target = self._look.target_of(update.ref)
        stood = update.old or (self._tip(target) if target is not None else None)
        tree = self._look.tree_of(tip)
        there = self._files.files(tree, self._policy.records, _ALL)
        were = self._were(stood)
        changed = {path for path in there.keys() | were.keys()
                   if there.get(path) != were.get(path)}
        after = self._read(tree, there, changed)
        before = self._read(self._look.tree_of(stood), were, changed) if stood else Records()
        changed |= self._changed_corpora(tree, stood, before, after)
        if not changed:
            return None
        base = stood or tip
        return Books(before, after, frozenset(changed),
                     self._past(before, after, stood) if Need.PAST in self._needs else {},
                     frozenset(self._baselines(after, changed, base)))

    def _were(self, stood: str | None) -> Files:
        if stood is None:
            return {}
        return self._files.files(self._look.tree_of(stood), self._policy.records, _ALL)

    def _read(self, tree: bytes, there: Files, changed: set[str]) -> Records:
        """All that is dated, and of what may be many files only those that change."""
        wanted = {path: found for path, found in there.items()
                  if found.record is not Record.RECEIPTS or path in changed}
        return self._files.records(tree, self._policy.records, wanted)

    def _changed_corpora(self, tree: bytes, stood: str | None, before: Records,
                         after: Records) -> set[str]:
        corpora = {lease.corpus for lease in (*before.leases, *after.leases)}
        trees = self._look.trees

        def at(root: bytes, path: str) -> object:
            return trees.at(root, path.encode("utf-8", "surrogateescape"))

        return {path for path in corpora
                if stood is None or at(tree, path) != at(self._look.tree_of(stood), path)}

    def _past(self, before: Records, after: Records,
              stood: str | None) -> dict[Identity, Past]:
        known = before.by_identity()
        wanted = [row.identity for row in after.rows
                  if row.identity not in known or is_renewed(row, known[row.identity])]
        if stood is None or not wanted:
            return {}
        commit = self._look.repo.peel(bytes.fromhex(stood)).oid
        return pastrows.past(self._files, self._look.repo, self._look.trees, commit,
                             self._policy.records, wanted, self._deadline)

    def _baselines(self, after: Records, changed: Iterable[str], base: str) -> Iterator[str]:
        """The commits named by changed receipts that the branch holds."""
        inside = set(changed)
        repo = self._look.repo
        for commit in {r.baseline for r in after.receipts if r.path in inside}:
            raw = bytes.fromhex(commit)
            try:
                if repo.kind(raw) == "commit" and repo.descends(bytes.fromhex(base), raw):
                    yield commit
            except Missing:
                continue


def _is_new_at_accepted(update: Update) -> bool:
    """Whether a branch is made of what was accepted already: that commit is its base."""
    return update.op is Op.CREATE and update.tip_accepted
