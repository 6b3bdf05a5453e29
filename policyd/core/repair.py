"""What mends a refused push, as commands that work as printed.

Every block may be run from any folder of the clone that pushed. It never forces: where it
cannot build on what the ref holds, it pushes to a new branch. What is not committed stays as it
is, below the paths that are given back excepted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from shlex import quote

from policyd.core.rule import Finding, Next
from policyd.core.values import dataclass

_PLAIN = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_./-]*")
"""Names that no shell reads otherwise, nor git after `:/`, where `-` and `_` ask for magic."""

SHORT = 12
"""Digits of a commit id in a command."""

_REMARK = "# "
"""What follows is for people: no shell reads it, whatever it quotes."""

FIRST = ("stop", "unshallow", "give-back", "apart", "one-by-one", "drop", "in-order", "elsewhere",
         "wait", "retry", "writer-pushes")
"""Kinds of repair. Of several for one ref the first is told, because it mends the others too.

All else (`ask`, `edit`) is advice, told beside any of these.
"""


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
    tip: str | None = None
    """The commit that `new` leads to."""
    roots: tuple[str, ...] = ()
    """Paths, from the top, of all that is to be given back between the two."""
    zones: tuple[str, ...] = ()
    """The zones that are given back, by name."""
    more: bool = True
    """Whether anything but `roots` changes between `base` and `new`."""
    forward: bool = False
    """Whether `base` is what the ref holds, so that pushing there needs no force."""
    moves: bool = True
    """Whether the push itself needs no force."""
    guarded: bool = False
    creator: bool = False
    """Whether the pusher may create guarded branches."""
    pending: bool = False
    """Whether a file has to be edited before `onto` takes the rest."""
    unready: bool = False
    """Whether a file has to be edited before what is kept apart can be pushed."""
    proposals: str | None = None
    """The folder for proposals, when the policy has one that the pusher may write."""
    alone: tuple[tuple[str, str], ...] = ()
    """The (commit, ref) pairs of the whole push, where each passes by itself."""
    first: tuple[tuple[str, str], ...] = ()
    """Two such pairs: what has to be accepted before this ref, then this ref."""
    writers: tuple[str, ...] = ()
    """Who may write the zones, by name."""
    sole: bool = True
    """Whether nothing else refuses this ref."""


@dataclass(frozen=True, slots=True)
class Block:
    """A sentence, the commands below it, and the word for programs."""

    says: str
    commands: tuple[str, ...]
    next: Next


def first_of(finding: Finding, same: Sequence[Finding]) -> Finding:
    """Of the findings about one ref, the one whose block is told for this one."""
    told = [other for other in same if other.repair.kind in FIRST]
    if finding.repair.kind == "edit" or not told:
        return finding
    return min(told, key=lambda other: FIRST.index(other.repair.kind))


def block(finding: Finding, ground: Ground, push_id: str) -> Block:
    """The block for a finding. Names that a terminal cannot show get words and no commands."""
    made = _BLOCKS[finding.repair.kind](finding, ground, push_id)
    if made is not None and all(_is_printable(line) or line.startswith(_REMARK)
                                for line in made.commands):
        return made
    words = finding.repair.words or (
        "no command can show these names; do it by hand: one commit on",
        f"{_short(ground.base) or 'nothing'}, without what others write, pushed to a new branch")
    return Block(words[0], words[1:], finding.repair.next)


def advice(finding: Finding) -> Block | None:
    """The block of a finding that words alone can mend."""
    repair = finding.repair
    if repair.kind in _BLOCKS:
        return None
    return Block(repair.words[0], repair.words[1:], repair.next)


def _is_printable(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _give_back(finding: Finding, ground: Ground, push_id: str) -> Block:
    if not ground.more:
        return _propose(finding, ground, push_id)
    if ground.base is None:
        return _start_over(ground, push_id)
    says = f"keep the rest, give back {_named(ground)}:" if ground.roots else \
        "make one commit of it, without what was changed and changed back:"
    return Block(says, (
        _switch(ground.new), _reset(ground), *_restore(ground),
        *_commit("Leave what others write", ground.onto, pending=ground.pending)), Next.SPLIT)


def _start_over(ground: Ground, push_id: str) -> Block:
    """There is nothing to build on: a first commit without the zones, for a writer then they."""
    start = (f"git checkout -q --orphan policyd-{push_id} {_short(ground.new)}",
             f"git rm -rqf --cached -- {_specs(ground.roots)}",
             *_commit("Start", ground.onto, pending=ground.pending))
    return Block("start without what others write:", start, Next.SPLIT)


def _propose(_finding: Finding, ground: Ground, push_id: str) -> Block:
    if not ground.roots:
        return Block("nothing is left of this push once that is put back; keep it local", (),
                     Next.STOP)
    if ground.proposals is None or ground.base is None:
        return Block(f"nothing else is in this push; {_people(ground)} can make it", (), Next.STOP)
    file = f"{ground.proposals}/{push_id}.patch"
    return Block(f"propose it; {_people(ground)} can adopt it:", (
        _switch(ground.new),
        f'cd "$(git rev-parse --show-toplevel)" && mkdir -p {quote(ground.proposals)}',
        f"git diff --binary {_short(ground.base)} HEAD -- {_specs(ground.roots)} > {quote(file)}",
        _reset(ground), *_restore(ground), f"git add -f -- {quote(file)}",
        *_commit(f"Propose a change of {_named(ground)}", ground.onto)), Next.PROPOSE)


def _apart(finding: Finding, ground: Ground, push_id: str) -> Block:
    if ground.base is None and ground.more:
        return _start_apart(ground, push_id)
    if not ground.more or not ground.roots:
        return _give_back(finding, ground, push_id)
    zones, specs = _named(ground), _specs(ground.roots)
    first = (_switch(ground.new), _reset(ground))
    if ground.guarded and ground.onto == ground.ref:
        if ground.unready:
            return Block("first mend what follows, in a commit on top, and push again", (),
                         Next.EDIT)
        return Block("two pushes, first what judges, then what is judged:", (
            *first, *_commit(f"Change {zones}", ground.onto, specs),
            *_commit("Change the rest", ground.onto, pending=ground.pending)), Next.SPLIT)
    return Block("two branches, each merged by itself:", (
        *first, *_commit(f"Change {zones}", f"{ground.fresh}-judges", specs),
        _reset(ground), *_restore(ground),
        *_commit("Change the rest", ground.onto, pending=ground.pending)), Next.SPLIT)


def _start_apart(ground: Ground, push_id: str) -> Block:
    """A writer's first push of all, in two."""
    start = _start_over(ground, push_id)
    if not ground.guarded or ground.onto != ground.ref:
        return start
    if ground.unready:
        return replace(start, says="first what is judged; mend what judges it, then push that:")
    return Block("two pushes, first what is judged, then what judges:", (
        *start.commands, f"git add -f -- {_specs(ground.roots)}",
        *_commit(f"Add {_named(ground)}", ground.onto)), Next.SPLIT)


