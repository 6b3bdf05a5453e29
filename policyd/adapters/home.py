"""Reads files below HOME, and only those that nobody but HOME's owner can have written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass

_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
MAX_BYTES = 64 * 1_048_576


@dataclass(frozen=True, slots=True)
class Home:
    """A HOME that was looked at: a folder, no symbolic link, not writable by others."""

    path: Path
    uid: int
    gid: int
    mode: int
    reader: int
    """The effective uid of who reads."""

    @property
    def belongs_to_root(self) -> bool:
        return self.uid == 0


def look(path: Path, *, reader: int | None = None) -> Home:
    """Checks HOME itself. `reader` is a uid, this process's effective one unless given."""
    uid = os.geteuid() if reader is None else reader
    found = _status(path)
    if not stat.S_ISDIR(found.st_mode):
        raise CannotJudge(f"{path} is not a folder; HOME must be one, not a symbolic link")
    if uid != 0 and found.st_uid not in (0, uid):
        raise CannotJudge(f"{path} belongs to uid {found.st_uid}; it must belong to root, "
                          f"or to uid {uid} with `home_owner: self` in policyd.yaml")
    _refuse_writable(path, found)
    return Home(path, found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode), uid)


def folder(home: Home, relative: str) -> Path:
    """A folder below HOME, checked."""
    path = home.path / relative
    found = _status(path)
    if not stat.S_ISDIR(found.st_mode):
        raise CannotJudge(f"{path} is not a folder; remove it and run `policyd policy apply`")
    _refuse_stranger(home, path, found)
    return path


def read(home: Home, relative: str) -> bytes:
    """A regular file below HOME, checked. The check is made on the file that is read."""
    path = home.path / relative
    _refuse_link(path, _status(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            _refuse_link(path, found)
            _refuse_stranger(home, path, found)
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CannotJudge(f"{path} cannot be read ({error.strerror}); uid {home.reader} "
                          "must be able to read it") from error
    if len(data) > MAX_BYTES:
        raise CannotJudge(f"{path} is larger than {MAX_BYTES} bytes; replace it")
    return data


def demand_owner(home: Home, home_owner: str) -> None:
    """HOME belongs to root unless its settings say `home_owner: self`."""
    if not home.belongs_to_root and home_owner != "self":
        raise CannotJudge(f"{home.path} belongs to uid {home.uid}; give it to root, or write "
                          "`home_owner: self` into policyd.yaml and run `policyd policy apply`")


def _status(path: Path) -> os.stat_result:
    try:
        return os.lstat(path)
    except FileNotFoundError as error:
        raise CannotJudge(f"{path} is absent; `policyd init` and `policyd policy apply` "
                          "write it") from error
    except OSError as error:
        raise CannotJudge(f"{path} cannot be looked at ({error.strerror}); let uid "
                          f"{os.geteuid()} enter its folder") from error


def _refuse_link(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise CannotJudge(f"{path} is not a regular file; put the file itself there, "
                          "no symbolic link")


def _refuse_stranger(home: Home, path: Path, found: os.stat_result) -> None:
    if found.st_uid not in (0, home.uid):
        raise CannotJudge(f"{path} belongs to uid {found.st_uid}; it must belong to "
                          f"uid {home.uid}, as {home.path} does")
    _refuse_writable(path, found)


def _refuse_writable(path: Path, found: os.stat_result) -> None:
    if found.st_mode & _WRITABLE:
        raise CannotJudge(f"{path} is writable by others than its owner; "
                          f"run `chmod go-w {path}`")
