"""Policy files and policyd.yaml as people write them, compiled to what is in force.

Everything wrong in a file is reported at once, each fault at the line and column that mends it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from enum import Enum
from functools import partial
from typing import Annotated, Any, Literal

from policyd.core import decoding, documents, nodes
from policyd.core.errors import Fault, FileInvalid
from policyd.core.globs import branch_pattern, namespace_pattern, repository_pattern, zone_pattern
from policyd.core.nodes import Node, in_order
from policyd.core.policy import (
    Bounds,
    Clause,
    Identity,
    Mode,
    NamePattern,
    Pattern,
    Policy,
    Reach,
    Settings,
    Together,
    Zone,
)
from policyd.core.rule import Rule

SETTINGS = "policyd.yaml"
ALWAYS = ("ordinary-refs", "ordinary-tree")
"""Without these two no other rule holds: they enforce as soon as any rule does."""

DEFAULT_NAMESPACES = (("refs/pull/**", "judge"), ("**", "refuse"))
_TIMEZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*")


def _any(_: str) -> bool:
    return True


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text):
        raise ValueError(f"{nodes.shown(text)} is no name: letters, digits, '.', '_' and '-'")
    return text


def _member(text: str) -> str:
    if not text.strip() or text != text.strip():
        raise ValueError("a member is a name as the server reports it, or a pattern with *")
    return text


def _timezone(text: str) -> str:
    if not _TIMEZONE.fullmatch(text):
        raise ValueError(f"{nodes.shown(text)} is no time zone, such as Europe/Madrid")
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/") or any(part in (".", "..") for part in text.split("/")):
        raise ValueError(f"{nodes.shown(text)} is no absolute path")
    return text.rstrip("/") or "/"


def _variable(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise ValueError(f"{nodes.shown(text)} is no name of an environment variable")
    return text


def _positive(number: float) -> float:
    if number <= 0:
        raise ValueError("a bound is more than 0")
    return number


Name = Annotated[str, _name]
Count = Annotated[int, _positive]


class HomeOwner(Enum):
    """Who may own HOME: root, or the user that the hook runs as."""

    ROOT = "root"
    SELF = "self"


@dataclass(frozen=True, slots=True)
class BoundsAuthored:
    """`bounds:` of a policy; the defaults are those of the compiled form."""

    max_commits: Count = Bounds().max_commits
    max_files: Count = Bounds().max_files
    max_blob_bytes: Count = Bounds().max_blob_bytes
    seconds: Annotated[float, _positive] = Bounds().seconds
    lookback_files: Count = Bounds().lookback_files


@dataclass(frozen=True, slots=True)
class PolicyAuthored:
    """A file of HOME/policies. Rules stay nodes: their options are typed by the rules."""

    version: Literal[1]
    repositories: tuple[Annotated[NamePattern, repository_pattern], ...]
    guarded: tuple[Annotated[NamePattern, branch_pattern], ...]
    zones: Mapping[Name, tuple[Annotated[Pattern, zone_pattern], ...]]
    groups: Mapping[Name, tuple[Annotated[str, _member], ...]]
    rules: Mapping[str, Node]
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


@dataclass(frozen=True, slots=True)
class ClauseAuthored:
    """What every rule of a policy may say besides its own options."""

    mode: Mode = Mode.ENFORCE
    on: Reach | None = None
    warn_for: tuple[str, ...] = ()
    excepted: tuple[str, ...] = field(default=(), metadata={"key": "except"})
    enforce_from: date | None = None


@dataclass(frozen=True, slots=True)
class IdentityAuthored:
    """`identity:` of policyd.yaml."""

    source: Literal["env"] = field(default="env", metadata={"key": "from"})
    name: Annotated[str, _variable] = "REMOTE_USER"


@dataclass(frozen=True, slots=True)
class SettingsAuthored:
    """policyd.yaml."""

    state: Annotated[str, _absolute]
    roots: tuple[Annotated[str, _absolute], ...] = ()
    identity: IdentityAuthored = field(default_factory=IdentityAuthored)
    home_owner: HomeOwner = HomeOwner.ROOT


@dataclass(frozen=True, slots=True)
class Compiled:
    """A home that can be put in force, and what lint has to say about it all the same."""

    settings: Settings
    policies: tuple[Policy, ...]
    warnings: tuple[Fault, ...]


def compile_home(files: Mapping[str, bytes], rules: Mapping[str, Rule], *,
                 knows_timezone: Callable[[str], bool] = _any) -> Compiled:
    """All files of a home by their path in it. Raises FileInvalid with the faults of all."""
    faults: list[Fault] = []
    settings: Settings | None = None
    policies: list[Policy] = []
    warnings: list[Fault] = []
    if SETTINGS not in files:
        faults.append(Fault(SETTINGS, 1, 1, "the file is absent; `policyd init` writes one"))
    if not set(files) - {SETTINGS}:
        faults.append(Fault("policies", 1, 1, "no policy; a policy is a file policies/NAME.yaml"))
    for source, data in files.items():
        try:
            node = documents.parse(data, source)
            if source == SETTINGS:
                settings = compile_settings(node)
                continue
            policies.append(compile_policy(node, _stem(source), rules,
                                           knows_timezone=knows_timezone))
            warnings.extend(warnings_of(node, policies[-1], rules))
        except FileInvalid as invalid:
            faults.extend(invalid.faults)
    if faults or settings is None:
        raise FileInvalid(in_order(faults))
    return Compiled(settings, tuple(policies), tuple(warnings))


def compile_settings(node: Node) -> Settings:
    """policyd.yaml, compiled. Raises FileInvalid."""
    authored = decoding.decode(node, SettingsAuthored)
    identity = Identity(authored.identity.source, authored.identity.name)
    return Settings(authored.state, authored.roots, identity, authored.home_owner.value)


def compile_policy(node: Node, name: str, rules: Mapping[str, Rule], *,
                   knows_timezone: Callable[[str], bool] = _any) -> Policy:
    """A policy file, compiled; `rules` are those known, by id. Raises FileInvalid.

    `knows_timezone` says whether this machine has a time zone, which only the outside knows.
    """
    faults: list[Fault] = []
    authored = decoding.attempt(node, PolicyAuthored, faults)
    faults.extend(_meaningless(node, knows_timezone))
    clauses = tuple(_clauses(node, rules, faults))
    if faults or authored is None:
        raise FileInvalid(in_order(faults))
    made = tuple(_zones_of_rules(node, clauses, authored, faults))
    if faults:
        raise FileInvalid(in_order(faults))
    return _policy(authored, name, _with_always(_under(authored.mode, clauses), rules), made)


def _zones_of_rules(node: Node, clauses: tuple[Clause, ...], authored: PolicyAuthored,
                    faults: list[Fault]) -> Iterator[Zone]:
    """The globs that rules name in their options, each as a zone of its own name."""
    made = set(authored.zones)
    for clause in clauses:
        globs: Callable[[], tuple[str, ...]] = getattr(clause.options, "globs", tuple)
        for glob in globs():
            try:
                pattern = zone_pattern(glob)
            except ValueError as error:
                faults.append(nodes.find(node, ("rules", clause.rule)).fault(str(error)))
                continue
            if glob not in made:
                made.add(glob)
                yield Zone(glob, (pattern,))


def warnings_of(node: Node, policy: Policy, rules: Mapping[str, Rule]) -> Iterator[Fault]:
    """What is allowed and still likely a mistake: lint prints it, apply goes on."""
    enforcing = any(c.mode is Mode.ENFORCE for c in policy.clauses)
    for rule in ALWAYS:
        clause = policy.clause(rule)
        if enforcing and clause is not None and clause.mode is not Mode.ENFORCE:
            yield nodes.find(node, ("rules", rule)).fault(
                f"{rule} does not enforce while other rules do: without it a protected path can "
                "change without a listed writer")
    if not policy.groups["maintainers"]:
        yield nodes.find(node, ("groups", "maintainers")).fault(
            "nobody is in maintainers: protected paths cannot change at all")
    for rule in rules:
        if policy.clause(rule) is None:
            yield nodes.find(node, ("rules",)).fault(f"{rule} is not named, so it is off")


def _stem(source: str) -> str:
    return source.rpartition("/")[2].removesuffix(".yaml")


def _policy(authored: PolicyAuthored, name: str, clauses: tuple[Clause, ...],
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
                      bounds.seconds, bounds.lookback_files),
        timezone=authored.timezone,
        zones=(*(Zone(zone, patterns) for zone, patterns in authored.zones.items()), *made),
        groups=authored.groups,
        clauses=clauses,
        together=authored.together,
        queues=authored.queues,
        mirror=authored.mirror,
    )


def _namespaces(authored: Mapping[NamePattern, str] | None) -> tuple[tuple[NamePattern, str], ...]:
    """First match wins; what nothing matches is refused."""
    if authored is None:
        return tuple((namespace_pattern(glob), what) for glob, what in DEFAULT_NAMESPACES)
    listed = tuple(authored.items())
    if any(pattern.glob == "**" for pattern, _ in listed):
        return listed
    return (*listed, (namespace_pattern("**"), "refuse"))


def _clauses(node: Node, rules: Mapping[str, Rule], faults: list[Fault]) -> Iterator[Clause]:
    written = _get(node, "rules")
    if not isinstance(written, nodes.Mapping):
        return
    names = (_keys(node, "zones"), _keys(node, "groups"))
    for key, body in written.entries:
        rule = rules.get(key.text)
        if rule is None:
            faults.append(key.fault(decoding.unknown("rule", key.text, list(rules))))
            continue
        clause = _clause(rule, body, faults)
        if clause is not None:
            yield clause
            faults.extend(_faults_of_options(clause, body, *names))
            faults.extend(_faults_of_softening(clause, rule, body, names[1]))


def _clause(rule: Rule, body: Node, faults: list[Fault]) -> Clause | None:
    """`{mode: ..., options...}`: what every rule may say, and the options of the rule."""
    if not isinstance(body, nodes.Mapping):
        faults.append(body.fault("a rule is a mapping of its mode and options, such as {}"))
        return None
    common = decoding.attempt(_only(body, _COMMON, True), ClauseAuthored, faults)
    options: Any = decoding.attempt(_only(body, _COMMON, False), rule.options, faults)
    if common is None or options is None:
        return None
    return Clause(rule.id, common.mode, options, common.on or rule.on, common.warn_for,
                  common.excepted, common.enforce_from)


_COMMON = frozenset({"mode", "on", "warn_for", "except", "enforce_from"})


def _only(body: nodes.Mapping, keys: frozenset[str], inside: bool) -> nodes.Mapping:
    """The part of a mapping whose keys are among `keys`, or are not."""
    part = tuple(entry for entry in body.entries if (entry[0].text in keys) is inside)
    return nodes.Mapping(body.source, body.line, body.column, part)


def _faults_of_softening(clause: Clause, rule: Rule, body: Node,
                         groups: frozenset[str]) -> Iterator[Fault]:
    """`warn_for`, `except` and `enforce_from` where they cannot mean anything."""
    for key, listed in (("warn_for", clause.warn_for), ("except", clause.excepted)):
        if listed and not rule.lenient:
            yield nodes.find(body, (key,)).fault(
                f"{rule.id} holds for everybody; it knows no {key}")
        for group in listed:
            if group not in groups:
                yield nodes.find(body, (key, group)).fault(
                    decoding.unknown("group", group, sorted(groups)))
    if clause.enforce_from is not None and clause.mode is not Mode.WARN:
        yield nodes.find(body, ("enforce_from",)).fault(
            "enforce_from turns warn into enforce on a day; write `mode: warn` beside it")


def _faults_of_options(clause: Clause, body: Node, zones: frozenset[str],
                       groups: frozenset[str]) -> Iterator[Fault]:
    """What the options themselves find wrong with the zones and groups that they name."""
    check = getattr(clause.options, "faults", None)
    if check is not None:
        for path, message in check(zones, groups):
            yield nodes.find(body, tuple(path)).fault(message)


def _under(ceiling: Mode, clauses: tuple[Clause, ...]) -> tuple[Clause, ...]:
    """No clause counts for more than the policy, not on a later day either."""
    strictness = partial(min, key=lambda mode: mode.strictness)
    return tuple(replace(
        c, mode=strictness((c.mode, ceiling)),
        enforce_from=c.enforce_from if ceiling is Mode.ENFORCE else None) for c in clauses)


def _with_always(clauses: tuple[Clause, ...], rules: Mapping[str, Rule]) -> tuple[Clause, ...]:
    if not any(c.mode is Mode.ENFORCE or c.enforce_from is not None for c in clauses):
        return clauses
    named = {c.rule for c in clauses}
    return clauses + tuple(Clause(rule, Mode.ENFORCE, rules[rule].options())
                           for rule in ALWAYS if rule in rules and rule not in named)


def _meaningless(node: Node, knows_timezone: Callable[[str], bool]) -> Iterator[Fault]:
    """Faults of meaning, found on the nodes so that faults of form elsewhere hide none."""
    yield from _undefined_groups(node)
    yield from _without_maintainers(node)
    for zone in _keys(node, "zones"):
        yield from _nothing_taken_in(node, f"zone {zone} is empty", "zones", zone)
    yield from _nothing_taken_in(node, "nothing is guarded", "guarded")
    yield from _nothing_taken_in(node, "no repository is taken in", "repositories")
    yield from _unknown_timezone(node, knows_timezone)


def _unknown_timezone(node: Node, knows_timezone: Callable[[str], bool]) -> Iterator[Fault]:
    named = _get(node, "timezone")
    if isinstance(named, nodes.Scalar) and _TIMEZONE.fullmatch(named.text) \
            and not knows_timezone(named.text):
        yield named.fault(f"this machine knows no time zone {nodes.shown(named.text)}")


def _undefined_groups(node: Node) -> Iterator[Fault]:
    groups = _keys(node, "groups")
    for key in ("creators", "rewriters", "queues"):
        listed = _get(node, key)
        for item in listed.items if isinstance(listed, nodes.Sequence) else ():
            if isinstance(item, nodes.Scalar) and item.text not in groups:
                yield item.fault(decoding.unknown("group", item.text, sorted(groups)))


def _without_maintainers(node: Node) -> Iterator[Fault]:
    groups = _get(node, "groups")
    if isinstance(groups, nodes.Mapping) and groups.get("maintainers") is None:
        yield nodes.find(node, ("groups",)).fault("the group maintainers is missing")


def _nothing_taken_in(node: Node, message: str, *path: str) -> Iterator[Fault]:
    """A list of globs none of which takes anything in."""
    here: Node | None = node
    for key in path:
        here = _get(here, key)
    if isinstance(here, nodes.Sequence) and all(
            isinstance(item, nodes.Scalar) and item.text.startswith("!")
            for item in here.items):
        yield here.fault(message)


def _get(node: Node | None, key: str) -> Node | None:
    return node.get(key) if isinstance(node, nodes.Mapping) else None


def _keys(node: Node, key: str) -> frozenset[str]:
    named = _get(node, key)
    entries = named.entries if isinstance(named, nodes.Mapping) else ()
    return frozenset(name.text for name, _ in entries)
