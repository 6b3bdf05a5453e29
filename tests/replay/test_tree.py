"""Trees written from objects: what is refused, what is left out, and what stands on disk."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from history import History, Odd
from treestore import TREE

from policyd.adapters.gitrepo import PushedRepo
from policyd.core.errors import CannotJudge
from policyd.replay import tree
from policyd.replay.tree import Refused, candidate, oracle

import pygit2  # isort: skip - policyd.adapters.gitrepo makes its import safe


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "r.git")


def tree_of(history: History, files: dict[str, object]) -> tuple[PushedRepo, bytes]:
    repo = PushedRepo(history.folder)
    return repo, repo.header(bytes.fromhex(history.commit(files)))[0]


def written(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*")
            if p.is_file()}


def test_only_what_lies_below_the_roots_is_written(history, tmp_path):
    repo, oid = tree_of(history, {
        "src/a.py": "a", "src/pkg/__init__.py": "", "src/pkg/b.py": Odd("100755", "b"),
        "lib/c.py": "c", "oracle/r.py": "never", "tests/t.py": "never", "srcs/d.py": "never"})
    into = tmp_path / "tree"
    assert candidate(repo, oid, ["src", "lib/", "./src/pkg", "absent"], into) == ()
    assert written(into) == {
        "src/a.py": "a", "src/pkg/__init__.py": "", "src/pkg/b.py": "b", "lib/c.py": "c"}
    modes = {stat.S_IMODE(p.stat().st_mode) for p in [into, *into.rglob("*")]}
    assert modes == {0o755, 0o644}


def test_everybody_may_read_it_whatever_the_umask_is(history, tmp_path):
    repo, oid = tree_of(history, {"src/pkg/a.py": "a"})
    before = os.umask(0o077)
    try:
        assert candidate(repo, oid, [""], tmp_path / "tree") == ()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(p.stat().st_mode) for p in [tmp_path / "tree",
                                                      *(tmp_path / "tree").rglob("*")]]
    assert sorted(modes) == [0o644, 0o755, 0o755, 0o755]


def test_tests_and_compiled_files_are_left_out(history, tmp_path):
    repo, oid = tree_of(history, {
        "src/a.py": "a", "src/conftest.py": "x", "src/p/conftest.py": "x", "src/b.pyc": "x",
        "src/__pycache__/a.cpython-311.pyc": "x", "src/p/conftest.pyi": "y"})
    assert candidate(repo, oid, ["src"], tmp_path / "tree") == ()
    assert written(tmp_path / "tree") == {"src/a.py": "a", "src/p/conftest.pyi": "y"}


REFUSED = [
    ({"src/l.py": Odd("120000", "/etc/passwd")}, "src/l.py", tree.LINKED),
    ({"src/deep/l": Odd("120000", "../../oracle")}, "src/deep/l", tree.LINKED),
    ({"src": Odd("120000", "oracle")}, "src", tree.LINKED),
    ({"src/sub": Odd("160000", "1" * 40)}, "src/sub", tree.GITLINKED),
    ({"src/a.py": Odd("100600", "a")}, None, None),
    ({"src/a.pth": "import os"}, "src/a.pth", tree.RUNS_ALONE),
    ({"src/A.PTH": "import os"}, "src/A.PTH", tree.RUNS_ALONE),
    ({"src/sitecustomize.py": ""}, "src/sitecustomize.py", tree.RUNS_ALONE),
    ({"src/p/usercustomize.py": ""}, "src/p/usercustomize.py", tree.RUNS_ALONE),
    ({"src/sitecustomize/__init__.py": ""}, "src/sitecustomize", tree.RUNS_ALONE),
    ({"src/sitecustomize.cpython-311-x86_64-linux-gnu.so": ""},
     "src/sitecustomize.cpython-311-x86_64-linux-gnu.so", tree.RUNS_ALONE),
    ({"src/a.py": "", "src/A.py": ""}, "src/A.py", tree.TWINS),
    ({"src/\u00e9.py": "", "src/e\u0301.py": ""}, "src/e\\u0301.py", tree.TWINS),
    ({"src/a/x.py": "", "src/A/y.py": ""}, "src/A", tree.TWINS),
    ({"src/a\u200b.py": ""}, "src/a\\u200b.py", tree.NO_NAME),
    ({"src/a\nb.py": ""}, "src/a\\nb.py", tree.NO_NAME),
    ({"src/" + "a" * 300: ""}, "src/" + "a" * 300, tree.NO_NAME),
    ({"/".join(["src", *["d"] * 70]): ""}, "/".join(["src", *["d"] * 64]), tree.TOO_DEEP),
]


@pytest.mark.parametrize(("files", "path", "why"), REFUSED, ids=lambda x: str(x)[:40])
def test_what_could_pass_for_something_else_is_refused(history, tmp_path, files, path, why):
    repo, oid = tree_of(history, {"oracle/r.py": "", **files})
    refused = candidate(repo, oid, ["src"], tmp_path / "tree")
    if path is None:
        assert refused == ()
        return
    assert refused[0] == Refused(path, why)
    assert not (tmp_path / "tree").exists()


@pytest.mark.parametrize("name", [".", "..", "", "a/b", ".git", ".GIT", "git~1", "\udcff.py"])
def test_a_name_that_no_file_can_have_is_refused(history, tmp_path, name):
    repo = PushedRepo(history.folder)
    blob = history.repo.create_blob(b"x").raw
    raw = b"100644 " + os.fsencode(name) + b"\0" + blob
    if name == "":
        raw = b"100644 \0" + blob
    inner = history.repo.odb.write(pygit2.enums.ObjectType.TREE, raw).raw
    outer = history.repo.odb.write(pygit2.enums.ObjectType.TREE, TREE + b" src\0" + inner).raw
    try:
        refused = candidate(repo, outer, ["src"], tmp_path / "tree")
    except CannotJudge:
        refused = (Refused("src/", "damaged"),)
    assert refused
    assert not (tmp_path / "tree").exists()


def test_a_name_that_stands_twice_is_refused(history, tmp_path):
    repo = PushedRepo(history.folder)
    blob = history.repo.create_blob(b"x").raw
    raw = (b"100644 a.py\0" + blob) * 2
    inner = history.repo.odb.write(pygit2.enums.ObjectType.TREE, raw).raw
    outer = history.repo.odb.write(pygit2.enums.ObjectType.TREE, TREE + b" src\0" + inner).raw
    assert {r.why for r in candidate(repo, outer, ["src"], tmp_path / "t")} == {tree.TWINS}


def test_a_tree_of_trees_without_end_is_refused_at_once(history, tmp_path):
    repo = PushedRepo(history.folder)
    oid = history.repo.create_blob(b"x").raw
    mode = b"100644"
    for _ in range(40):
        raw = b"".join(mode + b" " + name + b"\0" + oid for name in (b"a", b"b"))
        oid, mode = history.repo.odb.write(pygit2.enums.ObjectType.TREE, raw).raw, TREE
    assert [r.why for r in candidate(repo, oid, [""], tmp_path / "t")] == [tree.TOO_MANY]


def test_more_than_the_bounds_is_refused(history, tmp_path, monkeypatch):
    repo, oid = tree_of(history, {f"src/{n}.py": "x" * 10 for n in range(9)})
    monkeypatch.setattr(tree, "MOST_BYTES", 85)
    assert candidate(repo, oid, ["src"], tmp_path / "t") == (Refused("src/8.py", tree.TOO_LARGE),)
    monkeypatch.setattr(tree, "MOST_BYTES", 90)
    monkeypatch.setattr(tree, "MOST_FILES", 8)
    assert candidate(repo, oid, ["src"], tmp_path / "t") == (Refused("src/8.py", tree.TOO_MANY),)


def test_an_oracle_is_files_and_folders_of_the_base(history, tmp_path):
    repo, oid = tree_of(history, {
        "oracle/relations/a.yaml": "y", "oracle/relations/a.py": "p", "oracle/conftest.py": "c",
        "src/a.py": "never", "leases/x.json": "{}"})
    assert oracle(repo, oid, ["oracle", "leases/x.json", "leases/y.json"], tmp_path / "o") == ()
    assert written(tmp_path / "o") == {
        "oracle/relations/a.yaml": "y", "oracle/relations/a.py": "p", "oracle/conftest.py": "c",
        "leases/x.json": "{}"}


def test_an_object_that_is_not_there_is_no_judgement(history, tmp_path):
    repo = PushedRepo(history.folder)
    with pytest.raises(CannotJudge, match="is not in"):
        candidate(repo, b"\1" * 20, ["src"], tmp_path / "t")


def test_a_folder_that_exists_is_not_written_into(history, tmp_path):
    repo, oid = tree_of(history, {"src/a.py": "a"})
    (tmp_path / "t").mkdir()
    with pytest.raises(CannotJudge, match="cannot be written"):
        candidate(repo, oid, ["src"], tmp_path / "t")
