"""Marks that pushes put on tests: the ways of the field, and what passes.

What a mark is, and when it is new, is tried in tests/core; here are the pushes. BASE's test is
test_total_does_not_depend_on_the_order.
"""

from __future__ import annotations

from closings import keep
from pushing import accepted, last, made, refused
from records_made import DAY, LEDGER, flake, ledger, today
from sites import APP, MAIN, TEST, Site

UNMARKED = {"unmarked-tests"}
FILE, NAME = "tests/test_app.py", "test_total_does_not_depend_on_the_order"
CODE = APP.replace("sum(prices)", "sum(sorted(prices))").encode()
MORE = f"{TEST}\n\ndef test_total_of_nothing():\n    assert total([]) == total([]) + total([])\n"
LOOSE = ("unmarked-tests:\n    mode: enforce", "unmarked-tests:\n    mode: warn")
HEAD = "import os\nimport sys\nimport unittest\nimport pytest\n"


def marked(*lines: str, test: str = TEST, head: str = HEAD) -> str:
    """BASE's test, with these lines in front of it."""
    return head + test.replace("def test_total_does", "\n".join([*lines, "def test_total_does"]))


def tip_of(site: Site, test: str, *, on: str = "", path: str = FILE) -> str:
    """A change of the code, and of a test file."""
    return made(site, {"src/app.py": CODE, path: test.encode()}, on=on or site.base_tip)


def row(name: str) -> dict[str, object]:
    return {**flake(name, ends=today() + 5 * DAY), "nodeid": f"{FILE}::{name}"}


def test_skips_of_unittest_pass_for_tests_with_a_row_that_main_holds(site):
    """C094: no row, a row for one of two, rows for both."""
    keep(site, {FILE: MORE, LEDGER: ledger()})
    skip = '@unittest.skip("it fails")'
    both = marked(skip, test=MORE.replace("def test_total_of", f"{skip}\ndef test_total_of"))
    refused(site, f"{tip_of(site, both, on=site.tip())}:{MAIN}", by=UNMARKED, as_="agent-7")
    assert site.told[0] == f"policyd: unmarked-tests: {FILE}:8 gains unittest.skip"
    keep(site, {LEDGER: ledger(row(NAME))})
    refused(site, f"{tip_of(site, both, on=site.tip())}:{MAIN}", by=UNMARKED, as_="agent-7")
    said = "\n".join(site.told)
    assert "on test_total_of_nothing" in said
    assert NAME not in said
    keep(site, {LEDGER: ledger(row(NAME), row("test_total_of_nothing"))})
    accepted(site, f"{tip_of(site, both, on=site.tip())}:{MAIN}", as_="agent-7")


def test_a_row_in_the_same_push_excuses_nothing(site):
    """C094"""
    site.commit({LEDGER: ledger(row(NAME)), FILE: marked("@pytest.mark.skip")})
    refused(site, f"HEAD:{MAIN}", by=UNMARKED)


def test_a_skip_by_another_name_is_a_skip(site):
    """C096"""
    site.edit_policy(*LOOSE)
    keep(site, {"tests/helpers.py": "import pytest\nneeds_db = pytest.mark.skip(reason='x')\n"})
    site.edit_policy(*reversed(LOOSE))
    head = "from helpers import needs_db\nfrom helpers import needs_db as usual\n"
    for name in ("needs_db", "usual"):
        refused(site, f"{tip_of(site, marked(f'@{name}', head=head), on=site.tip())}:{MAIN}",
                by=UNMARKED, as_="agent-7")


LINTED = """def test_lint():
    # @pytest.mark.skip would be found here
    assert lint("@pytest.mark.skip") == lint("@pytest.mark.xfail")
"""


def test_the_word_in_a_text_or_a_remark_is_no_skip(site):
    """C097"""
    accepted(site, f"{tip_of(site, LINTED, path='tests/test_lint.py')}:{MAIN}", as_="agent-7")


MARKS = [
    # case, what stands in front of a test, what is told
    ("C098", "@pytest.mark.xfail", "gains pytest.mark.xfail"),
    ("C098", "@pytest.mark.xfail(strict=True)", "gains pytest.mark.xfail"),
    ("C099", "@pytest.mark.skipif(os.environ.get('CI'), reason='slow')",
     "gains pytest.mark.skipif"),
    ("C099", "@pytest.mark.skipif(True, reason='slow')", "gains pytest.mark.skipif(True)"),
    ("C103", "@pytest.mark.flaky(reruns=5)", "reruns 5, was 0"),
    ("C102", "@pytest.mark.timeout(0)", "gains a timeout of none"),
    ("C098", "def test_called():\n    pytest.xfail('it fails')\n\n", "gains pytest.xfail()"),
]
FILES = [
    # case, what stands in a file of tests, what is told
    ("C103", "pytestmark = pytest.mark.flaky(reruns=5)", "reruns 5, was 0"),
    ("C099", "np = pytest.importorskip('numpy')", "gains pytest.importorskip"),
]


