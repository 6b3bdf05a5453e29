"""One variable, whoever sets it: for servers that no other module knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policyd.core.facts import Who
from policyd.core.policy import Identity

Given = Mapping[str, str]


def repository(_given: Given) -> str | None:
    """Its path is its name."""
    return None


def who(given: Given, options: Identity, _refs: Sequence[str]) -> Who:
    """Any text is a name; absent or empty is nobody."""
    return Who(given.get(options.name) or None)
