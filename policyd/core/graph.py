"""The commit graph: merge bases, all of them, and which of several commits stand alone.

Commits are raw 20-byte ids. The reader of a commit gives (tree id, parent ids, commit time).
The walk is the usual one that paints ancestors from both ends in order of time (git's
`paint_down_to_common`). Clocks that ran wrong can leave a redundant base in the answer,
never drop one; a path-level merge over redundant bases gives the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush

Header = tuple[bytes, tuple[bytes, ...], int]
"""Tree id, parent ids, commit time in seconds."""

ONE, OTHERS, STALE = 1, 2, 4

MAX_LOWEST = 16


class TooDistant(Exception):
    """The walk was longer than allowed; ask git, which has the commit graph."""


class Graph:
    """Questions on the commit graph; every header is read once."""

    def __init__(self, read: Callable[[bytes], Header], distant: Callable[
            [bytes, Sequence[bytes]], Sequence[bytes]], *, near: int = 4_000) -> None:
        self._read = read
        self._distant = distant
        self._near = near
        self._headers: dict[bytes, Header] = {}
        self._bases: dict[tuple[bytes, tuple[bytes, ...]], tuple[bytes, ...]] = {}

    def header(self, oid: bytes) -> Header:
        known = self._headers.get(oid)
        if known is None:
            known = self._headers[oid] = self._read(oid)
        return known

    def know(self, headers: Mapping[bytes, Header]) -> None:
        """Take over headers that are read already."""
        self._headers.update(headers)

    def bases(self, one: bytes, others: Sequence[bytes]) -> tuple[bytes, ...]:
        """The merge bases of `one` with a merge of all `others`; empty for unrelated histories."""
        if one in others:
            return (one,)
        key = (one, tuple(others))
        known = self._bases.get(key)
        if known is None:
            try:
                found: Iterable[bytes] = self._paint(one, others)
            except TooDistant:
                found = self._distant(one, others)
            known = self._bases[key] = tuple(sorted(found))
        return known

    def independent(self, commits: Iterable[bytes]) -> tuple[bytes, ...]:
        """The commits that no other one of them reaches, sorted."""
        left = sorted(set(commits))
        for commit in tuple(left):
            others = [c for c in left if c != commit]
            if others and commit in self.bases(commit, others):
                left.remove(commit)
        return tuple(left)

    def reached(self, found: Mapping[bytes, Header], tips: Sequence[bytes]) -> list[bytes]:
        """Those of the commits found behind some tips that the other tips reach after all.

        Exact whatever the clocks say, but every question may walk far: nothing is said where
        `found` ends in more than MAX_LOWEST commits.
        """
        left = dict(found)
        while True:
            lowest = [commit for commit, (_, parents, _) in left.items()
                      if not any(parent in left for parent in parents)]
            if len(lowest) > MAX_LOWEST:
                return []
            held = [commit for commit in lowest if commit in self.bases(commit, tips)]
            if not held:
                return [commit for commit in found if commit not in left]
            for commit in held:
                del left[commit]

    def _paint(self, one: bytes, others: Sequence[bytes]) -> list[bytes]:
        headers, header = self._headers, self.header
        flags = {one: ONE}
        for other in others:
            flags[other] = flags.get(other, 0) | OTHERS
        heap = [(-header(c)[2], c, True) for c in flags]
        heap.sort()
        fresh, steps = len(heap), 0
        found: dict[bytes, None] = {}
        while fresh:
            _, commit, counted = heappop(heap)
            fresh -= counted
            steps += 1
            if steps > self._near:
                raise TooDistant
            colour = flags[commit]
            if colour == ONE | OTHERS:
                found[commit] = None
                colour |= STALE
            for parent in headers[commit][1]:
                before = flags.get(parent, 0)
                if before | colour != before:
                    flags[parent] = before | colour
                    lively = colour < STALE
                    known = headers.get(parent) or header(parent)
                    heappush(heap, (-known[2], parent, lively))
                    fresh += lively
        return [c for c in found if flags[c] < STALE]
