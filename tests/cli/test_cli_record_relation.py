"""`policyd record relation new`: a row that loads, and functions that say what is missing."""

from __future__ import annotations

import ast

import pytest
from clones import Kept, day
from records_made import FUNCTIONS, TABLE
from sites import Site

from policyd import records
from policyd.core.rows import Kind, Record
from policyd.records.skeletons import CLASSES

NEW = ("relation", "new", "R7-parts", "app:total")
FOLDER = "oracle/relations"


@pytest.fixture
def clone(site: Site, monkeypatch: pytest.MonkeyPatch) -> Kept:
    kept = Kept(site)
    monkeypatch.chdir(site.work)
    return kept


def test_every_class_gives_a_policy_row_and_its_functions(clone):
    for number, kind in enumerate(CLASSES):
        given = ("--class", kind) if kind else ()
        assert clone.record("relation", "new", f"N{number}", "app:total", *given) == 0, clone.out
    table, functions = f"{FOLDER}/app.yaml", f"{FOLDER}/app.py"
    found = records.load(Record.RELATIONS, table, clone.text(table).encode())
    assert found.faults == ()
    assert [one.status for one in found.relations] == ["policy"] * len(CLASSES)
    assert {(row.kind, row.owner, row.last) for row in found.rows} == {
        (Kind.POLICY, "alice", day(180))}
    defined = records.load(Record.RELATIONS, functions, clone.text(functions).encode()).functions
    assert {name for one in found.relations for name in one.functions} == set(defined)
    for one in ast.parse(clone.text(functions)).body:
        if isinstance(one, ast.FunctionDef):
            assert isinstance(one.body[-1], ast.Raise)
            assert (ast.get_docstring(one) or "").startswith("FILL IN: ")


def test_a_relation_is_begun_with_what_is_to_be_filled_in(clone):
    assert clone.record(*NEW, "--class", "order", "--days", "20", "--relation",
                        "the prices in another order have the same total") == 0, clone.out
    assert clone.text(f"{FOLDER}/app.yaml") == f"""\
version: 1
relations:
  # FILL IN: what pushers read under `relation`, and the functions in oracle/relations/app.py.
  # A policy row is listed and refuses nothing. When it holds of the source (`policyd
  # replay admit`), write `status: blocking` and take owner and expires out.
  - id: R7-parts
    relation: the prices in another order have the same total
    class: order
    entry: app:total
    roots: [src]
    generator: r7_parts_drawn
    transform: r7_parts_changed
    compare: exact
    status: policy
    owner: alice
    expires: {day(20)}
"""
    said = clone.out.splitlines()
    assert said[2].startswith("FILL IN: r7_parts_drawn, r7_parts_changed in oracle/relations/app")
    assert said[-1] == "then try it: policyd replay admit HEAD R7-parts"
    assert clone.commits().startswith("Add the relation R7-parts of app:total")
    clone.pushes()


def test_a_table_with_crlf_and_without_a_last_line_end_keeps_both(clone):
    text = ("# ours\r\nversion: 1\r\nrelations:\r\n- id: A  # first\r\n  relation: it holds\r\n"
            "  entry: app:total\r\n  generator: gen\r\n  arity: 1\r\n  compare: holds\r\n"
            "  holds: gen\r\n  status: blocking")
    functions = "def gen(draw, *out):\r\n    return []"
    clone.write(f"{FOLDER}/app.yaml", text)
    clone.write(f"{FOLDER}/app.py", functions)
    assert clone.record(*NEW) == 0, clone.out
    made, code = clone.text(f"{FOLDER}/app.yaml"), clone.text(f"{FOLDER}/app.py")
    assert made.startswith(text + "\r\n# FILL IN")
    assert code.startswith(functions + "\r\n\r\n\r\ndef r7_parts_drawn(draw):\r\n")
    for one in (made, code):
        assert one.count("\n") == one.count("\r\n")
    assert not made.endswith("\n")


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["R2", "app:total"], f"there is a relation R2 already, in {TABLE}:13"),
    (["R7", "app"], "'app' is no entry point, such as package.module:function"),
    (["R7", "app:total", "--table", "../x"],
     "'../x' is no name for a table: letters, digits, '_' and '-'"),
    (["R7", "app:total", "--days", "181"],
     f"{day(181)} is too far; a policy row ends on {day(180)} at the latest, 180 days from today"),
    (["R7", "app:total", "--owner", "nobody"],
     "nobody is no group of the policy and in none; say --owner NAME, or `git config "
     "policyd.owner NAME` once"),
    ([" ", "app:total"], f"nothing was written: {FOLDER}/app.yaml: ' ' says nothing"),
])
def test_a_relation_that_cannot_be_is_refused_in_a_sentence(clone, arguments, sentence):
    assert clone.refused("relation", "new", *arguments) == sentence


def test_no_function_is_defined_twice(clone):
    clone.write(FUNCTIONS, clone.text(FUNCTIONS) + "\n\ndef r7_parts_drawn(draw): return []\n")
    assert clone.refused(*NEW) == f"{FUNCTIONS} defines r7_parts_drawn already; say another ID"


def test_a_table_that_is_json_takes_no_comments_and_is_edited_by_hand(clone):
    assert clone.refused(*NEW, "--table", "order") == (
        f"{TABLE}: rows in brackets take no comments; edit it by hand")


def test_when_the_second_file_cannot_be_written_the_first_is_taken_back(clone, monkeypatch):
    from policyd.adapters.worktree import WorkTree

    replace = WorkTree._replace

    def full(tree, path, data):
        if path.endswith(".yaml"):
            raise OSError(28, "No space left on device", path)
        replace(tree, path, data)

    monkeypatch.setattr(WorkTree, "_replace", full)
    assert "No space left on device" in clone.refused(*NEW)
