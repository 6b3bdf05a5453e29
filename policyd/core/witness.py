"""What a replay came to, as plain values: rules read it, the log keeps it, a verdict file holds it.

Nothing here holds what a relation would have wanted: that would be a golden vector.
"""

from __future__ import annotations

from datetime import date
from enum import Enum

from policyd.core.values import dataclass


class Bucket(Enum):
    """What a row of a table is classified as."""

    HOLDS = "holds"
    BLOCK = "block"
    SKIP = "policy-sensitive"
    """A policy row that breaks: listed with its owner and date."""
    HYSTERESIS = "hysteresis"
    """It holds in clean processes, and not after other executions in the same one."""
    FROZEN = "frozen"
    """It broke, and passed as often as its freeze asks when it was run again."""


class Cause(Enum):
    """Why a row is not in HOLDS."""

    NONE = ""
    BREAKS = "breaks"
    FLICKERS = "flickers"
    """Two identical runs in clean processes differ."""
    VACUOUS = "vacuous"
    """Too many pairs prove nothing: both sides only raise, or both inputs are the same."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Of the draws of one row."""

    drawn: int = 0
    applied: int = 0
    rejected: int = 0
    vacuous: int = 0
    broken: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One relation: how it fared, and its first break as far as anybody may know it."""

    id: str
    says: str
    """The relation in one line."""
    entry: str
    status: str
    """blocking or policy."""
    bucket: Bucket
    counts: Counts
    cause: Cause = Cause.NONE
    first: int | None = None
    """The index of the first draw that breaks; with seed and id it names the pair."""
    input: str = ""
    """The source input of that draw, or a smaller one that breaks too: `(1, [1, 2])`."""
    shrunk: bool = False
    transform: str = ""
    reason: str = ""
    """What kind of difference it is, or how the candidate failed; one line."""
    trace: tuple[str, ...] = ()
    """For an error: `path:line in function`, the innermost last."""
    owner: str = ""
    last: date | None = None
    """Of a policy row."""
    polluters: tuple[str, ...] = ()
    """The pairs after which it breaks: `(MR01, 3)`; empty where they were not found."""
    freeze: str = ""
    """What its freeze came to: `passes 5 of 5 reruns`."""


def _listed(row: Row) -> str:
    """A row that did not hold, and does not refuse."""
    if row.bucket is Bucket.SKIP:
        return f"{row.id} breaks, a policy row of {row.owner} until {row.last}"
    if row.bucket is Bucket.FROZEN:
        return f"{row.id} is frozen: {row.freeze}"
    return f"{row.id} changes after {', '.join(row.polluters) or 'other calls'}"


@dataclass(frozen=True, slots=True)
class Job:
    """The property job: the base's own tests, run against the candidate on the base's receipts."""

    passed: int = 0
    failed: tuple[str, ...] = ()
    """Node ids."""
    wrong: str = ""
    """Why it cannot count as passed, where no test failed: nothing collected, no receipt."""

    @property
    def refuses(self) -> bool:
        return bool(self.failed or self.wrong)


@dataclass(frozen=True, slots=True)
class Replay:
    """One candidate against one table. `undecided` says why there is no verdict, if there is none.
    """

    key: str
    """What the verdict depends on, as a SHA-256 in hex."""
    seed: str = ""
    """32 hex digits."""
    rows: tuple[Row, ...] = ()
    digest: str = ""
    """Over the sorted verdict lines; the same for the same key and seed."""
    properties: Job | None = None
    undecided: str = ""
    unfit: str = ""
    """What about the source keeps it from being replayed, where its pusher can mend that."""
    seconds: float = 0.0
    """Of wall time."""
    warnings: tuple[str, ...] = ()
    """What the maintainers of the base are told beside the verdict."""

    lenient: bool = False
    """Whether the policy only tells of hysteresis."""

    @property
    def refusing(self) -> tuple[Row, ...]:
        """The rows for which the push is refused, in the order of the table."""
        return tuple(row for row in self.rows if row.bucket is Bucket.BLOCK
                     or (row.bucket is Bucket.HYSTERESIS and not self.lenient))

    @property
    def summary(self) -> str:
        """One line for the pusher: what ran, and what is listed without refusing."""
        pairs = sum(row.counts.applied for row in self.rows)
        listed = [_listed(row) for row in self.rows
                  if row.bucket is not Bucket.HOLDS and row not in self.refusing]
        some = "1 relation" if len(self.rows) == 1 else f"{len(self.rows)} relations"
        return (f"replay: {some}, {pairs:,} pairs, seed {self.seed[:6]}, "
                f"{self.seconds:.1f} s" + "".join(f"; {one}" for one in listed)
                + "".join(f"; {one}" for one in self.warnings))
