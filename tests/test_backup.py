"""Backup and restore as docs/operating.md has them, with tar: what comes back, what is closed."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from sites import Site


@pytest.fixture
def archive(site: Site) -> Path:
    """Home, state and repository of a site whose main is held, as they are in the middle of it."""
    assert site.policyd("gate", "hold", str(site.server), "main", "--reason", "audit") == 0
    packed = site.folder / "policyd.tar.gz"
    tar(site, "-czf", packed, "home", "srv")
    assert site.policyd("gate", "release", str(site.server), "main", "--reason", "over") == 0
    assert [push(site, text) for text in ("1", "2")] == [0, 0]
    return packed


def tar(site: Site, how: str, packed: Path, *names: str) -> None:
    subprocess.run(["flock", site.state / "lock", "tar", "-C", site.folder, how, packed, *names]
                   if how.startswith("-c") else ["tar", "-C", site.folder, how, packed, *names],
                   check=True)


def push(site: Site, text: str) -> int:
    site.commit({"src/app.py": f"SIZE = {text}\n"}, "Change the size")
    return site.push("HEAD:refs/heads/main", as_="alice")


def whole(site: Site) -> bool:
    return site.policyd("log", "verify") == 0


def test_all_of_it_comes_back_as_it_was(site, archive):
    for lost in (site.home, site.server):
        shutil.rmtree(lost)
    tar(site, "-xpzf", archive)
    assert whole(site), site.out
    assert push(site, "3") == 1
    assert "audit" in "\n".join(site.told)
    assert site.policyd("gate", "release", str(site.server), "main", "--reason", "restored") == 0
    assert push(site, "4") == 0, site.err
    assert whole(site), site.out


def test_a_branch_that_is_further_than_the_state_is_closed_until_somebody_looked(site, archive):
    shutil.rmtree(site.home)
    tar(site, "-xpzf", archive, "home")
    assert site.policyd("gate", "release", str(site.server), "main", "--reason", "restored") == 0
    assert push(site, "3") == 1
    assert "unrecorded move" in site.told[0]
    assert site.policyd("movement", "list", str(site.server)) == 0
    assert "main" in site.out
    assert site.policyd("movement", "accept", str(site.server), "main", "--reason", "backup") == 0
    assert push(site, "4") == 0, site.err
    assert whole(site), site.out


@pytest.mark.usefixtures("archive")
def test_without_the_state_nothing_is_judged_until_it_is_enrolled_anew(site):
    shutil.rmtree(site.state)
    site.state.mkdir(mode=0o700)
    assert push(site, "3") == 1
    assert "could not be judged" in site.told[0]
    assert site.policyd("enroll", "--accept-existing", str(site.server)) == 0, site.out
    assert push(site, "4") == 0, site.err
    assert whole(site), site.out


@pytest.mark.parametrize("words", [
    (("movement", "accept", "--all", "--reason", "the disk is from Monday"),),
    (("unenroll",), ("enroll", "--accept-existing"))])
def test_a_repository_that_is_older_than_the_state_is_taken_as_it_is(site, archive, words):
    shutil.rmtree(site.server)
    tar(site, "-xpzf", archive, "srv")
    site.git("fetch", "--quiet", "origin")
    site.git("reset", "--quiet", "--hard", "origin/main")
    assert push(site, "3") == 1
    for command in words:
        assert site.policyd(*command, str(site.server)) == 0, site.out
    assert push(site, "4") == 0, site.err
    assert whole(site), site.out


def test_pushes_wait_while_the_archive_is_written(site):
    lock = site.state / "lock"
    with subprocess.Popen(["flock", lock, "sleep", "0.5"]) as holding:
        while subprocess.run(["flock", "-n", lock, "true"]).returncode == 0:
            time.sleep(0.02)
        assert push(site, "3") == 0, site.err
        assert holding.poll() == 0
