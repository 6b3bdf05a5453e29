"""The flake ledger in a test run: which tests run again, with what, and how that is told."""

from __future__ import annotations

import pytest
from plugged import flake, told

pytest_plugins = ["pytester"]

PASSES_AT = """\
RUNS = []

def run(at):
    RUNS.append(1)
    assert len(RUNS) >= at, f"run {len(RUNS)} of them"

"""


def listed(project, body, *, runs=3, test="test_a", more=""):
    """A test file with PASSES_AT, its one test listed."""
    project.write("test_a.py", f"import pytest\n{PASSES_AT}{more}\n{body}")
    project.ledger(flake(f"test_a.py::{test}", runs=runs))


@pytest.mark.parametrize(("passes_at", "runs", "outcome", "ran"), [
    (1, 3, "passed", 1), (2, 3, "flaky", 2), (3, 3, "flaky", 3), (4, 3, "failed", 3),
    (2, 1, "failed", 1), (9, 2, "failed", 2)])
def test_a_listed_test_runs_until_it_passes_and_never_more_than_max_runs(
        project, passes_at, runs, outcome, ran):
    listed(project, f"def test_a():\n    print('ran')\n    run({passes_at})\n", runs=runs)
    project.write("test_b.py", "import test_a\ndef test_ran():\n"
                               f"    assert len(test_a.RUNS) == {ran}\n")
    run = project.run()
    passed = {"passed": 2} if outcome == "passed" else {"passed": 1, outcome: 1}
    assert run.parseoutcomes() == passed
    assert run.ret == (outcome == "failed")


def test_an_unlisted_test_is_never_run_again(project):
    listed(project, "OTHER = []\ndef test_b():\n    OTHER.append(1)\n    assert len(OTHER) > 1\n\n"
                    "def test_a():\n    run(2)\n")
    assert project.run().parseoutcomes() == {"failed": 1, "flaky": 1}


def test_a_flaky_test_has_a_sign_and_a_line_of_its_own(project):
    listed(project, "def test_a():\n    run(2)\n\ndef test_b():\n    pass\n")
    run = project.run()
    run.stdout.fnmatch_lines(["test_a.py ~. *"])
    assert told(run).splitlines()[1:4] == [
        "FLAKY test_a.py::test_a: passed in run 2 of at most 3",
        "  row app.row (tests/ledger/flake_ledger.json:4), owner mei, until 2026-09-30",
        "  failed, call: AssertionError: run 1 of them"]
    assert "FLAKY" in project.run("-v").stdout.str().partition("= policyd")[0]


def test_what_failed_in_all_runs_shows_the_last_and_how_many(project):
    listed(project, "def test_a():\n    print(f'out {len(RUNS)}')\n    run(9)\n")
    run = project.run()
    out = run.stdout.str()
    assert "run 3 of them" in out.partition("= policyd")[0]
    assert "run 2 of them" not in out.partition("= policyd")[0]
    assert (out.count("out 2"), out.count("out 1"), out.count("out 0")) == (1, 0, 0)
    run.stdout.fnmatch_lines([
        "failed in 3 of 3 runs and passed in none",
        "row app.row (tests/ledger/flake_ledger.json:4) allows 3"])
    assert told(run).splitlines()[1:] == [
        "FAILED test_a.py::test_a: passed in none of 3 runs, of at most 3",
        "  row app.row (tests/ledger/flake_ledger.json:4), owner mei, until 2026-09-30",
        *(f"  failed, call: AssertionError: run {number} of them" for number in (1, 2, 3))]


@pytest.mark.parametrize("scope", ["function", "class", "module", "session"])
@pytest.mark.parametrize("more", ["", "    def test_b(self, shared):\n        pass\n"],
                         ids=["last of all", "another follows"])
