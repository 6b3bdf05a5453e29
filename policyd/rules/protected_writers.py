"""Only listed writers change a protected zone.

Looked at are the judged commits, the net change and what arrives on a guarded branch: a path
that somebody else once changed elsewhere does not reach main by another hand either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from policyd.core.examples import MAIN, push, touching
from policyd.core.facts import Situation, Touch, Update
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_groups as _undefined_groups
from policyd.core.rule import undefined_zones as _undefined_zones
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`writers`: a zone, and the groups whose members may change it."""

    writers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:
        for zone, listed in self.writers.items():
            yield from _undefined_zones(("writers", zone), (zone,), zones)
            yield from _undefined_groups(("writers", zone), listed, groups)


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for update in given.updates:
        barred = {zone: groups for zone, groups in options.writers.items()
                  if not given.pusher.groups & set(groups)}
        hits = [hit for hit in update.touched() if not barred.keys().isdisjoint(hit[1].zones)]
        if hits:
            yield _finding(given, update, hits, barred)


_Hit = tuple[str | None, Touch]


def _finding(given: Situation, update: Update, hits: list[_Hit],
             barred: Mapping[str, tuple[str, ...]]) -> Finding:
    zones = tuple(zone for zone in barred if any(zone in touch.zones for _, touch in hits))
    names = list(dict.fromkeys(name for zone in zones for group in barred[zone]
                               for name in given.members.get(group, ())))
    net = frozenset(update.net)
    brought = any(commit or touch in net for commit, touch in hits)
    return Finding(
        ref=update.ref, says=hits[0][1].path + _by(given),
        scene=f"{'zone' if len(zones) == 1 else 'zones'} {', '.join(zones)}",
        places=tuple(Place(commit or update.tip, touch.path,
                           note="" if commit else _how(update, touch, net))
                     for commit, touch in hits),
        repair=_repair(zones, brought),
        why=f"{', '.join(zones)}: written by {_listed(names)}.")


def _how(update: Update, touch: Touch, net: frozenset[Touch]) -> str:
    return "(net change)" if touch in net else f"(arrives on {update.branch or update.ref})"


def _by(given: Situation) -> str:
    return f" by {given.pusher.name}" if given.pusher.name is not None else " by nobody known"


def _listed(names: list[str]) -> str:
    if not names:
        return "nobody"
    return ", ".join(names[:4]) + (" and others" if len(names) > 4 else "")


def _repair(zones: tuple[str, ...], brought: bool) -> Repair:
    """What only arrives cannot be given back: a listed writer makes that very push."""
    if not brought:
        return Repair("writer-pushes", Next.STOP, zones)
    return Repair("give-back", Next.SPLIT, zones)


_WRITERS = Options({"oracle": ("maintainers",), "ledger": ("maintainers",)})
_ANSWER = Touch("oracle/tax.json", ("oracle",))
_CODE = Touch("src/tax.py", ("source",))

RULE = Rule(
    id="protected-writers",
    why="this zone is written by listed writers.",
    fix="Leave the zone as it is and propose the change; a listed writer pushes it.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=(
        Example("a listed writer",
                push(touching(_ANSWER), name="mei", groups=frozenset({"maintainers"})), _WRITERS),
        Example("another zone", push(touching(_CODE)), _WRITERS),
    ),
    rejects=(
        Example("an agent", push(touching(_ANSWER)), _WRITERS),
        Example("nobody known", push(touching(_ANSWER), name=None, groups=frozenset()), _WRITERS),
        Example("only the net change shows it", push(touching(_CODE), net=(_ANSWER,)), _WRITERS),
        Example("it arrives from another guarded branch",
                push(update=MAIN, arrivals=(_ANSWER,)), _WRITERS),
    ),
)