def _one_by_one(finding: Finding, ground: Ground, push_id: str) -> Block:
    if not ground.alone:
        return _give_back(finding, ground, push_id)
    return Block("push the refs one by one:", tuple(map(_push, *zip(*ground.alone, strict=True))),
                 Next.SPLIT)


def _in_order(finding: Finding, ground: Ground, push_id: str) -> Block | None:
    if not ground.first:
        return None if finding.repair.words else _elsewhere(finding, ground, push_id)
    return Block("two pushes, the branch first:",
                 tuple(map(_push, *zip(*ground.first, strict=True))), Next.SPLIT)


def _elsewhere(finding: Finding, ground: Ground, _: str) -> Block:
    return Block("push it to a branch of its own:", (_push(ground.tip, ground.fresh),),
                 finding.repair.next)


def _retry(finding: Finding, ground: Ground, push_id: str) -> Block:
    if not ground.moves:
        return replace(_elsewhere(finding, ground, push_id), next=Next.REBASE)
    return Block("fetch, look, and push again:", (
        "git fetch origin", _push(ground.new, ground.ref)), Next.RETRY)


def _unshallow(_finding: Finding, ground: Ground, _: str) -> Block:
    return Block("fetch the rest of the history, then push again:", (
        "git fetch --unshallow origin", _push(ground.new, ground.ref)), Next.RETRY)