def test_only_fixtures_of_the_function_are_made_anew(project, scope, more):
    listed(project, "class Test:\n    def test_a(self, shared, own):\n        run(3)\n" + more,
           test="Test::test_a", more=f"""
MADE = []
@pytest.fixture
def own():
    MADE.append("+own")
    yield
    MADE.append("-own")
@pytest.fixture(scope="{scope}")
def shared():
    MADE.append("+")
    yield
    MADE.append("-")
    print(" ".join(MADE))
""")
    three = {"function": "+ +own -own - + +own -own - + +own -own -",
             }.get(scope, "+ +own -own +own -own +own -own -")
    assert three in project.run("-s").stdout.str()


def test_every_phase_can_fail_a_run(project):
    listed(project, "def test_a(odd):\n    run(2)\n", runs=4, more="""
STARTS = []
@pytest.fixture
def odd():
    STARTS.append(1)
    assert len(STARTS) != 1, "setup breaks"
    yield
    assert len(STARTS) != 3, "teardown breaks"
""")
    run = project.run()
    assert run.parseoutcomes() == {"flaky": 1}
    assert [line for line in told(run).splitlines() if "failed" in line] == [
        "  failed, setup: AssertionError: setup breaks",
        "  failed, call: AssertionError: run 1 of them",
        "  failed, teardown: AssertionError: teardown breaks"]


def test_a_failed_teardown_is_a_failed_run(project):
    listed(project, "def test_a(odd, shared):\n    pass\n", more="""
ENDS = []
@pytest.fixture(scope="module")
def shared():
    yield
@pytest.fixture
def odd():
    yield
    run(3)
""")
    run = project.run()
    assert run.parseoutcomes() == {"flaky": 1}
    assert told(run).count("failed, teardown: AssertionError: run") == 2
    listed(project, "def test_a(odd):\n    pass\n", runs=2,
           more="@pytest.fixture\ndef odd():\n    yield\n    run(3)\n")
    run = project.run()
    assert run.parseoutcomes() == {"passed": 1, "errors": 1}
    assert run.ret == 1


def test_a_skip_after_a_failure_is_no_pass(project):
    body = "def test_a():\n    RUNS.append(1)\n    assert len(RUNS) != 1\n    {then}\n"
    listed(project, body.format(then="pytest.skip('enough')"))
    run = project.run()
    assert run.parseoutcomes() == {"failed": 1}
    run.stdout.fnmatch_lines(["failed in 1 of 3 runs and passed in none"])
    listed(project, body.format(then="if len(RUNS) == 2: pytest.xfail('well')"))
    assert project.run().parseoutcomes() == {"flaky": 1}


def test_a_skip_or_an_expected_failure_is_left_as_it_is(project):
    listed(project, "def test_a():\n    run(9)\n    print('x')\n", test="test_a")
    for mark in ("skip(reason='x')", "xfail"):
        listed(project, f"@pytest.mark.{mark}\ndef test_a():\n    run(2)\n")
        run = project.run("-s")
        assert run.parseoutcomes() == {mark.partition("(")[0] + ("ped" if "(" in mark else "ed"): 1}


@pytest.mark.parametrize("nodeid", [
    r"test_a.py::test_a[\u3044-b]", "test_a.py::test_a[い-b]", "./test_a.py::test_a[い-b]"])
def test_one_parameter_of_a_test_is_listed_however_it_is_written(project, nodeid):
    listed(project, "@pytest.mark.parametrize('y', ['b'])\n"
                    "@pytest.mark.parametrize('x', ['い', 'う'])\n"
                    "def test_a(x, y):\n    run({'い': 2, 'う': 4}[x])\n")
    project.ledger(flake(nodeid))
    run = project.run()
    assert run.parseoutcomes() == {"flaky": 1, "failed": 1}
    assert r"FLAKY test_a.py::test_a[\u3044-b]" in told(run)


def test_methods_of_unittest_run_again_with_their_setup(project):
    listed(project, """
import unittest
class Test(unittest.TestCase):
    ups = []
    @classmethod
    def setUpClass(cls):
        cls.ups.append("class")
    def setUp(self):
        self.ups.append("test")
    def test_a(self):
        run(3)
        self.assertEqual(self.ups, ["class", "test", "test", "test"])
""", test="Test::test_a")
    assert project.run().parseoutcomes() == {"flaky": 1}


