"""A working clone as it lies there: its records, what is not committed, and careful writes."""

from __future__ import annotations

import os
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from records_made import CORPUS, LEASE, LEDGER, flake, lease, ledger, today

from policyd import records
from policyd.adapters.worktree import WorkTree, record_at
from policyd.core.errors import PolicydError
from policyd.core.policy import Places
from policyd.core.rows import Record

LATER = today().replace(year=today().year + 1, day=1)


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path / "work"], check=True)
    return WorkTree.around(tmp_path / "work")


def put(tree: WorkTree, path: str, text: str) -> None:
    (tree.root / path).parent.mkdir(parents=True, exist_ok=True)
    (tree.root / path).write_text(text)


def read(tree: WorkTree, **more: object) -> list[str]:
    found = tree.records(Places(), records.load, **more)
    return [*(row.id for row in found.rows), *map(str, found.faults)]


def test_records_are_read_as_they_lie_there_or_as_they_would(tree):
    put(tree, LEDGER, ledger(flake("a", ends=LATER)))
    put(tree, "fixtures/leases/notes.txt", "no lease")
    assert read(tree) == ["a"]
    assert read(tree, instead={LEDGER: ledger(flake("b", ends=LATER)).encode()}) == ["b"]
    assert read(tree, instead={LEDGER: None}) == []
    assert read(tree, instead={LEASE: lease("x", ends=LATER).encode(),
                               "src/leases.yaml": b"no"}) == ["prices", "a"]


def test_corpora_are_hashed_only_where_it_is_asked(tree):
    put(tree, LEASE, lease("one\n", ends=LATER))
    assert tree.records(Places(), records.load).drifts == ()
    [drift] = tree.records(Places(), records.load, hashing=True).drifts
    assert drift.found is None
    put(tree, CORPUS, "two\n")
    [drift] = tree.records(Places(), records.load, hashing=True).drifts
    assert drift.found == sha256(b"two\n").hexdigest()


def test_a_link_is_a_fault_and_so_is_a_folder_in_place_of_a_file(tree):
    (tree.root / "oracle").mkdir()
    (tree.root / "oracle/quarantine.yaml").symlink_to("/etc/passwd")
    (tree.root / LEDGER).mkdir(parents=True)
    assert read(tree) == [
        "oracle/quarantine.yaml:1:1: it is a symbolic link; a record is a plain file",
        f"{LEDGER}:1:1: it is no plain file"]


def test_what_is_not_committed_is_named_with_odd_names_too(tree):
    put(tree, "a b\n☂.txt", "x")
    put(tree, "c.txt", "x")
    assert tree.changed() == ("a b\n☂.txt", "c.txt")
    assert tree.changed("c.txt") == ("c.txt",)


@pytest.mark.parametrize(("path", "record"), [
    (LEDGER, Record.FLAKES), (f"{LEDGER}/x", None), ("oracle/receipts/a/b.json", Record.RECEIPTS),
    ("oracle/receipts/a.yaml", None), ("oracle/relations/a.py", Record.RELATIONS),
    ("oracle/seeds/x", Record.SEEDS), ("src/a.py", None), ("oracle/receipts.json", None)])
def test_a_path_is_a_record_or_none(path, record):
    assert record_at(path, Places()) is record


def test_files_are_written_whole_and_keep_their_mode(tree):
    put(tree, "a.txt", "old")
    (tree.root / "a.txt").chmod(0o750)
    tree.write({"a.txt": b"new", "deep/b.txt": b"b"}, {"a.txt": b"old", "deep/b.txt": None})
    assert tree.read("a.txt") == b"new"
    assert (tree.root / "a.txt").stat().st_mode & 0o777 == 0o750
    mask = os.umask(0)
    os.umask(mask)
    assert (tree.root / "deep/b.txt").stat().st_mode & 0o777 == 0o666 & ~mask
    assert sorted(path.name for path in tree.root.rglob("*.txt*")) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("was", [
    {"a.txt": b"other", "b.txt": None}, {"a.txt": None, "b.txt": None}])
def test_what_somebody_else_changed_is_not_overwritten(tree, was):
    put(tree, "a.txt", "old")
    with pytest.raises(PolicydError, match=r"a\.txt was changed by somebody else meanwhile"):
        tree.write({"b.txt": b"b", "a.txt": b"new"}, was)
    assert (tree.read("a.txt"), tree.read("b.txt")) == (b"old", None)


def test_when_one_cannot_be_written_those_before_it_are_put_back(tree):
    put(tree, "a.txt", "old")
    (tree.root / "c").write_text("a file where a folder must be")
    with pytest.raises((FileExistsError, NotADirectoryError)):
        tree.write({"a.txt": b"new", "b.txt": b"b", "c/d.txt": b"d"},
                   {"a.txt": b"old", "b.txt": None, "c/d.txt": None})
    assert (tree.read("a.txt"), tree.read("b.txt")) == (b"old", None)


def test_outside_of_a_clone_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(PolicydError, match="not a git repository"):
        WorkTree.around(tmp_path)
