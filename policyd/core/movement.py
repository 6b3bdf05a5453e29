"""A guarded branch that moved without an accepted push. Pure."""

from __future__ import annotations

from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Movement:
    """A guarded branch that no chain of accepted entries explains; None is absent."""

    ref: str
    recorded: str | None
    live: str | None
