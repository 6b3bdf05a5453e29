"""Which draws a row gets, by their index: domain, boundary, files, documented and found words.

The ranges are fixed, so that seed, relation and index alone name a draw, and its kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from policyd.core.values import dataclass
from policyd.replay.oracle import Asked
from policyd.replay.table import Row

DOMAIN, BOUNDARY, CORPUS, DOCUMENTED, DICTIONARY, KEPT = range(0, 60_000, 10_000)
"""The first index of each range."""
MOST_DICTIONARY = 64
_LEAST_DICTIONARY = 24
_MOST_DOCUMENTED = 16
_REPLACED = 4
"""How many times as many draws as asked for may be made to replace those that are rejected."""


@dataclass(frozen=True, slots=True)
class Words:
    """Clusters of literals: of documented calls, and of the candidate's changed source."""

    documented: Sequence[Sequence[Any]] = ()
    found: Sequence[Sequence[Any]] = ()


def planned(row: Row, words: Words, kept: Sequence[Asked] = ()) -> list[Asked]:
    """The draws of a row in the order in which they are made; `kept` broke before."""
    asked = [replace(one, index=KEPT + at) for at, one in enumerate(kept)]
    files = min(max(row.draws // 4, 1), 2 * len(row.files)) if row.files else 0
    boundary = row.draws // 6
    asked += (Asked(index) for index in range(row.draws - files - boundary))
    asked += (Asked(BOUNDARY + at, "boundary") for at in range(boundary))
    asked += (Asked(CORPUS + at, "corpus") for at in range(files))
    documented = words.documented[:_MOST_DOCUMENTED]
    asked += (Asked(DOCUMENTED + at, "documented", tuple(cluster))
              for at, cluster in enumerate(documented))
    clusters = words.found[:MOST_DICTIONARY]
    if clusters:
        count = min(MOST_DICTIONARY, max(_LEAST_DICTIONARY, 2 * len(clusters)))
        asked += (Asked(DICTIONARY + at, "dictionary", tuple(clusters[at % len(clusters)]))
                  for at in range(count))
    return asked


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
