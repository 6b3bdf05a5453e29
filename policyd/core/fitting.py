"""Whether a policy fits a repository: which of its patterns take in nothing that is there. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from policyd.core import nodes
from policyd.core.errors import Fault
from policyd.core.nodes import Node, shown
from policyd.core.policy import NamePattern, Pattern, Policy, Zone
from policyd.core.values import dataclass
from policyd.core.zones import ZoneMap, fold

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Repository:
    """What is there: full ref names, and the paths of the tips of the guarded branches."""

    name: str
    refs: Collection[str]
    paths: Collection[str]


def misfits(node: Node, policy: Policy, repository: Repository) -> Iterator[Fault]:
    """Warnings about a policy, each at the pattern that takes in nothing; `node` is its file."""
    if not policy.holds_for(repository.name):
        yield nodes.find(node, ("repositories",)).fault(
            f"{shown(repository.name)} is not taken in, so this policy does not hold for it")
        return
    yield from _guarded(node, policy, repository.refs)
    if repository.paths:
        written = nodes.keys(node, "zones")
        zones = tuple(zone for zone in policy.zones if zone.name in written)
        yield from _zones(node, zones, repository.paths)
        yield from _outside(node, zones, repository.paths)


def _guarded(node: Node, policy: Policy, refs: Collection[str]) -> Iterator[Fault]:
    for number, pattern in enumerate(policy.guarded):
        if not any(map(pattern.matches, refs)):
            yield nodes.find(node, ("guarded", number)).fault(
                f"{shown(pattern.glob)} {'takes out' if pattern.negate else 'matches'} no "
                f"{_kind(pattern)}")


def _kind(pattern: NamePattern) -> str:
    body = pattern.glob.removeprefix("!")
    if body.startswith(("tags/", "refs/tags/")):
        return "tag"
    return "ref" if body.startswith("refs/") and not body.startswith("refs/heads/") else "branch"


def _zones(node: Node, zones: tuple[Zone, ...], paths: Collection[str]) -> Iterator[Fault]:
    folded = frozenset(map(fold, paths))
    asked = ZoneMap(zones)
    held = {zone for path in paths for zone in asked.of(path)}
    for zone in zones:
        if zone.name not in held:
            yield nodes.find(node, ("zones", zone.name)).fault(f"zone {zone.name} holds no file")
            continue
        for number, pattern in enumerate(zone.patterns):
            if not _matches_any(pattern, folded):
                yield nodes.find(node, ("zones", zone.name, number)).fault(
                    f"{shown(pattern.glob)} {'takes out' if pattern.negate else 'matches'} "
                    "no file")


def _matches_any(pattern: Pattern, folded: Collection[str]) -> bool:
    matches = re.compile(pattern.regex, re.DOTALL).match
    return any(matches(path) for path in folded)


def _outside(node: Node, zones: tuple[Zone, ...], paths: Collection[str]) -> Iterator[Fault]:
    """How much no rule that goes by zones looks at, and where most of that lies."""
    asked = ZoneMap(zones)
    outside = [path for path in paths if not asked.of(path)]
    if not outside:
        return
    tops = Counter(path[:path.index("/") + 1] if "/" in path else path for path in sorted(outside))
    most = ", ".join(f"{shown(top)} ({count})" if top.endswith("/") else shown(top)
                     for top, count in tops.most_common(_SHOWN))
    yield nodes.find(node, ("zones",)).fault(
        f"{len(outside)} of {len(paths)} files ({100 * len(outside) // len(paths)} %) lie in no "
        f"zone, most of them {most}")
