"""gitolite: the user that it found by the key or the web server, and the repository's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policyd.adapters.identity import words
from policyd.core.facts import Who
from policyd.core.policy import Identity

Given = Mapping[str, str]

NOBODY = frozenset({"anonymous", "anyone", "daemon", "gitweb", "@all"})
"""What gitolite calls those whom it does not know."""


def repository(given: Given) -> str | None:
    """`GL_REPO`, as gitolite.conf names it."""
    return words.path(given, "GL_REPO", "gitolite")


def who(given: Given, _options: Identity, _refs: Sequence[str]) -> Who:
    """gitolite tells no key: every key of a user is that user."""
    name = words.demanded(given, "GL_USER", "gitolite")
    return Who(None if name in NOBODY else name, None, repository(given))
