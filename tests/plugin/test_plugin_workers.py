"""The plugin under pytest-xdist: one reading of the records, one day, one summary, one verdict."""

from __future__ import annotations

import pytest
from plugged import LEDGER, flake, told

pytest_plugins = ["pytester"]
pytest.importorskip("xdist")


def test_workers_and_controller_agree(project):
    project.write("test_a.py", """
import os
from pathlib import Path
import pytest

RUNS = []

def test_flaky():
    RUNS.append(1)
    assert len(RUNS) > 1

@pytest.mark.parametrize("x", range(6))
def test_many(x):
    pass

def test_frozen():
    assert 0

def test_hard():
    assert 0
""")
    project.write("conftest.py", f"""
from pathlib import Path
def pytest_configure(config):
    if hasattr(config, "workerinput"):
        Path(config.rootpath, "{LEDGER}").write_text("written over")
""")
    project.ledger(flake("test_a.py::test_flaky", row="a"), flake("test_a.py::test_gone", row="g"),
                   flake("test_a.py::test_hard", row="h", runs=2))
    project.frozen("test_a.py::test_frozen")
    run = project.spawn("-n2")
    assert run.parseoutcomes() == {"passed": 6, "flaky": 1, "skipped": 1, "failed": 1}
    assert run.ret == 1
    assert run.stdout.str().count("= policyd =") == 1
    lines = told(run).splitlines()
    assert lines.count("FLAKY test_a.py::test_flaky: passed in run 2 of at most 3") == 1
    assert lines.count("FAILED test_a.py::test_hard: passed in none of 2 runs, of at most 2") == 1
    assert [line for line in lines if "matches no test" in line] == [
        f"warning: row g matches no test ({LEDGER}:13): test_a.py::test_gone"]
    assert len([line for line in lines if line.startswith("frozen until 2026-09-17")]) == 1


def test_a_test_is_known_by_its_own_id_in_a_group_of_xdist(project):
    project.write("test_a.py", "import pytest\nRUNS = []\n@pytest.mark.xdist_group('g')\n"
                               "def test_a():\n    RUNS.append(1)\n    assert len(RUNS) > 1\n")
    project.ledger(flake("test_a.py::test_a"))
    run = project.spawn("-n1", "--dist=loadgroup")
    assert run.parseoutcomes() == {"flaky": 1}
    assert "FLAKY test_a.py::test_a" in told(run)


def test_workers_take_the_day_of_the_controller(project):
    project.write("test_a.py", "def test_a():\n    assert 0\n")
    project.write("conftest.py", """
def pytest_configure(config):
    if hasattr(config, "workerinput"):
        config.option.policyd_today = "2027-01-01"
""")
    project.frozen("test_a.py::test_a")
    assert project.spawn("-n1").parseoutcomes() == {"skipped": 1}


def test_a_run_of_relations_in_workers_tried_at_least_one(project):
    project.write("test_a.py", "import pytest\n@pytest.mark.relation\ndef test_a():\n"
                               "    pytest.skip('x')\n")
    run = project.spawn("-n2", "-m", "relation")
    assert run.ret == 1
    run.stdout.fnmatch_lines(["*none of 1 relation tests was executed*"])
    project.write("test_b.py", "import pytest\n@pytest.mark.relation\ndef test_b():\n    pass\n")
    assert project.spawn("-n2", "-m", "relation").ret == 0


def test_no_relation_in_workers_is_no_pass(project):
    project.write("test_a.py", "def test_a():\n    pass\n")
    run = project.spawn("-n1", "-m", "relation")
    assert run.ret == 1
    run.stdout.fnmatch_lines(["*no relation test was collected*"])


def test_a_row_that_names_a_relation_refuses_the_workers_run(project):
    project.write("test_a.py", "import pytest\n@pytest.mark.relation\ndef test_a():\n    pass\n"
                               "def test_b():\n    pass\n")
    project.frozen("test_a.py::test_a")
    run = project.spawn("-n1")
    assert run.ret == 4
    assert "passed" not in run.parseoutcomes()
    run.stderr.fnmatch_lines(["ERROR: policyd: no test was run", "*which is marked as a relation*"])
    assert "Traceback" not in run.stderr.str() + run.stdout.str()


def test_an_expired_row_starts_no_worker(project):
    project.write("test_a.py", "def test_a():\n    pass\n")
    project.ledger(flake("test_a.py::test_a"))
    run = project.spawn("-n1", today="2026-10-01")
    assert run.ret == 4
    assert "Traceback" not in run.stderr.str() + run.stdout.str()
