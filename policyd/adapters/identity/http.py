"""A web server in front of git-http-backend: whom it let in, and never how he proved it.

HTTP_AUTHORIZATION reaches hooks behind some servers. It is not looked at here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policyd.adapters.identity import words
from policyd.core.facts import Who
from policyd.core.policy import Identity

Given = Mapping[str, str]


def repository(_given: Given) -> str | None:
    """Its path is its name."""
    return None


def who(given: Given, _options: Identity, _refs: Sequence[str]) -> Who:
    """The credential is the scheme, such as Basic, where the server tells it."""
    name, scheme = words.text(given, "REMOTE_USER"), words.text(given, "AUTH_TYPE")
    if scheme is not None and name is None:
        raise words.contradiction("AUTH_TYPE", "REMOTE_USER", "somebody was let in who has no name")
    return Who(name, scheme)
