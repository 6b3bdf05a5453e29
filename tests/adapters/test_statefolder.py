from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from policyd.adapters import statefolder
from policyd.core.errors import CannotJudge

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user")
HOLD = """
import sys, time
from policyd.adapters import statefolder
with statefolder.locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def refusal(state: Path) -> str:
    with pytest.raises(CannotJudge) as caught:
        statefolder.check(state)
    return str(caught.value)


def test_a_private_folder_of_ones_own_is_fine(state: Path):
    statefolder.check(state)


def test_an_absent_folder_is_named(tmp_path: Path):
    assert refusal(tmp_path / "gone").startswith(
        f"state folder {tmp_path / 'gone'} cannot be used: no such file or directory")


def test_a_symlink_is_not_followed(state: Path, tmp_path: Path):
    (tmp_path / "link").symlink_to(state)
    assert "is not a folder (a symlink is not followed)" in refusal(tmp_path / "link")


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_a_folder_that_others_may_write_is_refused_with_the_repair(state: Path, mode: int):
    state.chmod(mode)
    said = refusal(state)
    subprocess.run(re.search("`(.*)`", said)[1], shell=True, check=True)
    statefolder.check(state)


@as_root
def test_a_push_as_another_user_is_told_both_users(state: Path):
    os.chown(state, 54321, -1)
    assert refusal(state) == (f"pushes must arrive as uid 54321, the owner of {state}; "
                              "this one arrived as root (uid 0)")


def test_the_lock_is_private_and_there_is_one(state: Path):
    with statefolder.locked(state):
        assert (state / "lock").stat().st_mode & 0o777 == 0o600
        with pytest.raises(CannotJudge, match=f"state folder {state} is locked"), \
                statefolder.locked(state, wait=0.05):
            pass
    with statefolder.locked(state, wait=0):
        pass


def test_a_lock_file_that_is_a_symlink_is_refused(state: Path, tmp_path: Path):
    (state / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotJudge, match=f"lock {state}/lock cannot be written"), \
            statefolder.locked(state):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_killed_holder_leaves_no_lock(state: Path):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, state], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(CannotJudge), statefolder.locked(state, wait=0.05):
        pass
    holder.kill()
    holder.communicate()
    with statefolder.locked(state, wait=1):
        pass


def test_a_lock_file_removed_while_waiting_does_not_let_two_in(state: Path):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, state], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    waiting = subprocess.Popen([sys.executable, "-c", HOLD, state], stdout=subprocess.PIPE)
    assert waiting.stdout is not None
    time.sleep(0.3)
    (state / "lock").unlink()
    with statefolder.locked(state):
        holder.kill()
        holder.communicate()
        os.set_blocking(waiting.stdout.fileno(), False)
        time.sleep(0.1)
        assert waiting.stdout.read() is None
    os.set_blocking(waiting.stdout.fileno(), True)
    assert waiting.stdout.readline() == b"held\n"
    waiting.kill()
    waiting.communicate()


def test_readers_wait_for_a_writer_and_not_for_each_other(state: Path):
    with statefolder.undisturbed(state, wait=0):
        assert list(state.iterdir()) == []
    with statefolder.locked(state), pytest.raises(CannotJudge), \
            statefolder.undisturbed(state, wait=0.02):
        pass
    with statefolder.undisturbed(state, wait=0), statefolder.undisturbed(state, wait=0):
        pass


def test_a_file_is_replaced_whole_and_private(state: Path):
    path = state / "f"
    statefolder.replace(str(path), b"one")
    statefolder.replace(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in state.iterdir()] == ["f"]


def test_a_file_that_does_not_fit_leaves_the_old_one(state: Path):
    path = state / "f"
    statefolder.replace(str(path), b"one")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(CannotJudge, match=f"file {path} cannot be written: file too large"):
            statefolder.replace(str(path), b"x" * 2_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"one"
    assert [file.name for file in state.iterdir()] == ["f"]


def test_a_full_disk_is_named_with_what_to_do():
    fd = os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(OSError, match="No space left") as caught:
        statefolder.write_all(fd, b"x")
    os.close(fd)
    assert str(statefolder.cannot_write("decision log", "/s/d", caught.value)) == (
        "decision log /s/d cannot be written: no space left on device; "
        "free some space there and push again")


def test_a_subfolder_is_made_private_and_kept(state: Path):
    path = statefolder.subfolder(state, "repos")
    assert statefolder.subfolder(state, "repos") == path
    assert os.stat(path).st_mode & 0o777 == 0o700
