"""What commits touch, in the words of one policy's zones. Read-only.

The rules of what counts as touched are in `core.trees` (path-level merges) and `core.graph`
(merge bases); here they meet the repository.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache

from policyd.adapters.bulk import Bulk
from policyd.adapters.gitchild import Change, GitChild
from policyd.adapters.gitrepo import PushedRepo
from policyd.core.errors import CannotJudge
from policyd.core.facts import Touch
from policyd.core.graph import Graph, Header
from policyd.core.policy import Policy
from policyd.core.trees import TREE, Node, Trees, leaf, merge
from policyd.core.zones import ZoneMap

FEW = 64
"""Commits up to which trees are compared here; more are handed to a git child."""

MAX_VIRTUAL = 64
"""Merge bases of merge bases that are followed; behind them everything is a decision."""


class Touched:
    """The comparisons of one push through one policy; every answer is kept."""

    def __init__(self, repo: PushedRepo, child: GitChild, policy: Policy, *, maintainer: bool,
                 deadline: float) -> None:
        self._bounds, self._deadline, self._maintainer = policy.bounds, deadline, maintainer
        self.zones = ZoneMap(policy.zones)
        self.trees = Trees(repo.tree)
        self.graph = Graph(repo.header, child.merge_bases)
        self._known: dict[bytes, tuple[Touch, ...]] = {}
        self._expected: dict[tuple[bytes, ...], Node] = {}
        self._nets: dict[tuple[bytes, int], tuple[tuple[bytes, ...], tuple[Touch, ...]]] = {}
        self._zone_of = cache(self._zone)
        self._files = 0
        self._steps = 0

    def by(self, commit: bytes) -> tuple[Touch, ...]:
        """What a judged commit touches, sorted by path."""
        return self._known[commit]

    def gather(self, found: Mapping[bytes, Header], bulk: Bulk) -> None:
        """Work out what all these commits touch; `bulk` has been handed them while walking."""
        if len(found) > FEW:
            with suppress(OSError):  # git gave up: what it did not settle is looked at here
                self._in_bulk(found, bulk)
        for commit in found:
            if commit not in self._known:
                self.check_time()
                self._known[commit] = self._of(commit, found)

    def _of(self, commit: bytes, judged: Mapping[bytes, Header]) -> tuple[Touch, ...]:
        tree, parents, _ = judged[commit]
        return self.changed(self.merge_of(parents), (TREE, tree),
                             conflicts=not self._is_settled(parents, judged))

    def _is_settled(self, parents: Sequence[bytes], judged: Mapping[bytes, Header]) -> bool:
        """Whether a merge's conflicts are its pusher's to settle: a maintainer's, of old sides."""
        return self._maintainer and len(parents) > 1 and not any(p in judged for p in parents)

    def _in_bulk(self, found: Mapping[bytes, Header], bulk: Bulk) -> None:
        bulk.complete(found, self.graph, lambda parents: self._is_settled(parents, found))
        for commit, changes in bulk.answers():
            paths = [path for _, path in changes[0]] if len(changes) == 1 else self._decided(
                found[commit][0], self.graph.header(found[commit][1][1])[0], *changes)
            self._known[commit] = self._zone_all(paths)

    def _decided(self, tree: bytes, theirs: bytes, made: Sequence[Change],
                 brought: Sequence[Change]) -> Iterator[bytes]:
        """The zoned paths on which a merge is not what the path-level merge leaves, in no order.

        `made` is what it changes against its first parent, `brought` what its second parent
        changed against the one base. A clean merge makes what is brought. A path that is only
        brought is left as it was: no decision where both sides had done the same to it.
        """
        if made == brought:
            return
        ours = {path for _, path in made}
        for path in {path for _, path in {*made} ^ {*brought}}:
            if self._zone_of(path) is not None and (
                    path in ours or self._leaf(tree, path) != self._leaf(theirs, path)):
                yield path

    def _leaf(self, tree: bytes, path: bytes) -> Node:
        return leaf(self.trees.at(tree, path))

    def paths_between(self, old: Node, new: Node, zone: str) -> list[str]:
        """The paths of a zone that differ between two trees; nothing is counted."""
        texts = map(text_of, self.trees.diff(old, new, self._follow))
        return sorted(text for text in texts if zone in self.zones.of(text))

    def net(self, tip: bytes, commits: Sequence[bytes]
             ) -> tuple[tuple[bytes, ...], tuple[Touch, ...]]:
        """The boundary of the judged commits behind a tip, and their net change."""
        if not commits:
            return (), ()
        if len(commits) == 1 and len(parents := self.graph.header(tip)[1]) == 1:
            return parents, self._known[tip]
        known = self._nets.get((tip, len(commits)))
        if known is None:
            judged = set(commits)
            sides = [p for commit in reversed(commits) for p in self.graph.header(commit)[1]]
            boundary = self.graph.independent(p for p in sides if p not in judged)
            tree = self.graph.header(tip)[0]
            known = self._nets[tip, len(commits)] = (boundary, self.changed(
                self.merge_of(boundary), (TREE, tree), conflicts=not self._maintainer))
        return known

    def paths_in(self, tree: bytes, zones: frozenset[str]) -> Iterator[str]:
        """The paths below a tree that lie in some zones, in no order; nothing is counted."""
        for text in map(text_of, self.trees.diff(None, (TREE, tree), self._follow)):
            if not zones.isdisjoint(self.zones.of(text)):
                yield text

    def merge_of(self, commits: Sequence[bytes], depth: int = 0) -> Node:
        """The path-level merge of commits: folded left to right, bases merged in the same way."""
        if len(commits) < 2:
            return (TREE, self.graph.header(commits[0])[0]) if commits else None
        key = tuple(commits)
        if key not in self._expected:
            alone = self.graph.independent(commits)
            folded = [commit for commit in dict.fromkeys(commits) if commit in alone]
            node: Node = (TREE, self.graph.header(folded[0])[0])
            for count, commit in enumerate(folded[1:], 1):
                bases = self.graph.bases(commit, folded[:count])
                base = self.merge_of(bases, depth + 1) if depth < MAX_VIRTUAL else None
                node = merge(node, (TREE, self.graph.header(commit)[0]), base)
            self._expected[key] = node
        return self._expected[key]

    def changed(self, old: Node, new: Node, *, conflicts: bool = True) -> tuple[Touch, ...]:
        """The zoned paths that differ between two nodes, sorted."""
        return self._zone_all(self.trees.diff(old, new, self._follow, conflicts=conflicts))

    def _follow(self, folder: bytes) -> bool:
        self._steps += 1
        if self._steps % 1024 == 0:
            self.check_time()
        return self.zones.follow(text_of(folder))

    def _zone_all(self, paths: Iterable[bytes]) -> tuple[Touch, ...]:
        """The paths that lie in a zone, sorted; each path is asked for once a push."""
        found = [touch for path in paths if (touch := self._zone_of(path)) is not None]
        return tuple(sorted(found, key=lambda touch: touch.path)) if len(found) > 1 else (*found,)

    def _zone(self, path: bytes) -> Touch | None:
        text = text_of(path)
        zones = self.zones.of(text)
        if not zones:
            return None
        self._files += 1
        if self._files > self._bounds.max_files:
            raise CannotJudge(beyond("max_files", self._bounds.max_files,
                                     "changed files in zones"))
        return Touch(text, zones)

    def check_time(self) -> None:
        """Raises CannotJudge once the policy's seconds are over."""
        if time.monotonic() > self._deadline:
            raise CannotJudge(beyond("seconds", self._bounds.seconds, "seconds of work"))


def beyond(bound: str, limit: float, what: str) -> str:
    """The sentence for a push that is larger than the policy reads."""
    return (f"the push holds more than {limit:,g} {what}; the operator raises `bounds: "
            f"{bound}` in the policy, or the push is made in smaller parts")


def text_of(raw: bytes) -> str:
    """A path's bytes as text from which they can be had back."""
    return raw.decode("utf-8", "surrogateescape")
