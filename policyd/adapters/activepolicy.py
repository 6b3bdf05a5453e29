"""HOME/active: the only thing of HOME that a push reads, and the only door to writing it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from policyd.adapters import home as homes
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.frozen import from_json
from policyd.core.policy import Active

FOLDER, CURRENT, PREVIOUS = "active", "current", "previous"


def load(home: Path, options: Mapping[str, type], *, reader: int | None = None) -> Active:
    """The policy in force. `options` are the rules' options types by rule id.

    Raises CannotJudge with one sentence: where HOME, active or current is absent, a symbolic
    link, another user's or writable by others, and where the file is damaged.
    """
    return _read(homes.look(home, reader=reader), CURRENT, options)[1]


def load_previous(home: Path, options: Mapping[str, type]) -> tuple[bytes, Active]:
    """What was in force before, as it was stored and as it reads.

    Raises PolicydError where nothing was, and where `load` would.
    """
    looked = homes.look(home)
    if not os.path.lexists(home / FOLDER / PREVIOUS):
        raise PolicydError(f"there is nothing to go back to: {home / FOLDER / PREVIOUS} is absent")
    return _read(looked, PREVIOUS, options)


def store(home: Path, data: bytes) -> None:
    """Puts `data` in force at once or not at all; what was in force becomes active/previous.

    Raises PolicydError where HOME is not as it must be or cannot be written.
    """
    looked = homes.look(home)
    try:
        _store(looked, data)
    except OSError as error:
        raise PolicydError(f"{home / FOLDER} cannot be written ({error.strerror}); what was in "
                           "force stays; run this as root or as the owner of HOME") from error


def _read(looked: homes.Home, name: str, options: Mapping[str, type]) -> tuple[bytes, Active]:
    homes.folder(looked, FOLDER)
    data = homes.read(looked, f"{FOLDER}/{name}")
    try:
        active = from_json(data, options)
    except CannotJudge as error:
        raise CannotJudge(f"{looked.path / FOLDER / name}: {error}") from error
    homes.demand_owner(looked, active.settings.home_owner)
    return data, active


def _store(looked: homes.Home, data: bytes) -> None:
    _make_folder(looked)
    folder = os.open(homes.folder(looked, FOLDER),
                     os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    draft = f".draft.{os.getpid()}"
    try:
        _remove(draft, folder)
        _write(draft, folder, data=data, home=looked)
        _keep_previous(folder)
        os.replace(draft, CURRENT, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    finally:
        _remove(draft, folder)
        os.close(folder)


def _make_folder(home: homes.Home) -> None:
    path = home.path / FOLDER
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _give(descriptor, home, home.mode & 0o755)
    finally:
        os.close(descriptor)


def _write(name: str, folder: int, *, data: bytes, home: homes.Home) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
        file.write(data)
        file.flush()
        _give(file.fileno(), home, home.mode & 0o644)
        os.fsync(file.fileno())


def _give(descriptor: int, home: homes.Home, mode: int) -> None:
    """To HOME's owner, readable by whom HOME is readable."""
    if home.reader == 0:
        os.fchown(descriptor, home.uid, home.gid)
    os.fchmod(descriptor, mode)


def _keep_previous(folder: int) -> None:
    """By a link, so that there is a current file at every moment."""
    link = f".previous.{os.getpid()}"
    _remove(link, folder)
    try:
        os.link(CURRENT, link, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    os.replace(link, PREVIOUS, src_dir_fd=folder, dst_dir_fd=folder)
    _remove(link, folder)


def _remove(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
