"""Whether anything that a repository's gates depend on may have changed, told from stat alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

_HEADS = "refs/heads/"


def seen(state: str, key: str, git_dir: str, branches: Iterable[str], digest: str) -> str:
    """A text that differs once refs, index or operators' acts were written, or policies changed.

    `branches` are the full names of the guarded branches there are. A branch that is new shows
    by the folder that it appears in, whichever that is.
    """
    names = sorted(branches)
    paths = [os.path.join(state, "repos", f"{key}.json"),
             os.path.join(state, "acts", f"{key}.json"),
             *(os.path.join(git_dir, name) for name in (
                 "policyd-key", "packed-refs", "reftable/tables.list", *names)),
             *sorted(_folders(os.path.join(git_dir, _HEADS)))]
    marks = (digest, git_dir, *names, *map(_mark, paths))
    return blake2b("\0".join(marks).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def whole(paths: Iterable[str], *more: str) -> str:
    """A text that differs once any of these files is another one, in content, rights or place.

    `more` are texts that count too.
    """
    marks = (*more, *(mark for path in paths for mark in (_rights(path, os.lstat),
                                                          _rights(path, os.stat))))
    return blake2b("\0".join(marks).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def _rights(path: str, stat: Callable[[str], os.stat_result]) -> str:
    """The time of the last change of the inode: whatever is changed of a file changes it."""
    try:
        found = stat(path)
    except OSError as error:
        return f"-{error.errno}"
    return f"{found.st_ctime_ns}:{found.st_ino}:{found.st_mode}:{found.st_uid}"


def _folders(top: str) -> Iterator[str]:
    todo = [top]
    while todo:
        folder = todo.pop()
        yield folder
        try:
            with os.scandir(folder) as there:
                todo += [entry.path for entry in there if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue


def _mark(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return "-"
    return f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}"
