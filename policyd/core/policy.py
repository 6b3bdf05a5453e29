"""A policy in force: what `policy apply` compiled and the hook reads. Plain frozen values.

The authored form (YAML, globs) is `core.authored`; here globs are regular expressions on
folded names already, so that nothing in the hot path translates a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from datetime import date
from enum import Enum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from policyd.core.values import dataclass


class Mode(Enum):
    """How much a broken rule counts. The order is that of strictness."""

    OFF = "off"
    OBSERVE = "observe"
    WARN = "warn"
    ENFORCE = "enforce"

    @property
    def strictness(self) -> int:
        return list(Mode).index(self)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a push is read before it is refused unread."""

    max_commits: int = 50_000
    max_files: int = 50_000
    max_blob_bytes: int = 1_048_576
    seconds: float = 5.0
    lookback_files: int = 500
    lease_bytes: int = 67_108_864
    """Of leased corpora that are hashed anew."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One glob of a zone. `regex` matches folded paths; `prefix` is its literal leading folders.

    `literal` are the folded names up to the first one with a wildcard: ("fixtures", "data").
    """

    glob: str
    negate: bool
    regex: str
    literal: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Zone:
    """A named set of paths; the last pattern that matches a path decides."""

    name: str
    patterns: tuple[Pattern, ...]


class Reach(Enum):
    """The refs on which a rule enforces; on others, enforce is lowered to warn."""

    ALL = "all"
    GUARDED = "guarded"


class Together(Enum):
    """What "the same push" is for rules that keep things apart."""

    PUSH = "push"
    REF = "ref"


@dataclass(frozen=True, slots=True)
class Clause:
    """A rule as one policy uses it; `options` is an instance of the rule's options type."""

    rule: str
    mode: Mode
    options: Any
    on: Reach = Reach.ALL
    warn_for: tuple[str, ...] = ()
    """Groups for whom the rule warns at the most."""
    excepted: tuple[str, ...] = ()
    """Groups for whom the rule is off."""
    enforce_from: date | None = None
    """The first day, in the policy's zone, on which warn becomes enforce."""

    def mode_for(self, groups: frozenset[str], today: date, *, guarded: bool) -> Mode:
        """How much a finding counts for a pusher of these groups on this day and ref."""
        if groups & set(self.excepted):
            return Mode.OFF
        mode = self.mode
        if mode is Mode.WARN and self.enforce_from is not None and today >= self.enforce_from:
            mode = Mode.ENFORCE
        if mode is Mode.ENFORCE and (groups & set(self.warn_for)
                                     or (self.on is Reach.GUARDED and not guarded)):
            return Mode.WARN
        return mode


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A glob on ref or repository names, compiled. `negate` takes names out again."""

    glob: str
    negate: bool
    regex: str

    def matches(self, name: str) -> bool:
        return _compiled(self.regex).fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Places:
    """Where a repository keeps its records: three files, and four folders with all below them."""

    flakes: str = "tests/ledger/flake_ledger.json"
    quarantine: str = "oracle/quarantine.yaml"
    freezes: str = "fixtures/freezes.json"
    leases: str = "fixtures/leases"
    """`*.yaml` and `*.yml`."""
    receipts: str = "oracle/receipts"
    """`*.json`."""
    seeds: str = "oracle/seeds"
    """Any file."""
    relations: str = "oracle/relations"
    """`*.yaml` and `*.yml`, with the functions that they name in `*.py`."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy file, compiled."""

    name: str
    repositories: tuple[NamePattern, ...]
    mode: Mode
    guarded: tuple[NamePattern, ...]
    creators: tuple[str, ...]
    rewriters: tuple[str, ...]
    namespaces: tuple[tuple[NamePattern, str], ...]
    bounds: Bounds
    timezone: str
    zones: tuple[Zone, ...]
    groups: Mapping[str, tuple[str, ...]]
    clauses: tuple[Clause, ...]
    together: Together = Together.PUSH
    queues: tuple[str, ...] = ()
    """Groups whose pushes to guarded branches are judged step by step: merge queues."""
    mirror: bool = False
    """A repository that is only written by replication: every push is refused."""
    records: Places = field(default_factory=Places)
    records_from: tuple[tuple[NamePattern, str], ...] = ()
    """Guarded branches whose gate reads the records of another one, given by its full name."""

    def reads_from(self, ref: str) -> str:
        """The branch whose records the gate of a guarded branch reads; most read their own."""
        return next((branch for pattern, branch in self.records_from if pattern.matches(ref)),
                    ref)

    def holds_for(self, repository: str) -> bool:
        return last_match(self.repositories, repository)

    def guards(self, ref: str) -> bool:
        return last_match(self.guarded, ref)

    def groups_of(self, name: str | None) -> frozenset[str]:
        if name is None:
            return frozenset()
        return frozenset(group for group, listed in self.groups.items()
                         if any(_is_member(name, entry) for entry in listed))

    def clause(self, rule: str) -> Clause | None:
        return next((c for c in self.clauses if c.rule == rule), None)


@dataclass(frozen=True, slots=True)
class Identity:
    """Where the pusher's name comes from: `env` and the name of the variable."""

    source: str = "env"
    name: str = "REMOTE_USER"


@dataclass(frozen=True, slots=True)
class Service:
    """`policyd serve`: how often it looks at everything, and where it answers, if anywhere."""

    rescan_seconds: float = 60.0
    listen: str | None = None
    """`127.0.0.1:PORT` or `[::1]:PORT`."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """Who is told of gates by POST, and the file with the secret that signs it."""

    url: str
    secret_file: str


@dataclass(frozen=True, slots=True)
class Settings:
    """policyd.yaml: what concerns the server and not a policy."""

    state: str
    roots: tuple[str, ...] = ()
    identity: Identity = field(default_factory=Identity)
    home_owner: str = "root"
    service: Service = field(default_factory=Service)
    webhook: Webhook | None = None
    pretended_clock: bool = False
    """Whether `serve --clock` may let this home live at another time: for tests and demos."""


@dataclass(frozen=True, slots=True)
class Active:
    """HOME/active/current."""

    digest: str
    settings: Settings
    policies: tuple[Policy, ...]


def last_match(patterns: tuple[NamePattern, ...], name: str) -> bool:
    """Whether the last pattern that matches takes the name in."""
    for pattern in reversed(patterns):
        if pattern.matches(name):
            return not pattern.negate
    return False


def _is_member(name: str, entry: str) -> bool:
    return fnmatchcase(name, entry) if "*" in entry else name == entry


@lru_cache(maxsize=4096)
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex, re.DOTALL)
