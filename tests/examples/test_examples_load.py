"""The shipped examples: their records load as the hook reads them, and name what is there."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
import time
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from history import AGENT, ENVIRONMENT, MAINTAINER, MOMENT, History

from policyd import records
from policyd.adapters.corpora import Corpora
from policyd.adapters.gitchild import GitChild
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.parsedcache import ParsedCache
from policyd.adapters.recordfiles import RecordFiles
from policyd.core.policy import Places
from policyd.core.rows import Record, Records
from policyd.core.trees import Trees

EXAMPLES = Path(__file__).parents[2] / "examples"
BUCKETS = {"block", "hysteresis", "flicker"}


@cache
def lay() -> ModuleType:
    """examples/lay.py, which is a script."""
    spec = importlib.util.spec_from_file_location("lay", EXAMPLES / "lay.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAMES = lay().names()
PATCHES = [(name, patch) for name in NAMES for patch in lay().patches(name)]


def committed(folder: Path, name: str, *, laid: bool = True) -> tuple[History, bytes]:
    """A repository with the base of an example, and its tree."""
    history = History(folder / "r.git")
    today = datetime.now(UTC).date() if laid else None
    files = {path: data.decode() for path, data in lay().base(name, today=today).items()}
    return history, bytes.fromhex(history.tree_of(history.commit(files)))


def read(history: History, tree: bytes) -> Records:
    """All records of a tree, as the hook reads them."""
    pushed = PushedRepo(history.folder)
    child = GitChild(history.folder, ENVIRONMENT, time.monotonic() + 60)
    files = RecordFiles(pushed, Trees(pushed.tree), records.load, ParsedCache(None, "ab" * 16),
                        Corpora(None, pushed, child, 1 << 20))
    return files.records(tree, Places(), files.files(tree, Places(), tuple(Record)))


@pytest.fixture(params=NAMES)
def name(request) -> str:
    return request.param


@pytest.mark.parametrize("laid", [True, False], ids=["laid", "as written"])
def test_the_records_of_an_example_load_without_a_fault(tmp_path, name, laid):
    found = read(*committed(tmp_path, name, laid=laid))
    assert found.faults == ()
    assert found.drifts == (), "a lease pins what is not there"
    assert found.relations


def test_a_laid_example_holds_no_row_that_is_over(tmp_path, name):
    today = datetime.now(UTC).date()
    found = read(*committed(tmp_path, name))
    assert [row.id for row in found.rows if row.last is not None and row.last < today] == []


def test_every_function_that_a_row_names_is_defined_once_beside_the_tables(tmp_path, name):
    found = read(*committed(tmp_path, name))
    defined = [node.name for path in (EXAMPLES / name / "repo").glob("oracle/relations/*.py")
               for node in ast.parse(path.read_bytes()).body
               if isinstance(node, ast.FunctionDef)]
    named = {function for row in found.relations for function in row.functions}
    assert sorted(named) == sorted(one for one in defined if one in named)
    private = {one for one in defined if one.startswith("_")}
    assert set(defined) - private <= named | _called(name), "a function that no row uses"


def _called(name: str) -> set[str]:
    """The functions that other functions of the oracle call by name."""
    return {node.func.id for path in (EXAMPLES / name / "repo").glob("oracle/relations/*.py")
            for node in ast.walk(ast.parse(path.read_bytes()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def test_the_oracle_imports_the_standard_library_only(name):
    for path in (EXAMPLES / name / "repo").glob("oracle/relations/*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            roots = [alias.name for alias in node.names] if isinstance(node, ast.Import) else \
                [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for root in roots:
                assert root.partition(".")[0] in sys.stdlib_module_names, path


def expected(name: str) -> dict[str, dict[str, object]]:
    return yaml.safe_load((EXAMPLES / name / "patches/expected.yaml").read_text())


def test_what_is_expected_names_every_patch_and_rows_that_refuse(tmp_path, name):
    found = read(*committed(tmp_path, name))
    refuse = {row.id for row in found.relations if row.status != "policy"}
    wanted = expected(name)
    assert sorted(wanted) == list(lay().patches(name))
    for patch, comes_to in wanted.items():
        if patch.startswith("honest-"):
            assert comes_to == {"lands": True}
        else:
            assert patch.startswith("gamed-")
            assert set(comes_to) == {"refused_by", "bucket"}
            assert comes_to["bucket"] in BUCKETS
            assert comes_to["refused_by"]
            assert set(comes_to["refused_by"]) <= refuse, patch


def test_an_example_has_an_honest_rewrite_and_four_gamed_ones(name):
    kinds = [patch.partition("-")[0] for patch in lay().patches(name)]
    assert kinds.count("honest") >= 1
    assert kinds.count("gamed") >= 4


@pytest.mark.parametrize(("name", "patch"), PATCHES, ids=[f"{n}-{p}" for n, p in PATCHES])
def test_a_patch_changes_source_that_is_there(name, patch):
    base, changed = lay().base(name), lay().patch(name, patch)
    assert changed
    for path, data in changed.items():
        assert path.startswith("src/")
        assert data != base.get(path)
        ast.parse(data)


def text(files: dict[str, bytes]) -> dict[str, str]:
    return {path: data.decode() for path, data in files.items()}


def test_the_shipped_policy_refuses_no_part_of_a_base_and_no_honest_patch(tmp_path, name):
    history = History(tmp_path / "r.git")
    files = lay().base(name, today=MOMENT.date())
    source = {path: data for path, data in files.items() if path.startswith("src/")}
    receipts = {path for path in files if path.startswith("oracle/receipts/")}
    start = history.start({"README": "An example.\n"})
    first = history.commit(text(source), start)
    assert history.push({"main": first}, AGENT) == set()
    files = lay().base(name, today=MOMENT.date(), baseline=first)
    tip = history.commit(text({path: data for path, data in files.items()
                               if path not in {*source, *receipts}}), first)
    assert history.push({"main": tip}, MAINTAINER) == set()
    if receipts:
        tip = history.commit(text({path: files[path] for path in receipts}), tip)
        assert history.push({"main": tip}, MAINTAINER) == set()
    for patch in lay().patches(name):
        if patch.startswith("honest-"):
            work = history.commit(text(lay().patch(name, patch)), tip)
            assert history.refused({"main": work}, AGENT) == set(), patch


def test_what_everybody_may_read_passes_on_the_base(tmp_path, name):
    for path, data in lay().base(name).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
                          cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_laying_an_example_makes_a_branch_of_each_patch(tmp_path):
    folder = tmp_path / "laid"
    done = subprocess.run([sys.executable, str(EXAMPLES / "lay.py"), NAMES[0], str(folder)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = subprocess.run(["git", "-C", str(folder), "branch", "--format=%(refname:short)"],
                          env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout
    assert sorted(told.split()) == sorted(["main", *lay().patches(NAMES[0])])


def test_lines_are_as_short_as_elsewhere_and_files_no_longer():
    for path in EXAMPLES.rglob("*"):
        if path.suffix in (".py", ".yaml", ".md"):
            assert path.read_text().count("\n") <= 400, path
