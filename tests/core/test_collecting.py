"""Which files runners look for tests in, and what becomes of tests that leave them."""

from __future__ import annotations

import pytest

from policyd.core.collecting import collected, is_found, patterns
from policyd.core.content import Changed
from policyd.core.kin import kin
from policyd.core.sheet import Setting, Sheet, Test

A = Sheet(tests=(Test("test_a", 1, "a"),))


def moved(old: str, new: str, after: Sheet = A) -> list[Changed]:
    return [Changed(old, ("tests",), None, (A,)), Changed(new, ("tests",), after, is_new=True)]


@pytest.mark.parametrize(("path", "is_it"), [
    ("tests/test_a.py", True), ("tests/a_test.py", True), ("tests/checks.py", False),
    ("tests/a.test.ts", True), ("src/a.spec.jsx", True), ("src/__tests__/a.js", True),
    ("test/a-test.mjs", True), ("test/a.js", False), ("tests/contest.py", False),
])
def test_which_files_are_read(path, is_it):
    assert is_found(path, ()) is is_it


@pytest.mark.parametrize(("old", "new", "goes"), [
    ("tests/test_a.py", "tests/test_b.py", False), ("tests/test_a.py", "tests/a_checks.py", True),
    ("tests/checks.py", "tests/others.py", False), ("test/a.spec.ts", "test/a.ts", True),
    ("test/a.js", "test/b.js", False),
])
def test_a_test_that_moves(old, new, goes):
    found = collected(kin(moved(old, new)), ())
    assert [after.path for _, after in found.away] == ([new] if goes else [])
    assert [after.path for _, after in found.kin.pairs] == ([] if goes else [new])


def test_settings_may_name_the_files():
    ini = Changed("pytest.ini", ("wiring",), Sheet(settings=(
        Setting("pytest.python_files", "test_*.py *_checks.py", 2),)))
    assert patterns([ini]) == ("test_*.py", "*_checks.py")
    assert not collected(kin(moved("tests/test_a.py", "tests/a_checks.py")), patterns([ini])).away


def test_what_no_runner_reads_takes_no_place():
    other = Sheet(tests=(Test("test_b", 1, "b"),))
    found = collected(kin(moved("tests/test_a.py", "tests/a_checks.py", other)), ()).kin
    assert ([one.test.name for one in found.lost], found.gained) == (["test_a"], ())
