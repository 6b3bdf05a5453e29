"""What a refused push can be mended from: worked out only once it is refused. Read-only.

A mended push is tried on the rules before it is printed: what would be left of the push, as
one commit on the base, is judged like a push, and what that finds is given back as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from policyd.adapters.look import Look
from policyd.core.facts import Commit, Op, Situation, Touch, Update
from policyd.core.repair import Ground, first_of
from policyd.core.rule import Finding
from policyd.core.trees import TREE
from policyd.core.values import dataclass

Trial = Callable[[Update], Sequence[Finding]]
"""What the rules would enforce on an update, pushed alone by the same pusher."""

_GIVEN_BACK = ("give-back", "drop")
"""Kinds of repair after which nothing of what they name is left in the push."""

MANY_ROOTS = 6
"""Paths in a command from which on folders are named that hold nothing else."""

MANY_REFS = 6
"""Refs that are still listed one by one."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What a block gives back: whole zones, or single paths."""

    zones: frozenset[str]
    paths: frozenset[str]

    def with_all(self, findings: Iterable[Finding]) -> _Part:
        """This part, and what these findings give back."""
        repairs = [finding.repair for finding in findings]
        return _Part(self.zones.union(*(repair.zones for repair in repairs)),
                     self.paths.union(*(repair.paths for repair in repairs)))


@dataclass(frozen=True, slots=True)
class _Base:
    """A commit to build on, and what the rules would look at again behind it."""

    commit: str | None
    forward: bool
    behind: tuple[Commit, ...] = ()


@dataclass(frozen=True, slots=True)
class _Split:
    """A change in two: what is given back (as `roots`), and the rest."""

    part: _Part
    roots: tuple[str, ...]
    given_back: tuple[Touch, ...]
    rest: tuple[Touch, ...]
    passes: bool


