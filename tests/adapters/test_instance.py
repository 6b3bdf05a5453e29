"""One daemon for a state folder, for as long as it lives and no longer."""

from __future__ import annotations

import os
import re
import signal
from multiprocessing import get_context
from pathlib import Path

import pytest

from policyd.adapters import instance
from policyd.core.errors import CannotJudge


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def test_another_one_is_told_who_is_there(state):
    says = f"runs already for {re.escape(str(state))}, as process {os.getpid()}; one is enough"
    with instance.only(state), pytest.raises(CannotJudge, match=says), instance.only(state):
        pass


def test_the_next_one_starts_when_the_first_has_ended(state):
    (state / instance.NAME).write_text("a number that is longer than any process has\n")
    for _ in range(2):
        with instance.only(state):
            assert (state / instance.NAME).read_text() == f"{os.getpid()}\n"
    with pytest.raises(ValueError, match="it failed"), instance.only(state):
        raise ValueError("it failed")
    with instance.only(state):
        pass


def test_a_killed_one_holds_nothing(state):
    context = get_context("fork")
    there, other = context.Pipe()
    process = context.Process(target=_holding, args=(state, other))
    process.start()
    assert there.recv() == "held"
    with pytest.raises(CannotJudge, match=f"as process {process.pid};"), instance.only(state):
        pass
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    with instance.only(state):
        pass


def _holding(state: Path, other) -> None:
    with instance.only(state):
        other.send("held")
        signal.pause()


def test_a_lock_that_was_removed_is_made_again_and_keeps_others_out(state):
    with instance.only(state) as held:
        assert not held.renew()
        (state / instance.NAME).unlink()
        assert held.renew()
        assert not held.renew()
        with pytest.raises(CannotJudge, match=f"as process {os.getpid()};"), instance.only(state):
            pass
    with instance.only(state):
        pass


def test_who_comes_while_it_is_gone_stays_and_the_first_one_learns_of_it(state):
    context = get_context("fork")
    there, other = context.Pipe()
    with instance.only(state) as held:
        (state / instance.NAME).unlink()
        process = context.Process(target=_holding, args=(state, other))
        process.start()
        assert there.recv() == "held"
        with pytest.raises(CannotJudge, match=f"as process {process.pid};"):
            held.renew()
        process.kill()
        process.join()


def test_a_lock_that_is_removed_between_opening_and_locking_is_taken_anew(state, monkeypatch):
    """As by another daemon that came, and whose file was removed, in that moment."""
    path, flock = state / instance.NAME, instance.fcntl.flock

    def removed_first(fd: int, how: int) -> None:
        monkeypatch.setattr(instance.fcntl, "flock", flock)
        path.unlink()
        flock(fd, how)

    monkeypatch.setattr(instance.fcntl, "flock", removed_first)
    with instance.only(state) as held:
        assert path.read_text() == f"{os.getpid()}\n"
        assert not held.renew()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"x" * 5000])
def test_a_lock_that_names_nobody_is_a_lock(state, content):
    with instance.only(state):
        (state / instance.NAME).write_bytes(content)
        with pytest.raises(CannotJudge, match="runs already"), instance.only(state):
            pass


def test_what_cannot_be_locked_is_said(state, tmp_path):
    (state / instance.NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotJudge, match="cannot be written"), instance.only(state):
        pass
    assert not (tmp_path / "elsewhere").exists()
    with pytest.raises(CannotJudge, match="cannot be used"), instance.only(tmp_path / "nowhere"):
        pass
    state.chmod(0o770)
    with pytest.raises(CannotJudge, match="may be written by others"), instance.only(state):
        pass
