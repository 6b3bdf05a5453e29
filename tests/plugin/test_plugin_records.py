"""The records at the start of a test run: where they are read, and what refuses the run."""

from __future__ import annotations

import pytest
from plugged import LEDGER, flake, told

pytest_plugins = ["pytester"]

TWO = "def test_a():\n    pass\n\ndef test_b():\n    pass\n"


def refused(run):
    """The lines on stderr of a run that did not begin."""
    assert run.ret == 4
    assert "Traceback" not in run.stderr.str() + run.stdout.str()
    assert "passed" not in run.stdout.str()
    return [line for line in run.stderr.str().splitlines() if line]


def test_without_the_option_nothing_is_there(project):
    project.write("test_a.py", TWO)
    project.write(LEDGER, "no JSON")
    assert project.pytester.runpytest_inprocess("-p", "no:hypothesispytest").ret == 0


def test_without_record_files_nothing_happens_and_the_header_says_so(project):
    project.write("test_a.py", TWO)
    run = project.run()
    assert run.parseoutcomes() == {"passed": 2}
    run.stdout.fnmatch_lines([f"policyd: no record files in {project.folder}; nothing is rerun *"])
    assert "= policyd =" not in run.stdout.str()


def test_without_record_files_no_parser_is_loaded(project):
    project.write("test_a.py", """
import sys
def test_a():
    heavy = {"yaml", "msgspec", "pygit2", "policyd.records", "policyd.core.evaluate", "click"}
    assert not heavy & set(sys.modules)
""")
    assert project.spawn().ret == 0
    project.ledger()
    assert project.spawn().ret == 1


def test_everything_that_is_wrong_is_told_at_once(project):
    project.write("test_a.py", TWO)
    project.ledger(flake("test_a.py::test_a", last="2026-09-11", row="app.over"),
                   flake("test_a.py::test_b", runs=0))
    project.frozen("test_a.py::test_b", "never")
    first, *lines = refused(project.run())
    assert first == ("ERROR: policyd: no test was run, because of the records in "
                     f"{project.folder} on 2026-09-12")
    assert lines == [
        "  oracle/quarantine.yaml:3:61: expected a date written YYYY-MM-DD, found 'never'",
        "  tests/ledger/flake_ledger.json:20:16: 0 is less than 1",
        "  tests/ledger/flake_ledger.json:4: row app.over is over: last day 2026-09-11, owner mei",
        "do: mend all of these lines; a record that cannot be read whole is not used",
        "do: its owner repairs the test and takes the row out, or dates it anew; a maintainer "
        "pushes that alone",
        "  to run an old commit as it was on a day: --policyd-today YYYY-MM-DD"]


@pytest.mark.parametrize(("today", "ret"), [("2026-09-30", 0), ("2026-10-01", 4)])
def test_the_last_day_is_inclusive(project, today, ret):
    project.write("test_a.py", TWO)
    project.ledger(flake("test_a.py::test_a"))
    assert project.run(today=today).ret == ret


@pytest.mark.parametrize("today", ["2026-9-1", "20260912", "2026-02-30", "today", "", "२०२६-09-12"])
def test_a_day_is_strict(project, today):
    assert refused(project.run(today=today)) == [
        f"ERROR: --policyd-today: {today!r} is no day written YYYY-MM-DD"]


def test_the_time_zone_says_which_day_it_is(project):
    project.ledger()
    seen = set()
    for zone in ("Etc/GMT+12", "Etc/GMT-14"):
        run = project.run("-o", f"policyd_timezone={zone}", today=None)
        seen.add(run.stdout.str().partition("policyd: ")[2].partition(",")[0])
    assert len(seen) == 2
    line, = refused(project.run("-o", "policyd_timezone=Mars/X", today=None))
    assert line.startswith("ERROR: policyd_timezone: time zone Mars/X is not known")


def test_the_ini_file_names_other_places(project):
    project.write("test_a.py", "def test_a():\n    pass\n\ndef test_b():\n    assert 0\n")
    project.ledger(flake("test_a.py::test_a"), place="ci/flakes.json")
    project.quarantine("nodeid: test_a.py::test_b, status: frozen, expires_on: 2026-09-17, "
                       "reason: upstream serves 429, owner: payments", place="ci/q.yaml")
    project.pytester.makeini("[pytest]\npolicyd_flakes = ci/flakes.json\n"
                              "policyd_quarantine = ci/q.yaml\npolicyd_relations = laws\n")
    assert project.run().parseoutcomes() == {"passed": 1, "skipped": 1}
    project.ledger(flake("laws/test_x.py::test_a"), place="ci/flakes.json")
    assert "'laws/test_x.py::test_a' is a relation" in refused(project.run())[1]


@pytest.mark.parametrize(("place", "says"), [
    ("absent.json", "  absent.json:1:1: there is no such file; the ini file names it"),
    ("../out.json", "ERROR: policyd_flakes: '../out.json' is no path inside the repository; *"),
    ("/etc/passwd", "ERROR: policyd_flakes: '/etc/passwd' is no path inside *")])
