"""What a push brings, looked at through one policy: judged commits, net change, arrivals.

Read-only. What a single commit touches is worked out in `adapters.touched`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise

from policyd.adapters.bulk import Bulk
from policyd.adapters.gitchild import GitChild
from policyd.adapters.gitrepo import Missing, Peeled, PushedRepo
from policyd.adapters.touched import Touched, beyond
from policyd.core.errors import CannotJudge
from policyd.core.facts import Commit, Need, Op, Touch, Update
from policyd.core.graph import Header
from policyd.core.oddtrees import OddTrees
from policyd.core.policy import Policy
from policyd.core.trees import TREE, Node
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class RefLine:
    """One line of the hook's input, resolved against the repository. Ids are hex or None."""

    ref: str
    old: str | None
    new: str | None
    claim: str | None
    twice: bool


class Look:
    """One push looked at through one policy."""

    def __init__(self, repo: PushedRepo, child: GitChild, policy: Policy, *,
                 tips: Mapping[str, str], extra: Sequence[str], groups: frozenset[str],
                 deadline: float) -> None:
        """`tips` (guarded branch to hex id) and `extra` are the accepted history.

        `groups` are the pusher's, `deadline` is in seconds of the monotonic clock.
        """
        self.repo, self._child, self.policy = repo, child, policy
        self.tips = {ref: bytes.fromhex(oid) for ref, oid in tips.items()}
        self._accepted = sorted({*self.tips.values(), *map(bytes.fromhex, extra)})
        self._by_step = bool(groups & set(policy.queues))
        self._touched = Touched(repo, child, policy, maintainer="maintainers" in groups,
                                deadline=deadline)
        self.zones, self.trees = self._touched.zones, self._touched.trees
        self.graph = self._touched.graph
        self._odd_trees = OddTrees(self.trees, repo.tree, self._link_target, repo.kind,
                                   policy.zones, self.zones)
        self._judged = _Judged({}, set(), set())

    def updates(self, lines: Sequence[RefLine], needs: frozenset[Need]) -> tuple[Update, ...]:
        """The updates in the order of the push. Raises CannotJudge beyond a bound."""
        moved = {line.ref for line in lines}
        peeled = [self._tip(line) for line in lines]
        judged = self._judged = self._judge({tip for kind, tip in peeled if kind == "commit"})
        return tuple(self._update(line, kind, tip, judged, moved, needs)
                     for line, (kind, tip) in zip(lines, peeled, strict=True))

    def _tip(self, line: RefLine) -> tuple[str, bytes]:
        if line.new is None:
            return "commit", b""
        peeled = self.repo.peel(bytes.fromhex(line.new))
        if peeled == Peeled("missing", bytes.fromhex(line.new)) and not self.repo.has_quarantine:
            raise CannotJudge("this server calls the hook before the pushed objects are there; the "
                              "operator moves the repository to one that runs git's receive-pack")
        return peeled.kind, peeled.oid

    def _judge(self, tips: set[bytes]) -> _Judged:
        """All judged commits of the push; tips whose history is not whole are left out."""
        tips.discard(b"")
        broken: set[bytes] = set()
        try:
            found, bulk = self._walked(tips)
        except Missing:
            broken = {tip for tip in tips if not self._is_whole(tip)}
            found, bulk = self._walked(tips - broken)
        self.graph.know(found)
        self._touched.gather(found, bulk)
        return _Judged(found, broken, tips - broken)

    def _walked(self, tips: set[bytes]) -> tuple[dict[bytes, Header], Bulk]:
        """The judged commits, children before parents, and the git children that work on them."""
        found: dict[bytes, Header] = {}
        bulk = Bulk(self._child)
        most = self.policy.bounds.max_commits
        for commit, header in self.repo.walk(sorted(tips), self._accepted):
            found[commit] = header
            bulk.walked(commit, header)
            if len(found) > most:
                raise CannotJudge(beyond("max_commits", most, "commits that main lacks"))
        return found, bulk

    def _is_whole(self, tip: bytes) -> bool:
        walk = self.repo.walk([tip], self._accepted)
        try:
            for _ in zip(walk, range(self.policy.bounds.max_commits), strict=False):
                pass
        except Missing:
            return False
        return True

    # What others ask of a push that was looked at.

    def overlooked(self) -> tuple[str, ...]:
        """Accepted commits that were judged all the same: libgit2 walks by time, clocks err."""
        return tuple(c.hex() for c in self.graph.reached(self._judged.found, self._accepted))

    def tree_of(self, commit: str) -> bytes:
        """The raw tree id of a commit given in hex."""
        return self.graph.header(bytes.fromhex(commit))[0]

    def touches_behind(self, commit: str) -> Iterator[Touch]:
        """What the judged commits reachable from this one touch."""
        for oid in self._judged.behind(bytes.fromhex(commit)):
            yield from self._touched.by(oid)

    def target_of(self, ref: str) -> str | None:
        """The guarded branch that a ref is meant for: itself, else the first plain one."""
        return ref if ref in self.tips else meant_for(self.policy, self.tips)

    def expected(self, update: Update) -> Node:
        """What a merge of the update's accepted sides would leave; nothing where there is none."""
        return self._touched.merge_of([bytes.fromhex(commit) for commit in update.boundary])

    def paths_in(self, tree: bytes, zones: Sequence[str]) -> Iterator[str]:
        """All paths of some zones below a tree."""
        return self._touched.paths_in(tree, frozenset(zones))

    def paths_between(self, old: str, new: str, zone: str) -> list[str]:
        """The paths of a zone that differ between two commits in hex; nothing is counted."""
        return self._touched.paths_between((TREE, self.tree_of(old)), (TREE, self.tree_of(new)),
                                           zone)

    # What one update is.

    def _update(self, line: RefLine, kind: str, tip: bytes, judged: _Judged,
                moved: set[str], needs: frozenset[Need]) -> Update:
        self._touched.check_time()
        guarded = self.policy.guards(line.ref)
        update = Update(
            ref=line.ref, op=self._op(line, kind, tip, judged), old=line.old, new=line.new,
            tip=tip.hex() if kind == "commit" and tip else None, guarded=guarded,
            claim=line.claim, twice=line.twice, peels=kind, whole=tip not in judged.broken,
            namespace=self._namespace(line.ref), kept=guarded and self._is_kept(line, moved))
        if kind != "commit" or not tip or tip in judged.broken:
            return update
        return self._looked(update, tip, judged.behind(tip), needs)

    def _looked(self, update: Update, tip: bytes, commits: Sequence[bytes],
                needs: frozenset[Need]) -> Update:
        boundary, net = self._touched.net(tip, commits)
        old = self._commit_of(update.old) if update.guarded else None
        tree = self.graph.header(tip)[0]
        before = [self.graph.header(commit)[0] for commit in boundary]
        arrivals: tuple[Touch, ...] = ()
        if old is not None:
            before.append(self.graph.header(old)[0])
            arrivals = self._touched.changed((TREE, before[-1]), (TREE, tree))
        odd = tuple(self._odd_trees.odd(tree, before)) if Need.TREES in needs and commits else ()
        held = self._held((*net, *arrivals), commits, before) if Need.HELD in needs else ()
        gone = self._gone(net, tree) if Need.GONE in needs else ()
        return replace(
            update, tip_accepted=not commits, judged=len(commits),
            commits=tuple(Commit(oid.hex(), touches) for oid in reversed(commits)
                          if (touches := self._touched.by(oid))),
            boundary=tuple(oid.hex() for oid in boundary), net=net, arrivals=arrivals,
            odd_entries=odd, held=frozenset(held), gone=frozenset(gone),
            steps=self._queue_steps(update, tip) if self._by_step else ())

    def _held(self, touches: Sequence[Touch], commits: Sequence[bytes],
              before: Sequence[bytes]) -> Iterator[str]:
        """The touched paths that one of the trees before the push holds."""
        paths = {touch.path for touch in touches}
        paths.update(touch.path for oid in commits for touch in self._touched.by(oid))
        for path in paths:
            raw = path.encode("utf-8", "surrogateescape")
            if any(self.trees.at(tree, raw) is not None for tree in before):
                yield path

    def _gone(self, net: Sequence[Touch], tree: bytes) -> Iterator[str]:
        return (touch.path for touch in net
                if self.trees.at(tree, touch.path.encode("utf-8", "surrogateescape")) is None)

    def _queue_steps(self, update: Update, tip: bytes) -> tuple[Update, ...]:
        """Each first-parent step of a guarded branch as an update of its own, oldest first."""
        if not update.guarded or update.op is not Op.UPDATE:
            return ()
        line: list[bytes] = []
        step: bytes | None = tip
        while step is not None and step in self._judged.found:
            line.append(step)
            step = next(iter(self._judged.found[step][1]), None)
        return tuple(self._step(update, old, new)
                     for old, new in pairwise([step, *reversed(line)]) if new is not None)

    def _step(self, update: Update, old: bytes | None, new: bytes) -> Update:
        known = set(self._judged.behind(old)) if old is not None else set()
        commits = [oid for oid in self._judged.behind(new) if oid not in known]
        boundary, net = self._touched.net(new, commits)
        return replace(
            update, old=old.hex() if old is not None else None, new=new.hex(), tip=new.hex(),
            judged=len(commits), boundary=tuple(oid.hex() for oid in boundary), net=net,
            commits=tuple(Commit(oid.hex(), touches) for oid in reversed(commits)
                          if (touches := self._touched.by(oid))))

    def _op(self, line: RefLine, kind: str, tip: bytes, judged: _Judged) -> Op:
        if line.new is None:
            return Op.DELETE
        if line.old is None:
            return Op.CREATE
        old = self._commit_of(line.old)
        if kind != "commit" or old is None or tip in judged.broken:
            return Op.REWRITE
        return Op.UPDATE if self.repo.descends(tip, old) else Op.REWRITE

    def _commit_of(self, oid: str | None) -> bytes | None:
        if oid is None:
            return None
        peeled = self.repo.peel(bytes.fromhex(oid))
        return peeled.oid if peeled.kind == "commit" else None

    def _namespace(self, ref: str) -> str:
        if ref.startswith(("refs/heads/", "refs/tags/")):
            return "judge"
        return next((what for pattern, what in self.policy.namespaces if pattern.matches(ref)),
                    "refuse")

    def _is_kept(self, line: RefLine, moved: set[str]) -> bool:
        """Whether a guarded branch that this push leaves alone contains what the ref holds."""
        old = self._commit_of(line.old)
        if old is None or line.new is not None:
            return False
        return any(self.repo.descends(tip, old)
                   for ref, tip in self.tips.items() if ref not in moved)

    def _link_target(self, oid: bytes) -> bytes:
        return self.repo.read(oid)[1] if self.repo.size(oid) <= 4096 else b""


