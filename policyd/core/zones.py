"""Which zones a path lies in, on names folded as a careless file system would fold them.

A name is folded by NFC, case folding, dropping default-ignorable code points and trailing dots
and spaces, so that no variant of a protected name that some work tree would open as the
protected file escapes its zone.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator

from policyd.core.policy import Zone

_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Default_Ignorable_Code_Point of the Unicode Character Database (DerivedCoreProperties.txt)."""

_TRAILING = re.compile(r"[. ]+(?=/|\Z)")


def fold(path: str) -> str:
    """A path or a single name, folded name by name; `/` stays."""
    if path.isascii():
        folded = path.lower()
    else:
        folded = unicodedata.normalize("NFC", _IGNORABLE.sub("", path))
        folded = unicodedata.normalize("NFC", folded.casefold())
    return _TRAILING.sub("", folded) if "." in folded or " " in folded else folded


class ZoneMap:
    """The zones of one policy, asked for path by path. Answers are kept: histories repeat paths."""

    def __init__(self, zones: tuple[Zone, ...]) -> None:
        self._zones = zones
        self._compiled: dict[str, re.Pattern[str]] = {}
        self._of: dict[str, tuple[str, ...]] = {}
        self._follow: dict[str, bool] = {}
        self._prefixes = tuple({p.literal for z in zones for p in z.patterns if not p.negate})
        self._ways = _ways(zones)

    def of(self, path: str) -> tuple[str, ...]:
        """The sorted names of the zones that a file, link or submodule at `path` decides.

        It lies in them, or it stands where a folder that leads to them belongs.
        """
        known = self._of.get(path)
        if known is None:
            folded = fold(path)
            known = self._of[path] = tuple(sorted(
                {*self._holding(folded), *self._ways.get(folded, ())}))
        return known

    def inside(self, path: str) -> tuple[str, ...]:
        """The sorted names of the zones that `path` lies in."""
        return tuple(sorted(self._holding(fold(path))))

    def in_the_way(self, path: str) -> tuple[str, ...]:
        """The sorted names of the zones that need a folder at `path`, or nothing."""
        return self._ways.get(fold(path), ())

    def follow(self, folder: str) -> bool:
        """Whether a path below `folder` (no trailing slash, "" is the root) can lie in a zone."""
        known = self._follow.get(folder)
        if known is None:
            names = tuple(fold(folder).split("/")) if folder else ()
            known = self._follow[folder] = any(
                all(a == b for a, b in zip(names, prefix, strict=False))
                for prefix in self._prefixes)
        return known

    def blocks(self, path: str, zones: Iterable[str]) -> bool:
        """Whether something that is no folder at `path` stands where one of the zones begins."""
        folded = tuple(fold(path).split("/"))
        return any(folded == prefix[:len(folded)] for prefix in self._literals(zones))

    def root(self, path: str, zones: Iterable[str]) -> str:
        """The part of a path, as written, that the zone's pattern names without a wildcard."""
        names = path.split("/")
        folded = tuple(fold(path).split("/"))
        lengths = [len(prefix) for prefix in self._literals(zones)
                   if prefix and folded[:len(prefix)] == prefix]
        return "/".join(names[:min(lengths)]) if lengths else path

    def _literals(self, zones: Iterable[str]) -> Iterator[tuple[str, ...]]:
        wanted = set(zones)
        return (pattern.literal for zone in self._zones if zone.name in wanted
                for pattern in zone.patterns if not pattern.negate)

    def _holding(self, folded: str) -> Iterator[str]:
        return (zone.name for zone in self._zones if self._holds(zone, folded))

    def _holds(self, zone: Zone, folded: str) -> bool:
        for pattern in reversed(zone.patterns):
            regex = self._compiled.get(pattern.regex)
            if regex is None:
                regex = self._compiled[pattern.regex] = re.compile(pattern.regex, re.DOTALL)
            if regex.match(folded) is not None:
                return not pattern.negate
        return False


def folders(zones: tuple[Zone, ...]) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """(zone, literal leading names, whether those names are a folder of the zone)."""
    for zone in zones:
        for pattern in zone.patterns:
            if pattern.literal and not pattern.negate:
                names = pattern.glob.removeprefix("/").split("/")
                yield zone.name, pattern.literal, len(pattern.literal) < len(names)


def _ways(zones: tuple[Zone, ...]) -> dict[str, tuple[str, ...]]:
    """Each folded path that leads to a zone, or is its folder, to the sorted names of those."""
    found: dict[str, set[str]] = defaultdict(set)
    for zone, literal, whole in folders(zones):
        for count in range(1, len(literal) + whole):
            found["/".join(literal[:count])].add(zone)
    return {path: tuple(sorted(names)) for path, names in found.items()}
