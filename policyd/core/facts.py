"""What was pushed, as plain values. Nothing here can reach a repository.

Object ids are lower-case hex text, 40 digits. Paths and ref names are text that was decoded
with `surrogateescape`, so that any bytes survive the way through; only `core.render` makes
them printable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import date
from enum import Enum
from typing import TYPE_CHECKING

from policyd.core.gates import Gate
from policyd.core.policy import Together
from policyd.core.rows import Identity, Records
from policyd.core.sheet import Role
from policyd.core.values import dataclass

if TYPE_CHECKING:  # it builds on what is here
    from policyd.core.content import Content
    from policyd.core.proposals import Intake
    from policyd.core.witness import Replay

ZERO = "0" * 40
"""The object id that stands for "no such ref" on git's side."""


class Op(Enum):
    """What an update does to its ref."""

    CREATE = "create"
    UPDATE = "update"
    REWRITE = "rewrite"
    DELETE = "delete"


class Need(Enum):
    """Expensive facts that a rule asks for; each is gathered once a push, and only then."""

    PATHS = "paths"
    TREES = "trees"
    LITERALS = "literals"
    CONTENT = "content"
    SAMPLES = "samples"
    """With CONTENT: the samples of unchanged tests that gained branches answer."""
    HELD = "held"
    GONE = "gone"
    RECORDS = "records"
    PAST = "past"
    GATE = "gate"
    PROPOSALS = "proposals"
    REPLAY = "replay"
    """Gathered last, when no other rule refuses."""


@dataclass(frozen=True, slots=True)
class Pusher:
    """Who pushed, by the server's word. No name: a member of no group."""

    name: str | None
    groups: frozenset[str] = frozenset()
    credential: str | None = None
    """What the server let in: a key by its fingerprint or number, or a way such as `web`."""
    signed: bool = False
    """Whether the push as a whole is signed, by a key that the server trusts."""


@dataclass(frozen=True, slots=True)
class Who:
    """What a server says of one push. None: it says nothing, and nothing is made up."""

    name: str | None = None
    credential: str | None = None
    repository: str | None = None
    """What the server calls the repository; None where its path is its name."""


@dataclass(frozen=True, slots=True)
class Touch:
    """A path that a commit decides, with the zones that it lies in (sorted)."""

    path: str
    zones: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """A judged commit and the zoned paths that it touches."""

    oid: str
    touches: tuple[Touch, ...] = ()


@dataclass(frozen=True, slots=True)
class OddEntry:
    """A tree entry that no ordinary work tree holds. `path` may be a folder.

    `zones` are the zones that it endangers; empty: it is out of order wherever it stands.
    """

    path: str
    what: str
    zones: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Where a literal stands in a changed file. `use` says in a word how, `role` what for."""

    path: str
    line: int
    use: str
    role: Role = Role.PLAIN


@dataclass(frozen=True, slots=True)
class Gained:
    """Literals that a zone gained in the net change, each with where it stands."""

    values: Mapping[str, tuple[Occurrence, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A changed file that a rule needs and that could not be parsed."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Literals:
    """What literal rules read of one update: gained literals by zone, and what cannot be read."""

    gained: Mapping[str, Gained] = field(default_factory=dict)
    lately: Mapping[str, Gained] = field(default_factory=dict)
    """What the target branch's files gained within the policy's days of looking back."""
    allowed: frozenset[str] = frozenset()
    """Lines of the base's own list of literals that may be shared."""
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """What the guarded branch's history says of a row before this push."""

    times: int
    """How often its last day was moved, or the row was added again after it had been removed."""
    reasons: frozenset[str] = frozenset()
    """Every reason that it has had."""


@dataclass(frozen=True, slots=True)
class Books:
    """The records before and after an update, and what only history and repository can tell."""

    before: Records
    """Of the guarded branch that the ref is meant for, as it stands."""
    after: Records
    """Of the tree that the update leaves."""
    changed: frozenset[str] = frozenset()
    """The record files, and files below a record's folder, that differ between the two."""
    past: Mapping[Identity, Past] = field(default_factory=dict)
    """For rows that the update adds or dates anew; only where a rule needs it."""
    baselines: frozenset[str] = frozenset()
    """The commits that receipts name and that the guarded branch holds."""


