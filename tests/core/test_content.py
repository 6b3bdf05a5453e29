from __future__ import annotations

import pytest

from policyd.core.content import Changed, Content, gained, leads_to, lost
from policyd.core.sheet import Sheet, Test


def sheet(*names: str) -> Sheet:
    return Sheet(tests=tuple(Test(name, 1, name) for name in names))


def names(found: object) -> list[tuple[str, str]]:
    return [(file.path, test.name) for file, test in found]  # type: ignore[attr-defined]


def file(path: str, after: Sheet | None, *before: Sheet,
         elsewhere: tuple[Sheet, ...] = ()) -> Changed:
    return Changed(path, ("tests",), after, before, elsewhere)


def both(*files: Changed) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    def tests(one: Sheet) -> tuple[Test, ...]:
        return one.tests

    def name(test: Test) -> str:
        return test.name
    return names(gained(files, tests, name)), names(lost(files, tests, name))


def test_what_comes_is_gained_and_what_goes_is_lost():
    assert both(file("a", sheet("x", "new"), sheet("x", "old"))) == (
        [("a", "new")], [("a", "old")])
    assert both(file("a", sheet("x"))) == ([("a", "x")], [])
    assert both(file("a", None, sheet("x"))) == ([], [("a", "x")])


def test_what_moves_is_neither():
    assert both(file("a", None, sheet("x")), file("b", sheet("x"))) == ([], [])


def test_what_another_branch_holds_is_no_gain_and_keeps_nothing():
    assert both(file("a", sheet("x"), sheet(), elsewhere=(sheet("x"),))) == ([], [])
    assert both(file("a", sheet(), sheet("x"), elsewhere=(sheet("x"),))) == ([], [("a", "x")])


def test_where_sides_conflict_only_what_all_held_is_lost():
    assert both(file("a", sheet(), sheet("x", "y"), sheet("y", "z"))) == ([], [("a", "y")])


def test_files_by_zone():
    content = Content((file("a", sheet()), Changed("b", ("source",), None)))
    assert [one.path for one in content.of("source")] == ["b"]


@pytest.mark.parametrize(("file", "path", "base", "where"), [
    ("src/a.py", "oracle/x.json", "root", ("oracle/x.json",)),
    ("src/a.py", "oracle/x.json", "", ("oracle/x.json",)),
    ("src/a.py", "../oracle/x.json", "file", ("oracle/x.json",)),
    ("src/a.py", "x.json", "unknown", ("x.json", "src/x.json")),
    ("src/a.py", "**/oracle/x.json", "unknown",
     ("**/oracle/x.json", "src/**/oracle/x.json", "oracle/x.json")),
    ("src/a.py", "../../oracle/x.json", "file", ()),
    ("src/a.py", "../x.json", "root", ()),
    ("src/a.py", "/etc/passwd", "root", ()),
    ("tests/p/test_a.py", "../../oracle/receipts/*.json", "file", ("oracle/receipts/*.json",)),
    ("tests/p/test_a.py", "oracle/receipts/*/../../x", "root", ()),
    ("test_a.py", "x.json", "file", ("x.json",)),
    ("test_a.py", "..", "file", ()),
    ("test_a.py", ".", "root", (".",)),
])
def test_where_a_path_leads(file, path, base, where):
    assert leads_to(file, path, base) == where
