"""Writes trees to disk for a replay, from git objects alone: no filter, hook or attribute acts.

What could make one file pass for another, or run without being called, is refused in source.
Nothing is written when anything is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.core.errors import CannotJudge
from policyd.core.trees import GITLINK, LINK, is_tree, kind, pairs, split
from policyd.core.values import dataclass
from policyd.core.zones import fold

MOST_BYTES = 64 << 20
MOST_FILES = 20_000
_MOST_DEPTH = 64
_LONGEST_NAME = 255
_REGULAR = 0o100000

_STARTS_BY_ITSELF = frozenset(("sitecustomize", "usercustomize"))
_LEFT_OUT = frozenset(("conftest.py", "__pycache__"))
_COMPILED = (".pyc", ".pyo")

LINKED = "is a symbolic link"
GITLINKED = "is a submodule"
ODD_MODE = "has a mode that no file has"
RUNS_ALONE = "is run by Python without being imported"
TWINS = "differs from another name of its folder only by case or Unicode form"
NO_NAME = "has a name that no file can have"
NO_FOLDER = "is no folder"
TOO_MANY = f"comes after the first {MOST_FILES:,} files or folders"
TOO_LARGE = f"lies beyond the first {MOST_BYTES >> 20} MiB"
TOO_DEEP = f"lies more than {_MOST_DEPTH} folders deep"


@dataclass(frozen=True, slots=True)
class Refused:
    """One path that keeps a tree from being replayed, printable, and why: `PATH WHY`."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    oid: bytes


def candidate(repo: PushedRepo, tree: bytes, roots: Sequence[str],
              into: Path) -> tuple[Refused, ...]:
    """Write what lies below the import roots of a tree (raw id) into the new folder `into`.

    A root is a path such as `src`; "" or "." is the whole tree; one that is absent holds
    nothing. Left out without a word: conftest.py, __pycache__ and compiled files. Raises
    CannotJudge.
    """
    return _written(repo, tree, roots, into, _is_left_out)


def oracle(repo: PushedRepo, tree: bytes, paths: Sequence[str],
           into: Path) -> tuple[Refused, ...]:
    """Write folders and files of the base's tree: the judge imports these, so nothing is odd."""
    return _written(repo, tree, paths, into, _is_compiled)


def _is_left_out(name: str) -> bool:
    return name in _LEFT_OUT or _is_compiled(name)


def _is_compiled(name: str) -> bool:
    return name == "__pycache__" or name.endswith(_COMPILED)


def _written(repo: PushedRepo, tree: bytes, paths: Sequence[str], into: Path,
             left_out: Callable[[str], bool]) -> tuple[Refused, ...]:
    walk = _Walk(repo, left_out)
    try:
        for path in paths:
            walk.below(tree, [name for name in path.split("/") if name not in ("", ".")])
        refused = tuple(walk.refused)
        if not refused:
            into.mkdir(mode=0o755)
            into.chmod(0o755)
            for file in walk.files.values():
                _write(into, file.path, repo.read(file.oid))
    except Missing as error:
        raise CannotJudge(f"the object {error} is not in {repo.git_dir}; see `git fsck`") from error
    except OSError as error:
        raise CannotJudge(f"the tree cannot be written to {into}: {error.strerror}") from error
    return refused


