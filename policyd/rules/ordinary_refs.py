"""Refs move as everybody expects: guarded ones forward, all of them to whole, judged history.

A guarded branch only moves forward, unless the pusher is a listed rewriter. It is created by
creators at an accepted commit (in a repository without any guarded branch: at any commit) and
deleted by creators when another guarded branch contains it. A guarded tag peels to accepted
history and never moves. Replacements, shallow pushes, tags of trees and blobs, namespaces that
the policy refuses and two updates of one ref are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from policyd.core.examples import MAIN, push
from policyd.core.facts import ZERO, Op, Situation, Update
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """None."""


def check(given: Situation, options: Options) -> Iterator[Finding]:  # noqa: ARG001
    for update in given.updates:
        for what, repair in _odd(given, update):
            yield Finding(update.ref, f"{_short(update.ref)} {what}", _creators(given, update),
                          (Place(update.tip),), repair, why=_why(given, update))


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/")


def _why(given: Situation, update: Update) -> str:
    """The rule's own words are for guarded refs; the rest is about what can be read at all."""
    if given.mirror:
        return "a mirror takes what it mirrors and nothing else."
    if update.ref.startswith("refs/replace/"):
        return "a replacement changes what every reader sees of the old commits."
    if update.namespace == "refuse":
        return "only namespaces that the policy names are taken."
    if update.twice or update.claim is not None:
        return "a push is judged against what the ref holds now."
    if update.guarded and update.op is Op.CREATE:
        return "guarded refs are created by creators, at accepted commits."
    return "" if update.guarded else "what cannot be read whole cannot be judged."


def _creators(given: Situation, update: Update) -> str:
    """Who can help, where it is a matter of who."""
    if given.creator or not update.guarded or update.op not in (Op.CREATE, Op.DELETE):
        return ""
    return f"creators: {', '.join(given.creators[:4]) or 'nobody'}"


_Odd = tuple[str, Repair]


def _odd(given: Situation, update: Update) -> Iterator[_Odd]:
    """The first thing out of order is told: what follows would only repeat it."""
    form = next(_form(update), None)
    if given.mirror:
        yield "belongs to a mirror", Repair("stop", Next.STOP, words=(
            "push to the repository that this one mirrors",))
    elif form is not None:
        yield form
    elif update.guarded:
        yield from (_guarded_tag if update.branch is None else _guarded_branch)(given, update)


def _form(update: Update) -> Iterator[_Odd]:
    if update.ref.startswith("refs/replace/"):
        yield "replaces objects for every reader", Repair("stop", Next.STOP, words=(
            "replacements stay local; push the real commits instead",))
    if update.twice:
        yield "is moved twice by one push", Repair("retry", Next.RETRY)
    if update.claim is not None:
        yield "moved meanwhile", Repair("retry", Next.RETRY)
    if update.namespace == "refuse":
        yield "lies in a namespace not taken here", (
            Repair("elsewhere", Next.EDIT) if update.tip else Repair("stop", Next.STOP, words=(
                "push commits to branches; the operator deletes what has to go here",)))
    if update.new is None:
        return
    if update.peels in ("tree", "blob"):
        yield f"leads to a {update.peels}, not to a commit", Repair("stop", Next.STOP, words=(
            "tag the commit that holds it instead",))
    if update.peels == "missing":
        yield "leads to an object that is missing", Repair("stop", Next.STOP, words=(
            "see `git fsck` in your clone, then push again",))
    if not update.whole:
        yield "leaves out history (shallow)", Repair("unshallow", Next.RETRY)


def _guarded_branch(given: Situation, update: Update) -> Iterator[_Odd]:
    if update.op is Op.DELETE:
        yield from _deleted(given, update)
    elif update.op is Op.REWRITE and not given.rewriter:
        yield "does not move forward", Repair("elsewhere", Next.REBASE)
    elif update.op is Op.CREATE:
        if not given.creator:
            yield "is created by a non-creator", Repair("elsewhere", Next.EDIT)
        elif not (update.tip_accepted or given.empty):
            yield "starts at a commit not accepted yet", Repair("in-order", Next.EDIT)


