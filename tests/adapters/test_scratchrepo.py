"""A throwaway repository is what git itself would have written."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from policyd.adapters.scratchrepo import ScratchRepo

FILES = {"a": "1", "a.b": "2", "a-b/c": "3", "src/x/y.py": "4", "src/x.py": "5", "src-x": "",
         "caf\u00e9/\udce9\n": "6\udcff"}


def git(repo: ScratchRepo, *arguments: str) -> bytes:
    environment = {"PATH": os.environ["PATH"], "GIT_DIR": str(repo.git_dir),
                   "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(repo.git_dir)}
    return subprocess.run(["git", *arguments], env=environment, capture_output=True,
                          check=True).stdout


def raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def test_git_reads_the_files_that_were_committed(tmp_path: Path):
    repo = ScratchRepo(tmp_path)
    commit = repo.commit(FILES)
    listed = git(repo, "ls-tree", "-r", "-z", "--name-only", commit).removesuffix(b"\0")
    assert sorted(listed.split(b"\0")) == sorted(map(raw, FILES))
    for path, text in FILES.items():
        assert git(repo, "cat-file", "blob", f"{commit}:{path}") == raw(text)


def test_git_finds_nothing_wrong(tmp_path: Path):
    repo = ScratchRepo(tmp_path)
    base = repo.commit({})
    tip = repo.commit(FILES, base)
    (tmp_path / "refs/heads/main").write_text(tip + "\n")
    assert git(repo, "fsck", "--strict", "--no-dangling") == b""
    assert git(repo, "rev-list", "--parents", "main").decode().split() == [tip, base, base]


def test_the_same_content_gives_the_same_ids(tmp_path: Path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    assert ScratchRepo(one).commit(FILES) == ScratchRepo(other).commit(FILES)


def test_a_tree_that_git_would_not_write_is_written(tmp_path: Path):
    repo = ScratchRepo(tmp_path)
    commit = repo.commit({".git/config": "", "../x": ""})
    assert git(repo, "ls-tree", "-r", "--name-only", commit).split() == [b"../x", b".git/config"]
