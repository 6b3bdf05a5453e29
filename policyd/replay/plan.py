"""Which draws a row gets, by their index: domain, boundary, files, documented and found words.

The ranges are fixed, so that seed, relation and index alone name a draw, and its kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from policyd.core.values import dataclass
from policyd.replay.oracle import Asked
from policyd.replay.table import Row

DOMAIN, BOUNDARY, CORPUS, DOCUMENTED, DICTIONARY, KEPT = range(0, 600_000, 100_000)
"""The first index of each range; a row has 10,000 draws at most, and four times as many instead."""
MOST_CLUSTERS = 64
"""Clusters of words that a job tries; where the source has more, its seed chooses them."""
MOST_DICTIONARY = 192
_LEAST_MIXED = 20
_MIXED = 4
"""Draws of each cluster that mix its words with chance."""
_MOST_DOCUMENTED = 16
_REPLACED = 4
"""How many times as many draws as asked for may be made to replace those that are rejected."""


@dataclass(frozen=True, slots=True)
class Words:
    """Clusters of literals: of documented calls, and of the candidate's changed source."""

    documented: Sequence[Sequence[Any]] = ()
    found: Sequence[Sequence[Any]] = ()

    def chosen(self, seed: bytes) -> Words:
        """No more than a job tries: half are those found first, half the seed chooses.

        Which, no pusher can know: a condition does not hide behind others that came before it.
        """
        if len(self.found) <= MOST_CLUSTERS:
            return self
        first, rest = self.found[:MOST_CLUSTERS // 2], self.found[MOST_CLUSTERS // 2:]
        order = sorted(range(len(rest)), key=lambda at: sha256(b"%s%d" % (seed, at)).digest())
        return Words(self.documented, [*first, *(rest[at] for at in order[:MOST_CLUSTERS // 2])])


def planned(row: Row, words: Words, kept: Sequence[Asked] = ()) -> list[Asked]:
    """The draws of a row in the order in which they are made; `kept` broke before."""
    asked = [replace(one, index=KEPT + at, told=one.told_index) for at, one in enumerate(kept)]
    files = min(max(row.draws // 4, 1), 2 * len(row.files)) if row.files else 0
    boundary = row.draws // 6
    asked += (Asked(index) for index in range(row.draws - files - boundary))
    asked += (Asked(BOUNDARY + at, "boundary") for at in range(boundary))
    asked += (Asked(CORPUS + at, "corpus") for at in range(files))
    documented = words.documented[:_MOST_DOCUMENTED]
    asked += (Asked(DOCUMENTED + at, "documented", tuple(cluster))
              for at, cluster in enumerate(documented))
    asked += _dictionary(words.found)
    return asked


def _dictionary(found: Sequence[Sequence[Any]]) -> list[Asked]:
    """Each cluster as it stands, once in reverse, and then mixed with chance, in turn.

    Exact words first: a condition on two constants is met for certain, whatever else the source
    holds. Chance is for what stands beside the words.
    """
    clusters = [tuple(cluster) for cluster in found[:MOST_CLUSTERS]]
    turns = [("documented", cluster) for cluster in clusters]
    turns += [("documented", cluster[::-1]) for cluster in clusters if len(cluster) > 1]
    mixed = min(max(_LEAST_MIXED, _MIXED * len(clusters)), MOST_DICTIONARY - len(turns))
    if clusters:
        # one further each time round: what a generator does in every third draw meets them all
        turns += [("dictionary", clusters[(at + at // len(clusters)) % len(clusters)])
                  for at in range(max(mixed, 0))]
    return [Asked(DICTIONARY + at, kind, words) for at, (kind, words) in enumerate(turns)]


def asked_again(row: Row, index: int, words: Words) -> Asked | None:
    """The draw of an index, as a job would make it; None where no job has it."""
    if 0 <= index < BOUNDARY:
        return Asked(index)
    return next((one for one in planned(row, words) if one.index == index), None)


class Replacing:
    """Indices of domain draws that stand in for rejected ones."""

    def __init__(self, row: Row) -> None:
        self._next = row.draws
        self._left = _REPLACED * row.draws

    def instead_of(self, rejected: int) -> list[Asked]:
        """As many draws as were rejected, or what is left of what may be tried."""
        count = min(rejected, self._left)
        self._left -= count
        first, self._next = self._next, self._next + count
        return [Asked(index) for index in range(first, first + count)]
