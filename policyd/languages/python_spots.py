"""A path with gaps, and the arithmetic that source does with it."""

from __future__ import annotations

import re
from typing import NamedTuple

from policyd.languages.python_names import printable

ANY = "\0"
"""A gap of any length, over any number of names."""
NAME = "\1"
"""A gap within one name."""

SCRATCH = "scratch"
"""The base of what lies in a folder that a test run made for itself."""

_LONGEST = 1024
_FIELDS = {
    "%": re.compile(r"%[-+ #0-9.]*([a-zA-Z])"),
    "{": re.compile(r"\{[^{}:!]*(?:![rsa])?(?::[^{}]*?([a-zA-Z%])?)?\}"),
}
_NUMBERS = frozenset("diouxXeEfFgGcb%")
_MASK = re.compile(r"\*\*|[*?]|\[[^\]]*\]")


class Place(NamedTuple):
    """`base` as `Opened.base` has it, or SCRATCH; `text` with slashes and gaps, not normal yet."""

    base: str
    text: str

    def join(self, other: Place) -> Place:
        """`self / other`: an absolute path starts anew, an unknown one goes on from here."""
        absolute = other.base in ("file", SCRATCH) or other.text.startswith("/")
        if absolute or (other.base == "unknown" and other.text != ANY):
            return other
        between = "/" if self.text and not self.text.endswith("/") else ""
        return Place(self.base, _short(self.text + between + other.text))

    def then(self, other: Place) -> Place:
        """`self + other`, as text."""
        if other.base in ("file", SCRATCH):
            return other
        return Place(self.base, _short(self.text + other.text))

    def parent(self, times: int = 1) -> Place:
        names = _names(self.text)
        for _ in range(times):
            if names and ANY in names[-1]:
                break
            if names and names[-1] != "..":
                names.pop()
            else:
                names.append("..")
        return Place(self.base, self._from_root(names))

    def last(self) -> Place:
        names = _names(self.text)
        known = names and ANY not in names[-1] and names[-1] != ".."
        return Place("", names[-1] if known else NAME)

    def gapped(self, sign: str) -> Place:
        """A template, with gaps for what is put into it."""
        def gap(field: re.Match[str]) -> str:
            return NAME if field[1] in _NUMBERS else ANY

        return Place(self.base, _FIELDS[sign].sub(gap, self.text))

    def globbed(self) -> Place:
        """A mask, with gaps for its stars."""
        masked = _MASK.sub(lambda star: ANY if star[0] == "**" else NAME, self.text)
        return Place(self.base, masked)

    def is_scratch(self) -> bool:
        """Whether it certainly lies in there: a gap may be an absolute path."""
        return self.base == SCRATCH and ANY not in self.text and ".." not in _names(self.text)

    def _from_root(self, names: list[str]) -> str:
        return ("/" if self.text.startswith("/") else "") + "/".join(names) or "."

    def shown(self) -> tuple[str, str]:
        """Base and path, as `Opened` has them."""
        told: list[str] = []
        for name in _names(self.text):
            if name.startswith(ANY) and name != ANY:
                told.append("**")
            told.append("**" if name == ANY else _starred(name))
        path = "/".join(name for at, name in enumerate(told)
                        if name != "**" or told[at - 1 : at] != ["**"])
        if path.startswith("**"):
            return "unknown", printable(path)
        if self.base == SCRATCH:
            return "unknown", printable(f"**/{path}")
        return self.base, printable("/" * self.text.startswith("/") + path)


UNKNOWN = Place("unknown", ANY)
ROOT = Place("", ".")


def _names(text: str) -> list[str]:
    """Without `.`, and without what `..` takes back."""
    found: list[str] = []
    for name in text.split("/"):
        if name == ".." and found and ANY not in found[-1] and found[-1] != "..":
            found.pop()
        elif name not in ("", "."):
            found.append(name)
    return found


def _starred(name: str) -> str:
    return re.sub(r"\*+", "*", name.replace(ANY, "*").replace(NAME, "*"))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else ANY
