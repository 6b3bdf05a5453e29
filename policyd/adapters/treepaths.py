"""All paths that commits hold: for who asks what a policy's patterns match. Never in a push."""

from __future__ import annotations

from collections.abc import Iterable

from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.core.errors import CannotJudge
from policyd.core.trees import is_tree, pairs, split

MOST = 2_000_000


def paths(repo: PushedRepo, commits: Iterable[str]) -> frozenset[str]:
    """The paths of files, links and submodules of commits given in hex. Raises CannotJudge."""
    found: set[str] = set()
    seen: set[tuple[bytes, bytes]] = set()
    try:
        todo = [(b"", repo.header(bytes.fromhex(commit))[0]) for commit in commits]
        while todo:
            folder = todo.pop()
            if folder in seen:
                continue
            seen.add(folder)
            for label, oid in pairs(repo.tree(folder[1])):
                mode, name = split(label)
                if is_tree(mode):
                    todo.append((folder[0] + name + b"/", oid))
                else:
                    found.add((folder[0] + name).decode("utf-8", "surrogateescape"))
            if len(found) + len(seen) > MOST:
                raise CannotJudge(f"{repo.git_dir} holds more than {MOST} paths; nobody could "
                                  "read what would be said of them")
    except Missing as error:
        raise CannotJudge(f"the object {error} is not in {repo.git_dir}; see `git fsck`") from error
    return frozenset(found)
