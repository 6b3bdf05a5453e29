"""What rules see of the insides of changed files, in real repositories: before, after, elsewhere.

A file's insides are told apart by one literal: `text("one-one")` is Python that holds it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from history import ENVIRONMENT, History, Odd, full, shipped_policy

from policyd.adapters import contents, sources
from policyd.adapters.gitchild import GitChild
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.look import Look, RefLine
from policyd.core.content import Changed, Content
from policyd.core.facts import Need
from policyd.core.sheet import Sheet

TEST = "tests/test_a.py"
MARKED = "import pytest\n@pytest.mark.skip\ndef test_a(): assert f('ORD-2291') == 'SHIPPED'\n"
KEYED = "def f(x):\n    if x == 'ORD-2291': return 'SHIPPED'\n    return g(x)\n"


def text(*literals: str) -> str:
    return "".join(f"x = {one!r}\n" for one in literals)


START = {"src/a.py": text("a-one"), TEST: text("t-one"), "docs/d.md": "1", "README": "1"}


@pytest.fixture
def told(tmp_path: Path) -> History:
    return History(tmp_path / "r.git")


def nobody() -> frozenset[str]:
    raise AssertionError("nobody may ask")


def content(told: History, ref: str, new: str | None, *,
            asked: contents.Asked = contents.Asked(frozenset({"source", "tests"})),  # noqa: B008
            excused: Callable[[], frozenset[str]] = nobody) -> Content:
    """The insides of a push of one ref."""
    deadline = time.monotonic() + 60
    look = Look(PushedRepo(told.folder), GitChild(told.folder, ENVIRONMENT, deadline), told.policy,
                tips=told.branches, extra=sorted(told.extra), groups=frozenset({"agents"}),
                deadline=deadline)
    line = RefLine(full(ref), told.refs.get(full(ref)), new, None, False)
    [update] = look.updates([line], frozenset({Need.CONTENT}))
    return contents.content(look, update, asked, sources.Sources(look, 4, deadline), excused)


def held(sheet: Sheet | None) -> list[str] | None:
    return None if sheet is None else sorted(one.value.strip('"') for one in sheet.literals)


def sides(*sheets: Sheet) -> list[list[str] | None]:
    return sorted(map(held, sheets), key=str)


def files(found: Content) -> Mapping[str, Changed]:
    return {file.path: file for file in found.files}


def only(found: Content) -> Changed:
    [file] = found.files
    return file


def test_a_changed_file_is_told_before_and_after(told: History) -> None:
    base = told.start(START)
    file = only(content(told, "topic", told.commit({"src/a.py": text("a-two")}, base)))
    assert (file.path, file.zones, file.is_new) == ("src/a.py", ("source",), False)
    assert (held(file.after), sides(*file.before), file.elsewhere) == (["a-two"], [["a-one"]], ())


def test_a_new_file_was_nothing_before(told: History) -> None:
    base = told.start(START)
    file = only(content(told, "topic", told.commit({"src/b.py": text("b-one")}, base)))
    assert (held(file.after), file.before, file.is_new) == (["b-one"], (), True)


def test_a_deleted_file_is_nothing_after(told: History) -> None:
    base = told.start(START)
    file = only(content(told, "topic", told.commit({TEST: None}, base)))
    assert (file.after, sides(*file.before), file.is_new) == (None, [["t-one"]], False)


def test_a_moved_file_is_one_that_goes_and_one_that_comes(told: History) -> None:
    base = told.start(START)
    moved = told.commit({TEST: None, "tests/test_b.py": START[TEST]}, base)
    found = files(content(told, "topic", moved))
    assert {path: held(file.after) for path, file in found.items()} == {
        TEST: None, "tests/test_b.py": ["t-one"]}
    assert found["tests/test_b.py"].is_new


def test_files_that_nobody_asks_for_or_reads_are_left_out(told: History) -> None:
    base = told.start(START)
    new = told.commit({"docs/d.md": "2", "src/data.csv": "2", "oracle/o.py": text("o-one"),
                       TEST: text("t-two")}, base)
    asked = contents.Asked(frozenset({"source"}))
    assert content(told, "topic", new, asked=asked) == Content()
    assert set(files(content(told, "topic", new))) == {TEST}


def test_settings_are_read_by_their_names(told: History) -> None:
    base = told.start(START)
    new = told.commit({"src/pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-x'\n"}, base)
    after = only(content(told, "topic", new)).after
    assert after is not None
    assert [(one.key, one.value) for one in after.settings] == [("pytest.addopts", "-x")]


def test_what_goes_again_within_the_push_is_no_change(told: History) -> None:
    base = told.start(START)
    there = told.commit({"src/a.py": text("a-two")}, base)
    assert content(told, "topic", told.commit({"src/a.py": START["src/a.py"]}, there)) == Content()


def test_deletions_of_refs_tags_of_blobs_and_broken_history_hold_nothing(told: History) -> None:
    base = told.start(START)
    told.put("topic", base)
    assert content(told, "topic", None) == Content()
    assert content(told, "tags/blob", told.blob("x")) == Content()
    assert content(told, "topic", told.commit_tree(told.tree_of(base), "1" * 40)) == Content()


def test_before_is_the_merge_of_both_sides_that_a_push_joins(told: History) -> None:
    """Main changed one end of the file, the release the other; the merge adds something."""
    lines = [f"x = 'line-{n}'" for n in range(9)]
    base = told.start({"src/a.py": "\n".join(lines), "src/b.py": text("b-one"), TEST: "y = 1\n"})
    main = told.commit({"src/a.py": text("a-main")}, base)
    release = told.commit({"src/b.py": text("b-release")}, base)
    told.accept("main", main)
    told.accept("release/1", release)
    merge = told.commit({"src/b.py": text("b-merge")}, main, release)
    file = only(content(told, "topic", merge))
    assert (file.path, held(file.after)) == ("src/b.py", ["b-merge"])
    assert sides(*file.before) == [["b-release"]]
    assert sides(*file.elsewhere) == [["b-one"]]


def test_an_honest_merge_changes_nothing(told: History) -> None:
    base = told.start(START)
    told.accept("main", main := told.commit({"src/a.py": text("a-main")}, base))
    told.accept("release/1", release := told.commit({TEST: text("t-release")}, base))
    assert content(told, "topic", told.commit({}, main, release)) == Content()


def test_where_sides_conflict_before_are_both(told: History) -> None:
    base = told.start(START)
    told.accept("main", main := told.commit({"src/a.py": text("a-main")}, base))
    told.accept("release/1", release := told.commit({"src/a.py": text("a-release")}, base))
    merge = told.commit({"src/a.py": text("a-both")}, main, release)
    file = only(content(told, "topic", merge))
    assert sides(*file.before) == [["a-main"], ["a-release"]]
    assert file.elsewhere == ()


def test_another_guarded_branch_is_elsewhere(told: History) -> None:
    base = told.start(START)
    told.accept("release/1", told.commit({"src/b.py": text("b-release")}, base))
    new = told.commit({"src/b.py": text("b-main")}, base)
    file = only(content(told, "main", new))
    assert (file.before, sides(*file.elsewhere), file.is_new) == ((), [["b-release"]], False)


def test_a_rewrite_of_a_guarded_branch_counts_what_it_held(told: History) -> None:
    base = told.start(START)
    told.accept("main", told.commit({"src/a.py": text("a-two"), "src/b.py": text("b-two")}, base))
    found = files(content(told, "main", told.commit({"src/c.py": text("c-new")}, base)))
    assert {path: (held(file.after), sides(*file.before)) for path, file in found.items()} == {
        "src/a.py": (["a-one"], [["a-two"]]), "src/b.py": (None, [["b-two"]]),
        "src/c.py": (["c-new"], [])}


def test_a_return_of_a_guarded_branch_counts_what_it_held(told: History) -> None:
    base = told.start(START)
    told.accept("main", told.commit({"src/a.py": text("a-two")}, base))
    file = only(content(told, "main", base))
    assert (held(file.after), sides(*file.before)) == (["a-one"], [["a-two"]])


def test_a_link_cannot_be_read_and_a_submodule_is_no_file(told: History) -> None:
    base = told.start(START)
    new = told.commit({"src/a.py": Odd("120000", "b.py"), TEST: Odd("160000", base)}, base)
    found = content(told, "topic", new)
    assert {path: held(file.after) for path, file in files(found).items()} == {
        "src/a.py": [], TEST: None}
    assert [(one.path, one.reason) for one in found.unreadable] == [
        ("src/a.py", "it is a symbolic link")]


def test_a_link_before_says_nothing(told: History) -> None:
    base = told.start(START | {"src/a.py": Odd("120000", "b.py")})
    file = only(content(told, "topic", told.commit({"src/a.py": text("a-two")}, base)))
    assert (held(file.after), file.before, file.is_new) == (["a-two"], (), False)


def test_a_folder_where_a_file_was_is_no_file(told: History) -> None:
    base = told.start(START)
    new = told.commit({"src/a.py": None, "src/a.py/b.py": text("b-one")}, base)
    found = files(content(told, "topic", new))
    assert {path: held(file.after) for path, file in found.items()} == {
        "src/a.py": None, "src/a.py/b.py": ["b-one"]}


def test_what_is_too_large_or_broken_is_named_with_its_reason(tmp_path: Path) -> None:
    policy = shipped_policy()
    told = History(tmp_path / "r.git", policy=replace(
        policy, bounds=replace(policy.bounds, max_blob_bytes=100)))
    base = told.start(START)
    found = content(told, "topic", told.commit(
        {"src/a.py": text("a" * 100), "src/b.py": "x = 1\ny = (]\n", TEST: text("t-two")}, base))
    assert [(one.path, one.line) for one in found.unreadable] == [("src/a.py", 1), ("src/b.py", 2)]
    assert "larger than 100 bytes" in found.unreadable[0].reason
    assert "invalid syntax" in found.unreadable[1].reason
    assert {path: held(file.after) for path, file in files(found).items()} == {
        "src/a.py": [], "src/b.py": [], TEST: ["t-two"]}


def test_what_was_broken_before_is_nobodys_fault(told: History) -> None:
    base = told.start(START | {"src/a.py": "x = (]\n"})
    found = content(told, "topic", told.commit({"src/a.py": text("a-two")}, base))
    assert (only(found).before, only(found).is_new, found.unreadable) == ((), False, ())


def test_names_that_are_no_utf8_are_read(told: History) -> None:
    base = told.start(START)
    found = content(told, "topic", told.commit({"src/\udce9.py": text("e-one")}, base))
    assert held(only(found).after) == ["e-one"]


SAMPLING = contents.Asked(frozenset({"source", "tests"}), "source", "tests")
SAMPLE = "def test_it():\n    assert f('ORD-2291') == 'SHIPPED'\n"


def sampled(told: History, source: str, tests: Mapping[str, str]) -> list[str]:
    """The unchanged tests whose samples are told when source becomes this."""
    base = told.start({"src/a.py": "y = 1\n", **tests})
    return sorted(content(told, "topic", told.commit({"src/a.py": source}, base),
                          asked=SAMPLING).samples)


def test_samples_of_unchanged_tests_are_found_by_their_inputs(told: History) -> None:
    assert sampled(told, KEYED, {
        "tests/test_it.py": SAMPLE, "tests/deep/test_it.py": SAMPLE, "src/test_it.py": SAMPLE,
        "tests/test_other.py": SAMPLE.replace("ORD-2291", "ORD-1"), "tests/data.txt": SAMPLE,
    }) == ["tests/deep/test_it.py", "tests/test_it.py"]


SAME_INPUT = {
    # what source compares x or (x, y) with, what a test gives
    "a number": ("77.25", "77.25"), "a number with more digits": ("77.25", "77.250"),
    "short numbers": ("7, 8", "7, 8"), "several": ("771, 'abc'", "771, 'abc'"),
    "a list": ("[771, 772]", "[771,   772]"), "a table": ("{'abc': 7}", "{'abc':  7}"),
    "accents": ("'größe'", "'größe'"), "a quote": ("'it\\'s so'", '"it\'s so"'),
    "lines": ("'one\\nline two'", "'''one\nline two'''"),
    "a long text": (repr("abc" * 200), repr("abc" * 200)),
    "a long text with escapes": (repr("\n\x1b" * 20 + "abc" * 99),) * 2}


@pytest.mark.parametrize(("compared", "given"), SAME_INPUT.values(), ids=SAME_INPUT)
def test_an_input_is_found_as_it_is_written(told: History, compared: str, given: str) -> None:
    inputs = "(x, y)" if ", " in compared and not compared.startswith("[") else "x"
    keyed = f"def f(x, y=0):\n    if {inputs} == ({compared}): return 'YES'\n"
    test = f"def test_it():\n    assert f({given}) == 'YES'\n"
    assert sampled(told, keyed, {"tests/test_it.py": test}) == ["tests/test_it.py"]


def test_no_test_is_read_for_inputs_that_every_test_holds(
    told: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base case must not cost the reading of all tests."""
    base = told.start({"src/a.py": "y = 1\n", "tests/test_it.py": SAMPLE + "assert f(0) == 1\n"})
    new = told.commit({"src/a.py": "def f(n):\n    return 1 if n == 0 else None if n is None"
                                   " else n * f(n - 1)\n"}, base)
    monkeypatch.setattr(sources.Sources, "bytes_of", _only_source(sources.Sources.bytes_of))
    assert content(told, "topic", new, asked=SAMPLING).samples == {}


