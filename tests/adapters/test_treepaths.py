"""All paths that commits hold, on a real repository."""

from __future__ import annotations

import os
import subprocess

import pytest

from policyd.adapters import treepaths
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.scratchrepo import ScratchRepo
from policyd.core.errors import CannotJudge


@pytest.fixture
def scratch(tmp_path) -> ScratchRepo:
    return ScratchRepo(tmp_path)


def test_the_paths_of_all_commits_are_those_that_git_lists(scratch):
    first = scratch.commit({"a/b/c": "", "a/b.txt": "", "odd\udcff": "", "é": ""})
    second = scratch.commit({"a/b/c": "", "x": ""}, first)
    listed = set()
    for commit in (first, second):
        told = subprocess.run(["git", "ls-tree", "-r", "-z", "--name-only", commit],
                              cwd=scratch.git_dir, capture_output=True, check=True)
        listed |= {os.fsdecode(path) for path in told.stdout.split(b"\0") if path}
    assert treepaths.paths(PushedRepo(str(scratch.git_dir)), (first, second)) == listed


def test_no_commits_hold_no_paths(scratch):
    assert treepaths.paths(PushedRepo(str(scratch.git_dir)), ()) == frozenset()


def test_a_missing_object_is_a_sentence(scratch):
    repo = PushedRepo(str(scratch.git_dir))
    with pytest.raises(CannotJudge, match="is not in"):
        treepaths.paths(repo, ("1" * 40,))


def test_more_than_anybody_could_read_is_not_listed(scratch, monkeypatch):
    monkeypatch.setattr(treepaths, "MOST", 3)
    commit = scratch.commit({f"f{n}": "" for n in range(9)})
    with pytest.raises(CannotJudge, match="more than 3 paths"):
        treepaths.paths(PushedRepo(str(scratch.git_dir)), (commit,))
