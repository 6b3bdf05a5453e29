"""The shape of a rule: identity, prose, typed options, examples, and one pure function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any

from policyd.core.facts import Need, Situation
from policyd.core.policy import Reach
from policyd.core.values import dataclass


class Next(Enum):
    """What the pusher does next; the last line for programs says it."""

    SPLIT = "split"
    EDIT = "edit"
    PROPOSE = "propose"
    WAIT = "wait"
    REBASE = "rebase"
    RETRY = "retry"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule is broken: a commit, a path, a line, and a word about it; each may be absent."""

    commit: str | None = None
    path: str | None = None
    line: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """What mends a finding. `core.repair` turns it into commands that work as printed.

    `kind` picks the block; `zones` and `paths` are what is given back or handed in apart;
    `words` are lines of advice where no command can do it.
    """

    kind: str
    next: Next
    zones: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule, as data. Prose around it is the renderer's business."""

    ref: str
    says: str
    """The end of the first line, a fact in lower case: `oracle/r.json + src/app.py`."""
    scene: str
    """The second line's end: `2 commits judged together`, `zone ledger`; may be empty."""
    places: tuple[Place, ...]
    repair: Repair
    why: str = ""
    """Replaces the rule's `why` where names make it clearer."""


@dataclass(frozen=True, slots=True)
class Example:
    """A situation on literal facts; the rule's tests and its manual page."""

    title: str
    given: Situation
    options: Any = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule is a value. `id` is kebab-case, says what must hold and equals the file's name."""

    id: str
    why: str
    """One whole sentence for the pusher."""
    fix: str
    """One whole sentence for the manual page: the permitted next step."""
    options: type[Any]
    """A frozen dataclass; its fields are the rule's options in a policy file."""
    check: Callable[[Situation, Any], Iterator[Finding]]
    accepts: Callable[[], tuple[Example, ...]] = tuple
    """Made when they are asked for: no push pays for examples."""
    rejects: Callable[[], tuple[Example, ...]] = tuple
    needs: frozenset[Need] = frozenset()
    on: Reach = Reach.ALL
    """Where a policy that says nothing enforces it: content rules on guarded refs."""
    lenient: bool = False
    """Whether a policy may soften it for groups; rules that hold invariant 0 may not be."""
    doc: str | None = None
    """The docstring of its file, for the manual page."""


def undefined_zones(where: tuple[str, ...], named: Iterable[str],
                    zones: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Faults for zones that the policy does not define, for `faults` of an options type."""
    for name in named:
        if name not in zones:
            yield where, f"no zone named {name!r}; the policy has {', '.join(sorted(zones))}"


def undefined_groups(where: tuple[str, ...], named: Iterable[str],
                     groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Faults for groups that the policy does not define."""
    for name in named:
        if name not in groups:
            yield where, f"no group named {name!r}; the policy has {', '.join(sorted(groups))}"
