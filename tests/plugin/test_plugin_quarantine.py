"""The quarantine in a test run, and what the JUnit file holds of all rows."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from plugged import flake, told

pytest_plugins = ["pytester"]

OPEN = "nodeid: {}, status: open, reason: watched since May, owner: payments"


def test_a_frozen_test_is_skipped_with_reason_owner_and_day(project):
    project.write("test_a.py", "def test_a():\n    assert 0\n\ndef test_b():\n    pass\n")
    project.frozen("test_a.py::test_a", "2026-09-12")
    run = project.run("-rs")
    assert run.parseoutcomes() == {"passed": 1, "skipped": 1}
    run.stdout.fnmatch_lines([
        "SKIPPED * policyd: frozen until 2026-09-12 (owner payments): upstream serves 429"])
    assert ("frozen until 2026-09-12: test_a.py::test_a (owner payments): upstream serves 429"
            in told(run).splitlines())
    assert project.run(today="2026-09-13").ret == 4


def test_a_frozen_test_sets_nothing_up(project):
    project.write("test_a.py", "import pytest\n@pytest.fixture\ndef f():\n    assert 0\n"
                               "def test_a(f):\n    pass\n")
    project.frozen("test_a.py::test_a")
    project.ledger(flake("test_a.py::test_a"))
    assert project.run().parseoutcomes() == {"skipped": 1}


def test_an_open_row_is_listed_and_its_test_runs(project):
    project.write("test_a.py", "def test_a():\n    assert 0\n\ndef test_b():\n    pass\n")
    project.quarantine(OPEN.format("test_a.py::test_a"), OPEN.format("test_a.py::test_b"))
    run = project.run()
    assert run.parseoutcomes() == {"passed": 1, "failed": 1}
    assert told(run).splitlines()[1:] == [
        f"open: test_a.py::test_{name} (owner payments): watched since May" for name in "ab"]
    assert "test_a.py::test_a" not in told(project.run("-k", "test_b"))


def test_an_open_row_and_a_flake_may_name_one_test(project):
    project.write("test_a.py", "RUNS = []\ndef test_a():\n    RUNS.append(1)\n"
                               "    assert len(RUNS) > 1\n")
    project.quarantine(OPEN.format("test_a.py::test_a"))
    project.ledger(flake("test_a.py::test_a"))
    assert project.run().parseoutcomes() == {"flaky": 1}


def test_what_a_record_says_steers_no_terminal(project):
    project.write("test_a.py", "def test_a():\n    pass\n")
    project.quarantine('nodeid: test_a.py::test_a, status: frozen, expires_on: 2026-09-17, '
                       r'reason: "gone \e[31m\u202Ered for now", owner: payments')
    out = project.run("-rs").stdout.str()
    assert out.count(r"gone \x1b[31m\u202ered for now") == 2
    assert not {"\x1b", "\u202e"} & set(out)


def test_the_junit_file_holds_rows_and_runs(project):
    project.write("test_a.py", "RUNS = []\ndef test_a():\n    RUNS.append(1)\n"
                               "    assert len(RUNS) > 1\n\ndef test_b():\n    assert 0\n"
                               "def test_c():\n    assert 0\n\ndef test_d():\n    pass\n")
    project.ledger(flake("test_a.py::test_a", row="a"), flake("test_a.py::test_c", row="c", runs=2))
    project.frozen("test_a.py::test_b")
    for more in ([], ["-n1"]):
        run = project.spawn("--junitxml=j.xml", *more) if more else project.run("--junitxml=j.xml")
        assert run.ret == 1
        suite = ElementTree.parse(project.folder / "j.xml").getroot()[0]
        assert _properties(suite) == {"policyd.today": "2026-09-12", "policyd.rows": "3",
                                      "policyd.flaky": "1"}
        assert {case.get("name"): _properties(case) for case in suite.iter("testcase")} == {
            "test_a": {"policyd.row": "a", "policyd.flaky_runs": "2"},
            "test_b": {"policyd.row": "test_a.py::test_b",
                       "policyd.quarantine": "frozen until 2026-09-17"},
            "test_c": {"policyd.row": "c", "policyd.flaky_runs": "2"},
            "test_d": {}}


def _properties(element):
    found = element.find("properties")
    return {} if found is None else {p.get("name"): p.get("value") for p in found}
