"""Repositories that run a hook for many and were never enrolled: it takes no notice of them."""

from __future__ import annotations

import json
import os

from policyd.adapters import repoindex, statefolder


def has_key(git_dir: str) -> bool:
    """Whether anything stands where enrolment writes the key."""
    return os.path.lexists(os.path.join(git_dir, repoindex.KEY_FILE))


def is_mine(state: str) -> bool:
    """Whether the state folder is this process's own."""
    try:
        return os.lstat(state).st_uid == os.geteuid()
    except OSError:
        return False


def is_recorded(state: str, git_dir: str) -> bool:
    """Whether a record names the place: the key that ought to be there was lost.

    Raises CannotJudge. Each record's text is looked through first: there may be thousands.
    """
    statefolder.check(state)
    wanted = json.dumps(git_dir).encode("ascii")
    for key in repoindex.keys(state):
        with open(repoindex.path_of(state, key), "rb") as file:
            if wanted in file.read() and repoindex.load(state, key).git_dir == git_dir:
                return True
    return False
