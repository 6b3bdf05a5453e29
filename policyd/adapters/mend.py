"""What a refused push can be mended from: worked out only once it is refused. Read-only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from policyd.adapters.look import Look
from policyd.core.facts import Op, Situation, Update
from policyd.core.repair import Ground
from policyd.core.rule import Finding
from policyd.core.trees import TREE


@dataclass(frozen=True, slots=True)
class _Part:
    """What a finding gives back: whole zones, or single paths."""

    zones: frozenset[str]
    paths: frozenset[str]


def ground(look: Look, given: Situation, finding: Finding, push_id: str, *,
           alone: tuple[tuple[str, str], ...] = (), writers: tuple[str, ...] = ()) -> Ground:
    """The facts behind the block of one finding. `alone` and `writers` as `Ground` has them."""
    update = next(u for u in given.updates if u.ref == finding.ref)
    fresh = _fresh(look, update, push_id)
    part = _Part(frozenset(finding.repair.zones), frozenset(finding.repair.paths))
    forward = _is_forward(look, update, part)
    base = update.old if forward else _boundary(look, update)
    free = forward or (update.op is Op.CREATE and _may_create(given, update))
    roots, more = _changes(look, base, update.tip, part)
    return Ground(
        ref=update.ref, new=update.new, base=base, fresh=fresh,
        onto=update.ref if free and update.branch is not None else fresh,
        roots=roots, more=more, forward=forward, guarded=update.guarded,
        proposals=_proposals(look), alone=alone, writers=writers)


def _may_create(given: Situation, update: Update) -> bool:
    return not update.guarded or (given.creator and given.empty)


def _is_forward(look: Look, update: Update, part: _Part) -> bool:
    """Whether what the ref holds is behind the tip and leaves that part alone by itself."""
    if update.op is not Op.UPDATE or update.old is None or update.tip is None:
        return False
    behind = look.touches_behind(update.old)
    return not any(part.zones & set(touch.zones) or touch.path in part.paths for touch in behind)


def _boundary(look: Look, update: Update) -> str | None:
    """The accepted commit to build on: the one that the target branch has, if there are several."""
    target = look.target_of(update.ref)
    for commit in update.boundary:
        if target is not None and look.repo.descends(look.tips[target], bytes.fromhex(commit)):
            return commit
    return update.boundary[0] if update.boundary else None


def _changes(look: Look, base: str | None, tip: str | None,
             part: _Part) -> tuple[tuple[str, ...], bool]:
    """The roots of that part which change between two commits, and whether more changes."""
    if tip is None:
        return (), False
    old = (TREE, look.tree_of(base)) if base is not None else None
    roots: dict[str, None] = {}
    more = False
    for raw in look.trees.diff(old, (TREE, look.tree_of(tip)), lambda _: True):
        path = raw.decode("utf-8", "surrogateescape")
        if path in part.paths:
            roots[path] = None
        elif part.zones & set(look.zones.of(path)) or look.zones.blocks(path, part.zones):
            roots[look.zones.root(path, part.zones)] = None
        else:
            more = True
    return _outermost(roots), more


def _outermost(roots: Iterable[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for root in sorted(roots):
        if not any(root == other or root.startswith(f"{other}/") for other in kept):
            kept.append(root)
    return tuple(kept)


def _fresh(look: Look, update: Update, push_id: str) -> str:
    """A branch name that is free and that the policy does not guard."""
    name = update.branch or update.ref.removeprefix("refs/").removeprefix("tags/")
    flat = name.replace("/", "-")
    for candidate in (f"{name}-{push_id}", f"{flat}-{push_id}", f"policyd-{push_id}"):
        ref = f"refs/heads/{candidate}"
        if not look.policy.guards(ref) and look.repo.resolve(ref)[1] is None:
            return ref
    return f"refs/heads/policyd/{push_id}/{flat}"


def _proposals(look: Look) -> str | None:
    for zone in look.policy.zones:
        if zone.name == "proposals":
            return next(("/".join(p.literal) for p in zone.patterns if p.literal), None)
    return None