def test_a_named_place_must_be_there_and_inside(project, place, says):
    project.pytester.makeini(f"[pytest]\npolicyd_flakes = {place}\n")
    run = project.run()
    refused(run)
    run.stderr.fnmatch_lines([says])


def test_a_record_is_a_plain_file(project):
    project.write("real.json", '{"schema": "flake_ledger.v1", "entries": []}')
    (project.folder / LEDGER).parent.mkdir(parents=True)
    (project.folder / LEDGER).symlink_to(project.folder / "real.json")
    (project.folder / "oracle/quarantine.yaml").mkdir(parents=True)
    assert refused(project.run())[1:3] == [
        "  oracle/quarantine.yaml:1:1: it is no plain file",
        "  tests/ledger/flake_ledger.json:1:1: it is a symbolic link; a record is a plain file"]


def test_what_cannot_be_looked_at_is_no_absent_record(project):
    folder = project.folder / "oracle"
    folder.symlink_to(folder)
    assert refused(project.run())[1] == (
        "  oracle/quarantine.yaml:1:1: cannot be read: Too many levels of symbolic links")


def test_the_records_of_another_tree_count_in_place_of_ones_own(project):
    project.write("test_a.py", "RUNS = []\ndef test_a():\n    RUNS.append(1)\n"
                               "    assert len(RUNS) > 1\n")
    project.ledger(flake("test_a.py::test_a"))
    (project.folder / "base").mkdir()
    run = project.run("--policyd-records=base")
    assert run.parseoutcomes() == {"failed": 1}
    run.stdout.fnmatch_lines([f"policyd: no record files in {project.folder}/base; *"])
    project.ledger(flake("test_a.py::test_a"), place=f"base/{LEDGER}")
    project.write(LEDGER, "not read")
    assert project.run("--policyd-records=base").parseoutcomes() == {"flaky": 1}
    assert refused(project.run("--policyd-records=gone")) == [
        f"ERROR: --policyd-records: {project.folder}/gone is no folder"]


def test_help_is_given_whatever_the_records_say(project):
    project.write(LEDGER, "no JSON")
    run = project.run("--help")
    assert run.ret == 0
    run.stdout.fnmatch_lines(["*--policyd-records=DIR*", "*policyd_timezone*"])
    assert project.run("--markers").ret == 0


def test_a_row_that_ends_soon_is_told(project):
    project.write("test_a.py", TWO)
    project.ledger(flake("test_a.py::test_a"))
    assert "= policyd =" not in project.run(today="2026-09-15").stdout.str()
    for today, when in (("2026-09-20", "in 10 days"), ("2026-09-29", "in 1 day"),
                        ("2026-09-30", "today")):
        assert f"ends soon: app.row (owner mei), last day 2026-09-30, {when}" in told(
            project.run(today=today)).splitlines()


GONE = "warning: row app.row matches no test (tests/ledger/flake_ledger.json:4): "


def test_a_row_that_matches_no_test_is_told_when_all_were_collected(project):
    project.write("test_a.py", TWO)
    project.ledger(flake("test_a.py::test_gone"))
    run = project.run("-W", "error")
    assert run.ret == 0
    assert told(run).splitlines()[1] == f"{GONE}test_a.py::test_gone"
    for chosen in (["-k", "a"], ["-m", "not x"], ["test_a.py"], ["--lf"], ["--ignore=x"],
                   ["--deselect=test_a.py::test_a"]):
        assert "= policyd =" not in project.run(*chosen).stdout.str(), chosen


@pytest.mark.parametrize(("text", "told_of"), [
    ("raise ValueError", False), ("import pytest; pytest.importorskip('nothing_of_it')", False),
    ("", True)])
def test_a_test_that_could_not_be_collected_may_be_there(project, text, told_of):
    project.write("test_a.py", TWO)
    project.write("test_b.py", text)
    project.ledger(flake("test_b.py::test_x"))
    assert (GONE in project.run().stdout.str()) == told_of


def test_only_what_testpaths_name_was_collected(project):
    project.write("tests/test_a.py", TWO)
    project.pytester.makeini("[pytest]\ntestpaths = tests\n")
    project.ledger(flake("other/test_a.py::test_x"))
    assert "= policyd =" not in project.run().stdout.str()
    project.ledger(flake("tests/test_a.py::test_x"))
    assert GONE in project.run().stdout.str()


def test_a_row_without_parameters_is_told_that_they_count(project):
    project.write("test_a.py", "import pytest\n@pytest.mark.parametrize('x', [1, 2])\n"
                               "def test_a(x):\n    pass\n")
    project.ledger(flake("test_a.py::test_a"))
    assert (f"{GONE}test_a.py::test_a; its tests have parameters, and each of them its own id"
            in told(project.run()))
