"""Break-glass: a push that is let through although rules refuse it, once and by name. Pure.

Two ways. An operator permits one pusher to bring one commit to one ref, once. And the members of
groups that a policy lists may override rules that it lists, with a reason in a push option. Both
let a push through that was judged; what could not be judged, nobody lets through.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from policyd.core.errors import PolicydError
from policyd.core.policy import Override
from policyd.core.values import dataclass

OPTION = "policyd.override"
"""`git push -o policyd.override="REASON"`."""

LONGEST_PERMIT = timedelta(days=3)
LONGEST_REASON = 300
"""Characters."""

USES = 20
"""Of a repository that are kept for the status; the decision log has all."""


@dataclass(frozen=True, slots=True)
class Permit:
    """What an operator lets through, once."""

    ref: str
    new: str
    """The object id that the ref is to hold; forty zeros: that the ref is deleted."""
    pusher: str
    """A name as the server says it; with `#` and a credential, for that one only."""
    until: str
    """Until when, exclusive; a date-time with its zone."""
    reason: str
    operator: str
    at: str

    def holds(self, now: datetime) -> bool:
        return now < datetime.fromisoformat(self.until)

    def names(self, name: str | None, credential: str | None) -> bool:
        """Whether it is for this pusher."""
        wanted, marked, key = self.pusher.partition("#")
        return name == wanted and (not marked or credential == key)


@dataclass(frozen=True, slots=True)
class Use:
    """A push that was let through. `by` is `permit` or `override`."""

    by: str
    ref: str
    pusher: str
    reason: str
    rules: tuple[str, ...]
    """The rules that would have refused it."""
    at: str
    operator: str | None = None
    """Who gave the permit."""
    more: int = 0
    """Refs of the push besides `ref`."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The override that a pusher asks for."""

    reason: str
    fault: str = ""
    """Why it is none; empty when it is one."""


def asked(options: Iterable[str]) -> Asked | None:
    """What the push options ask for; None where they ask for nothing."""
    found = [option.partition("=")[2].strip() for option in options
             if option.partition("=")[0] == OPTION]
    if not found:
        return None
    if len(found) > 1:
        return Asked("", "it was given twice")
    if not any(letter.isalnum() for letter in found[0]):
        return Asked("", "it says no reason")
    if len(found[0]) > LONGEST_REASON:
        return Asked("", f"its reason is longer than {LONGEST_REASON} characters")
    return Asked(found[0])


def out_of_reach(override: Override, groups: frozenset[str],
                 rules: Iterable[str]) -> tuple[str, ...] | None:
    """Which of these rules a pusher of these groups may not override; None: not any at all."""
    if not groups & set(override.groups):
        return None
    return tuple(dict.fromkeys(rule for rule in rules if rule not in override.rules))


def permit_of(permits: Sequence[Permit], pushed: tuple[str, str], name: str | None,
              credential: str | None, now: datetime) -> Permit | None:
    """The permit for one ref's update to an id by a pusher; the one that ends first."""
    found = [permit for permit in permits
             if (permit.ref, permit.new) == pushed and permit.names(name, credential)
             and permit.holds(now)]
    return min(found, key=lambda permit: datetime.fromisoformat(permit.until), default=None)


def permitting(permits: tuple[Permit, ...], new: Permit, now: datetime) -> tuple[Permit, ...]:
    """The permits with a new one, without those that are over. Raises PolicydError."""
    until = datetime.fromisoformat(new.until)
    if until <= now:
        raise PolicydError(f"{new.until} is over; it is {now.isoformat(timespec='seconds')}")
    if until > now + LONGEST_PERMIT:
        raise PolicydError(f"a permit lasts {LONGEST_PERMIT.days} days at most, until "
                           f"{(now + LONGEST_PERMIT).isoformat(timespec='seconds')}")
    kept = tuple(permit for permit in permits if permit.holds(now))
    for other in kept:
        if (other.ref, other.new, other.pusher) == (new.ref, new.new, new.pusher):
            raise PolicydError(f"this is permitted already, by {other.operator} until "
                               f"{other.until}: {other.reason}")
    return (*kept, new)


def revoking(permits: tuple[Permit, ...], ref: str, new: str, pusher: str) -> tuple[Permit, ...]:
    """The permits without one. Raises PolicydError where it is none of them."""
    kept = tuple(permit for permit in permits
                 if (permit.ref, permit.new, permit.pusher) != (ref, new, pusher))
    if len(kept) == len(permits):
        waiting = ", ".join(f"{permit.ref} to {permit.new[:12]} by {permit.pusher}"
                            for permit in permits) or "nothing"
        raise PolicydError(f"no such permit; permitted is {waiting}")
    return kept


def used(uses: tuple[Use, ...], new: Use) -> tuple[Use, ...]:
    """The uses with a new one, of which the oldest are let go."""
    return (*uses, new)[-USES:]
