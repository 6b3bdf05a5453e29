"""Many commits compared by git children, which work while the history is still being walked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from policyd.adapters.gitchild import EMPTY_TREE, Change, GitChild, Pair
from policyd.core.graph import Graph, Header

FIRST_PORTION, LARGEST_PORTION = 500, 2_000
"""Pairs of trees a child: small at first, so that git starts early, then fewer and larger."""


class Bulk:
    """The comparisons that settle what commits decide: one for a plain commit, two for a merge."""

    def __init__(self, child: GitChild) -> None:
        self._child = child
        self._waiting: dict[bytes, list[tuple[bytes, bytes]]] = {}
        """Parent that is not walked yet, to its plain children and their trees."""
        self._pairs: list[Pair] = []
        self._asked: list[tuple[bytes, int]] = []
        """Commit and how many pairs it takes, in order; `_pairs` in portions go to git."""
        self._portion = FIRST_PORTION
        self._answers: list[Iterator[list[Change]]] = []
        self._failure: OSError | None = None

    def walked(self, commit: bytes, header: Header) -> None:
        """Hand over the next commit of a walk from children to parents."""
        tree, parents, _ = header
        for child, after in self._waiting.pop(commit, ()):
            self._ask(child, (tree, after))
        if len(parents) == 1:
            self._waiting.setdefault(parents[0], []).append((commit, tree))
        elif not parents:
            self._ask(commit, (EMPTY_TREE, tree))

    def complete(self, found: Mapping[bytes, Header], graph: Graph,
                 beside: Callable[[Sequence[bytes]], bool]) -> None:
        """The walk is over: ask for what is left of the plain commits, and for simple merges.

        Those have two parents with one base; what they make is compared with what the second
        parent brings. `beside` says of a merge's parents that it is not to be settled here.
        """
        for parent, children in self._waiting.items():
            for child, after in children:
                self._ask(child, (graph.header(parent)[0], after))
        for commit, (tree, parents, _) in found.items():
            if len(parents) != 2 or beside(parents):
                continue
            bases = graph.bases(parents[0], parents[1:])
            if len(bases) == 1:
                ours, theirs, base = (graph.header(c)[0] for c in (*parents, *bases))
                self._ask(commit, (ours, tree), (base, theirs))
        self._start()

    def answers(self) -> Iterator[tuple[bytes, list[list[Change]]]]:
        """Each commit that was asked for, with its lists of changes. Raises OSError."""
        if self._failure is not None:
            raise self._failure
        changes = (change for answer in self._answers for change in answer)
        for commit, count in self._asked:
            yield commit, [next(changes) for _ in range(count)]

    def _ask(self, commit: bytes, *pairs: Pair) -> None:
        self._asked.append((commit, len(pairs)))
        self._pairs += pairs
        if len(self._pairs) >= self._portion:
            self._start()

    def _start(self) -> None:
        pairs, self._pairs = self._pairs, []
        self._portion = min(self._portion * 2, LARGEST_PORTION)
        try:
            self._answers.append(self._child.diffs(pairs))
        except OSError as error:
            self._failure = error
