"""Whether a push only returns what it touches to an earlier state of its branch. Read-only."""

from __future__ import annotations

from policyd.adapters.look import Look
from policyd.core.facts import Op, Update

STEPS = 1_000
"""First-parent commits back from what the branch holds."""


def is_revert(look: Look, update: Update) -> bool:
    """Whether every path that the update touches is as one accepted commit had it.

    For an update of a guarded branch; a push that touches nothing is none. Raises Missing.
    """
    if update.op is not Op.UPDATE or not update.guarded or not update.old or not update.tip:
        return False
    paths = [touch.path.encode("utf-8", "surrogateescape")
             for touch in {touch for _, touch in update.touched()}]
    if not paths:
        return False
    trees, tree = look.trees, look.tree_of(update.tip)
    left = {path: trees.at(tree, path) for path in paths}
    commit: bytes | None = look.repo.peel(bytes.fromhex(update.old)).oid
    for _ in range(STEPS):
        if commit is None:
            return False
        there, parents, _ = look.repo.header(commit)
        if all(trees.at(there, path) == entry for path, entry in left.items()):
            return True
        commit = parents[0] if parents else None
    return False
