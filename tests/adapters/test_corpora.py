"""Digests of leased corpora: of real blobs, whole and streamed, kept and worked out again."""

from __future__ import annotations

import os
import time
from hashlib import sha256
from pathlib import Path

import pytest
from history import ENVIRONMENT, History

from policyd.adapters.corpora import FOLDER, IN_ONE_PIECE, Corpora
from policyd.adapters.gitchild import GitChild
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.core.errors import CannotJudge

FAR = "f" * 64
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{FAR}\nsize 12\n"


@pytest.fixture
def repo(tmp_path: Path) -> History:
    return History(tmp_path / "r.git")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def corpora(repo: History, state: Path | None, budget: int = 1 << 30) -> Corpora:
    child = GitChild(repo.folder, ENVIRONMENT, time.monotonic() + 60)
    return Corpora(state, PushedRepo(repo.folder), child, budget)


def digest(repo: History, state: Path | None, data: str | bytes,
           budget: int = 1 << 30) -> str | None:
    return corpora(repo, state, budget).sha256(bytes.fromhex(repo.blob(data)))


def plain(data: str | bytes) -> str:
    return sha256(data.encode() if isinstance(data, str) else data).hexdigest()


@pytest.mark.parametrize("size", [0, 1, IN_ONE_PIECE - 1, IN_ONE_PIECE, IN_ONE_PIECE + 1])
def test_whole_and_streamed_are_the_same(repo, size):
    data = (b"price\r\n\0\xff" * (size // 9 + 1))[:size]
    assert digest(repo, None, data) == plain(data)


@pytest.mark.parametrize("text", [
    POINTER, POINTER.removesuffix("\n"),
    POINTER.replace("oid", "ext-0-foo sha256:" + "a" * 64 + "\next-1-bar sha256:b\noid")])
def test_a_pointer_stands_for_the_file_that_it_names(repo, text):
    assert digest(repo, None, text) == FAR


@pytest.mark.parametrize("text", [
    POINTER + "\n", POINTER.replace("\n", "\r\n"), " " + POINTER, POINTER.replace("v1", "v2"),
    POINTER.replace(FAR, "F" * 64), POINTER.replace(FAR, "f" * 63), POINTER.replace("12", "-1"),
    POINTER.replace("size", "x y\nsize"), POINTER + "price\n",
    POINTER.replace("oid", "ext-0-" + "a" * 1024 + "\noid")])
def test_what_is_nearly_a_pointer_is_a_file_like_any_other(repo, text):
    assert digest(repo, None, text) == plain(text)


def test_the_budget_is_for_what_is_hashed_anew(repo, state):
    one, two = "a" * 600, "b" * 600
    some = corpora(repo, state, 1000)
    assert some.sha256(bytes.fromhex(repo.blob(one))) == plain(one)
    assert some.sha256(bytes.fromhex(repo.blob(two))) is None
    assert some.sha256(bytes.fromhex(repo.blob(one))) == plain(one)
    assert digest(repo, state, one, 0) == plain(one)
    assert digest(repo, state, two, 599) is None
    assert digest(repo, state, two, 600) == plain(two)
    assert digest(repo, state, two, 0) == plain(two)


def test_a_blob_is_hashed_once_where_nothing_is_kept(repo):
    some = corpora(repo, None, 600)
    for _ in range(2):
        assert some.sha256(bytes.fromhex(repo.blob("a" * 600))) == plain("a" * 600)


def test_a_digest_is_kept_by_the_id_of_its_blob(repo, state):
    digest(repo, state, "x")
    assert {file.name: file.read_text() for file in (state / FOLDER).iterdir()} == {
        repo.blob("x"): f"{plain('x')}\n"}


def test_without_a_state_folder_nothing_is_kept(repo, tmp_path):
    before = set(os.listdir(tmp_path))
    digest(repo, None, "x")
    assert set(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("data", [
    b"", b"\n", b"0" * 63, b"0" * 65, b"0" * 64 + b"\n\n", b"0" * 64 + b" ", b"G" * 64,
    b"A" * 64, b"\0" * 65, ("0" * 62 + "\u00e9").encode()])
def test_a_damaged_digest_is_worked_out_again_and_mended(repo, state, data):
    (state / FOLDER).mkdir()
    file = state / FOLDER / repo.blob("x")
    file.write_bytes(data)
    assert digest(repo, state, "x") == plain("x")
    assert file.read_text() == f"{plain('x')}\n"


def test_what_stands_in_the_way_of_a_digest_is_named(repo, state):
    (state / FOLDER).mkdir()
    (state / FOLDER / repo.blob("x")).mkdir()
    with pytest.raises(CannotJudge, match="cannot be written"):
        digest(repo, state, "x")


def test_a_blob_that_is_not_there_is_missing(repo, state):
    with pytest.raises(Missing):
        corpora(repo, state).sha256(bytes.fromhex("1" * 40))
    assert not (state / FOLDER).exists()


def test_git_that_does_not_answer_in_time_is_no_digest(repo, state):
    late = Corpora(state, PushedRepo(repo.folder), GitChild(repo.folder, ENVIRONMENT, 0.0), 1 << 30)
    with pytest.raises(CannotJudge, match="git did not answer"):
        late.sha256(bytes.fromhex(repo.blob(b"x" * (IN_ONE_PIECE + 1))))
    assert not (state / FOLDER).exists()
