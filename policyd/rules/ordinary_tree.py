"""Trees hold what a work tree can hold, and nothing undermines a protected zone.

Only entries that no side before the push holds at the same place are looked at: an old oddity
stays. A folder that leads to a protected zone is a folder or absent, no symbolic link resolves
into such a zone, and no submodule stands in one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policyd.core.examples import MAIN, push
from policyd.core.facts import Need, OddEntry, Situation, Update
from policyd.core.oddtrees import UNUSABLE
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """None."""


def check(given: Situation, options: Options) -> Iterator[Finding]:  # noqa: ARG001
    for update in given.updates:
        for odd in sorted(update.odd_entries, key=lambda odd: (odd.path, odd.what)):
            if not odd.zones or set(odd.zones) & given.protected:
                yield _finding(update, odd, tuple(z for z in odd.zones if z in given.protected))


def _finding(update: Update, odd: OddEntry, zones: tuple[str, ...]) -> Finding:
    where = "in the tree of the tip"
    if zones:
        where = f"{'zone' if len(zones) == 1 else 'zones'} {', '.join(zones)}"
    return Finding(
        ref=update.ref, says=f"{odd.path} {odd.what}", scene=where,
        places=(Place(update.tip, odd.path, note=odd.what),), repair=_repair(odd))


def _repair(odd: OddEntry) -> Repair:
    """Commands check the tip out, which git refuses or mends by itself for some trees."""
    if odd.what in UNUSABLE:
        return Repair("stop", Next.STOP, words=(
            "make the commit again with git itself (git add, git commit);",
            "whatever wrote this tree writes what git does not read"))
    return Repair("drop", Next.EDIT, paths=(odd.path,),
                  words=("take the entry out in a commit on top, then push again",))


def _with(*odd: OddEntry) -> Situation:
    return push(update=replace(MAIN, odd_entries=odd), protected=frozenset({"oracle"}))


RULE = Rule(
    id="ordinary-tree",
    why="what a checkout makes of this is not what the paths say.",
    fix="Take the entry out in a commit on top, or make it an ordinary file or folder.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("nothing odd", _with(), Options()),
        Example("a link into a zone that nobody protects",
                _with(OddEntry("docs/x", "is a symbolic link into src", ("source",))), Options()),
    ),
    rejects=lambda: (
        Example("an odd mode", _with(OddEntry("bin/run", "has mode 100666")), Options()),
        Example("a name that hides a path",
                _with(OddEntry("oracle/t", "has a name that no work tree can hold")), Options()),
        Example("a link where the oracle was",
                _with(OddEntry("oracle", "is a symbolic link where the folder of a zone belongs",
                               ("oracle",))), Options()),
    ),
    needs=frozenset({Need.TREES}),
)