def _write(into: Path, path: str, stored: tuple[str, bytes]) -> None:
    """Readable for the user of the sandbox; folders are made as they come."""
    found, data = stored
    if found != "blob":
        raise CannotJudge(f"a {found} stands where the file {path} must be")
    folder = into
    for name in path.split("/")[:-1]:
        folder /= name
        if not folder.is_dir():
            folder.mkdir()
            folder.chmod(0o755)
    target = os.open(into / path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(target, "wb") as file:
        os.fchmod(target, 0o644)
        file.write(data)


class _Walk:
    """Collects the files of some paths of one tree, and all that is to be refused there."""

    def __init__(self, repo: PushedRepo, left_out: Callable[[str], bool]) -> None:
        self._repo, self._left_out = repo, left_out
        self.files: dict[str, _File] = {}
        self.refused: list[Refused] = []
        self._bytes = 0
        self._seen: set[str] = set()

    def below(self, tree: bytes, names: Sequence[str]) -> None:
        """Everything at one path, which may be absent; links are not followed to it."""
        mode, oid = b"40000", tree
        path = ""
        for name in names:
            if not is_tree(mode):
                return self._refuse(path, LINKED if mode == LINK else NO_FOLDER)
            found = [(split(label)[0], entry) for label, entry in pairs(self._repo.tree(oid))
                     if split(label)[1] == name.encode("utf-8", "surrogateescape")]
            if len(found) != 1:
                return self._refuse(f"{path}{name}", TWINS) if found else None
            mode, oid = found[0]
            path = f"{path}{name}/"
        if is_tree(mode):
            return self._folders(path, oid)
        return self._leaf(path.rstrip("/"), mode, oid)

    def _folders(self, path: str, oid: bytes) -> None:
        stack = [(path, oid)]
        while stack:
            folder, tree = stack.pop()
            if folder in self._seen or self._is_full:
                continue
            self._seen.add(folder)
            if folder.count("/") > _MOST_DEPTH or len(self._seen) > MOST_FILES:
                self._refuse(folder, TOO_MANY if len(self._seen) > MOST_FILES else TOO_DEEP)
                continue
            for mode, name, entry in self._entries(folder, tree):
                if is_tree(mode):
                    stack.append((f"{folder}{name}/", entry))
                else:
                    self._leaf(f"{folder}{name}", mode, entry)

    def _entries(self, folder: str, tree: bytes) -> Iterator[tuple[bytes, str, bytes]]:
        """The entries of a folder that may be followed, in order."""
        stored = [(*split(label), oid) for label, oid in pairs(self._repo.tree(tree))]
        names = [raw.decode("utf-8", "surrogateescape") for _, raw, _ in stored]
        twins = _twins(names)
        for (mode, _, oid), name in sorted(zip(stored, names, strict=True), key=_by_name):
            why = TWINS if name in twins else _unfit(name)
            if why is not None:
                self._refuse(f"{folder}{name}", why)
            elif not self._left_out(name):
                yield mode, name, oid

    def _leaf(self, path: str, mode: bytes, oid: bytes) -> None:
        if path in self.files or self._is_full:
            return
        if kind(mode) != _REGULAR:
            why = {LINK: LINKED, GITLINK: GITLINKED}.get(mode, ODD_MODE)
            return self._refuse(path, why)
        self._bytes += self._repo.size(oid)
        if self._bytes > MOST_BYTES:
            return self._refuse(path, TOO_LARGE)
        if len(self.files) >= MOST_FILES:
            return self._refuse(path, TOO_MANY)
        self.files[path] = _File(path, oid)

    @property
    def _is_full(self) -> bool:
        """One word of a bound is enough."""
        return bool(self.refused) and self.refused[-1].why in (TOO_LARGE, TOO_MANY)

    def _refuse(self, path: str, why: str) -> None:
        if len(self.refused) < 100:
            self.refused.append(Refused(ascii(path.rstrip("/"))[1:-1] or ".", why))


def _by_name(item: tuple[tuple[bytes, bytes, bytes], str]) -> str:
    return item[1]


def _twins(names: Iterable[str]) -> frozenset[str]:
    """The names that fold to what another name of the folder folds to, or stand twice."""
    by_fold: dict[str, list[str]] = {}
    for name in names:
        by_fold.setdefault(fold(name), []).append(name)
    return frozenset(name for group in by_fold.values() if len(group) > 1 for name in group)


def _unfit(name: str) -> str | None:
    """Why an entry of this name is refused; None if it is not."""
    folded = fold(name)
    if (name in ("", ".", "..") or "/" in name or folded in (".git", "git~1", "")
            or len(os.fsencode(name)) > _LONGEST_NAME or not name.isprintable()):
        return NO_NAME
    if folded.endswith(".pth") or folded.partition(".")[0] in _STARTS_BY_ITSELF:
        return RUNS_ALONE
    return None
