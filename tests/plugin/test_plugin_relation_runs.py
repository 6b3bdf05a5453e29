"""Relation tests in a test run: never rerun, never skipped by a row, and a green run tried one."""

from __future__ import annotations

import pytest
from plugged import flake

from policyd.pytest.relations import selects

pytest_plugins = ["pytester"]

LAW = ("import pytest\n@pytest.mark.relation\ndef test_law():\n    {}\n\n"
       "def test_plain():\n    pass\n")


@pytest.mark.parametrize(("expression", "asks"), [
    ("relation", True), ("relation and not slow", True), ("relation or smoke", True),
    ("relation and fast", True), ("not (not relation)", True),
    ("relation(kind='x')", pytest.version_tuple >= (8, 3)),
    (" and ".join(["relation", *(f"x{n}" for n in range(11))]), True),
    ("not relation", False), ("slow", False), ("relational", False), ("a.relation", False),
    ("relation or not relation", False), ("relation (", False), ("", False)])
def test_an_expression_asks_for_relations_when_their_mark_takes_a_test_in(expression, asks):
    assert selects(expression) == asks


@pytest.mark.parametrize(("body", "outcomes", "ret"), [
    ("pass", {"passed": 1}, 0), ("assert 0", {"failed": 1}, 1),
    ("pytest.skip('x')", {"skipped": 1}, 1), ("pytest.xfail('x')", {"xfailed": 1}, 1)])
def test_a_run_of_relations_tried_at_least_one(project, body, outcomes, ret):
    project.write("test_a.py", LAW.format(body))
    run = project.run("-m", "relation", "--strict-markers")
    assert run.parseoutcomes() == {**outcomes, "deselected": 1}
    assert run.ret == ret
    assert ("none of 1 relation tests was executed" in run.stdout.str()) == (
        not {"passed", "failed"} & set(outcomes))


@pytest.mark.parametrize("mark", ["xfail", "xfail(strict=True)", "skipif(True, reason='x')"])
def test_a_mark_of_its_own_keeps_a_relation_from_counting(project, mark):
    project.write("test_a.py", LAW.format("pass").replace(
        "@pytest.mark.relation", f"@pytest.mark.relation\n@pytest.mark.{mark}"))
    assert project.run("-m", "relation").ret == 1


def test_one_executed_relation_is_enough(project):
    project.write("test_a.py", LAW.format("pytest.skip('x')"))
    project.write("test_b.py", LAW.format("pass"))
    assert project.run("-m", "relation").ret == 0


def test_a_setup_that_skips_executes_nothing(project):
    project.write("test_a.py", "import pytest\n@pytest.fixture\ndef f():\n    pytest.skip('x')\n"
                               "@pytest.mark.relation\ndef test_law(f):\n    pass\n")
    assert project.run("-m", "relation").ret == 1


def test_no_relation_at_all_is_no_pass(project):
    project.write("test_a.py", "def test_a():\n    pass\n")
    run = project.run("-m", "relation or smoke")
    assert run.ret == 1
    run.stdout.fnmatch_lines(["-m 'relation or smoke' asks for relations, and no relation test was "
                              "collected: a run that tried nothing is no pass"])
    assert project.run("-m", "relation", "--collect-only").ret == 1
    assert project.run("-m", "not relation").ret == 0
    assert project.run("-k", "nothing").ret == 5


def test_collecting_relations_tries_none_and_is_green(project):
    project.write("test_a.py", LAW.format("pass"))
    assert project.run("-m", "relation", "--collect-only").ret == 0
    assert project.run("-m", "relation", "--setup-plan").ret == 1


def test_what_ends_a_run_otherwise_keeps_its_exit_code(project):
    project.write("test_a.py", "raise ValueError")
    assert project.run("-m", "relation").ret == 2
    project.write("test_a.py", LAW.format("raise KeyboardInterrupt"))
    assert project.spawn("-m", "relation").ret == 2


@pytest.mark.parametrize("kind", ["flake", "frozen"])
@pytest.mark.parametrize("by", ["mark", "conftest"])
def test_a_row_that_names_a_relation_refuses_the_run(project, kind, by):
    project.write("test_a.py", LAW.format("print('ran')"))
    if by == "conftest":
        project.write("test_a.py", "def test_law():\n    print('ran')\n")
        project.write("conftest.py", "def pytest_collection_modifyitems(items):\n"
                                     "    items[0].add_marker('relation')\n")
    getattr(project, kind if kind == "frozen" else "ledger")(
        "test_a.py::test_law" if kind == "frozen" else flake("test_a.py::test_law"))
    run = project.run("-s", "-k", "plain")
    assert run.ret == 4
    assert "ran" not in run.stdout.str().split()
    run.stderr.fnmatch_lines(["ERROR: policyd: no test was run", "*: row * names "
                              "test_a.py::test_law, which is marked as a relation; *: take it out"])


def test_a_row_for_a_test_in_the_folder_of_relations_refuses_the_run(project):
    project.frozen("oracle/./relations/test_a.py::test_law")
    run = project.run()
    assert run.ret == 4
    run.stderr.fnmatch_lines(["*oracle/quarantine.yaml:3:*is a relation; *"])
