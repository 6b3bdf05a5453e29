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

    def matches(self, name: str, *, any_case: bool = False) -> bool:
        return _compiled(self.regex, any_case=any_case).fullmatch(name) is not None


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
class Override:
    """Whose pushes pass rules, with a reason; off where no group or no rule is listed."""

    groups: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replaying:
    """How relations are replayed against what is pushed."""

    when: str = "push"
    """push: while the pusher waits; ahead: by the daemon, before; off."""
    python: str | None = None
    """The interpreter of the candidate; None: policyd's own."""
    site: str | None = None
    """A folder of installed packages that the candidate may import; None: none."""
    sandbox: str = "bubblewrap"
    """bubblewrap or none."""
    hysteresis: str = "refuse"
    """refuse or warn."""
    seed: int | None = None
    """The seed of all draws; None: one of the server's for each tree."""
    seconds: float = 60.0
    """Of one job."""


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
    """Each entry is a name or a pattern with `*`, or one of these, `#`, and a credential."""
    clauses: tuple[Clause, ...]
    together: Together = Together.PUSH
    queues: tuple[str, ...] = ()
    """Groups whose pushes to guarded branches are judged step by step: merge queues."""
    mirror: bool = False
    """A repository that is only written by replication: every push is refused."""
    records: Places = field(default_factory=Places)
    records_from: tuple[tuple[NamePattern, str], ...] = ()
    """Guarded branches whose gate reads the records of another one, given by its full name."""
    override: Override = field(default_factory=Override)
    replay: Replaying = field(default_factory=Replaying)

    def reads_from(self, ref: str) -> str:
        """The branch whose records the gate of a guarded branch reads; most read their own."""
        return next((branch for pattern, branch in self.records_from if pattern.matches(ref)),
                    ref)

    def holds_for(self, repository: str, *, any_case: bool = False) -> bool:
        return last_match(self.repositories, repository, any_case=any_case)

    def guards(self, ref: str) -> bool:
        return last_match(self.guarded, ref)

    def groups_of(self, name: str | None, credential: str | None = None) -> frozenset[str]:
        """The groups of a pusher, for the credential that the server let in.

        Entries that name the credential win: where there is one, no entry without counts, so
        that an agent's key on a maintainer's account is an agent's and nothing more.
        """
        if name is None:
            return frozenset()
        entries = [(group, *entry.partition("#")) for group, listed in self.groups.items()
                   for entry in listed if _fits(name, entry.partition("#")[0])]
        exact = frozenset(group for group, _, marked, wanted in entries
                          if marked and credential is not None and _fits(credential, wanted))
        return exact or frozenset(group for group, _, marked, _ in entries if not marked)

    @property
    def members(self) -> Mapping[str, tuple[str, ...]]:
        """Group to the names or patterns listed in it, without credentials, each once."""
        return {group: tuple(dict.fromkeys(entry.partition("#")[0] for entry in listed))
                for group, listed in self.groups.items()}

    def clause(self, rule: str) -> Clause | None:
        return next((c for c in self.clauses if c.rule == rule), None)


@dataclass(frozen=True, slots=True)
class Identity:
    """Which server says who pushes (a module of adapters/identity), and what it is asked with."""

    source: str = "env"
    name: str = "REMOTE_USER"
    """The variable that holds the name, where the server leaves that to its operator."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """The fingerprint of a key to whose key it is."""
    deploy_keys: Mapping[str, str] = field(default_factory=dict)
    """The number of a deploy key to who pushes with it; others push as nobody."""
    actions: str | None = None
    """Who pushes with the token of an action; None: nobody."""
    slop: int = 0
    """Seconds by which the nonce of a signed push may be old."""

    @property
    def any_case(self) -> bool:
        """Whether the server takes Org/Demo and org/demo for one repository."""
        return self.source in ("gitea", "gitlab", "ghes")


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
class Enrolment:
    """How repositories are enrolled where the command does not say."""

    new: bool = False
    """Whether the daemon enrols what it finds below the roots."""
    hooks_path: str | None = None
    """One folder with the hook of all repositories."""


@dataclass(frozen=True, slots=True)
class Waits:
    """For how many seconds a push may wait for a replay, by how it arrives, and who goes on."""

    ssh: float = 60.0
    http: float = 50.0
    local: float = 60.0
    """Neither of both: another daemon's socket, or a folder of the same machine."""
    at_once: int = 2
    """How many replays run at a time, those of pushes and of the daemon alike."""

    def of(self, given: Mapping[str, str]) -> float:
        """How long a push may wait, by what its server put into the environment."""
        if given.get("SSH_CONNECTION") or given.get("GL_PROTOCOL") == "ssh":
            return self.ssh
        if given.get("REQUEST_METHOD") or given.get("GATEWAY_INTERFACE") \
                or given.get("GL_PROTOCOL") in ("http", "web"):
            return self.http
        return self.local


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
    server: str = "plain"
    """Which server runs the hooks: plain, gitolite, gitea or gitlab."""
    enroll: Enrolment = field(default_factory=Enrolment)
    replay: Waits = field(default_factory=Waits)


@dataclass(frozen=True, slots=True)
class Active:
    """HOME/active/current."""

    digest: str
    settings: Settings
    policies: tuple[Policy, ...]


def last_match(patterns: tuple[NamePattern, ...], name: str, *, any_case: bool = False) -> bool:
    """Whether the last pattern that matches takes the name in."""
    for pattern in reversed(patterns):
        if pattern.matches(name, any_case=any_case):
            return not pattern.negate
    return False


def _fits(name: str, listed: str) -> bool:
    return fnmatchcase(name, listed) if "*" in listed else name == listed


@lru_cache(maxsize=4096)
def _compiled(regex: str, *, any_case: bool) -> re.Pattern[str]:
    return re.compile(regex, re.DOTALL | (re.IGNORECASE if any_case else 0))
