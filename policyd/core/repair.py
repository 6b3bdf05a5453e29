"""What mends a refused push, as commands that work as printed.

Every block may be run from any folder of the clone that pushed. It never forces: where it
cannot build on what the ref holds, it pushes to a new branch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from shlex import quote

from policyd.core.rule import Finding, Next

_PLAIN = re.compile(r"[A-Za-z0-9_./-]*")

SHORT = 12
"""Digits of a commit id in a command."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a repair of one ref can build on, worked out from the repository."""

    ref: str
    new: str | None
    base: str | None
    """A commit that passes by itself: what the ref holds, else the boundary; None: nothing."""
    onto: str
    """The full name of the branch that a mended push goes to."""
    fresh: str
    """The full name of a branch that does not exist and that no policy guards."""
    roots: tuple[str, ...] = ()
    """Paths, from the top, of all that the zones to give back change between the two."""
    more: bool = True
    """Whether anything but those zones changes between `base` and `new`."""
    forward: bool = False
    """Whether `base` is what the ref holds, so that pushing there needs no force."""
    guarded: bool = False
    proposals: str | None = None
    """The folder for proposals, when the policy has one."""
    alone: tuple[tuple[str, str], ...] = ()
    """The (commit, ref) pairs of the whole push, where each passes by itself."""
    writers: tuple[str, ...] = ()
    """Who may write the zones, by name."""


@dataclass(frozen=True, slots=True)
class Block:
    """A sentence, the commands below it, and the word for programs."""

    says: str
    commands: tuple[str, ...]
    next: Next


def block(finding: Finding, ground: Ground, push_id: str) -> Block:
    """The block for a finding. Names that a terminal cannot show get words and no commands."""
    repair = finding.repair
    make = _BLOCKS.get(repair.kind)
    if make is None or not _printable(ground):
        words = repair.words or ("these names cannot be typed safely; rename, then push again",)
        return Block(words[0], words[1:], repair.next)
    return make(finding, ground, push_id)


def _printable(ground: Ground) -> bool:
    texts = (ground.ref, ground.onto, ground.fresh, *ground.roots,
             *(ref for _, ref in ground.alone))
    return all(text.isascii() and text.isprintable() for text in texts)


def _give_back(finding: Finding, ground: Ground, push_id: str) -> Block:
    if ground.base is None:
        return _start_over(ground)
    if not ground.more:
        return _propose(finding, ground, push_id)
    zones = _named(finding)
    return Block(f"keep the rest, give back {zones}:", (
        *_squashed(ground), _commit("Leave what others write", ground.onto)),
        finding.repair.next)


def _squashed(ground: Ground) -> tuple[str, ...]:
    """The pushed tree as one uncommitted change on the base, without the zones."""
    return (_switch(ground.new), f"git reset -q --soft {_short(ground.base)}",
            *_restore(ground.base, ground.roots))


def _start_over(ground: Ground) -> Block:
    """There is nothing to build on: the first commit of all, without the zones."""
    kept = " ".join(["':/'", *(quote(_spec(root, "exclude")) for root in ground.roots)])
    return Block("start without what others write:", (
        _switch(ground.new), "git switch -q --orphan policyd-start",
        f"git restore -SW --source={_short(ground.new)} -- {kept}",
        _commit("Start", ground.onto)), Next.SPLIT)


def _propose(finding: Finding, ground: Ground, push_id: str) -> Block:
    zones = _named(finding)
    if ground.proposals is None:
        return Block(f"nothing else is in this push; {_people(ground)} can make it", (), Next.STOP)
    file = quote(f"{ground.proposals}/{push_id}.patch")
    roots = " ".join(quote(_spec(root)) for root in ground.roots)
    return Block(f"propose it; {_people(ground)} can adopt it:", (
        _switch(ground.new),
        f'cd "$(git rev-parse --show-toplevel)" && mkdir -p {quote(ground.proposals)}',
        f"git diff --binary {_short(ground.base)} HEAD -- {roots} > {file}",
        f"git reset -q --soft {_short(ground.base)}",
        *_restore(ground.base, ground.roots),
        f"git add -f -- {file} && {_commit(f'Propose a change of {zones}', ground.onto)}"),
        Next.PROPOSE)


