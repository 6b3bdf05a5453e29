"""A group touches what its write set lists, and nothing else.

For agents, where the server can tell who they are. `may_touch` lists zones and globs; `may_add`
lists globs under which new files may be added: paths that no side before the push holds. A file
added under `may_add` may be changed again until it lands on a guarded branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policyd.core.examples import MAIN, push, touching
from policyd.core.facts import Need, Situation, Touch, Update
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_groups as _undefined_groups
from policyd.core.rule import undefined_zones as _undefined_zones
from policyd.core.values import dataclass

EVERYTHING = "**"


@dataclass(frozen=True, slots=True)
class Options:
    """What a group may change.

    `of`: the group.
    `may_touch`: zones, and globs (with `/` or `*`), whose paths it may change.
    `may_add`: globs whose paths it may add where nothing was before.
    """

    of: str = "agents"
    may_touch: tuple[str, ...] = ()
    may_add: tuple[str, ...] = ()

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:
        yield from _undefined_groups(("of",), (self.of,), groups)
        for entry in self.may_touch:
            if not is_glob(entry):
                yield from _undefined_zones(("may_touch", entry), (entry,), zones)

    def globs(self) -> tuple[str, ...]:
        """What the policy's zones do not name yet; each becomes a zone of its own name."""
        return (EVERYTHING, *filter(is_glob, self.may_touch), *self.may_add)


def is_glob(entry: str) -> bool:
    """Whether an entry is a glob on paths; any other is the name of a zone."""
    return "/" in entry or "*" in entry


def check(given: Situation, options: Options) -> Iterator[Finding]:
    if options.of not in given.pusher.groups:
        return
    allowed, addable = set(options.may_touch), set(options.may_add)
    for update in given.updates:
        outside = [hit for hit in update.touched()
                   if not allowed & set(hit[1].zones)
                   and not (addable & set(hit[1].zones) and hit[1].path not in update.held)]
        if outside:
            yield _finding(update, outside, options)


_Hit = tuple[str | None, Touch]


def _finding(update: Update, outside: list[_Hit], options: Options) -> Finding:
    paths = tuple(dict.fromkeys(touch.path for _, touch in outside))
    brought = {touch.path for commit in update.commits for touch in commit.touches}
    brought |= {touch.path for touch in update.net}
    repair = Repair("give-back", Next.SPLIT, paths=paths) if brought & set(paths) else Repair(
        "writer-pushes", Next.STOP)
    return Finding(
        ref=update.ref, says=f"{paths[0]} outside the write set",
        scene=f"{len(paths)} {'path' if len(paths) == 1 else 'paths'} outside",
        places=tuple(Place(commit or update.tip, touch.path) for commit, touch in outside),
        repair=repair, why=f"{options.of} touch {_listed(options)}.")


def _listed(options: Options) -> str:
    may = [", ".join(options.may_touch) or "nothing"]
    if options.may_add:
        may.append(f"add {', '.join(options.may_add)}")
    return "; ".join(may)


_SET = Options("agents", ("source", "docs/**"), ("tests/properties/**",))
_CODE = Touch("src/tax.py", ("**", "source"))
_DOCS = Touch("docs/tax.md", ("**", "docs/**"))
_TEST = Touch("tests/test_tax.py", ("**", "tests"))
_PROPERTY = Touch("tests/properties/test_sum.py", ("**", "tests", "tests/properties/**"))

RULE = Rule(
    id="write-set",
    why="this group touches what its write set lists, and nothing else.",
    fix="Give the other paths back; whoever may write them takes a proposal.",
    options=Options,
    check=check,
    accepts=lambda: (
        Example("a zone and a glob of the set", push(touching(_CODE, _DOCS)), _SET),
        Example("a new file where files may be added", push(touching(_PROPERTY)), _SET),
        Example("somebody who is not in the group", push(
            touching(_TEST), name="mei", groups=frozenset({"maintainers"})), _SET),
    ),
    rejects=lambda: (
        Example("a path outside the set", push(touching(_CODE, _TEST)), _SET),
        Example("an old file where new ones may be added", push(
            touching(_PROPERTY), update=replace(MAIN, held=frozenset({_PROPERTY.path}))), _SET),
        Example("it arrives from another guarded branch", push(arrivals=(_TEST,)), _SET),
    ),
    needs=frozenset({Need.HELD}),
    doc=__doc__,
)
