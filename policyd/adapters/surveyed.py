"""One repository as a survey reads it: refs, configuration, and the trees of its own branch's tip.

Read-only; of contents only .gitattributes, link targets and the heads of the latest commits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from policyd.adapters import gitfolder
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.core.errors import CannotJudge
from policyd.core.facts import OddEntry
from policyd.core.oddtrees import OddTrees
from policyd.core.policy import Zone
from policyd.core.trees import GITLINK, Trees, is_tree, split
from policyd.core.values import dataclass
from policyd.core.zones import ZoneMap

LATELY = 200
"""Commits whose authors are counted."""
MOST = 1_000_000
"""Paths of one tree."""
MOST_SIZES = 20_000

_HEADS, _TAGS = "refs/heads/", "refs/tags/"
_AUTHOR = re.compile(rb"\nauthor [^\n]*<([^>\n]*)>")
_LINK_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What is there."""

    head: str
    """The short name of its own branch; empty where that does not exist."""
    branches: tuple[str, ...]
    tags: tuple[str, ...]
    paths: Mapping[str, bytes] = field(repr=False)
    """Path to blob id, of files and links at the tip."""
    odd: tuple[OddEntry, ...]
    emails: tuple[str, ...] = field(repr=False)
    """As typed by the authors of the latest commits."""
    signs: tuple[str, ...]
    """What is unusual, each in a few words."""
    mirror: bool


def survey(folder: Path, zones: tuple[Zone, ...]) -> Surveyed:
    """Read it all. Raises CannotJudge for what libgit2 cannot read and for damage at the tip."""
    repo = PushedRepo(str(folder))
    ref, tip = repo.resolve("HEAD")
    names = sorted(repo.refs())
    config = gitfolder.config(folder)
    try:
        commit = repo.peel(bytes.fromhex(tip)).oid if tip is not None else None
        root = repo.header(commit)[0] if commit is not None else None
        trees = Trees(repo.tree)
        entries = dict(_entries(trees, root)) if root is not None else {}
        odd = tuple(_odd(repo, trees, root, zones)) if root is not None else ()
        emails = tuple(_emails(repo, commit)) if commit is not None else ()
        signs = (*_signs(folder, names, config), *_inside(repo, entries))
    except Missing as error:
        raise CannotJudge(f"the object {error} is missing; see `git fsck`") from error
    return Surveyed(
        ref.removeprefix(_HEADS) if tip is not None else "",
        tuple(name.removeprefix(_HEADS) for name in names if name.startswith(_HEADS)),
        tuple(name.removeprefix(_TAGS) for name in names if name.startswith(_TAGS)),
        {path: oid for path, (mode, oid) in entries.items() if mode != GITLINK},
        odd, emails, signs, mirror=_is_mirror(config))


def sizes(folder: Path, found: Mapping[str, bytes]) -> Mapping[str, int]:
    """Bytes of files by path; those of which nobody can tell are left out."""
    repo, told = PushedRepo(str(folder)), {}
    for path, oid in list(found.items())[:MOST_SIZES]:
        try:
            told[path] = repo.size(oid)
        except Missing:
            continue
    return told


def _entries(trees: Trees, root: bytes) -> Iterator[tuple[str, tuple[bytes, bytes]]]:
    todo, count = [("", root)], 0
    while todo:
        folder, oid = todo.pop()
        for label, entry in trees.entries(oid).items():
            mode, name = split(label)
            path = folder + name.decode("utf-8", "surrogateescape")
            count += 1
            if is_tree(mode):
                todo.append((f"{path}/", entry))
            elif b"+" not in mode:
                yield path, (mode, entry)
        if count > MOST:
            raise CannotJudge(f"it holds more than {MOST} paths")


def _odd(repo: PushedRepo, trees: Trees, root: bytes,
         zones: tuple[Zone, ...]) -> Iterator[OddEntry]:
    """What ordinary-tree would refuse if all of it were new."""
    def target(oid: bytes) -> bytes:
        return repo.read(oid)[1] if repo.size(oid) <= _LINK_BYTES else b""

    return OddTrees(trees, repo.tree, target, repo.kind, zones, ZoneMap(zones)).odd(root, ())


def _emails(repo: PushedRepo, tip: bytes) -> Iterator[str]:
    for (commit, _), _ in zip(repo.walk([tip], ()), range(LATELY), strict=False):
        found = _AUTHOR.search(repo.read(commit)[1])
        if found is not None:
            yield found[1].decode("utf-8", "surrogateescape").lower()


def _signs(folder: Path, refs: list[str], config: Mapping[str, str]) -> Iterator[str]:
    if _is_mirror(config):
        yield "a remote with mirror = true"
    elif config.get("core.bare") == "true" and any(r.startswith("refs/remotes/") for r in refs):
        yield "bare with refs/remotes: fetched from elsewhere"
    if config.get("extensions.partialclone") or any(
            key.endswith(".promisor") for key in config):
        yield "a partial clone"
    if (folder / "objects/info/alternates").is_file():
        yield "borrows objects of another repository (alternates)"
    spaces = sorted({"/".join(name.split("/")[:2]) for name in refs} -
                    {"refs/heads", "refs/tags", "refs/remotes"})
    if spaces:
        yield f"refs in {', '.join(spaces)}"
    if (folder / "policyd-key").is_file():
        yield "enrolled already"
    if (folder / "hooks/pre-receive").exists():
        yield "has a pre-receive hook"


def _inside(repo: PushedRepo, entries: Mapping[str, tuple[bytes, bytes]]) -> Iterator[str]:
    links = sum(mode == GITLINK for mode, _ in entries.values())
    if links:
        yield f"{links} submodule{'' if links == 1 else 's'}"
    if ".lfsconfig" in entries or any(
            b"filter=lfs" in _small(repo, oid) for path, (_, oid) in entries.items()
            if path.rpartition("/")[2] == ".gitattributes"):
        yield "Git LFS"


def _small(repo: PushedRepo, oid: bytes) -> bytes:
    return repo.read(oid)[1] if repo.size(oid) <= 1 << 20 else b""


def _is_mirror(config: Mapping[str, str]) -> bool:
    return any(key.startswith("remote.") and key.endswith(".mirror") and value == "true"
               for key, value in config.items())
