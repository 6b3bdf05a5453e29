"""Who pushes, and where to, by the word of the one server that policyd.yaml names.

One server, one module, imported only where it is chosen; nothing is guessed from what else
stands in the environment. A module has two functions: `repository`, the server's name for the
repository or None, and `who`. Both raise CannotJudge for what contradicts itself and for what
the server always says and does not say now; absence that it documents is nobody (`Who()`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Protocol, cast

from policyd.core.facts import Who
from policyd.core.policy import Identity

Given = Mapping[str, str]
"""The environment of the hook, decoded with surrogateescape."""


class _Server(Protocol):
    def repository(self, given: Given) -> str | None:
        """What the server calls the repository; None where its path is its name."""

    def who(self, given: Given, options: Identity, refs: Sequence[str]) -> Who:
        """Who pushes these refs."""


def repository_of(options: Identity, given: Given) -> str | None:
    """The server's name for the repository; None where it has none. Raises CannotJudge."""
    return _server(options).repository(given)


def who_of(options: Identity, given: Given, refs: Sequence[str]) -> Who:
    """Who pushes these refs. Raises CannotJudge."""
    return _server(options).who(given, options, refs)


def is_signed(options: Identity, given: Given) -> bool:
    """Whether the push is signed by a key that git trusts, and freshly. Raises CannotJudge."""
    if not given.get("GIT_PUSH_CERT"):
        return False
    from policyd.adapters.identity import pushcert

    return pushcert.key(given, options.slop) is not None


def _server(options: Identity) -> _Server:
    return cast(_Server, import_module(f"{__name__}.{options.source}"))
