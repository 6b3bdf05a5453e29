"""A policy as people write it, compiled to what is in force.

Everything wrong in a file is reported at once, each fault at the line and column that mends it.
`core.compiled` does it for all files of a home.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from policyd.core import clauses, decoding, layers, nodes
from policyd.core.errors import Fault, FileInvalid
from policyd.core.globs import branch_pattern, namespace_pattern, repository_pattern, zone_pattern
from policyd.core.nodes import Node, in_order
from policyd.core.policy import (
    Bounds,
    Clause,
    Mode,
    NamePattern,
    Override,
    Pattern,
    Places,
    Policy,
    Replaying,
    Together,
    Zone,
    last_match,
)
from policyd.core.rule import Rule
from policyd.core.settings import absolute
from policyd.core.values import dataclass

DEFAULT_NAMESPACES = (("refs/pull/**", "judge"), ("**", "refuse"))
_TIMEZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")


def anywhere(_: str) -> bool:
    """Every time zone is known; for who cannot look."""
    return True


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text):
        raise ValueError(f"{nodes.shown(text)} is no name: letters, digits, '.', '_' and '-'")
    return text


def member(text: str) -> str:
    """A member of a group. Raises ValueError where it is none."""
    name, marked, credential = text.partition("#")
    if not text.strip() or text != text.strip():
        raise ValueError("a member is a name as the server reports it, or a pattern with *")
    if marked and (not name or name != name.strip() or not credential
                   or not credential.isprintable() or set(credential) & {" ", "#"}):
        raise ValueError("what follows # is the credential of a name, without a blank: "
                         "mei#SHA256:..., mei#key-7 or mei#*")
    return text


def _timezone(text: str) -> str:
    if not _TIMEZONE.fullmatch(text):
        raise ValueError(f"{nodes.shown(text)} is no time zone, such as Europe/Madrid")
    return text


def _inside(text: str) -> str:
    parts = text.split("/")
    if not text or any(part in ("", ".", "..") for part in parts) or "*" in text:
        raise ValueError(f"{nodes.shown(text)} is no path inside a repository, such as "
                         "oracle/receipts; no *, and no / at its ends")
    return text


def _positive(number: float) -> float:
    if number <= 0:
        raise ValueError("a bound is more than 0")
    return number


def _branch(text: str) -> str:
    if not text or "*" in text or text.startswith(("!", "tags/", "refs/tags/")):
        raise ValueError(f"{nodes.shown(text)} is no branch, such as main")
    return text if text.startswith("refs/") else f"refs/heads/{text}"


Name = Annotated[str, _name]
Branch = Annotated[str, _branch]
Count = Annotated[int, _positive]
Inside = Annotated[str, _inside]


@dataclass(frozen=True, slots=True)
class BoundsAuthored:
    """`bounds:` of a policy; the defaults are those of the compiled form."""

    max_commits: Count = Bounds().max_commits
    max_files: Count = Bounds().max_files
    max_blob_bytes: Count = Bounds().max_blob_bytes
    seconds: Annotated[float, _positive] = Bounds().seconds
    lookback_files: Count = Bounds().lookback_files
    lease_bytes: Count = Bounds().lease_bytes


@dataclass(frozen=True, slots=True)
class PlacesAuthored:
    """`records:` of a policy; the defaults are those of the compiled form."""

    flakes: Inside = Places().flakes
    quarantine: Inside = Places().quarantine
    freezes: Inside = Places().freezes
    leases: Inside = Places().leases
    receipts: Inside = Places().receipts
    seeds: Inside = Places().seeds
    relations: Inside = Places().relations


@dataclass(frozen=True, slots=True)
class OverrideAuthored:
    """`override:` of a policy: which groups may override which rules with a reason."""

    groups: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplayAuthored:
    """`replay:` of a policy; the defaults are those of the compiled form."""

    when: Literal["push", "ahead", "off"] = "push"
    python: Annotated[str, absolute] | None = None
    site: Annotated[str, absolute] | None = None
    sandbox: Literal["bubblewrap", "none"] = "bubblewrap"
    hysteresis: Literal["refuse", "warn"] = "refuse"
    seed: int | None = None
    seconds: Annotated[float, _positive] = Replaying().seconds


@dataclass(frozen=True, slots=True)
class PolicyAuthored:
    """A file of HOME/policies. Rules stay nodes: their options are typed by the rules."""

    version: Literal[1]
    repositories: tuple[Annotated[NamePattern, repository_pattern], ...]
    guarded: tuple[Annotated[NamePattern, branch_pattern], ...]
    zones: Mapping[Name, tuple[Annotated[Pattern, zone_pattern], ...]]
    groups: Mapping[Name, tuple[Annotated[str, member], ...]]
    rules: Mapping[str, Node]
    extends: Annotated[str, layers.file_name] | None = None
    mode: Mode = Mode.ENFORCE
    creators: tuple[str, ...] = ("maintainers",)
    rewriters: tuple[str, ...] = ()
    namespaces: Mapping[Annotated[NamePattern, namespace_pattern],
                        Literal["judge", "refuse"]] | None = None
    bounds: BoundsAuthored = field(default_factory=BoundsAuthored)
    timezone: Annotated[str, _timezone] = "UTC"
    together: Together = Together.PUSH
    queues: tuple[str, ...] = ()
    mirror: bool = False
    records: PlacesAuthored = field(default_factory=PlacesAuthored)
    records_from: Mapping[Annotated[NamePattern, branch_pattern], Branch] = field(
        default_factory=dict)
    override: OverrideAuthored = field(default_factory=OverrideAuthored)
    replay: ReplayAuthored = field(default_factory=ReplayAuthored)


def compile_policy(node: Node, name: str, rules: Mapping[str, Rule], *,
                   knows_timezone: Callable[[str], bool] = anywhere) -> Policy:
    """A policy file, compiled; `rules` are those known, by id. Raises FileInvalid.

    `knows_timezone` says whether this machine has a time zone, which only the outside knows.
    """
    faults: list[Fault] = []
    authored = decoding.attempt(node, PolicyAuthored, faults)
    faults.extend(_meaningless(node, knows_timezone))
    faults.extend(clauses.faults_of_override(node, rules))
    listed = tuple(clauses.clauses(node, rules, faults))
    if faults or authored is None:
        raise FileInvalid(in_order(faults))
    made = tuple(clauses.zones_of_rules(node, listed, frozenset(authored.zones), faults))
    if faults:
        raise FileInvalid(in_order(faults))
    listed = clauses.with_always(clauses.under(authored.mode, listed), rules)
    return _policy(authored, name, listed, made)


def form(node: Node, rules: Mapping[str, Rule]) -> Iterator[Fault]:
    """What is wrong with a file that need not be whole: a base, or what stands on one."""
    yield from decoding.form(node, PolicyAuthored)
    yield from clauses.form(node, rules)


def warnings_of(node: Node, policy: Policy, rules: Mapping[str, Rule]) -> Iterator[Fault]:
    """What is allowed and still likely a mistake: lint prints it, apply goes on."""
    enforcing = any(c.mode is Mode.ENFORCE for c in policy.clauses)
    for rule in clauses.ALWAYS:
        clause = policy.clause(rule)
        if enforcing and clause is not None and clause.mode is not Mode.ENFORCE:
            yield nodes.find(node, ("rules", rule)).fault(
                f"{rule} does not enforce while other rules do: without it a protected path can "
                "change without a listed writer")
    if not policy.groups["maintainers"]:
        yield nodes.find(node, ("groups", "maintainers")).fault(
            "nobody is in maintainers: protected paths cannot change at all")
    yield from _with_and_without(node, policy)
    for rule in rules:
        if policy.clause(rule) is None:
            yield nodes.find(node, ("rules",)).fault(f"{rule} is not named, so it is off")


def _with_and_without(node: Node, policy: Policy) -> Iterator[Fault]:
    """Entries without a credential that cover a name which stands with one elsewhere."""
    for group, listed in policy.groups.items():
        for entry in listed:
            both = next((marked for marked in _marked(policy)
                         if "#" not in entry and _overlap(entry, marked.partition("#")[0])), None)
            if both is not None:
                yield nodes.find(node, ("groups", group, entry)).fault(
                    f"{nodes.shown(entry)} counts for every credential but those that are listed "
                    f"with #, as {nodes.shown(both)} is; a key that nobody listed yet counts here")


def _marked(policy: Policy) -> tuple[str, ...]:
    return tuple(entry for listed in policy.groups.values() for entry in listed if "#" in entry)


def _overlap(entry: str, other: str) -> bool:
    """Whether some name fits both, as far as can be told from what stands before the `*`."""
    start, wild, _ = entry.partition("*")
    begin, wilder, _ = other.partition("*")
    if wild and wilder:
        return start.startswith(begin) or begin.startswith(start)
    if wild:
        return fnmatchcase(other, entry)
    return fnmatchcase(entry, other) if wilder else entry == other


def _policy(authored: PolicyAuthored, name: str, listed: tuple[Clause, ...],
            made: tuple[Zone, ...]) -> Policy:
    bounds = authored.bounds
    return Policy(
        name=name,
        repositories=authored.repositories,
        mode=authored.mode,
        guarded=authored.guarded,
        creators=authored.creators,
        rewriters=authored.rewriters,
        namespaces=_namespaces(authored.namespaces),
        bounds=Bounds(bounds.max_commits, bounds.max_files, bounds.max_blob_bytes,
                      bounds.seconds, bounds.lookback_files, bounds.lease_bytes),
        timezone=authored.timezone,
        zones=(*(Zone(zone, patterns) for zone, patterns in authored.zones.items()), *made),
        groups=authored.groups,
        clauses=listed,
        together=authored.together,
        queues=authored.queues,
        mirror=authored.mirror,
        records=_places(authored.records),
        records_from=tuple(authored.records_from.items()),
        override=Override(authored.override.groups, authored.override.rules),
        replay=_replaying(authored.replay),
    )


def _replaying(authored: ReplayAuthored) -> Replaying:
    return Replaying(authored.when, authored.python, authored.site, authored.sandbox,
                     authored.hysteresis, authored.seed, authored.seconds)


def _places(authored: PlacesAuthored) -> Places:
    return Places(authored.flakes, authored.quarantine, authored.freezes, authored.leases,
                  authored.receipts, authored.seeds, authored.relations)


def _namespaces(authored: Mapping[NamePattern, str] | None) -> tuple[tuple[NamePattern, str], ...]:
    """First match wins; what nothing matches is refused."""
    if authored is None:
        return tuple((namespace_pattern(glob), what) for glob, what in DEFAULT_NAMESPACES)
    listed = tuple(authored.items())
    if any(pattern.glob == "**" for pattern, _ in listed):
        return listed
    return (*listed, (namespace_pattern("**"), "refuse"))


def _meaningless(node: Node, knows_timezone: Callable[[str], bool]) -> Iterator[Fault]:
    """Faults of meaning, found on the nodes so that faults of form elsewhere hide none."""
    yield from _undefined_groups(node)
    yield from _without_maintainers(node)
    for zone in nodes.keys(node, "zones"):
        yield from _nothing_taken_in(node, f"zone {zone} is empty", "zones", zone)
    yield from _nothing_taken_in(node, "nothing is guarded", "guarded")
    yield from _nothing_taken_in(node, "no repository is taken in", "repositories")
    yield from _unknown_timezone(node, knows_timezone)
    yield from _records_from_nowhere(node)


def _records_from_nowhere(node: Node) -> Iterator[Fault]:
    """A branch that nothing guards has no accepted history whose records could count."""
    guarded = nodes.get(node, "guarded")
    named = nodes.get(node, "records_from")
    if not isinstance(guarded, nodes.Sequence) or not isinstance(named, nodes.Mapping):
        return
    try:
        patterns = tuple(branch_pattern(item.text) for item in guarded.items
                         if isinstance(item, nodes.Scalar))
    except ValueError:
        return
    for _, branch in named.entries:
        if not isinstance(branch, nodes.Scalar):
            continue
        try:
            name = _branch(branch.text)
        except ValueError:
            continue
        if not last_match(patterns, name):
            yield branch.fault(f"{nodes.shown(branch.text)} is not guarded, so that its records "
                               "prove nothing; add it to `guarded`")


def _unknown_timezone(node: Node, knows_timezone: Callable[[str], bool]) -> Iterator[Fault]:
    named = nodes.get(node, "timezone")
    if isinstance(named, nodes.Scalar) and _TIMEZONE.fullmatch(named.text) \
            and not knows_timezone(named.text):
        yield named.fault(f"this machine knows no time zone {nodes.shown(named.text)}")


def _undefined_groups(node: Node) -> Iterator[Fault]:
    groups = nodes.keys(node, "groups")
    for listed in (nodes.get(node, "creators"), nodes.get(node, "rewriters"),
                   nodes.get(node, "queues"), nodes.get(nodes.get(node, "override"), "groups")):
        for item in listed.items if isinstance(listed, nodes.Sequence) else ():
            if isinstance(item, nodes.Scalar) and item.text not in groups:
                yield item.fault(decoding.unknown("group", item.text, sorted(groups)))


def _without_maintainers(node: Node) -> Iterator[Fault]:
    groups = nodes.get(node, "groups")
    if isinstance(groups, nodes.Mapping) and groups.get("maintainers") is None:
        yield nodes.find(node, ("groups",)).fault("the group maintainers is missing")


def _nothing_taken_in(node: Node, message: str, *path: str) -> Iterator[Fault]:
    """A list of globs none of which takes anything in."""
    here: Node | None = node
    for key in path:
        here = nodes.get(here, key)
    if isinstance(here, nodes.Sequence) and all(
            isinstance(item, nodes.Scalar) and item.text.startswith("!")
            for item in here.items):
        yield here.fault(message)
