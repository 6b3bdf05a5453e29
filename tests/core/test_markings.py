"""Which marks are new, on hand-made sheets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from policyd.core.content import Changed
from policyd.core.markings import gains, holds_everywhere, lifted
from policyd.core.sheet import Defined, Mark, Marker, Sheet, Test

SKIP, XFAIL, RERUN = Mark.SKIP, Mark.XFAIL, Mark.RERUN
TIMEOUT, TOLERANCE, UNCOLLECTED = Mark.TIMEOUT, Mark.TOLERANCE, Mark.UNCOLLECTED


def sheet(*markers: Marker, tests: str = "test_a test_b") -> Sheet:
    return Sheet(tests=tuple(Test(name, 1, f"body of {name[-1]}") for name in tests.split()),
                 markers=markers)


def on(mark: Mark, says: str, name: str = "test_a", *, condition: str = "",
       amount: float | None = None) -> Marker:
    return Marker(mark, 7, name, says, condition, amount)


def file(path: str, after: Sheet | None, *before: Sheet,
         elsewhere: tuple[Sheet, ...] = ()) -> Changed:
    return Changed(path, ("tests",), after, before, elsewhere,
                   is_new=not before and not elsewhere)


def said(*files: Changed, usual: float = 0) -> list[str]:
    return [f"{gain.path} {gain.says}" for gain in gains(files, usual)]


PLAIN = sheet()
SKIPPED = sheet(on(SKIP, "@skip('it hangs')"))
CI = on(SKIP, "@skipif(environ.get('CI'))", condition="other")
STRICT = sheet(on(XFAIL, "@xfail(strict=True)"))
EPSILON = on(TOLERANCE, "EPSILON = 0.1", "", amount=0.1)
IGNORED = on(UNCOLLECTED, "collect_ignore = ['a.py', 'b.py']", "")


def limit(amount: float | None, name: str = "test_a", says: str = "") -> Marker:
    return on(TIMEOUT, says or f"timeout({amount})", name, amount=amount)


ROWS = [
    # title, before, after, what is said
    ("a mark", PLAIN, SKIPPED, "gains skip('it hangs')"),
    ("another reason", SKIPPED, sheet(on(SKIP, "@skip('it still hangs')")), ""),
    ("a reason by name", SKIPPED, sheet(on(SKIP, "@skip(reason='x')")), ""),
    ("the same on another test", SKIPPED, sheet(on(SKIP, "@skip('it hangs')", "test_b")),
     "gains skip('it hangs')"),
    ("the same twice", sheet(on(SKIP, "skip('a')")),
     sheet(on(SKIP, "skip('a')"), on(SKIP, "skip('b')")), "gains skip('b')"),
    ("always, where it was sometimes", sheet(CI), sheet(on(SKIP, "@skipif(True)")),
     "gains skipif(True)"),
    ("another condition", sheet(CI), sheet(on(SKIP, "@skipif(environ.get('HOME'))",
                                              condition="other")),
     "gains skipif"),
    ("a mark of all, where one was marked", SKIPPED, sheet(on(SKIP, "@skip('it hangs')", "")),
     "gains skip('it hangs')"),
    ("a mark of each, where all were marked", sheet(on(SKIP, "@skip('x')", "")), SKIPPED, ""),
    ("strict no more", STRICT, sheet(on(XFAIL, "@xfail")), "xfail is strict no more"),
    ("strict now", sheet(on(XFAIL, "@xfail")), STRICT, ""),
    ("more reruns", sheet(on(RERUN, "@flaky(2)", amount=2)),
     sheet(on(RERUN, "@flaky(3)", amount=3)), "reruns 3, was 2"),
    ("fewer reruns", sheet(on(RERUN, "@flaky(3)", amount=3)),
     sheet(on(RERUN, "@flaky(2)", amount=2)), ""),
    ("a limit", PLAIN, sheet(limit(5)), ""),
    ("no limit", PLAIN, sheet(limit(0)), "gains a timeout of none"),
    ("an unknown limit", PLAIN, sheet(limit(None)), "gains a timeout that is not known"),
    ("a higher limit", sheet(limit(2)), sheet(limit(10)), "timeout 10, was 2"),
    ("a lower limit", sheet(limit(10)), sheet(limit(2)), ""),
    ("a limit that is computed", sheet(limit(5)), sheet(limit(None)), "timeout not known, was 5"),
    ("a limit of a class, raised for one", sheet(limit(2, "")), sheet(limit(2, ""), limit(10)),
     "timeout 10, was 2"),
    ("one of two constants", sheet(limit(2, "", "T = 2"), limit(60, "", "LONG = 60")),
     sheet(limit(20, "", "T = 20"), limit(60, "", "LONG = 60")), "timeout 20, was 2"),
    ("a tolerance", PLAIN, sheet(EPSILON), ""),
    ("a wider tolerance", sheet(EPSILON), sheet(on(TOLERANCE, "EPSILON = 0.5", "", amount=0.5)),
     "tolerance 0.5, was 0.1"),
    ("one more that is ignored", sheet(on(UNCOLLECTED, "collect_ignore = ['a.py']", "")),
     sheet(IGNORED), "gains collect_ignore"),
    ("one fewer that is ignored", sheet(IGNORED),
     sheet(on(UNCOLLECTED, "collect_ignore = ['a.py']", "")), ""),
    ("a new class that is no test", PLAIN, sheet(on(UNCOLLECTED, "__test__ = False", "Client")),
     ""),
    ("a new test, under the condition of another one", sheet(CI, tests="test_a"),
     sheet(CI, replace(CI, on="test_b")), ""),
    ("an old test, under the condition of another one", sheet(CI),
     sheet(CI, replace(CI, on="test_b")), "gains skipif"),
    ("a new test that is skipped as another one is", sheet(on(SKIP, "@skip"), tests="test_a"),
     sheet(on(SKIP, "@skip"), on(SKIP, "@skip", "test_b")), "gains skip"),
    ("only a new test", sheet(tests="test_a"), sheet(on(UNCOLLECTED, "it.only(...)", "test_b")),
     "gains it.only(...)"),
]


@pytest.mark.parametrize(("before", "after", "says"), [row[1:] for row in ROWS],
                         ids=[row[0] for row in ROWS])
def test_what_a_file_gained(before, after, says):
    assert said(file("t.py", after, before)) == ([f"t.py {says}"] if says else [])


def test_a_mark_moves_with_its_test():
    assert said(file("t.py", None, SKIPPED), file("u.py", SKIPPED)) == []
    assert said(file("t.py", None, sheet(on(SKIP, "@skip", ""))),
                file("u.py", sheet(on(SKIP, "@skip", "")))) == []
    renamed = sheet(on(SKIP, "@skip", "TestX::test_a"), tests="TestX::test_a test_b")
    assert said(file("t.py", renamed, sheet(on(SKIP, "@skip")))) == []


def test_a_limit_moves_with_its_test():
    assert said(file("t.py", None, sheet(limit(2))), file("u.py", sheet(limit(2)))) == []
    assert said(file("t.py", None, sheet(limit(2))), file("u.py", sheet(limit(9)))) == [
        "u.py timeout 9, was 2"]


def test_what_another_file_has_excuses_none():
    assert said(file("t.py", SKIPPED, SKIPPED), file("u.py", SKIPPED, sheet(tests="test_c"))) == [
        "u.py gains skip('it hangs')"]


def test_what_another_guarded_branch_has_is_no_gain():
    assert said(file("t.py", SKIPPED, PLAIN, elsewhere=(SKIPPED,))) == []


def test_a_new_test_has_limits_of_its_own():
    new = sheet(limit(None, "test_c"), tests="test_a test_c")
    assert said(file("t.py", new, sheet(tests="test_a"))) == []
    assert said(file("t.py", new, sheet(tests="test_a")), usual=5) == [
        "t.py gains a timeout that is not known"]


def test_a_first_limit_counts_from_what_holds_without_one():
    assert said(file("t.py", sheet(limit(60)), PLAIN), usual=60) == []
    assert said(file("t.py", sheet(limit(61)), PLAIN), usual=60) == [
        "t.py gains a timeout of 61"]


@pytest.mark.parametrize(("before", "after", "usual", "says"), [
    (limit(2), None, 0, ["t.py timeout none, was 2"]),
    (limit(2), None, 5, ["t.py timeout none, was 2"]),
    (limit(5), None, 5, []),
    (limit(2), limit(2, ""), 0, []),
    (limit(2, says="run(timeout=2)"), None, 0, []),
], ids=["none", "a later one", "the usual one", "one of the file", "one of a call"])
def test_a_limit_that_is_taken_off(before, after, usual, says):
    if before.says.startswith("timeout"):
        before = replace(before, says=f"@pytest.mark.{before.says}")
    found = file("t.py", sheet(*([after] if after else [])), sheet(before))
    assert [f"{gain.path} {gain.says}" for gain in lifted([found], usual)] == says


@pytest.mark.parametrize(("condition", "says", "is_true"), [
    ("platform", '@skipif(sys.platform != "aix")', True),
    ("platform", '@skipif(not sys.platform.startswith("sunos"))', True),
    ("platform", '@skipif(sys.platform != "win32")', False),
    ("platform", '@skipif(sys.platform == "aix")', False),
    ("version", "@skipif(sys.version_info >= [3])", True),
    ("version", "@skipif(sys.version_info[0] >= 3)", True),
    ("version", "@skipif(sys.version_info < [4])", True),
    ("version", "@skipif(sys.version_info < [3, 12])", False),
    ("version", "@skipif(sys.version_info > [3, 8])", False),
    ("other", "@skipif(HERE)", False),
])
def test_a_condition_that_holds_everywhere(condition, says, is_true):
    assert holds_everywhere(on(SKIP, says, condition=condition)) is is_true


@pytest.mark.parametrize(("marker", "defines", "says"), [
    (on(SKIP, "it.runIf(...)", condition="other"), (), ["t.py gains it.runIf(...)"]),
    (replace(on(SKIP, "it.runIf(...)", condition="other"), asks="isBuild"), (), []),
    (replace(on(SKIP, "it.runIf(...)", condition="other"), asks="isBuild"), ("isBuild",),
     ["t.py gains it.runIf(...)"]),
], ids=["an expression", "a name", "a name of the change's own"])
def test_a_new_test_may_be_under_a_name_that_is_imported(marker, defines, says):
    helper = file("helper.py", Sheet(defined=tuple(map(Defined, defines))), Sheet())
    new = sheet(marker, tests="test_a test_b")
    assert said(file("t.py", new, sheet(tests="test_b")), helper) == says
    assert said(file("t.py", new, sheet(tests="test_a test_b")), helper) == [
        "t.py gains it.runIf(...)"]
