"""Functions that stand at the top of a Python file, found without running it."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read

from policyd.core.rows import Parsed, Record
from policyd.records import load


def functions(text: str | bytes) -> tuple[str, ...]:
    parsed = load(Record.RELATIONS, "oracle/relations/x.py",
                  text.encode() if isinstance(text, str) else text)
    assert parsed == Parsed(functions=parsed.functions)
    return parsed.functions


@pytest.mark.parametrize(("source", "names"), [
    ("def a(): pass\ndef b (x):\n  return 1\n", ("a", "b")),
    ("def a(): pass\r\ndef b(): pass\rdef c(): pass", ("a", "b", "c")),
    ("\ufeffdef a(): pass", ("a",)),
    ("def  a\t(): pass", ("a",)),
    ("def b(): pass\ndef a(): pass\ndef b(): pass", ("a", "b")),
    ("\x0cdef a(): pass", ("a",)),
    ("if x:\n  def a(): pass", ()),
    ("class A:\n    def a(self): pass", ()),
    ("async def a(): pass", ()),
    ("# def a():\n'def b():'\n\"def c():\"", ()),
    ('"""\ndef a(): pass\n"""\ndef b(): pass', ("b",)),
    ("'''\ndef a(): pass\n\\'''\ndef x(): pass'''\ndef b(): pass", ("b",)),
    ('x = "\\""\ndef a(): pass', ("a",)),
    ("x = '\"\"\"'\ndef a(): pass", ("a",)),
    ("x = \"it's\"  # don't\ndef a(): pass", ("a",)),
    ('# """\ndef a(): pass\n# """', ("a",)),
    ("x = ''\ndef a(): pass\ny = ''", ("a",)),
    ("def ﬁt(): pass", ("fit",)),
    ("define(): pass\nundef a(): pass", ()),
    (b"def a(): pass\n\xff\ndef b(): pass", ("a", "b")),
    (b"\0", ()), ("", ()), ("def", ()), ("def (", ()), ('"""', ()),
])
def test_only_what_python_would_define_at_the_top_is_found(source, names):
    assert functions(source) == names


LINES = ["def a(): pass", "def b(x, y='\"'): return x", '"""', "'''", "x = 'def c():'", "  y = 1",
         "# it's", "class C:", "    def d(self): pass", "z = '\\''", "", 'f"""{1}"""', "def e(",
         "): pass", '""', "''"]


@given(st.lists(st.sampled_from(LINES), max_size=8))
def test_where_python_can_read_a_file_both_find_the_same(lines):
    text = "\n".join(lines)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        functions(text)
        return
    assert functions(text) == tuple(sorted({
        node.name for node in tree.body if isinstance(node, ast.FunctionDef)}))


def test_a_python_file_too_large_to_be_read_is_a_fault():
    assert load(Record.RELATIONS, "x.py", b" " * (8 * 1024 * 1024 + 1)).faults[0].message == \
        "larger than 8,388,608 bytes"


def test_a_python_file_is_one_among_relation_tables_alone():
    assert read(Record.RELATIONS, "def a(): pass").faults