def places(site: Site) -> set[str]:
    """What the last push was told of the places, as far as it is not where."""
    found = last(site.told)["findings"][0]["places"]
    return {f"{place['path']} {place['note'].partition(' on ')[0]}" for place in found}


def test_each_mark_of_a_push_is_told(site):
    """C098, C099, C102, C103"""
    tests = "".join(f"{line}\ndef test_{n}(): assert total([{n}]) == total([{n}])\n\n"
                    for n, (_, line, _) in enumerate(MARKS))
    files = {f"tests/test_{n}.py": f"{HEAD}{line}\ndef test_it(): assert total([]) < 1\n".encode()
             for n, (_, line, _) in enumerate(FILES)}
    tip = made(site, {"tests/test_marks.py": f"{HEAD}{tests}".encode(), **files},
               on=site.base_tip)
    refused(site, "-o", "policyd.json", f"{tip}:{MAIN}", by=UNMARKED, as_="agent-7")
    assert places(site) == {
        *(f"tests/test_marks.py {told}" for _, _, told in MARKS),
        *(f"tests/test_{n}.py {told}" for n, (_, _, told) in enumerate(FILES))}


def test_an_expected_failure_that_is_called_is_one(site):
    """C098: what follows cannot fail, which one rule tells."""
    called = TEST.replace("    assert", "    pytest.xfail('it fails')\n    assert")
    refused(site, f"{tip_of(site, HEAD + called)}:{MAIN}", by=UNMARKED, as_="agent-7")


def test_a_skip_may_depend_on_platform_and_version(site):
    """C099"""
    lines = [f"@pytest.mark.skipif({condition}, reason='no such clock')"
             for condition in ("sys.platform == 'win32'", "sys.version_info < (3, 12)")]
    accepted(site, f"{tip_of(site, marked(*lines))}:{MAIN}", as_="agent-7")


def test_a_package_that_the_policy_calls_optional_may_be_missing(site):
    site.edit_policy("    packages: []", "    packages: [numpy]")
    line = "pytest.importorskip('numpy')"
    accepted(site, f"{tip_of(site, marked(line))}:{MAIN}", as_="agent-7")


TIMEOUTS = [
    # before, after, what is told
    ("@pytest.mark.timeout(2)", "@pytest.mark.timeout(10)", "timeout 10, was 2"),
    ("@pytest.mark.timeout(5)", "@pytest.mark.timeout(5 * FACTOR)", "timeout not known, was 5"),
    ("@pytest.mark.timeout(10)", "@pytest.mark.timeout(2)", ""),
    ("@pytest.mark.xfail(strict=True)", "@pytest.mark.xfail", "xfail is strict no more"),
    ("T = 2\n@pytest.mark.timeout(T)", "T = 20\n@pytest.mark.timeout(T)", "timeout 20, was 2"),
]


def test_a_limit_goes_down_and_not_up(site):
    """C098, C102"""
    def tests(which: int) -> dict[str, str]:
        return {f"tests/test_{n}.py": marked(row[which]) for n, row in enumerate(TIMEOUTS)}

    site.edit_policy(*LOOSE)
    keep(site, tests(0))
    site.edit_policy(*reversed(LOOSE))
    site.commit(tests(1))
    refused(site, "-o", "policyd.json", f"HEAD:{MAIN}", by=UNMARKED, as_="agent-7")
    assert places(site) == {f"tests/test_{n}.py {told}"
                            for n, (_, _, told) in enumerate(TIMEOUTS) if told}


def test_settings_of_the_runner_count_too(site):
    """C102, C103"""
    keep(site, {"setup.cfg": "[tool:pytest]\ntimeout = 2\n"})
    site.commit({"setup.cfg": "[tool:pytest]\ntimeout = 20\naddopts = --retries=2\n"
                              "timeout_func_only = true\n"})
    refused(site, "-o", "policyd.json", f"HEAD:{MAIN}", by=UNMARKED, as_="agent-7")
    assert places(site) == {"setup.cfg timeout 20, was 2", "setup.cfg retries 2, was none",
                            "setup.cfg timeout_func_only is on"}


def test_a_mark_on_a_branch_that_nobody_guards_is_a_warning(site):
    tip = tip_of(site, marked("@pytest.mark.skip"))
    assert site.push(f"{tip}:refs/heads/mine", as_="agent-7") == 0
    assert site.told[0].startswith("policyd: warning: unmarked-tests: ")


def test_a_first_push_gains_no_mark(empty_site):
    """Nothing was tested before."""
    empty_site.commit({FILE: marked("@pytest.mark.skip")})
    accepted(empty_site, f"HEAD:{MAIN}")


def test_a_maintainer_returns_to_a_state_with_a_mark(site):
    keep(site, {LEDGER: ledger(row(NAME))})
    keep(site, {FILE: marked("@pytest.mark.skip")})
    keep(site, {LEDGER: ledger()})
    keep(site, {FILE: TEST})
    site.git("revert", "--no-edit", "HEAD")
    refused(site, f"HEAD:{MAIN}", by=UNMARKED, as_="agent-7")
    accepted(site, f"HEAD:{MAIN}")