class Mending:
    """A refused push, as one policy sees it."""

    def __init__(self, look: Look, given: Situation, found: Sequence[Finding], push_id: str,
                 tried: Trial) -> None:
        """`found` are the findings that refuse the push."""
        self._look, self._given, self._found = look, given, found
        self._id, self._tried = push_id, tried

    def lead(self, finding: Finding) -> Finding:
        """The finding whose repair mends this one too: one block for all that a ref broke."""
        update = next(u for u in self._given.updates if u.ref == finding.ref)
        same = [other for other in self._found if other.ref == finding.ref]
        aside = [other for other in same if other.repair.kind in ("elsewhere", "in-order")]
        if aside and finding.repair.kind != "edit" and not self._tried(self._aside(update)):
            return aside[0]
        back = [other for other in same if other.repair.kind in _GIVEN_BACK]
        if back and self._is_given_back(finding, back):
            finding = back[0]
        return first_of(finding, same)

    def ground(self, finding: Finding, writers: Callable[[Sequence[str]], tuple[str, ...]]
               ) -> Ground:
        """The facts behind the block of a leading finding. `writers` names those of zones."""
        update = next(u for u in self._given.updates if u.ref == finding.ref)
        same = [other for other in self._found if other.ref == update.ref]
        start = _Part(frozenset(), frozenset()).with_all(same)
        apart = finding.repair.kind == "apart"
        base, split = self._base(update, start, apart=apart)
        onto = self._onto(update, base, split)
        fresh = self._fresh(update)
        zones = self._zones(split)
        edits = [other for other in same if other.repair.kind == "edit"]
        if self._look.policy.guards(onto) != update.guarded:
            edits = []
        back = [other for other in same if other.repair.kind in _GIVEN_BACK or apart]
        first = [other for other in edits if self._is_given_back(other, back)]
        return Ground(
            ref=update.ref, new=update.new, tip=update.tip, base=base.commit, fresh=fresh,
            onto=onto, roots=split.roots, zones=zones, more=bool(split.rest),
            forward=base.forward, moves=update.op is not Op.REWRITE, guarded=update.guarded,
            creator=self._given.creator,
            pending=len(first) < len(edits),
            unready=bool(first) or (base.commit is None and _changes_receipts(update)),
            proposals=self._proposals(update, base, onto), alone=self._alone(),
            first=self._first(update), writers=writers(zones), sole=len(same) == 1)

    def _is_given_back(self, finding: Finding, by: Sequence[Finding]) -> bool:
        """Whether an edit lies in nothing but what these findings give back."""
        part = _Part(frozenset(), frozenset()).with_all(by)
        return finding.repair.kind == "edit" and all(
            place.path is not None and (place.path in part.paths or not part.zones.isdisjoint(
                self._look.zones.of(place.path))) for place in finding.places)

    def _base(self, update: Update, start: _Part, *, apart: bool) -> tuple[_Base, _Split]:
        """What the ref holds, if a push there can pass, else the boundary.

        What is kept apart from commits that the ref holds already is made on the boundary too.
        The gate is the one that there is then: where records are pushed first, the one that they
        leave, unless they close it, which has to be mended before.
        """
        stands = update.stands
        gate = update.gate if apart and stands is not None and not stands.is_open else stands
        for base in self._bases(update):
            split = self._split(replace(update, gate=gate), base, start)
            if split.passes and (split.rest or not apart):
                return base, split
        return base, split

    def _bases(self, update: Update) -> Iterator[_Base]:
        """Without its merges the change would hold what they brought: then the boundary."""
        look = self._look
        if update.op is Op.UPDATE and update.old is not None and update.branch is not None and all(
                look.repo.descends(bytes.fromhex(update.old), bytes.fromhex(commit))
                for commit in update.boundary):
            yield _Base(update.old, True, (Commit("", tuple(look.touches_behind(update.old))),))
        yield _Base(self._boundary(update), False)

    def _boundary(self, update: Update) -> str | None:
        """The accepted commit to build on: the target branch's, if there are several."""
        look, target = self._look, self._look.target_of(update.ref)
        for commit in update.boundary:
            if target is not None and look.repo.descends(look.tips[target], bytes.fromhex(commit)):
                return commit
        return update.boundary[0] if update.boundary else None

    def _split(self, update: Update, base: _Base, part: _Part) -> _Split:
        """Give back more until the rules let the rest pass, or find nothing to give back."""
        changed = self._changed(base.commit, update.tip)
        while True:
            split = self._parted(changed, part)
            left = self._tried(self._as_pushed(update, base, split.rest))
            more = part.with_all(left)
            if not left or more == part:
                return replace(split, passes=not left)
            part = more

    def _parted(self, changed: Sequence[Touch], part: _Part) -> _Split:
        zones, roots = self._look.zones, dict[str, None]()
        for touch in changed:
            if touch.path in part.paths:
                roots[touch.path] = None
            elif part.zones & set(touch.zones) or zones.blocks(touch.path, part.zones):
                roots[zones.root(touch.path, part.zones)] = None
        inside = [any(map(roots.__contains__, _prefixes(touch.path))) for touch in changed]
        given_back = tuple(t for t, is_in in zip(changed, inside, strict=True) if is_in)
        rest = tuple(t for t, is_in in zip(changed, inside, strict=True) if not is_in)
        named = roots if len(roots) <= MANY_ROOTS else _folders(given_back, rest)
        return _Split(part, _outermost(named), given_back, rest, passes=True)

    def _changed(self, base: str | None, tip: str | None) -> tuple[Touch, ...]:
        """All that differs between two commits, in zones or not."""
        look = self._look
        if tip is None:
            return ()
        old = (TREE, look.tree_of(base)) if base is not None else None
        texts = sorted(raw.decode("utf-8", "surrogateescape") for raw in look.trees.diff(
            old, (TREE, look.tree_of(tip)), lambda _: True))
        return tuple(Touch(text, look.zones.of(text)) for text in texts)

    def _as_pushed(self, update: Update, base: _Base, changed: tuple[Touch, ...]) -> Update:
        """One commit on the base that changes this, pushed where a mended push goes."""
        touches = tuple(touch for touch in changed if touch.zones)
        start = Update(update.ref, Op.UPDATE, base.commit, update.tip, update.tip,
                       guarded=update.guarded, gate=update.gate)
        if not base.forward and not self._creates(update):
            start = replace(start, ref=self._fresh(update), op=Op.CREATE, old=None,
                            guarded=False, gate=None)
        before = tuple(touch for commit in base.behind for touch in commit.touches)
        return replace(start, judged=1, commits=(*base.behind, Commit("", touches)),
                       net=(*before, *touches), arrivals=touches if start.guarded else (),
                       held=update.held)

    def _aside(self, update: Update) -> Update:
        """The very same commits, pushed to a branch of their own."""
        return replace(update, ref=self._fresh(update), op=Op.CREATE, old=None, guarded=False,
                       namespace="judge", arrivals=(), claim=None, twice=False, literals=None,
                       books=None, gate=None)

    def _creates(self, update: Update) -> bool:
        """Whether the pusher may create the ref with what is mended."""
        return update.op is Op.CREATE and update.branch is not None and (
            not update.guarded or (self._given.creator and self._given.empty))

    def _onto(self, update: Update, base: _Base, split: _Split) -> str:
        free = (update.branch is not None and split.passes and update.namespace == "judge"
                and update.ref.isascii() and update.ref.isprintable())
        return update.ref if free and (base.forward or self._creates(update)) \
            else self._fresh(update)

    def _zones(self, split: _Split) -> tuple[str, ...]:
        """The zones that are given back, as far as the change touches them."""
        seen = {zone for touch in split.given_back for zone in touch.zones}
        blocked = {zone for zone in split.part.zones for touch in split.given_back
                   if self._look.zones.blocks(touch.path, (zone,))}
        return tuple(zone.name for zone in self._look.policy.zones
                     if zone.name in split.part.zones & (seen | blocked))

    def _fresh(self, update: Update) -> str:
        """A branch name that is free, that can be typed and that the policy does not guard."""
        name = update.branch or update.ref.removeprefix("refs/").removeprefix("tags/")
        flat = name.replace("/", "-")
        for candidate in (f"{name}-{self._id}", f"{flat}-{self._id}", f"policyd-{self._id}"):
            ref = f"refs/heads/{candidate}"
            free = not self._look.policy.guards(ref) and self._look.repo.resolve(ref)[1] is None
            if free and ref.isascii() and ref.isprintable():
                return ref
        return f"refs/heads/policyd/{self._id}"

    def _proposals(self, update: Update, base: _Base, onto: str) -> str | None:
        """The folder for proposals, when there is one that this pusher may write."""
        for zone in self._look.policy.zones:
            folders = ["/".join(p.literal) for p in zone.patterns if p.literal]
            if zone.name == "proposals" and folders:
                path = f"{folders[0]}/{self._id}.patch"
                touch = Touch(path, self._look.zones.of(path))
                pushed = replace(self._as_pushed(update, base, (touch,)), ref=onto)
                return None if self._tried(pushed) else folders[0]
        return None

    def _alone(self) -> tuple[tuple[str, str], ...]:
        """The updates one by one, where each passes by itself."""
        updates = [u for u in self._given.updates if u.new is not None]
        if not 2 <= len(updates) <= MANY_REFS or any(map(self._tried, updates)):
            return ()
        return tuple((str(update.new), update.ref) for update in updates)

    def _first(self, update: Update) -> tuple[tuple[str, str], ...]:
        """Of the same push, a guarded branch that passes alone and brings what this ref holds."""
        if update.tip is None:
            return ()
        for other in self._given.updates:
            if (other.guarded and other.branch is not None and other is not update
                    and other.tip is not None and other.new is not None
                    and self._look.repo.descends(*map(bytes.fromhex, (other.tip, update.tip)))
                    and not self._tried(other)):
                return ((other.new, other.ref), (str(update.new), update.ref))
        return ()


def _changes_receipts(update: Update) -> bool:
    """Made anew as a first commit, nothing holds the commits any more that receipts name."""
    return update.books is not None and any(
        receipt.path in update.books.changed for receipt in update.books.after.receipts)


def _prefixes(path: str) -> Iterator[str]:
    """A path and every folder above it."""
    names = path.split("/")
    return ("/".join(names[:count]) for count in range(1, len(names) + 1))


def _folders(given_back: Sequence[Touch], rest: Sequence[Touch]) -> Iterator[str]:
    """The highest folders that hold what is given back and nothing of the rest."""
    kept = {prefix for touch in rest for prefix in _prefixes(touch.path)}
    for touch in given_back:
        yield next((prefix for prefix in _prefixes(touch.path) if prefix not in kept), touch.path)


def _outermost(roots: Iterable[str]) -> tuple[str, ...]:
    wanted = set(roots)
    return tuple(sorted(root for root in wanted
                        if not any(p in wanted for p in _prefixes(root) if p != root)))
