"""A working clone: where its files are, what its records say, what git knows, and careful writes.

Reads the files as they lie there, committed or not. Starts git and nothing else.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from policyd.adapters.recordfiles import FILES, SUFFIXES, Parse
from policyd.core import recordset
from policyd.core.errors import Fault, PolicydError
from policyd.core.policy import Places
from policyd.core.rows import MAX_RECORD_BYTES, Parsed, Record, Records
from policyd.core.values import dataclass

_POINTER = re.compile(rb"version https://git-lfs[^\n]*\n(?:ext-[^\n]*\n)*"
                      rb"oid sha256:([0-9a-f]{64})\nsize [0-9]+\n?")
_LINKED = "it is a symbolic link; a record is a plain file"


@dataclass(frozen=True, slots=True)
class WorkTree:
    """The clone around a folder, by its top folder."""

    root: Path

    @classmethod
    def around(cls, folder: Path) -> WorkTree:
        """Raises PolicydError where there is none."""
        return cls(Path(_git(folder, "rev-parse", "--show-toplevel")))

    def git(self, *arguments: str) -> str:
        """What git says, without white space around it. Raises PolicydError where it fails."""
        return _git(self.root, *arguments)

    def holds(self, *arguments: str) -> bool:
        """Whether git, asked a question of yes and no, says yes."""
        return _run(self.root, *arguments).returncode == 0

    def read(self, path: str) -> bytes | None:
        """A file; None where there is none. Raises PolicydError for what is no plain file."""
        place = self.root / path
        try:
            mode = os.lstat(place).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not stat.S_ISREG(mode):
            what = _LINKED if stat.S_ISLNK(mode) else "it is no plain file"
            raise PolicydError(f"{path}: {what}")
        return place.read_bytes()

    def changed(self, *paths: str) -> tuple[str, ...]:
        """Paths that differ from HEAD or that git does not know, below these or anywhere."""
        told = _run(self.root, "status", "--porcelain", "-z", "--no-renames",
                    "--untracked-files=all", "--", *paths).stdout
        return tuple(os.fsdecode(entry[3:]) for entry in told.split(b"\0") if entry)

    def records(self, places: Places, parse: Parse,
                instead: Mapping[str, bytes | None] | None = None, *,
                hashing: bool = False) -> Records:
        """What the records say, with `instead` in place of files; None for one that is gone.

        Without `hashing`, corpora are taken for what their leases pin, however large they are.
        """
        found = {path: record for record in Record for path in self._found(record, places)}
        for path, data in (instead or {}).items():
            if data is None:
                found.pop(path, None)
            elif (record := record_at(path, places)) is not None:
                found[path] = record
        found = dict(sorted(found.items()))
        parsed = [self._parsed(path, record, parse, (instead or {}).get(path))
                  for path, record in found.items() if record is not Record.SEEDS]
        corpora = {lease.corpus: lease.sha256 for one in parsed for lease in one.leases}
        return recordset.together(
            parsed, kinds=found, places=places,
            seeds=tuple(path for path, record in found.items() if record is Record.SEEDS),
            hashes={corpus: self.sha256(corpus) if hashing else pinned
                    for corpus, pinned in sorted(corpora.items())})

    def sha256(self, path: str) -> str | None:
        """The digest of a file as git would store it; of the file that a Git LFS pointer names."""
        place = self.root / path
        if not place.is_file() or place.is_symlink():
            return None
        with place.open("rb") as file:
            head = file.read(1024)
            if (pointer := _POINTER.fullmatch(head)) is not None:
                return pointer[1].decode("ascii")
        if self._is_filtered(path):
            return self._stored(path)
        total = sha256()
        with place.open("rb") as file:
            while piece := file.read(1 << 20):
                total.update(piece)
        return total.hexdigest()

    def _is_filtered(self, path: str) -> bool:
        """Whether git stores something else than what lies there: line ends, LFS."""
        plain, stored = (_run(self.root, "hash-object", *how, "--", path).stdout
                         for how in (("--no-filters",), (f"--path={path}",)))
        return plain != stored

    def _stored(self, path: str) -> str:
        oid = self.git("hash-object", "-w", f"--path={path}", "--", path)
        data = _run(self.root, "cat-file", "blob", oid).stdout
        pointer = _POINTER.fullmatch(data) if len(data) <= 1024 else None
        return pointer[1].decode("ascii") if pointer else sha256(data).hexdigest()

    def _found(self, record: Record, places: Places) -> Iterator[str]:
        place = str(getattr(places, record.value))
        if record in FILES or not (self.root / place).is_dir():
            if os.path.lexists(self.root / place):
                yield place
            return
        for folder, _, names in os.walk(self.root / place):
            for name in names:
                if name.lower().endswith(SUFFIXES[record]):
                    yield os.path.relpath(os.path.join(folder, name), self.root)

    def _parsed(self, path: str, record: Record, parse: Parse, data: bytes | None) -> Parsed:
        try:
            data = self.read(path) if data is None else data
        except PolicydError as error:
            return Parsed(faults=(Fault(path, 1, 1, str(error).removeprefix(f"{path}: ")),))
        if data is None or len(data) > MAX_RECORD_BYTES:
            return Parsed(faults=(Fault(path, 1, 1, f"larger than {MAX_RECORD_BYTES:,} bytes"),))
        return parse(record, path, data)

    def write(self, files: Mapping[str, bytes], before: Mapping[str, bytes | None]) -> None:
        """Write files, each whole or not at all; when one fails, those before it are put back.

        Raises PolicydError where one is no longer what it was `before`, and OSError.
        """
        for path in files:
            if self.read(path) != before[path]:
                raise PolicydError(f"{path} was changed by somebody else meanwhile; try again")
        done: list[str] = []
        try:
            for path, data in files.items():
                self._replace(path, data)
                done.append(path)
        except OSError:
            for path in done:
                self._put_back(path, before[path])
            raise

    def _put_back(self, path: str, data: bytes | None) -> None:
        if data is None:
            (self.root / path).unlink()
        else:
            self._replace(path, data)

    def _replace(self, path: str, data: bytes) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o666 & ~_umask()
        handle, draft = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
        try:
            with open(handle, "wb") as file:
                file.write(data)
                os.fchmod(file.fileno(), mode)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, place)
        except OSError:
            with suppress(OSError):
                os.unlink(draft)
            raise


def record_at(path: str, places: Places) -> Record | None:
    """Which kind of record a path is; None for none."""
    for record in Record:
        place = str(getattr(places, record.value))
        below = record not in FILES and path.startswith(f"{place}/") \
            and path.lower().endswith(SUFFIXES[record])
        if path == place or below:
            return record
    return None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False)


def _git(folder: Path, *arguments: str) -> str:
    done = _run(folder, *arguments)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
        raise PolicydError(said.splitlines()[0] if said else f"git {arguments[0]} failed")
    return os.fsdecode(done.stdout).strip()