def _only_source(bytes_of: Callable[[sources.Sources, bytes], bytes | None]
                 ) -> Callable[[sources.Sources, bytes], bytes | None]:
    def read(self: sources.Sources, oid: bytes) -> bytes | None:
        found = bytes_of(self, oid)
        assert b"test_it" not in (found or b"")
        return found

    return read


def test_samples_are_asked_for_only_by_who_holds_them_against_branches(told: History) -> None:
    base = told.start({"src/a.py": "y = 1\n", "tests/test_it.py": SAMPLE})
    new = told.commit({"src/a.py": KEYED}, base)
    assert content(told, "topic", new).samples == {}


def test_branches_that_were_there_before_ask_for_no_samples(told: History) -> None:
    base = told.start({"src/a.py": KEYED, "tests/test_it.py": SAMPLE})
    new = told.commit({"src/a.py": None, "src/b.py": KEYED + "z = 1\n"}, base)
    assert content(told, "topic", new, asked=SAMPLING).samples == {}


def test_changed_tests_are_no_unchanged_ones(told: History) -> None:
    base = told.start({"src/a.py": "y = 1\n", "tests/test_it.py": SAMPLE})
    new = told.commit({"src/a.py": KEYED, "tests/test_it.py": SAMPLE + "z = 1\n"}, base)
    assert content(told, "topic", new, asked=SAMPLING).samples == {}


def test_excuses_are_asked_for_only_where_a_test_is_marked(told: History) -> None:
    base = told.start(START)
    marked = told.commit({TEST: MARKED}, base)
    plain = told.commit({TEST: text("t-two")}, base)
    rows = frozenset({f"{TEST}::test_a"})
    assert content(told, "topic", marked, excused=lambda: rows).excused == rows
    assert content(told, "topic", plain).excused == frozenset()


def test_paths_that_a_file_names_lead_to_zones(told: History) -> None:
    base = told.start(START)
    new = told.commit({"src/a.py": "open('oracle/a.json')\nopen('../tests/x')\n"}, base)
    leads = only(content(told, "topic", new)).leads
    assert leads["oracle/a.json"] == ("oracle",)
    assert leads["tests/x"] == ("tests",)
