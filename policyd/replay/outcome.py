"""What one execution came to: a value, an error, or a break of the rules that it ran under.

Outcomes compare by what a relation may read: the encoded value, the name of an error's type, the
kind of a break. Messages, traces and details are for people and take no part.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from enum import Enum
from hashlib import sha256

from policyd.core.values import dataclass


class Break(Enum):
    """How an execution failed to give one clean answer."""

    MISSING = "missing"
    """It ended well and said nothing."""
    DOUBLE = "double"
    """It said more than one thing."""
    MALFORMED = "malformed"
    """What it said is no answer."""
    SIGNAL = "signal"
    """A signal ended it."""
    EXIT = "exit"
    """It ended with a status other than 0."""
    TIMEOUT = "timeout"
    """Its wall or processor time ran out."""
    OVERSIZE = "oversize"
    """It said, or returned, more than the limit."""
    UNSENDABLE = "unsendable"
    """It returned what is no plain value (policyd.replay.wire)."""
    UNREACHED = "unreached"
    """An earlier execution in the same process broke."""


@dataclass(frozen=True, slots=True)
class Value:
    """What the function returned, in the encoding of policyd.replay.wire."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Raised:
    """The error that the function, or the import of its module, ended with.

    `name` is qualified (`ValueError`, `pkg.errors.Odd`). `message` is printable ASCII of at most
    500 characters, `trace` at most 12 lines `path:line in function`, the innermost last.
    """

    name: str
    at_import: bool = False
    message: str = field(default="", compare=False)
    trace: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Broken:
    """No clean answer; `detail` is one line for people."""

    kind: Break
    detail: str = field(default="", compare=False)


Outcome = Value | Raised | Broken


def digest(outcomes: Iterable[Outcome]) -> str:
    """One SHA-256, in hex, over all that counts in outcomes, in their order."""
    total = sha256()
    for outcome in outcomes:
        line = _line(outcome)
        total.update(b"%d:" % len(line) + line)
    return total.hexdigest()


def _line(outcome: Outcome) -> bytes:
    match outcome:
        case Value(data):
            return b"value " + data
        case Raised(name, at_import):
            return f"raised {at_import} {name}".encode("utf-8", "backslashreplace")
        case Broken(kind):
            return b"broken " + kind.value.encode("ascii")
