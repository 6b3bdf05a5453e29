"""What the doctor says: one sentence of what is wrong, one of what to do. Nothing here looks."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from policyd.core.values import dataclass


class Weight(Enum):
    """How bad it is."""

    NOTE = "note"
    WARNING = "warning"
    FAULT = "fault"
    """Pushes are not judged, or wrongly, or cannot be."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it must be."""

    weight: Weight
    check: str
    """A word or two: `hook`, `state folder`."""
    about: str
    """A path, or the name of a repository; empty for the server as a whole."""
    says: str
    remedy: str
    mend: Callable[[], str] | None = None
    """Mends it and says so; only for what is safe at any time."""


def fault(check: str, about: str, says: str, remedy: str,
          mend: Callable[[], str] | None = None) -> Finding:
    return Finding(Weight.FAULT, check, about, says, remedy, mend)


def warning(check: str, about: str, says: str, remedy: str,
            mend: Callable[[], str] | None = None) -> Finding:
    return Finding(Weight.WARNING, check, about, says, remedy, mend)


def note(check: str, about: str, says: str, remedy: str) -> Finding:
    return Finding(Weight.NOTE, check, about, says, remedy)
