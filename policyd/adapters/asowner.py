"""Does work as the user whom a folder belongs to, and never as root in a folder that is not
root's: what lies there may have been put there to be followed.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from policyd.adapters.statefolder import because
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Owner:
    """A user of this machine, with or without a name."""

    uid: int
    gid: int

    @property
    def name(self) -> str:
        """As sudo takes it."""
        return user_name(self.uid) or f"#{self.uid}"


def owner_of(path: Path) -> Owner:
    """Whom a file or folder belongs to, links followed. Raises CannotJudge where it is absent."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise CannotJudge(f"{path} cannot be looked at: {because(error)}") from error
    return Owner(found.st_uid, found.st_gid)


def user_name(uid: int) -> str | None:
    """The name of a uid; None where this machine has none for it."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def run(owner: Owner, work: Callable[[], Any], *, command: str) -> Any:
    """What `work` returns when it runs as `owner`; root becomes that user for it.

    The result is a value that JSON can say. `command` is what the user typed, for the line that
    anybody else is told to use. Raises CannotJudge, and what `work` raises as PolicydError.
    """
    demand(owner, command=command)
    return work() if os.geteuid() == owner.uid else _in_child(owner, work)


def demand(owner: Owner, *, command: str) -> None:
    """Raises CannotJudge where this process neither is `owner` nor can become it."""
    if os.geteuid() not in (0, owner.uid):
        me = user_name(os.geteuid()) or f"uid {os.geteuid()}"
        raise CannotJudge(f"{me} may not do this for {owner.name}; run "
                          f"`sudo -u {shlex.quote(owner.name)} {command}`")


def make_folder(path: Path, owner: Owner) -> bool:
    """Make a private folder that belongs to `owner`; False where there is one already.

    An empty one of root's, as `policyd init` leaves it, is handed over. Raises CannotJudge.
    """
    if os.path.lexists(path) and not _is_roots_and_empty(path, owner):
        return False
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        os.mkdir(draft, 0o700)
        if os.geteuid() == 0:
            os.chown(draft, owner.uid, owner.gid)
        os.rename(draft, path)
        return True
    except OSError as error:
        with suppress(OSError):
            os.rmdir(draft)
        line = shlex.join(["install", "-d", "-m", "700", "-o", owner.name, str(path)])
        raise CannotJudge(f"folder {path} cannot be made: {because(error)}; "
                          f"as root: `{line}`") from error


def _is_roots_and_empty(path: Path, owner: Owner) -> bool:
    if os.geteuid() != 0 or owner.uid == 0 or path.is_symlink():
        return False
    return path.is_dir() and os.lstat(path).st_uid == 0 and not os.listdir(path)


def _in_child(owner: Owner, work: Callable[[], Any]) -> Any:
    sys.stdout.flush()
    sys.stderr.flush()
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        _child(owner, work, into)
    os.close(into)
    with open(out, "rb") as answer:
        data = answer.read()
    os.waitpid(child, 0)
    told = json.loads(data) if data else {"failed": "it ended without an answer"}
    if "failed" in told:
        raise PolicydError(f"as {owner.name}: {told['failed']}")
    if "refused" in told:
        raise CannotJudge(told["refused"])
    return told["value"]


def _child(owner: Owner, work: Callable[[], Any], into: int) -> NoReturn:
    """Never returns into the parent's code, whatever happens."""
    try:
        try:
            _become(owner)
            told = {"value": work()}
        except PolicydError as error:
            told = {"refused": str(error)}
        except OSError as error:
            told = {"failed": f"{error.filename or 'a file'}: {because(error)}"}
        except BaseException as error:
            told = {"failed": f"a fault of policyd itself, {type(error).__name__}: {error}"}
        with open(into, "wb") as answer:
            answer.write(json.dumps(told).encode("ascii"))
    finally:
        os._exit(0)


def _become(owner: Owner) -> None:
    """All ids and groups, for good, and the environment that programs expect to go with them."""
    os.chdir("/")
    name, gid, folder = _account(owner)
    if name is None:
        os.setgroups([])
    else:
        os.initgroups(name, gid)
        os.environ.update(USER=name, LOGNAME=name)
    os.setresgid(gid, gid, gid)
    os.setresuid(owner.uid, owner.uid, owner.uid)
    os.environ["HOME"] = folder


def _account(owner: Owner) -> tuple[str | None, int, str]:
    """Name, group and home folder."""
    import pwd

    try:
        entry = pwd.getpwuid(owner.uid)
    except KeyError:
        return None, owner.gid, "/"
    return entry.pw_name, entry.pw_gid, entry.pw_dir