def meant_for(policy: Policy, guarded: Iterable[str]) -> str | None:
    """The guarded branch that unguarded ones are meant for: the first that is named plainly."""
    names = tuple(guarded)
    for pattern in policy.guarded:
        for name in names:
            if not pattern.negate and "*" not in pattern.glob and pattern.matches(name):
                return name
    return None


@dataclass(slots=True)
class _Judged:
    """The judged commits of a whole push, children before parents."""

    found: Mapping[bytes, Header]
    broken: set[bytes]
    """Tips whose history is not all there."""
    walked: set[bytes]
    """Tips that the judged commits were found from."""
    _position: dict[bytes, int] = field(default_factory=dict)
    _behind: dict[bytes, tuple[bytes, ...]] = field(default_factory=dict)

    def behind(self, tip: bytes) -> tuple[bytes, ...]:
        """The judged commits that `tip` reaches, children before parents."""
        known = self._behind.get(tip)
        if known is None and self.walked == {tip}:
            known = self._behind[tip] = tuple(self.found)
        elif known is None:
            if not self._position:
                self._position.update((c, n) for n, c in enumerate(self.found))
            known = self._behind[tip] = tuple(sorted(
                self._reach(tip), key=self._position.__getitem__))
        return known

    def _reach(self, tip: bytes) -> set[bytes]:
        seen = {tip} & self.found.keys()
        stack = list(seen)
        while stack:
            for parent in self.found[stack.pop()][1]:
                if parent in self.found and parent not in seen:
                    seen.add(parent)
                    stack.append(parent)
        return seen
