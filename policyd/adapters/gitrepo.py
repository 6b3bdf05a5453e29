"""The only door to pygit2. Read-only: libgit2 could write refs inside the quarantine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from policyd.adapters import libgit2
from policyd.core.errors import CannotJudge
from policyd.core.graph import Header
from policyd.core.values import dataclass

_LIBGIT2 = libgit2.load()

if TYPE_CHECKING:
    from pygit2 import GitError, Oid
else:
    GitError, Oid = _LIBGIT2.native.GitError, _LIBGIT2.native.Oid

_COMMIT = re.compile(rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)")
_TIME = re.compile(rb"\ncommitter [^\n]*> (-?\d+) [^\n]*(?:\n|\Z)")
_TARGET = re.compile(rb"\Aobject ([0-9a-f]{40})\ntype ([a-z]+)\n")

MAX_TAGS = 50
"""Tags of tags that are followed."""

KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
"""By git's own number of the type."""

_TOPOLOGICAL = 1
"""GIT_SORT_TOPOLOGICAL of libgit2."""


class Missing(Exception):
    """An object is not in the repository and not in the quarantine."""


@dataclass(frozen=True, slots=True)
class Peeled:
    """What a pushed object leads to: `kind` is commit, tree, blob or missing."""

    kind: str
    oid: bytes


class PushedRepo:
    """A bare repository seen through git's quarantine.

    `quarantine` are the object folders that the pushed objects lie in, `alternates` others that
    git named: opened by path alone libgit2 sees neither.
    """

    def __init__(self, git_dir: str, quarantine: Sequence[str] = (),
                 alternates: Sequence[str] = ()) -> None:
        self.git_dir, self.has_quarantine = git_dir, bool(quarantine)
        _refuse_altered_history(git_dir)
        try:
            self._repo = _LIBGIT2.open(git_dir)
            self._odb = self._repo.odb
            for folder in quarantine:
                os.listdir(folder)  # libgit2 hides a folder that it may not read
            for folder in (*quarantine, *alternates):
                self._odb.add_disk_alternate(folder)
        except (GitError, ValueError) as error:
            raise CannotJudge(
                f"the repository {git_dir} cannot be opened by libgit2: {error}") from error
        except OSError as error:
            raise CannotJudge(f"the pushed objects cannot be read: {error}") from error

    def resolve(self, name: str) -> tuple[str, str | None]:
        """The ref that `name` leads to through symbolic refs, and the hex id that it holds."""
        for _ in range(10):
            try:
                ref = self._repo.lookup_reference(name)
            except KeyError:
                return name, None
            except (GitError, ValueError):
                return name, None
            if isinstance(ref.target, Oid):
                return name, str(ref.target)
            name = str(ref.target)
        raise CannotJudge(f"the symbolic ref {name} leads nowhere")

    def refs(self) -> dict[str, str]:
        """All direct refs with the hex ids that they hold."""
        found = {}
        for raw in self._repo.raw_listall_references():
            name = raw.decode("utf-8", "surrogateescape")
            ref, oid = self.resolve(name)
            if ref == name and oid is not None:
                found[name] = oid
        return found

    def names(self, prefix: str) -> Iterator[str]:
        """The names of all refs below a prefix, such as `refs/heads/`."""
        for raw in self._repo.raw_listall_references():
            name = raw.decode("utf-8", "surrogateescape")
            if name.startswith(prefix):
                yield name

    def read(self, oid: bytes) -> tuple[str, bytes]:
        """Kind and content of an object. Raises Missing."""
        try:
            kind, data = self._odb.read(Oid(raw=oid))
        except KeyError as error:
            raise Missing(oid.hex()) from error
        except (GitError, ValueError, OSError) as error:
            raise CannotJudge(f"the object {oid.hex()[:12]} cannot be read: {error}") from error
        return KINDS[int(kind)], data

    def header(self, oid: bytes) -> Header:
        """Tree, parents and time of a commit, from its own bytes: no graft can stand between."""
        kind, data = self.read(oid)
        match = _COMMIT.match(data) if kind == "commit" else None
        if match is None:
            raise CannotJudge(f"the object {oid.hex()[:12]} is no well-formed commit")
        time = _TIME.search(data)
        parents = tuple(bytes.fromhex(line[7:].decode()) for line in match[2].splitlines())
        return bytes.fromhex(match[1].decode()), parents, int(time[1]) if time else 0

    def tree(self, oid: bytes) -> bytes:
        """The raw content of a tree object; the empty tree need not exist."""
        kind, data = self.read(oid)
        if kind != "tree":
            raise CannotJudge(f"the object {oid.hex()[:12]} stands where a tree must be")
        return data

    def size(self, oid: bytes) -> int:
        """Bytes of an object, without reading it whole. Raises Missing."""
        return self._stored(oid)[1]

    def kind(self, oid: bytes) -> str:
        """What an object is: commit, tree, blob or tag. Raises Missing."""
        return self._stored(oid)[0]

    def holds(self, oid: str) -> bool:
        """Whether an object, given in hex, is there."""
        try:
            self.kind(bytes.fromhex(oid))
        except Missing:
            return False
        return True

    def _stored(self, oid: bytes) -> tuple[str, int]:
        try:
            kind, size = self._odb.read_header(Oid(raw=oid))
        except KeyError as error:
            raise Missing(oid.hex()) from error
        return KINDS[int(kind)], int(size)

    def peel(self, oid: bytes) -> Peeled:
        """Follow tags of anything to what they name in the end."""
        for _ in range(MAX_TAGS):
            try:
                kind, data = self.read(oid)
            except Missing:
                return Peeled("missing", oid)
            if kind != "tag":
                return Peeled(kind, oid)
            target = _TARGET.match(data)
            if target is None:
                return Peeled("missing", oid)
            oid = bytes.fromhex(target[1].decode())
        return Peeled("missing", oid)

    def walk(self, tips: Iterable[bytes],
             hidden: Iterable[bytes]) -> Iterator[tuple[bytes, Header]]:
        """Commits that the tips reach and the hidden ones do not, children before parents.

        Raises Missing, perhaps behind some commits, where history is not all there.
        """
        walker = self._repo.walk(None, _TOPOLOGICAL)
        try:
            for tip in tips:
                walker.push(Oid(raw=tip))
            for commit in hidden:
                walker.hide(Oid(raw=commit))
            for step in walker:
                yield step.id.raw, (step.tree_id.raw, tuple([p.raw for p in step.parent_ids]),
                                    step.commit_time)
        except KeyError as error:
            raise Missing(str(error)) from error
        except GitError as error:
            raise CannotJudge(f"the pushed history cannot be walked: {error}") from error

    def descends(self, new: bytes, old: bytes) -> bool:
        """Whether `old` is `new` or reachable from it."""
        if new == old:
            return True
        try:
            return bool(self._repo.descendant_of(Oid(raw=new), Oid(raw=old)))
        except KeyError as error:
            raise Missing(str(error)) from error


def _refuse_altered_history(git_dir: str) -> None:
    """Grafts and shallow marks change what libgit2 sees, and not what a clone gets."""
    for name in ("info/grafts", "shallow"):
        if os.path.exists(os.path.join(git_dir, name)):
            raise CannotJudge(f"{git_dir}/{name} alters the history that would be judged; "
                              "the operator removes it")