def _drop(finding: Finding, ground: Ground, _: str) -> Block | None:
    """Only the tip's tree counts here, so that a commit on top is enough; advice is said below."""
    take = _restore(ground) or (f"git rm -rqf -- {_specs(ground.roots)}",)
    return Block("put it back in a commit on top:", (
        _switch(ground.new), *take,
        *_commit("Put back what was there", ground.onto, pending=ground.pending),
        *(_REMARK + line for line in finding.repair.words[1:])), Next.EDIT)


def _wait(finding: Finding, ground: Ground, _: str) -> Block:
    """The work is kept on a branch that no gate binds; the rest is said, not run."""
    says, *rest = finding.repair.words
    if not ground.sole:
        says = "keep the work; nothing you push opens the gate:"
    return Block(says, (_push(ground.tip, ground.fresh), *(_REMARK + line for line in rest)),
                 Next.WAIT)


def _writer_pushes(_finding: Finding, ground: Ground, _: str) -> Block:
    return Block(f"it comes with what others wrote; {_people(ground)} can make this push:", (
        _push(ground.new, ground.ref),), Next.STOP)


def _named(ground: Ground) -> str:
    """What is given back, in a word or two."""
    if ground.zones:
        return ", ".join(ground.zones)
    root = ground.roots[0] if len(ground.roots) == 1 else ""
    return root if root and _PLAIN.fullmatch(root) else f"{len(ground.roots)} paths"


def _people(ground: Ground) -> str:
    return " or ".join(ground.writers[:3]) or "a listed writer"


def _switch(commit: str | None) -> str:
    return f"git switch -q --detach {_short(commit)}"


def _reset(ground: Ground) -> str:
    return f"git reset -q --soft {_short(ground.base)}"


def _restore(ground: Ground) -> tuple[str, ...]:
    if not ground.roots or ground.base is None:
        return ()
    return (f"git restore -SW --source={_short(ground.base)} -- {_specs(ground.roots)}",)


def _specs(roots: Sequence[str]) -> str:
    return " ".join(quote(_spec(root)) for root in roots)


def _spec(path: str) -> str:
    """A pathspec for one path from the top; names with wildcards are taken literally."""
    return f":/{path}" if _PLAIN.fullmatch(path) else f":(top,literal){path}"


def _commit(subject: str, ref: str, specs: str = "", *, pending: bool = False) -> tuple[str, ...]:
    """Commit and push; where a file must be edited first, the push is a remark."""
    commit = f"git commit -qm {quote(subject)}{f' -- {specs}' if specs else ''}"
    push = f"git push origin {quote(f'HEAD:{ref}')}"
    if pending:
        return commit, f"{_REMARK}mend what follows on top of it, then {push}"
    return (f"{commit} && {push}",)


def _push(commit: str | None, ref: str) -> str:
    return f"git push origin {_short(commit)}:{quote(ref)}"


def _short(commit: str | None) -> str:
    return commit[:SHORT] if commit else ""


_BLOCKS: Mapping[str, Callable[[Finding, Ground, str], Block | None]] = {
    "give-back": _give_back, "apart": _apart, "one-by-one": _one_by_one, "drop": _drop,
    "in-order": _in_order, "elsewhere": _elsewhere, "retry": _retry, "unshallow": _unshallow,
    "wait": _wait, "writer-pushes": _writer_pushes,
}
"""Other kinds are words alone."""