def test_what_a_run_recorded_goes_with_it(project):
    listed(project, "def test_a(record_property, request):\n"
                    "    request.node.add_marker(pytest.mark.xfail(condition=False, reason=''))\n"
                    "    print([m.name for m in request.node.iter_markers()])\n"
                    "    record_property('run', len(RUNS))\n    run(3)\n")
    run = project.run("--junitxml=j.xml", "-o", "junit_family=xunit1", "-s")
    assert run.stdout.str().count("['xfail']") == 3
    assert (project.folder / "j.xml").read_text().count('name="run"') == 1


@pytest.mark.parametrize("then", ["pass", "self.assertGreater(len(RUNS), 2)"])
def test_a_failed_subtest_that_is_out_already_ends_the_runs(project, then):
    listed(project, f"""
import unittest
class Test(unittest.TestCase):
    def test_a(self):
        RUNS.append(1)
        self.assertGreater(len(RUNS), 1)
        with self.subTest("x"):
            self.assertGreater(len(RUNS), 2)
        {then}
""", test="Test::test_a")
    run = project.run()
    if not hasattr(pytest, "Subtests"):  # pytest 8 knows no subtests: the test fails as a whole
        assert run.parseoutcomes() == {"flaky": 1}
        return
    assert run.ret == 1
    assert "flaky" not in run.parseoutcomes()
    assert told(run).splitlines()[1] == ("FAILED test_a.py::Test::test_a: passed in none of 2 runs,"
                                         " of at most 3")
    assert told(run).splitlines()[-1].startswith("  failed, subtest: it is told at once")


def test_the_first_failure_that_counts_ends_the_session(project):
    listed(project, "def test_a(shared):\n    run(2)\n\ndef test_b(shared):\n    assert 0\n\n"
                    "def test_c():\n    pass\n",
           more="@pytest.fixture(scope='module')\ndef shared():\n    yield\n    print('down')\n")
    assert project.run("-x").parseoutcomes() == {"flaky": 1, "failed": 1}
    listed(project, "def test_a(shared):\n    run(9)\n\ndef test_c():\n    pass\n",
           more="@pytest.fixture(scope='module')\ndef shared():\n    yield\n    assert 0, 'down'\n")
    run = project.run("-x")
    assert run.parseoutcomes() == {"failed": 1, "errors": 1}


def test_a_test_that_passed_in_the_end_is_no_last_failure(project):
    listed(project, "def test_a():\n    run(2)\n\ndef test_b():\n    assert 0\n")
    assert project.run().parseoutcomes() == {"flaky": 1, "failed": 1}
    assert project.run("--lf").parseoutcomes() == {"failed": 1}


@pytest.mark.parametrize("option", ["--pdb", "--trace", "--setup-show"])
def test_who_watches_each_run_sees_one(project, option):
    listed(project, "def test_a():\n    run(2)\n")
    project.write("conftest.py", "import pdb\npdb.Pdb.interaction = lambda *_: None\n"
                                 "pdb.Pdb.set_trace = lambda *_: None\n")
    run = project.run(option)
    assert run.parseoutcomes() == {"failed": 1}
    run.stdout.fnmatch_lines(["policyd: *; nothing is rerun under a debugger or --setup-[*]"])


def test_collecting_runs_nothing(project):
    listed(project, "def test_a():\n    run(2)\n")
    run = project.run("--collect-only", "-q")
    assert run.ret == 0
    run.stdout.fnmatch_lines(["test_a.py::test_a"])


@pytest.mark.parametrize("name", ["pytest_rerunfailures", "flaky", "pytest_retry"])
def test_another_plugin_that_runs_tests_again_is_refused(project, name):
    listed(project, "def test_a():\n    pass\n")
    project.write(f"{name}.py", "")
    project.pytester.syspathinsert()
    run = project.run("-p", name)
    assert run.ret == 4
    run.stderr.fnmatch_lines([f"ERROR: policyd: {name.replace('_', '-')} is active, *"
                              f"-p no:{name},*"])
    assert project.run("-p", name, "-p", f"no:{name}").ret == 0