def _apart(finding: Finding, ground: Ground, push_id: str) -> Block:
    if ground.base is None:
        return _start_over(ground)
    zones = _named(finding)
    if not ground.more:
        return _propose(finding, ground, push_id)
    first = (_switch(ground.base), *_restore(ground.new, ground.roots))
    if ground.guarded and ground.forward:
        return Block("two pushes, first what judges, then what is judged:", (
            *first, _commit(f"Change {zones}", ground.onto), *_restore(ground.new, ("",)),
            _commit("Change the rest", ground.onto)), Next.SPLIT)
    return Block("two branches, each merged by itself:", (
        *first, _commit(f"Change {zones}", f"{ground.fresh}-{finding.repair.zones[0]}"),
        *_squashed(ground), _commit("Change the rest", ground.fresh)), Next.SPLIT)


def _one_by_one(finding: Finding, ground: Ground, push_id: str) -> Block:
    if not ground.alone:
        return _give_back(finding, ground, push_id)
    return Block("push the refs one by one:", tuple(
        f"git push origin {_short(commit)}:{quote(ref)}" for commit, ref in ground.alone),
        Next.SPLIT)


def _elsewhere(finding: Finding, ground: Ground, _: str) -> Block:
    return Block("push it to a branch of its own:", (
        f"git push origin {_short(ground.new)}:{quote(ground.fresh)}",), finding.repair.next)


def _retry(_finding: Finding, ground: Ground, _: str) -> Block:
    source = _short(ground.new) if ground.new else ""
    return Block("fetch, look, and push again:", (
        "git fetch origin", f"git push origin {source}:{quote(ground.ref)}"), Next.RETRY)


def _unshallow(_finding: Finding, ground: Ground, _: str) -> Block:
    return Block("fetch the rest of the history, then push again:", (
        "git fetch --unshallow origin",
        f"git push origin {_short(ground.new)}:{quote(ground.ref)}"), Next.RETRY)


def _drop(finding: Finding, ground: Ground, push_id: str) -> Block:
    path = finding.repair.paths[0]
    if finding.repair.zones and ground.roots and ground.base is not None and ground.more:
        return _give_back(finding, ground, push_id)
    if not (path.isascii() and path.isprintable()):
        return Block("take the entry out in a commit on top, then push again", (), Next.EDIT)
    return Block("take it out in a commit on top:", (
        _switch(ground.new), f"git rm -rq --cached -- {quote(_spec(path))}",
        _commit("Take an odd entry out", ground.ref)), Next.EDIT)


def _writer_pushes(_finding: Finding, ground: Ground, _: str) -> Block:
    return Block(f"nothing in it is new; {_people(ground)} can make this very push:", (
        f"git push origin {_short(ground.new)}:{quote(ground.ref)}",), Next.STOP)


def _named(finding: Finding) -> str:
    """What is given back, in a word or two."""
    paths = finding.repair.paths
    if finding.repair.zones or not paths:
        return ", ".join(finding.repair.zones)
    return paths[0] if len(paths) == 1 and _PLAIN.fullmatch(paths[0]) else f"{len(paths)} paths"


def _people(ground: Ground) -> str:
    return " or ".join(ground.writers[:3]) or "a listed writer"


def _switch(commit: str | None) -> str:
    return f"git switch -q --detach {_short(commit)}"


def _restore(commit: str | None, roots: tuple[str, ...]) -> tuple[str, ...]:
    if not roots:
        return ()
    specs = " ".join(quote(_spec(root)) for root in roots)
    return (f"git restore -SW --source={_short(commit)} -- {specs}",)


def _spec(path: str, *magic: str) -> str:
    """A pathspec for one path from the top; names with wildcards are taken literally."""
    if not magic and _PLAIN.fullmatch(path):
        return f":/{path}"
    literal = () if _PLAIN.fullmatch(path) else ("literal",)
    return f":({','.join(('top', *magic, *literal))}){path}"


def _commit(subject: str, ref: str) -> str:
    return f'git commit -qm "{subject}" && git push origin {quote(f"HEAD:{ref}")}'


def _short(commit: str | None) -> str:
    return commit[:SHORT] if commit else ""


_BLOCKS: Mapping[str, Callable[[Finding, Ground, str], Block]] = {
    "give-back": _give_back, "apart": _apart, "one-by-one": _one_by_one, "drop": _drop,
    "elsewhere": _elsewhere, "retry": _retry, "unshallow": _unshallow,
    "writer-pushes": _writer_pushes,
}
"""Other kinds are words alone."""
