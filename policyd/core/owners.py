"""Who is meant by the owner of a record: a group of the policy, or somebody in one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

SHOWN = 4
"""Members that are named of a group."""

Members = Mapping[str, tuple[str, ...]]
"""Group to the names or patterns listed in it."""


def is_known(owner: str, members: Members) -> bool:
    """Whether an owner is a group or stands in one, by name or by a pattern with `*`."""
    return owner in members or any(_is_listed(owner, entry)
                                   for listed in members.values() for entry in listed)


def named(owner: str, members: Members) -> str:
    """`billing (mei, joe)` for a group that lists somebody, else the owner as written."""
    listed = members.get(owner, ())
    return f"{owner} ({people(listed)})" if listed else owner


def people(listed: tuple[str, ...]) -> str:
    """`mei, joe`, and others."""
    return ", ".join(listed[:SHOWN]) + (" and others" if len(listed) > SHOWN else "")


def _is_listed(owner: str, entry: str) -> bool:
    return fnmatchcase(owner, entry) if "*" in entry else owner == entry
