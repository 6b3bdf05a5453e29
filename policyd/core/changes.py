"""What would change if one policy took the place of another, in the words of the files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from policyd.core.policy import Active, Clause, Identity, NamePattern, Override, Policy, Settings
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs; None where it is absent before or after."""

    what: str
    before: str | None
    after: str | None


def changes(before: Active | None, after: Active) -> tuple[Change, ...]:
    """Every difference, in the order of the new files, what goes away last."""
    old = dict(_things(before)) if before is not None else {}
    new = dict(_things(after))
    names = [*new, *(name for name in old if name not in new)]
    return tuple(Change(name, old.get(name), new.get(name))
                 for name in names if old.get(name) != new.get(name))


def _things(active: Active) -> Iterator[tuple[str, str]]:
    yield from _settings(active.settings)
    for policy in active.policies:
        for what, value in _policy(policy):
            yield f"{policy.name}: {what}", value


def _settings(settings: Settings) -> Iterator[tuple[str, str]]:
    yield "state", settings.state
    yield "roots", ", ".join(settings.roots)
    yield from _identity(settings.identity)
    yield "home_owner", settings.home_owner
    yield "server", settings.server
    yield from _each("enroll", settings.enroll)
    yield from _each("service", settings.service)
    yield from _each("replay", settings.replay)
    if settings.webhook is not None:
        yield from _each("webhook", settings.webhook)
    if settings.pretended_clock:
        yield "pretended_clock", "true"


def _identity(identity: Identity) -> Iterator[tuple[str, str]]:
    """A key that becomes another person's is what must not be overlooked: a line each."""
    yield "identity", f"{identity.source} {identity.name}".rstrip()
    for name in ("keys", "deploy_keys"):
        for key, person in getattr(identity, name).items():
            yield f"identity.{name}.{key}", person
    if identity.actions is not None:
        yield "identity.actions", identity.actions
    if identity.slop:
        yield "identity.slop", str(identity.slop)


def _policy(policy: Policy) -> Iterator[tuple[str, str]]:
    yield "repositories", _globs(policy.repositories)
    yield "mode", policy.mode.value
    yield "guarded", _globs(policy.guarded)
    yield "creators", ", ".join(policy.creators)
    yield "rewriters", ", ".join(policy.rewriters)
    yield "namespaces", ", ".join(f"{p.glob}: {what}" for p, what in policy.namespaces)
    yield "timezone", policy.timezone
    yield "together", policy.together.value
    yield "queues", ", ".join(policy.queues)
    yield "mirror", str(policy.mirror).lower()
    if policy.override != Override():
        yield "override", text(policy.override)
    yield from _each("bounds", policy.bounds)
    yield from _each("replay", policy.replay)
    yield from _each("records", policy.records)
    if policy.records_from:
        yield "records_from", ", ".join(f"{p.glob}: {ref}" for p, ref in policy.records_from)
    for zone in policy.zones:
        yield f"zones.{zone.name}", ", ".join(p.glob for p in zone.patterns)
    for group, listed in policy.groups.items():
        yield f"groups.{group}", ", ".join(listed)
    for clause in policy.clauses:
        yield from _clause(clause)


def _each(name: str, record: Any) -> Iterator[tuple[str, str]]:
    """The fields of a dataclass that say anything."""
    for one in fields(record):
        value = getattr(record, one.name)
        if value is not None:
            said = str(value)
            yield f"{name}.{one.name}", said.lower() if isinstance(value, bool) else said


def _clause(clause: Clause) -> Iterator[tuple[str, str]]:
    yield f"rules.{clause.rule}", clause.mode.value
    for name, value in (("on", clause.on.value), ("warn_for", ", ".join(clause.warn_for)),
                        ("except", ", ".join(clause.excepted)),
                        ("enforce_from", str(clause.enforce_from or ""))):
        if value:
            yield f"rules.{clause.rule}.{name}", value
    for one in fields(clause.options):
        yield f"rules.{clause.rule}.{one.name}", text(getattr(clause.options, one.name))


def _globs(patterns: tuple[NamePattern, ...]) -> str:
    return ", ".join(pattern.glob for pattern in patterns)


def text(value: Any) -> str:
    """A value of a policy in the words of its file."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return ", ".join(map(text, value))
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {text(item)}" for key, item in value.items())
    if is_dataclass(value):
        return "; ".join(f"{f.name}: {text(getattr(value, f.name))}" for f in fields(value))
    return str(value)
