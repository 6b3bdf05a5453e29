"""The git program, for the two questions on which it is faster than libgit2. Read-only.

Children see the quarantine through the variables that git itself gave to the hook, and no
replacement or graft: what is judged is what was pushed.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING

from policyd.adapters.statefolder import because
from policyd.core.errors import CannotJudge

if TYPE_CHECKING:  # most pushes are small, and start no child
    import subprocess

Pair = tuple[bytes, bytes]
"""Two raw tree ids: before and after."""

Change = tuple[bytes, bytes]
"""One line of git's raw format (modes, ids, status) and the path."""

EMPTY_TREE = bytes.fromhex("4b825dc642cb6eb9a060e54bf8d69288fbee4904")


class GitChild:
    """Runs git in one repository. `environment` is what git gave to the hook, scrubbed."""

    def __init__(self, git_dir: str, environment: Mapping[str, str], deadline: float) -> None:
        self._git_dir = git_dir
        self._environment = {
            **environment, "GIT_DIR": git_dir, "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_GRAFT_FILE": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        self._deadline = deadline

    def merge_bases(self, one: bytes, others: Sequence[bytes]) -> list[bytes]:
        """All merge bases of `one` with a merge of `others` (git-merge-base(1))."""
        command = ["merge-base", "--all", one.hex(), *(other.hex() for other in others)]
        try:
            with self._start(command, None) as child:
                told = self._finish(child, ok=(0, 1))
        except OSError as error:
            raise CannotJudge(f"git merge-base cannot be asked: {because(error)}; the operator "
                              "makes git available to the hook") from error
        return [bytes.fromhex(line) for line in told.decode("ascii").split()]

    def sha256(self, blob: bytes) -> str:
        """The SHA-256 of a blob's content in hex, streamed: it is never held whole."""
        from hashlib import sha256

        digest = sha256()
        try:
            with self._start(["cat-file", "blob", blob.hex()], None) as child:
                out = child.stdout
                while out is not None and (piece := self._piece(child, out)):
                    digest.update(piece)
                self._finish(child, ok=(0,))
        except OSError as error:
            raise CannotJudge(f"git cat-file cannot be asked: {because(error)}; the operator "
                              "makes git available to the hook") from error
        return digest.hexdigest()

    def _piece(self, child: subprocess.Popen[bytes], out: IO[bytes]) -> bytes:
        left = self._deadline - time.monotonic()
        if left <= 0 or not select.select([out], [], [], left)[0]:
            child.kill()
            raise CannotJudge("git did not answer within the policy's bound `seconds`")
        return os.read(out.fileno(), 1 << 20)

    def diffs(self, pairs: Sequence[Pair]) -> Iterator[list[Change]]:
        """For each pair of trees, in order, the changed paths (git-diff-tree(1), raw format).

        Git starts at once and works while the caller does something else. The iterator raises
        OSError when git gives up, for example on a damaged tree; the caller can compare in its
        own way. A child whose answer nobody asks for ends by itself and holds no pipe.
        """
        child, told = self._diff_tree(pairs)
        return self._answers(child, told, len(pairs))

    def _answers(self, child: subprocess.Popen[bytes], told: IO[bytes],
                 count: int) -> Iterator[list[Change]]:
        with child:
            self._finish(child, ok=(0,))
        with told:
            told.seek(0)
            yield from _segments(told.read(), count)

    def _diff_tree(self, pairs: Sequence[Pair]) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
        import tempfile

        told = tempfile.TemporaryFile()  # noqa: SIM115 - the caller reads and closes it
        with tempfile.TemporaryFile() as asked:
            asked.write("".join([f"{a.hex()} {b.hex()}\n" for a, b in pairs]).encode("ascii"))
            asked.seek(0)
            command = ["diff-tree", "--stdin", "-r", "--raw", "-z", "--no-abbrev", "--no-renames",
                       "--ignore-submodules=none"]
            return self._start(command, asked, told), told

    def _start(self, command: Sequence[str], stdin: IO[bytes] | None,
               stdout: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
        import subprocess

        return subprocess.Popen(
            ["git", *command], env=self._environment, cwd=self._git_dir,
            stdin=stdin or subprocess.DEVNULL, stdout=stdout or subprocess.PIPE,
            stderr=subprocess.DEVNULL)

    def _finish(self, child: subprocess.Popen[bytes], ok: tuple[int, ...]) -> bytes:
        import subprocess

        ended = os.pidfd_open(child.pid)  # waiting with a timeout would poll, up to 50 ms late
        try:
            left = max(self._deadline - time.monotonic(), 0.01)
            if child.stdout is None and not select.select([ended], [], [], left)[0]:
                raise subprocess.TimeoutExpired("git", left)
            told, _ = child.communicate(timeout=left)
        except subprocess.TimeoutExpired:
            child.kill()
            raise CannotJudge("git did not answer within the policy's bound `seconds`") from None
        finally:
            os.close(ended)
        if child.returncode not in ok:
            raise OSError(f"git ended with status {child.returncode}")
        return told or b""


def _segments(told: bytes, count: int) -> Iterator[list[Change]]:
    """Git's answer cut at its `before after` lines; one list a pair, also where it is empty."""
    tokens = told.split(b"\0")
    current: list[Change] | None = None
    given = 0
    for meta, path in zip(tokens[::2], [*tokens[1::2], b""], strict=False):
        if not meta.startswith(b":"):
            *headers, meta = meta.split(b"\n")
            for _ in headers:
                if current is not None:
                    given += 1
                    yield current
                current = []
        if meta and current is not None:
            current.append((meta, path))
    if current is not None:
        given += 1
        yield current
    if given != count:
        raise OSError(f"git answered {given} of {count} comparisons")
