"""What a push does to proposals, gathered for the rule that holds them to their form."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from policyd.adapters.look import Look
from policyd.core.errors import CannotJudge
from policyd.core.facts import Update
from policyd.core.index import Proposed
from policyd.core.proposals import PATCH_SUFFIX, SUFFIXES, Intake, Proposal, Unfit
from policyd.core.trees import LINK, Entry, is_tree
from policyd.core.values import dataclass
from policyd.records import proposals

MOST = 500
"""Proposals that one push brings, or that one person has on a branch."""

_PATCH_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for, and for whom."""

    zone: str
    allowlist: str
    """The path of the literals that may be shared."""
    pusher: str | None
    known: Mapping[str, tuple[str, ...]]
    """Blobs of proposals that were brought before, and who brought them."""

    @classmethod
    def of(cls, zone: str, allowlist: str, pusher: str | None,
           proposed: Sequence[Proposed]) -> Asked:
        return cls(zone, allowlist, pusher, {one.blob: one.by for one in proposed})


class Clerk:
    """Reads the proposals of one push, under one policy."""

    def __init__(self, look: Look, asked: Asked, deadline: float) -> None:
        self._look, self._asked, self._deadline = look, asked, deadline

    def with_intake(self, update: Update) -> Update:
        """Raises CannotJudge beyond a bound, and Missing."""
        if update.tip is None or not update.whole or update.peels != "commit":
            return update
        tree = self._look.tree_of(update.tip)
        changed = {touch.path for touch in update.net if self._asked.zone in touch.zones}
        files = dict(self._files(tree, sorted(changed)))
        if len(files) > MOST:
            raise CannotJudge(f"more than {MOST} proposals in one push; push fewer at once")
        found = Intake(
            tuple(self._unfit(files)), tuple(self._proposed(update, files)),
            tuple(self._own(update)), self._asked.allowlist)
        return replace(update, intake=found) if found != Intake(allowlist=self._asked.allowlist) \
            else update

    def _files(self, tree: bytes, paths: Sequence[str]) -> Iterator[tuple[str, Entry]]:
        """Those of the paths that hold what may be a proposal."""
        for path in paths:
            entry = self._at(tree, path)
            if entry is not None and not is_tree(entry[0]) \
                    and path.lower().endswith((*SUFFIXES, PATCH_SUFFIX)):
                yield path, entry

    def _unfit(self, files: Mapping[str, Entry]) -> Iterator[Unfit]:
        for path, entry in files.items():
            if not path.lower().endswith(SUFFIXES):
                continue
            read = self._read(path, entry)
            if read.faults:
                yield Unfit(path, read.faults, read.shape)

    def _proposed(self, update: Update, files: Mapping[str, Entry]) -> Iterator[Proposed]:
        """Who changes what another proposed proposes it with them."""
        sides = self._before(update)
        for path, (_, oid) in files.items():
            if oid.hex() in self._asked.known:
                continue
            were = [entry[1].hex() for side in sides
                    if (entry := self._at(side, path)) is not None]
            by = dict.fromkeys(name for blob in were for name in self._asked.known.get(blob, ()))
            if self._asked.pusher is not None:
                by[self._asked.pusher] = None
            if by:
                yield Proposed(path, oid.hex(), tuple(by))

    def _own(self, update: Update) -> Iterator[Proposal]:
        """What stands on the guarded branch and was brought by this pusher, wherever it stands."""
        pusher, old = self._asked.pusher, update.old
        mine = {blob for blob, by in self._asked.known.items() if pusher in by}
        if not mine or not update.guarded or old is None:
            return
        tree = self._look.tree_of(self._look.repo.peel(bytes.fromhex(old)).oid.hex())
        count = 0
        for path, entry in self._files(tree, sorted(self._look.paths_in(
                tree, (self._asked.zone,)))):
            if entry[1].hex() not in mine:
                continue
            count += 1
            if count > MOST:
                raise CannotJudge(f"more than {MOST} proposals of {pusher} wait on the branch; "
                                  "adopt or remove some first")
            found = self._read(path, entry).proposal
            if found is not None:
                yield found

    def _read(self, path: str, entry: Entry) -> proposals.Read:
        if time.monotonic() > self._deadline:
            raise CannotJudge("the proposals could not be read within the policy's bound "
                              "`seconds`; the operator raises it")
        mode, oid = entry
        if mode == LINK:
            return proposals.unreadable(path, "it is a symbolic link; a proposal is a plain file")
        patch = not path.lower().endswith(SUFFIXES)
        most = _PATCH_BYTES if patch else proposals.MAX_BYTES
        if self._look.repo.size(oid) > most:
            return proposals.unreadable(path, f"larger than {most:,} bytes")
        data = self._look.repo.read(oid)[1]
        return proposals.Read(proposals.patch(path, data)) if patch else proposals.load(path, data)

    def _before(self, update: Update) -> list[bytes]:
        commits = [*update.boundary]
        if update.guarded and update.old is not None:
            commits.append(self._look.repo.peel(bytes.fromhex(update.old)).oid.hex())
        return [self._look.tree_of(commit) for commit in commits]

    def _at(self, tree: bytes, path: str) -> Entry | None:
        return self._look.trees.at(tree, path.encode("utf-8", "surrogateescape"))
