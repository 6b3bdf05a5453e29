"""Over ssh: a git user of its own, and a client that dies on the way."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import sshd
from running import wait_for
from sites import MAIN, Site
from ways import MIXED, SOURCE, USERS, Way, chosen, push, up

pytestmark = pytest.mark.servers
NOBODY = 65534


# --- An account of git's own -----------------------------------------------------------------

@pytest.fixture
def account(open_folder: Path) -> Iterator[sshd.Sshd]:
    folder = open_folder / "sshd"
    folder.mkdir()
    with up("ssh as a git user", sshd.serving(folder, USERS, uid=NOBODY)) as server:
        yield server


@pytest.mark.skipif(os.geteuid() != 0, reason="ssh as a git user: only root can act for another")
def test_a_git_user_with_git_shell_for_a_login(account: sshd.Sshd, shop: Site,
                                               open_folder: Path, open_python: Path) -> None:
    """Root enrolled; repository, state and pushes are the git user's, and its alone."""
    site = shop.copied(open_folder / "shop")
    site.folder.chmod(0o755)
    way = Way("{from: ssh}", lambda site, _: account.url(site.server), account.environment)
    chosen(site, way)
    hook = site.server / "hooks/pre-receive"
    hook.write_text(hook.read_text().replace(sys.executable, str(open_python)))
    for folder in (site.server, site.state):
        for path in (folder, *folder.rglob("*")):
            os.lchown(path, NOBODY, NOBODY)
    tip = site.commit(SOURCE)
    assert push(site, way, "alice", f"HEAD:{MAIN}") == 0, site.err
    site.commit(MIXED)
    assert push(site, way, "agent-7", f"HEAD:{MAIN}") == 1, site.err
    assert site.told[0].startswith("policyd: separate-authorship: ")
    assert site.git("--git-dir", str(site.server), "rev-parse", MAIN) == tip
    assert [(e["pusher"], e["verdict"]) for e in site.log()[-2:]] == [
        ("alice", "accepted"), ("agent-7", "refused")]
    assert {path.stat().st_uid for path in site.state.rglob("*")} == {NOBODY}


# --- A client that dies ----------------------------------------------------------------------

@pytest.fixture
def way(ssh: sshd.Sshd) -> Way:
    return Way("{from: ssh}", lambda site, _: ssh.url(site.server), ssh.environment)


@contextmanager
def dying(site: Site, way: Way) -> Iterator[None]:
    """A push whose client is killed at the end of the block."""
    client = subprocess.Popen(
        ["git", "push", way.url(site, "alice"), f"HEAD:{MAIN}"], cwd=site.work,
        env=site.environment(**way.env("alice")), stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield
    finally:
        os.killpg(client.pid, signal.SIGKILL)
        client.wait()


def is_waited_for(lock: Path) -> bool:
    """Whether another process has the file open."""
    for fd in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if fd.parts[2] != str(os.getpid()) and os.path.samefile(fd, lock):
                return True
    return False


def takes_the_next(site: Site, way: Way) -> None:
    """The log is whole, and the push after it is as any other."""
    assert site.policyd("log", "verify") == 0, site.out
    site.git("reset", "-q", "--hard", site.refs()[MAIN])
    site.commit({"docs/a.md": "a\n"})
    assert push(site, way, "alice", f"HEAD:{MAIN}") == 0, site.err


def test_a_client_that_dies_during_the_judgement_leaves_a_whole_log(shop: Site, way: Way) -> None:
    """The hook ends what it began, and git moves the ref as the log says.

    By REMOTE_USER: it stays, as the file with the key does not.
    """
    tip, file = shop.commit(SOURCE), shop.state / "lock"
    with file.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with dying(shop, way):
            assert wait_for(lambda: is_waited_for(file))
    assert wait_for(lambda: shop.refs()[MAIN] == tip)
    assert (shop.log()[-1]["verdict"], shop.log()[-1]["updates"][0]["new"]) == ("accepted", tip)
    takes_the_next(shop, way)


def test_a_client_that_dies_before_it_was_named_moves_nothing(shop: Site, way: Way) -> None:
    """sshd takes the file with the key away, so that nobody can tell any more who pushed."""
    chosen(shop, way)
    hook, reached = shop.server / "hooks/pre-receive", shop.folder / "reached"
    hook.rename(hook.with_name("judge"))
    hook.write_text(f'#!/bin/sh\n: >{reached}\nwhile [ -e "$SSH_USER_AUTH" ]; do sleep 0.01; done\n'
                    'exec "$(dirname "$0")/judge"\n')
    hook.chmod(0o755)
    shop.commit(SOURCE)
    with dying(shop, way):
        assert wait_for(reached.exists)
    assert wait_for(lambda: bool(shop.incidents()))
    assert "where sshd says which key it let in" in shop.incidents()[-1]["error"]
    assert wait_for(lambda: shop.log()[-1]["verdict"] == "unjudged")
    assert shop.refs()[MAIN] == shop.base_tip
    hook.with_name("judge").rename(hook)
    takes_the_next(shop, way)
