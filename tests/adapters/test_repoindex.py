from __future__ import annotations

import os
from pathlib import Path

import pytest

from policyd.adapters import repoindex
from policyd.core.errors import CannotJudge
from policyd.core.index import Index

KEY = "0123456789abcdef" * 2
NOON = "2026-05-04T12:00:00.000+00:00"
INDEX = Index(KEY, NOON, False, {"refs/heads/main": "a" * 40})


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "r.git"
    folder.mkdir()
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def test_a_key_is_written_once_and_read_back(repo: Path):
    key = repoindex.write_key(repo)
    assert repoindex.key_of(repo) == key
    assert (repo / "policyd-key").read_text() == f"{key}\n"
    with pytest.raises(CannotJudge, match="file exists"):
        repoindex.write_key(repo)
    assert repoindex.key_of(repo) == key


def test_a_repository_without_a_key_is_not_enrolled(repo: Path):
    with pytest.raises(CannotJudge) as caught:
        repoindex.key_of(repo)
    assert str(caught.value) == f"{repo} is not enrolled; `policyd enroll {repo}`"


@pytest.mark.parametrize("text", ["", "\n", KEY[:-1], KEY.upper(), f"{KEY}\n\n", f" {KEY}",
                                  f"{KEY}\r\n", f"{KEY}\n{KEY}\n", "../../etc/passwd\n", "\xff\n"])
def test_what_is_no_key_names_enroll(repo: Path, text: str):
    (repo / "policyd-key").write_bytes(text.encode("latin-1"))
    with pytest.raises(CannotJudge, match=f"holds no key; `policyd enroll {repo}`"):
        repoindex.key_of(repo)


def test_a_key_that_is_a_symlink_is_not_followed(repo: Path, tmp_path: Path):
    (tmp_path / "key").write_text(f"{KEY}\n")
    (repo / "policyd-key").symlink_to(tmp_path / "key")
    with pytest.raises(CannotJudge, match=r"cannot be read: .*policyd enroll"):
        repoindex.key_of(repo)


def test_a_key_that_is_a_pipe_does_not_hang(repo: Path):
    os.mkfifo(repo / "policyd-key")
    with pytest.raises(CannotJudge, match="not an ordinary file"):
        repoindex.key_of(repo)


def test_an_index_is_stored_and_loaded(state: Path):
    repoindex.store(state, INDEX)
    assert repoindex.load(state, KEY) == INDEX
    assert repoindex.keys(state) == (KEY,)
    assert repoindex.exists(state, KEY)
    assert (state / "repos" / f"{KEY}.json").stat().st_mode & 0o777 == 0o600


def test_drafts_and_strangers_are_no_indexes(state: Path):
    assert repoindex.keys(state) == ()
    repoindex.store(state, INDEX)
    for name in (f".{KEY}.json.77", "notes.json", f"{KEY}.json~"):
        (state / "repos" / name).touch()
    assert repoindex.keys(state) == (KEY,)


def test_a_missing_index_names_enroll(state: Path):
    with pytest.raises(CannotJudge) as caught:
        repoindex.load(state, KEY, repo="/srv/r.git")
    assert str(caught.value) == (f"index {state}/repos/{KEY}.json is missing; put it back from a "
                                 "backup, or `policyd enroll /srv/r.git`")


def test_an_index_under_another_key_is_refused(state: Path):
    repoindex.store(state, INDEX)
    other = "f" * 32
    os.rename(state / "repos" / f"{KEY}.json", state / "repos" / f"{other}.json")
    with pytest.raises(CannotJudge, match=f"belongs to key {KEY}"):
        repoindex.load(state, other)


def test_a_damaged_index_is_named(state: Path):
    repoindex.store(state, INDEX)
    path = state / "repos" / f"{KEY}.json"
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(CannotJudge, match=f"index {path} is damaged"):
        repoindex.load(state, KEY)


def test_a_key_can_name_no_other_file(state: Path):
    with pytest.raises(ValueError, match="is no key"):
        repoindex.load(state, "../decisions")
