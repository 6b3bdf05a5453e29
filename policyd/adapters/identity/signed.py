"""Who signed the push, by the table in policyd.yaml; whoever did not is nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policyd.adapters.identity import pushcert
from policyd.core.facts import Who
from policyd.core.policy import Identity

Given = Mapping[str, str]


def repository(_given: Given) -> str | None:
    """Its path is its name."""
    return None


def who(given: Given, options: Identity, _refs: Sequence[str]) -> Who:
    """The credential is the key, also of a signer whom the table does not know."""
    key = pushcert.key(given, options.slop)
    return Who() if key is None else Who(options.keys.get(key), key)
