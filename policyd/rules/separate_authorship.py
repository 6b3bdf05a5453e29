"""Code and what judges it never change together.

The unit is the push (or each ref, or each step of a merge queue, where the policy says so): all
its refs, every judged commit and the net change are looked at, and what a merge decides counts
as touched. Splitting the change over two commits of one push, or
hiding half of it in a merge, changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from policyd.core.examples import MAIN, push, touching
from policyd.core.facts import Op, Situation, Touch, Update
from policyd.core.policy import Together
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_zones as _undefined
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`keep_apart`: a zone, and the zones that no push changes together with it."""

    keep_apart: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        for left, rights in self.keep_apart.items():
            yield from _undefined(("keep_apart", left), (left, *rights), zones)


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for unit in _units(given):
        seen = tuple(_seen(unit))
        for left, rights in options.keep_apart.items():
            mine = [hit for hit in seen if left in hit[2].zones]
            other = [hit for hit in seen if set(rights) & set(hit[2].zones)]
            if mine and other:
                yield _finding(given, mine, other, rights)


def _units(given: Situation) -> Iterator[tuple[Update, ...]]:
    """What counts as one change: the push, a ref of it, or a merge queue's step."""
    if given.together is Together.PUSH and not any(u.steps for u in given.updates):
        yield given.updates
        return
    for update in given.updates:
        yield from ((step,) for step in update.steps or (update,))


_Hit = tuple[Update, str | None, Touch]


def _seen(updates: tuple[Update, ...]) -> Iterator[_Hit]:
    """What each update touches; what merely arrives counts where a branch is rewritten."""
    for update in updates:
        for commit, touch in update.touched(arriving=update.op is Op.REWRITE):
            yield update, commit, touch


def _finding(given: Situation, mine: list[_Hit], other: list[_Hit],
             rights: tuple[str, ...]) -> Finding:
    zones = tuple(zone for zone in rights if any(zone in touch.zones for _, _, touch in other))
    judged = sum(update.judged for update in given.updates)
    refs = list(dict.fromkeys(update.ref for update, _, _ in (*other, *mine)))
    return Finding(
        ref=refs[0], says=f"{other[0][2].path} + {mine[0][2].path}",
        scene=_scene(judged, len(refs)),
        places=tuple(_places(_alternate(mine, other))),
        repair=Repair(_kind(mine, other, zones, given), Next.SPLIT, zones))


def _kind(mine: list[_Hit], other: list[_Hit], zones: tuple[str, ...], given: Situation) -> str:
    if not {u.ref for u, _, _ in mine} & {u.ref for u, _, _ in other}:
        return "one-by-one"
    return "apart" if set(zones) <= given.may_write else "give-back"


def _scene(judged: int, refs: int) -> str:
    known = {0: "no new commit, what arrives", 1: "1 commit"}
    commits = known.get(judged, f"{judged} commits judged together")
    return commits if refs == 1 else f"{commits}, {refs} refs"


def _alternate(mine: list[_Hit], other: list[_Hit]) -> list[_Hit]:
    """One of each side first: three places are shown."""
    pair = [mine[0], other[0]]
    return pair + [hit for hit in (*other, *mine) if hit not in pair]


def _places(hits: list[_Hit]) -> Iterator[Place]:
    """A set for each net change: a push may touch as many paths as its bound allows."""
    nets = {update.ref: frozenset(update.net) for update, commit, _ in hits if commit is None}
    for update, commit, touch in hits:
        if commit is not None:
            yield Place(commit, touch.path)
        else:
            yield Place(update.tip, touch.path, note=(
                "(net change)" if touch in nets[update.ref] else "(arrives)"))


_APART = Options({"source": ("oracle", "ledger")})
_CODE, _ANSWER = Touch("src/tax.py", ("source",)), Touch("oracle/tax.json", ("oracle",))
_DOCS = Touch("README", ())


def _step(*touches: Touch) -> Update:
    return push(touching(*touches)).updates[0]


RULE = Rule(
    id="separate-authorship",
    why="who changes code may not change what judges it.",
    fix="Push the code and what judges it apart; what judges it is a listed writer's to push.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("code alone", push(touching(_CODE, _DOCS)), _APART),
        Example("oracle alone", push(touching(_ANSWER)), _APART),
        Example("nothing judged", push(), _APART),
        Example("two steps of a merge queue, each clean", push(
            touching(_CODE), touching(_ANSWER), update=replace(MAIN, steps=(
                _step(_CODE), _step(_ANSWER)))), _APART),
    ),
    rejects=lambda: (
        Example("one commit", push(touching(_CODE, _ANSWER)), _APART),
        Example("split over two commits", push(touching(_CODE), touching(_ANSWER)), _APART),
        Example("only the net change shows it", push(touching(_CODE), net=(_ANSWER,)), _APART),
        Example("a rewrite to old commits that brings both", push(
            update=replace(MAIN, op=Op.REWRITE), arrivals=(_CODE, _ANSWER)), _APART),
        Example("one step of a merge queue", push(
            touching(_CODE, _ANSWER), update=replace(MAIN, steps=(_step(_CODE, _ANSWER),))),
            _APART),
        Example("a listed writer too",
                push(touching(_CODE, _ANSWER), may_write=frozenset({"oracle"})), _APART),
    ),
)
