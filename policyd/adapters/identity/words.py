"""What a variable says, checked: names that no server gives are none, and are not mended."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from policyd.core.errors import CannotJudge

Given = Mapping[str, str]

NAME_BYTES = 255
PATH_BYTES = 1024

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


def text(given: Given, variable: str, *, most: int = NAME_BYTES) -> str | None:
    """A name; None where there is none. Raises CannotJudge where it cannot be one."""
    value = given.get(variable, "")
    if not value:
        return None
    if _CONTROLS.search(value) or value != value.strip() \
            or len(value.encode("utf-8", "surrogateescape")) > most:
        raise CannotJudge(f"{variable} is no name: it holds a control character, begins or ends "
                          f"with a blank, or is longer than {most} bytes; the operator looks at "
                          "what the server hands to its hooks")
    return value


def demanded(given: Given, variable: str, server: str, *, most: int = NAME_BYTES) -> str:
    """A name that the server always gives. Raises CannotJudge where it does not."""
    value = text(given, variable, most=most)
    if value is None:
        raise CannotJudge(f"{server} always sets {variable} for its hooks, and it is absent; "
                          "push through the server, or the operator names the one that runs here "
                          "under `identity` in policyd.yaml")
    return value


def number(given: Given, variable: str) -> str | None:
    """A number as text; None where it is absent or 0. Raises CannotJudge where it is none."""
    value = given.get(variable, "")
    if value in ("", "0"):
        return None
    if not _NUMBER.fullmatch(value):
        raise CannotJudge(f"{variable} is no number; the operator looks at what the server hands "
                          "to its hooks")
    return value


def choice(given: Given, variable: str, known: Collection[str]) -> str | None:
    """One of the words that are known; None where there is none. Raises CannotJudge."""
    value = given.get(variable, "")
    if value and value not in known:
        raise CannotJudge(f"{variable} is none of {', '.join(known)}; this policyd may be older "
                          "than the server")
    return value or None


def path(given: Given, variable: str, server: str) -> str:
    """A repository's name that the server always gives, such as org/demo."""
    value = demanded(given, variable, server, most=PATH_BYTES)
    if any(part in ("", ".", "..") for part in value.split("/")):
        raise CannotJudge(f"{variable} is no name of a repository; the operator looks at what the "
                          "server hands to its hooks")
    return value


def contradiction(one: str, other: str, why: str) -> CannotJudge:
    """Two variables of which one must be wrong; their values are not told."""
    return CannotJudge(f"{one} and {other} contradict each other: {why}; the operator looks at "
                       "what the server hands to its hooks")