def _deleted(given: Situation, update: Update) -> Iterator[_Odd]:
    if not given.creator:
        yield "is deleted by a non-creator", Repair("stop", Next.STOP, words=(
            "ask one of them if it has to go",))
    elif update.branch is not None and not update.kept:
        yield "holds commits found nowhere else", Repair("stop", Next.STOP, words=(
            "merge it into another guarded branch first, then delete it",))


def _guarded_tag(given: Situation, update: Update) -> Iterator[_Odd]:
    if update.op is Op.DELETE:
        yield from _deleted(given, update)
    elif update.op is not Op.CREATE:
        yield "is guarded and never moves", Repair("ask", Next.STOP, words=(
            "give the new commit a new tag",))
    elif not given.creator:
        yield "is created by a non-creator", Repair("ask", Next.STOP, words=(
            "ask one of them to tag this commit",))
    elif not update.tip_accepted:
        yield "tags a commit not accepted yet", Repair("in-order", Next.STOP, words=(
            "bring the commit to a guarded branch first, then push the tag again",))


def _given(creator: bool = False, rewriter: bool = False, empty: bool = False,
           mirror: bool = False, **more: Any) -> Situation:
    return push(update=replace(MAIN, **more), creator=creator, rewriter=rewriter, empty=empty,
                mirror=mirror)


_TAG = "refs/tags/v1"
_NEW: dict[str, Any] = {"op": Op.CREATE, "old": None}
_GONE: dict[str, Any] = {"op": Op.DELETE, "new": None, "tip": None}

RULE = Rule(
    id="ordinary-refs",
    why="what a guarded ref holds was judged once and stays.",
    fix="Move guarded refs forward only; push anything else to a branch of its own.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("a step forward", _given(), Options()),
        Example("a rewriter rewrites", _given(rewriter=True, op=Op.REWRITE), Options()),
        Example("a creator starts a branch at an accepted commit",
                _given(creator=True, tip_accepted=True, **_NEW), Options()),
        Example("the first branch", _given(creator=True, empty=True, **_NEW), Options()),
        Example("a contained branch goes", _given(creator=True, kept=True, **_GONE), Options()),
        Example("a guarded tag on accepted history",
                _given(creator=True, tip_accepted=True, ref=_TAG, **_NEW), Options()),
        Example("an unguarded branch is rewritten",
                _given(guarded=False, op=Op.REWRITE), Options()),
    ),
    rejects=lambda: (
        Example("a rewind", _given(op=Op.REWRITE), Options()),
        Example("any push to a mirror", _given(mirror=True), Options()),
        Example("a new guarded branch by anybody", _given(tip_accepted=True, **_NEW), Options()),
        Example("a new guarded branch at a commit of its own",
                _given(creator=True, **_NEW), Options()),
        Example("an uncontained branch goes", _given(creator=True, **_GONE), Options()),
        Example("a guarded tag moves",
                _given(creator=True, ref=_TAG, tip_accepted=True), Options()),
        Example("a guarded tag on other history",
                _given(creator=True, ref=_TAG, **_NEW), Options()),
        Example("an old id that is not the ref's", _given(claim=ZERO), Options()),
        Example("two updates of one ref", _given(twice=True), Options()),
        Example("a tag of a blob",
                _given(guarded=False, peels="blob", tip=None, ref="refs/tags/x"), Options()),
        Example("a shallow push", _given(guarded=False, whole=False), Options()),
        Example("a replacement", _given(guarded=False, ref="refs/replace/" + "1" * 40), Options()),
        Example("a namespace that is not taken",
                _given(guarded=False, ref="refs/meta/config", namespace="refuse"), Options()),
        Example("a deletion in a namespace that is not taken",
                _given(guarded=False, ref="refs/meta/config", namespace="refuse", **_GONE),
                Options()),
    ),
)
