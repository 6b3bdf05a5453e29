"""GitLab, whose Gitaly runs the hook: users by name, deploy keys as who they are mapped to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from policyd.adapters.identity import words
from policyd.core.errors import CannotJudge
from policyd.core.facts import Who
from policyd.core.policy import Identity

Given = Mapping[str, str]

PROTOCOLS = ("ssh", "http", "web")
_ID = re.compile(r"(user|key)-([1-9][0-9]{0,17})")
_BESIDE = re.compile(r"(wiki|design)-[0-9]+|(?:project|group)-[0-9]+-(wiki|design)")


def repository(given: Given) -> str | None:
    """`GL_PROJECT_PATH`; wikis and designs, which lie beside it, end in .wiki and .design.

    The path on disk is a hash and says nothing.
    """
    name = words.path(given, "GL_PROJECT_PATH", "GitLab")
    beside = _BESIDE.fullmatch(words.demanded(given, "GL_REPOSITORY", "GitLab"))
    return name if beside is None else _suffixed(name, f".{beside[1] or beside[2]}")


def who(given: Given, options: Identity, _refs: Sequence[str]) -> Who:
    """The credential of a user is the way in: ssh, http or web; that of a deploy key is key-N."""
    where = repository(given)
    protocol = words.choice(given, "GL_PROTOCOL", PROTOCOLS)
    if protocol is None:
        words.demanded(given, "GL_PROTOCOL", "GitLab")
    who = _ID.fullmatch(words.demanded(given, "GL_ID", "GitLab"))
    if who is None:
        raise CannotJudge("GL_ID is neither user-N nor key-N; this policyd may be older than "
                          "GitLab")
    if who[1] == "key":
        return Who(options.deploy_keys.get(who[2]), who[0], where)
    return Who(words.demanded(given, "GL_USERNAME", "GitLab"), protocol, where)


def _suffixed(name: str, suffix: str) -> str:
    return name if name.endswith(suffix) else name + suffix