@dataclass(frozen=True, slots=True)
class Update:
    """One line of what git hands to the hook, resolved and looked at."""

    ref: str
    """After symbolic refs are followed."""
    op: Op
    old: str | None
    """What the repository's ref holds now, never what the pusher claims."""
    new: str | None
    """What was pushed, not peeled."""
    tip: str | None = None
    """The commit that `new` peels to."""
    guarded: bool = False
    """Whether the policy guards this ref; a push to it is a merge."""
    claim: str | None = None
    """What the pusher took for the old id, where that is not what the ref holds."""
    twice: bool = False
    """Another update of the same push moves the same ref."""
    peels: str = "commit"
    """What `new` leads to: commit, tree, blob or missing."""
    whole: bool = True
    """Whether all history behind the tip is there; a shallow push leaves it out."""
    namespace: str = "judge"
    """What the policy says of the ref's namespace: judge or refuse."""
    tip_accepted: bool = False
    """Whether the tip lies in the accepted history."""
    kept: bool = False
    """For a deletion: whether another guarded branch contains what the ref held."""
    judged: int = 0
    """How many commits are reachable from the tip and not from the accepted history."""
    commits: tuple[Commit, ...] = ()
    """The judged commits that touch zoned paths, oldest first."""
    boundary: tuple[str, ...] = ()
    net: tuple[Touch, ...] = ()
    arrivals: tuple[Touch, ...] = ()
    odd_entries: tuple[OddEntry, ...] = ()
    held: frozenset[str] = frozenset()
    """The touched paths that some side before the push holds."""
    gone: frozenset[str] = frozenset()
    """The paths of the net change at which the update leaves nothing."""
    literals: Literals | None = None
    content: Content | None = None
    """None where no rule asks."""
    books: Books | None = None
    """None where no rule asks, or where the update touches no record."""
    gate: Gate | None = None
    """The gate of this branch with the records that the update leaves; None where none binds."""
    replay: Replay | None = None
    """What the base's relations say of the tip; None before every other rule has accepted."""
    intake: Intake | None = None
    """The proposals; None where no rule asks, or where the update has to do with none."""
    revert: bool = False
    """Whether a maintainer returns every touched path to one earlier accepted state."""
    stands: Gate | None = None
    """The same gate with the records as they are, for who is told how to go on."""
    steps: tuple[Update, ...] = ()
    """The first-parent steps of a merge queue's push, each as an update; else empty."""

    def touched(self, *, arriving: bool = True) -> Iterator[tuple[str | None, Touch]]:
        """Every touched path with the commit that touches it; a path that only the net change or
        the arrivals show comes once, with None for the commit."""
        told = set()
        for commit in self.commits:
            for touch in commit.touches:
                told.add(touch.path)
                yield commit.oid, touch
        for touch in (*self.net, *(self.arrivals if arriving else ())):
            if touch.path not in told:
                told.add(touch.path)
                yield None, touch

    @property
    def branch(self) -> str | None:
        """The short name where the ref is a branch."""
        return self.ref.removeprefix("refs/heads/") if self.ref.startswith("refs/heads/") else None


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a rule can ever know."""

    pusher: Pusher
    updates: tuple[Update, ...]
    creator: bool = False
    """Whether the pusher may create and delete guarded refs."""
    creators: tuple[str, ...] = ()
    """The names of those who may."""
    rewriter: bool = False
    """Whether the pusher may move guarded branches other than forward."""
    together: Together = Together.PUSH
    """What rules that keep things apart take for one change."""
    mirror: bool = False
    """Whether the repository is only written by replication."""
    empty: bool = False
    """Whether the repository has no guarded branch yet."""
    may_write: frozenset[str] = frozenset()
    """The zones with listed writers of whom the pusher is one."""
    protected: frozenset[str] = frozenset()
    """The zones that have listed writers or are kept apart from others."""
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Group to the names or patterns listed in it, in the policy's order."""
    today: date = date.min
