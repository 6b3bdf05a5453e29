"""Only listed writers change a protected zone.

Looked at are the judged commits, the net change and what arrives on a guarded branch: a path
that somebody else once changed elsewhere does not reach main by another hand either. A zone may
ask for signed pushes as well: then whoever only holds a writer's password, token or way in writes
nothing there. It is the push that is signed, with a nonce of the server, not its commits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from shlex import quote

from policyd.core.examples import MAIN, push, touching
from policyd.core.facts import Pusher, Situation, Touch, Update
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.rule import undefined_groups as _undefined_groups
from policyd.core.rule import undefined_zones as _undefined_zones
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """Who writes where.

    `writers`: a zone, and the groups whose members may change it.
    `signed`: zones of these that change only in a push with a good signature
    (`git push --signed`).
    """

    writers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    signed: tuple[str, ...] = ()

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:
        for zone, listed in self.writers.items():
            yield from _undefined_zones(("writers", zone), (zone,), zones)
            yield from _undefined_groups(("writers", zone), listed, groups)
        for zone in self.signed:
            yield from _undefined_zones(("signed", zone), (zone,), zones)
            if zone not in self.writers:
                yield ("signed", zone), f"{zone} has no writers here whose pushes could be signed"


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for update in given.updates:
        barred = {zone: groups for zone, groups in options.writers.items()
                  if not given.pusher.groups & set(groups)}
        hits = [hit for hit in update.touched() if not barred.keys().isdisjoint(hit[1].zones)]
        if hits:
            yield _finding(given, update, hits, barred)
        unsigned = () if given.pusher.signed else set(options.signed) - barred.keys()
        touched = [hit for hit in update.touched() if set(hit[1].zones) & set(unsigned)]
        if touched:
            yield _unsigned(given, update, touched, options.signed)


_Hit = tuple[str | None, Touch]


def _finding(given: Situation, update: Update, hits: list[_Hit],
             barred: Mapping[str, tuple[str, ...]]) -> Finding:
    zones = tuple(zone for zone in barred if any(zone in touch.zones for _, touch in hits))
    names = list(dict.fromkeys(name for zone in zones for group in barred[zone]
                               for name in given.members.get(group, ())))
    net, pusher = frozenset(update.net), given.pusher
    brought = any(commit or touch in net for commit, touch in hits)
    return Finding(
        ref=update.ref, says=hits[0][1].path + _by(given, names),
        scene=_zones(zones) + (f", with {pusher.credential}"
                               if pusher.name in names and pusher.credential else ""),
        places=tuple(Place(commit or update.tip, touch.path,
                           note="" if commit else _how(update, touch, net))
                     for commit, touch in hits),
        repair=_repair(zones, brought),
        why=f"{', '.join(zones)}: written by {_listed(names)}.")


def _zones(zones: tuple[str, ...]) -> str:
    return f"{'zone' if len(zones) == 1 else 'zones'} {', '.join(zones)}"


def _how(update: Update, touch: Touch, net: frozenset[Touch]) -> str:
    return "(net change)" if touch in net else f"(arrives on {update.branch or update.ref})"


def _by(given: Situation, names: list[str]) -> str:
    """Who, and with what where a writer's name alone is not enough."""
    pusher = given.pusher
    if pusher.name is None:
        return " by nobody known"
    if pusher.name not in names:
        return f" by {pusher.name}"
    return f" by {pusher.name} with {'no' if pusher.credential is None else 'another'} key"


def _unsigned(given: Situation, update: Update, hits: list[_Hit],
              signed: tuple[str, ...]) -> Finding:
    zones = tuple(zone for zone in signed if any(zone in touch.zones for _, touch in hits))
    net = frozenset(update.net)
    return Finding(
        ref=update.ref, says=f"{hits[0][1].path} by {given.pusher.name}, not signed",
        scene=_zones(zones),
        places=tuple(Place(commit or update.tip, touch.path,
                           note="" if commit else _how(update, touch, net))
                     for commit, touch in hits),
        repair=Repair("sign", Next.RETRY, words=_signing(update)),
        why=f"{', '.join(zones)}: changes in signed pushes only.")


def _signing(update: Update) -> tuple[str, ...]:
    """The same push again, signed, where its names can be typed."""
    if not (update.ref.isascii() and update.ref.isprintable()) or update.new is None:
        return ("nothing in it is wrong; push it again with `git push --signed`",)
    return ("nothing in it is wrong; push it again, signed:",
            f"git push --signed origin {update.new[:12]}:{quote(update.ref)}")


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
_SIGNED = Options(_WRITERS.writers, signed=("oracle",))
_ANSWER = Touch("oracle/tax.json", ("oracle",))
_CODE = Touch("src/tax.py", ("source",))


def _of_mei(*, signed: bool) -> Situation:
    return replace(push(touching(_ANSWER)),
                   pusher=Pusher("mei", frozenset({"maintainers"}), signed=signed))


RULE = Rule(
    id="protected-writers",
    why="this zone is written by listed writers.",
    fix="Leave the zone as it is and propose the change; a listed writer pushes it.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("a listed writer",
                push(touching(_ANSWER), name="mei", groups=frozenset({"maintainers"})), _WRITERS),
        Example("another zone", push(touching(_CODE)), _WRITERS),
        Example("a listed writer signs the push", _of_mei(signed=True), _SIGNED),
    ),
    rejects=lambda: (
        Example("an agent", push(touching(_ANSWER)), _WRITERS),
        Example("nobody known", push(touching(_ANSWER), name=None, groups=frozenset()), _WRITERS),
        Example("only the net change shows it", push(touching(_CODE), net=(_ANSWER,)), _WRITERS),
        Example("it arrives from another guarded branch",
                push(update=MAIN, arrivals=(_ANSWER,)), _WRITERS),
        Example("a listed writer does not sign the push", _of_mei(signed=False), _SIGNED),
        Example("another key of a listed writer",
                replace(push(touching(_ANSWER), members={"maintainers": ("mei",)}),
                        pusher=Pusher("mei", frozenset({"agents"}), "key-7")), _WRITERS),
    ),
)
