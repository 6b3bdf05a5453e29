"""Indexes on disk: STATE/repos/KEY.json, with the key written in the repository itself."""

from __future__ import annotations

import os
import re
import stat

from policyd.adapters import statefolder
from policyd.adapters.statefolder import StrPath, because
from policyd.core import index as indexes
from policyd.core.errors import CannotJudge
from policyd.core.index import Index

KEY_FILE = "policyd-key"

_KEY = re.compile(r"[0-9a-f]{32}")


def key_of(repo: StrPath) -> str:
    """The key that enrolment wrote into a repository. Raises CannotJudge."""
    path = os.path.join(repo, KEY_FILE)
    where = os.fspath(repo)
    try:
        data = _read(path, 64)
    except FileNotFoundError:
        raise CannotJudge(f"{where} is not enrolled; `policyd enroll {where}`") from None
    except OSError as error:
        raise CannotJudge(f"{path} cannot be read: {because(error)}; "
                          f"`policyd enroll {where}`") from error
    key = data.decode("ascii", "replace").removesuffix("\n")
    if _KEY.fullmatch(key) is None:
        raise CannotJudge(f"{path} holds no key; `policyd enroll {where}`")
    return key


def has_key(repo: StrPath, key: str) -> bool:
    """Whether a repository at this place holds this key."""
    try:
        return key_of(repo) == key
    except CannotJudge:
        return False


def write_key(repo: StrPath) -> str:
    """Give a repository a new key. Raises CannotJudge; where one exists, it stays."""
    path, key = os.path.join(repo, KEY_FILE), os.urandom(16).hex()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        fd = os.open(path, flags, 0o644)
        try:
            statefolder.write_all(fd, f"{key}\n".encode("ascii"))
            os.fsync(fd)
        finally:
            os.close(fd)
        statefolder.sync_folder(repo)
    except OSError as error:
        raise statefolder.cannot_write("key", path, error) from error
    return key


def remove_key(repo: StrPath) -> bool:
    """Take a repository's key away; whether there was one. Raises OSError."""
    try:
        os.unlink(os.path.join(repo, KEY_FILE))
    except FileNotFoundError:
        return False
    statefolder.sync_folder(repo)
    return True


def is_key(text: str) -> bool:
    """Whether this is the form of a key."""
    return _KEY.fullmatch(text) is not None


def path_of(state: StrPath, key: str) -> str:
    if _KEY.fullmatch(key) is None:
        raise ValueError(f"{key!r} is no key")
    return os.path.join(state, "repos", f"{key}.json")


def keys(state: StrPath) -> tuple[str, ...]:
    """The keys of all indexes in a state folder."""
    try:
        names = os.listdir(os.path.join(state, "repos"))
    except FileNotFoundError:
        return ()
    stems = (name.removesuffix(".json") for name in names if name.endswith(".json"))
    return tuple(sorted(stem for stem in stems if _KEY.fullmatch(stem)))


def exists(state: StrPath, key: str) -> bool:
    return os.path.lexists(path_of(state, key))


def load(state: StrPath, key: str, *, repo: StrPath = "REPO") -> Index:
    """The index as it was last stored. Raises CannotJudge; `repo` is for its sentence."""
    path = path_of(state, key)
    try:
        data = _read(path, None)
    except FileNotFoundError:
        raise CannotJudge(f"index {path} is missing; put it back from a backup, or "
                          f"`policyd enroll {os.fspath(repo)}`") from None
    except OSError as error:
        raise CannotJudge(f"index {path} cannot be read: {because(error)}") from error
    index = indexes.from_json(data, source=f"index {path}")
    if index.key != key:
        raise CannotJudge(f"index {path} belongs to key {index.key}; put the right one back from "
                          f"a backup, or `policyd enroll {os.fspath(repo)}`")
    return index


def store(state: StrPath, index: Index) -> None:
    """Replace the index, durably. Only under the lock of the state folder."""
    statefolder.subfolder(state, "repos")
    statefolder.replace(path_of(state, index.key), indexes.to_json(index))


def remove(state: StrPath, key: str) -> bool:
    """Forget an index; whether there was one. Raises CannotJudge, OSError."""
    with statefolder.locked(state):
        try:
            os.unlink(path_of(state, key))
        except FileNotFoundError:
            return False
        statefolder.sync_folder(os.path.join(state, "repos"))
    return True


def _read(path: str, most: int | None) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError("not an ordinary file")
        return file.read(-1 if most is None else most)
