"""SHA-256 of leased corpora, each blob hashed once: STATE/corpora/OID holds its digest."""

from __future__ import annotations

import os
import re
import stat
from hashlib import sha256

from policyd.adapters import statefolder
from policyd.adapters.gitchild import GitChild
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.statefolder import StrPath

FOLDER = "corpora"
IN_ONE_PIECE = 4 * 1024 * 1024
"""Bytes of a blob that is still read whole; a larger one is streamed by git."""

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\n"
    rb"size [0-9]+\n?")
_LONGEST_POINTER = 1024
_HEX = re.compile(rb"[0-9a-f]{64}\n?")


class Corpora:
    """The digests of one repository's blobs. `budget` is how many bytes may be hashed anew."""

    def __init__(self, state: StrPath | None, repo: PushedRepo, child: GitChild,
                 budget: int) -> None:
        self._state, self._repo, self._child = state, repo, child
        self._left = budget
        self._known: dict[bytes, str] = {}

    def sha256(self, oid: bytes) -> str | None:
        """The digest of what a blob stands for, in hex; None where the budget does not reach.

        A Git LFS pointer (git-lfs-spec) stands for the file that it names. Raises Missing and
        CannotJudge.
        """
        known = self._known.get(oid) or self._kept(oid)
        if known is not None:
            return known
        size = self._repo.size(oid)
        if size > self._left:
            return None
        self._left -= size
        found = self._known[oid] = self._hashed(oid, size)
        self._keep(oid, found)
        return found

    def _hashed(self, oid: bytes, size: int) -> str:
        if size > IN_ONE_PIECE:
            return self._child.sha256(oid)
        data = self._repo.read(oid)[1]
        pointer = _POINTER.fullmatch(data) if size <= _LONGEST_POINTER else None
        return pointer[1].decode("ascii") if pointer else sha256(data).hexdigest()

    def _kept(self, oid: bytes) -> str | None:
        if self._state is None:
            return None
        try:
            with open(os.path.join(self._state, FOLDER, oid.hex()), "rb") as file:
                there, data = os.fstat(file.fileno()), file.read(100)
        except OSError:
            return None
        if not stat.S_ISREG(there.st_mode) or _HEX.fullmatch(data) is None:
            return None
        found = self._known[oid] = data[:64].decode("ascii")
        return found

    def _keep(self, oid: bytes, found: str) -> None:
        if self._state is None:
            return
        folder = statefolder.subfolder(self._state, FOLDER)
        statefolder.replace(os.path.join(folder, oid.hex()), f"{found}\n".encode("ascii"))
