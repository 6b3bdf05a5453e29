"""Hints: left by pushes, read by the daemon, and harmless whatever they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policyd.adapters import hints
from policyd.adapters.hints import Hint

KEY = "ab" * 16


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def test_what_is_left_is_read(state):
    hint = Hint("/srv/caf\udce9.git", {"refs/heads/main": "1" * 40, "refs/heads/\udcff": None})
    hints.leave(state, KEY, hint)
    assert hints.read(state, KEY) == hint
    hints.leave(state, KEY, Hint("/elsewhere"))
    assert hints.read(state, KEY) == Hint("/elsewhere")
    assert [file.name for file in (state / hints.FOLDER).iterdir()] == [KEY]


def test_there_may_be_none(state):
    assert hints.read(state, KEY) is None


@pytest.mark.parametrize("data", [
    b"", b"{", b"[]", b"7", b"null", b"{}", b"\xff", b"[" * 100_000, b'{"git_dir": "/x"}',
    b'{"git_dir": "/x", "tips": 7}', b'{"git_dir": "/x", "tips": [7]}',
    json.dumps({"git_dir": "/x", "tips": {"a" * 1_100_000: None}}).encode()])
def test_a_damaged_one_says_nothing(state, data):
    (state / hints.FOLDER).mkdir()
    (state / hints.FOLDER / KEY).write_bytes(data)
    assert hints.read(state, KEY) is None


def test_what_stands_in_the_way_stops_no_push(state):
    (state / hints.FOLDER).write_text("no folder")
    hints.leave(state, KEY, Hint("/x"))
    assert hints.read(state, KEY) is None
    (state / hints.FOLDER).unlink()
    (state / hints.FOLDER / KEY).mkdir(parents=True)
    hints.leave(state, KEY, Hint("/x"))
    assert hints.read(state, KEY) is None
    hints.leave(state / "nowhere", KEY, Hint("/x"))
