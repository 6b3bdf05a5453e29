"""Which tests a Python file holds: names, bodies, cases, and what they need."""

from __future__ import annotations

import string
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyd.core.sheet import Test
from policyd.languages import python_tests
from policyd.languages.literal import Unparseable
from policyd.languages.python import sheet


def read(source: str) -> dict[str, Test]:
    return {one.name: one for one in sheet(textwrap.dedent(source).encode(), 6).tests}


FOUND = [
    ("def test_it(): pass", ["test_it"]),
    ("async def test_it(): pass", ["test_it"]),
    ("def testing(): pass", ["testing"]),
    ("def check_it(): pass", []),
    ("def test_it(): pass\ndef test_it(): assert 1", ["test_it"]),
    ("if x:\n    def test_it(): pass", ["test_it"]),
    ("if False:\n    def test_it(): pass", []),
    ("def outer():\n    def test_it(): pass", []),
    ("@pytest.fixture\ndef test_data(): pass", []),
    ("class TestA:\n    def test_it(self): pass", ["TestA::test_it"]),
    ("class TestA:\n    def __init__(self): pass\n    def test_it(self): pass", []),
    ("class A:\n    def test_it(self): pass", []),
    ("class A(TestCase):\n    def test_it(self): pass", ["A::test_it"]),
    ("import unittest\nclass A(unittest.IsolatedAsyncioTestCase):\n    def test_it(self): pass",
     ["A::test_it"]),
    ("class Base(TestCase):\n    pass\nclass A(Base):\n    def test_it(self): pass",
     ["A::test_it"]),
    ("class Mixin:\n    def test_it(self): pass\nclass TestA(Mixin):\n    pass",
     ["TestA::test_it"]),
    ("class TestA:\n    class TestB:\n        def test_it(self): pass", ["TestA::TestB::test_it"]),
    ("class TestA:\n    class B:\n        def test_it(self): pass", []),
]


@pytest.mark.parametrize(("source", "names"), FOUND, ids=[row[0] for row in FOUND])
def test_tests_are_found_as_their_runner_finds_them(source, names):
    assert list(read(source)) == names


ONE = """
def test_it(cart, a):
    total = cart.sum(a)
    for item in [x for x in cart]:
        total += item.price
    assert total == 'seven'
"""
SAME = [
    ONE,
    ONE.replace("test_it", "test_that"),
    ONE.replace("item", "thing").replace("total", "found").replace("[x for x", "[y for y"),
    ONE.replace("'", '"'),
    ONE.replace("(a)", "( a )").replace("    total =", "    # a remark\n    total ="),
    ONE.replace("    total =", "    '''A docstring.'''\n    total ="),
    "import pytest\n\n@pytest.mark.slow" + ONE,
    "class TestA:" + textwrap.indent(ONE, "    "),
    ONE.replace("total = ", "total: int = ").replace("total: int = cart", "total = cart"),
]
OTHER = [
    ONE.replace("'seven'", "'eight'"),
    ONE.replace("==", "!="),
    ONE.replace("cart.sum", "cart.max"),
    ONE.replace("(a)", "(1)"),
    ONE.replace("    assert total == 'seven'\n", ""),
    ONE.replace("total += item.price", "pass"),
]


def body(source: str) -> str:
    (one,) = read(source).values()
    return one.body


@pytest.mark.parametrize("source", SAME)
def test_a_body_is_the_same_wherever_it_stands(source):
    assert body(source) == body(ONE)


@pytest.mark.parametrize("source", OTHER)
def test_another_body_is_another_one(source):
    assert body(source) != body(ONE)


NAMES = st.text(string.ascii_lowercase, min_size=3, max_size=8).map(lambda name: f"v_{name}")


@settings(max_examples=40, deadline=None)
@given(st.lists(NAMES, min_size=3, max_size=3, unique=True), st.integers(0, 3), st.booleans())
def test_names_of_locals_layout_and_place_change_neither_body_nor_claims(names, blanks, inside):
    made = textwrap.dedent("""
        def test_{3}({4}cart):
            {0} = cart.sum(2)
            {1} = [{2} * 2 for {2} in {0}.rows]
            {2} = 1
            while {2} < 9:
                {2} += 1
            assert {0} == 7 and {1}
            assert {2} == {0}.count
    """)
    lines = made.format(*names, "renamed", "self, " if inside else "")
    lines = lines.replace(" == ", " " * blanks + "==")
    moved = "class TestA:\n" + textwrap.indent("\n" * blanks + lines, "    ") if inside else lines
    (first,) = read(made.format("a", "b", "c", "it", "")).values()
    (second,) = read(moved).values()
    assert second.body == first.body
    assert [(one.kind, one.form, one.subject) for one in second.assertions] == [
        (one.kind, one.form, one.subject) for one in first.assertions]


CASES = [
    ("@pytest.mark.parametrize('a', [1, 2, 3])", 3),
    ("@pytest.mark.parametrize('a,b', [(1, 2), (3, 4)])", 2),
    ("@pytest.mark.parametrize('a', [1, 2])\n@pytest.mark.parametrize('b', 'xyz')", 6),
    ("@pytest.mark.parametrize('a', range(5))", 5),
    ("@pytest.mark.parametrize('a', ROWS)", 4),
    ("@pytest.mark.parametrize('a', [*ROWS, 5])", 5),
    ("@pytest.mark.parametrize('a', BY_NAME.items())", 2),
    ("@pytest.mark.parametrize('a', made())", 1),
    ("@pytest.mark.parametrize('a', [])", 0),
    ("@pytest.mark.parametrize(argvalues=[1, 2], argnames='a')", 2),
    ("@pytest.mark.slow", 1),
]


@pytest.mark.parametrize(("decorators", "count"), CASES, ids=[row[0] for row in CASES])
def test_cases_are_counted_as_far_as_they_are_written_out(decorators, count):
    module = "ROWS = (1, 2, 3, 4)\nBY_NAME = {'a': 1, 'b': 2}\n"
    assert read(f"{module}{decorators}\ndef test_it(a, b): pass")["test_it"].cases == count


def test_cases_of_a_class_count_for_each_of_its_tests():
    source = "@m.parametrize('a', [1, 2])\nclass TestA:\n    def test_it(self, a): pass"
    assert read(source)["TestA::test_it"].cases == 2


NEEDS = '''
import json
import shop.tax
import shop.app as app
from shop.cart import Cart, other
from . import helpers
from .made import thing
import pytest

CLIENT = Cart()
UNUSED = other

def check(p):
    helpers.check(p)

@pytest.fixture
def cart():
    return thing()

def test_plain(): assert app.total(1)
def test_submodule(): assert shop.tax.rate
def test_constant(): assert CLIENT
def test_helper(): check(1)
def test_fixture(cart): pass
@pytest.mark.parametrize("x", [json])
def test_decorated(x): pass

class TestA:
    def setup_method(self):
        self.app = app
    def helper(self):
        return thing
    def test_it(self): assert self.helper()
'''


def test_a_test_needs_what_it_and_its_helpers_name():
    found = {name: one.uses for name, one in read(NEEDS).items()}
    assert found == {
        "test_plain": ("shop.app",),
        "test_submodule": ("shop", "shop.tax"),
        "test_constant": ("shop.cart.Cart",),
        "test_helper": (".helpers",),
        "test_fixture": (".made.thing", "pytest"),
        "test_decorated": ("json", "pytest"),
        "TestA::test_it": (".made.thing", "shop.app"),
    }


def test_imports_are_told_wherever_they_stand():
    source = b"""
import os, shop.app as app
from shop.cart import Cart
from . import helpers
from ..made import thing
import importlib
def f():
    import late
    importlib.import_module("shop.plugins")
    importlib.import_module("tests." + "cases")
    __import__(HELD)
    runpy.run_module(unknown)
import runpy
HELD = "tests.held"
"""
    assert sheet(source, 6).imports == (
        "..made", ".helpers", "importlib", "late", "os", "runpy", "shop.app",
        "shop.cart", "shop.plugins", "tests.cases", "tests.held")


HOSTILE = [
    "def test_it():\n" + "".join(f"  {'x' * n}1 = 1\n" for n in range(1, 300)),
    "def test_it(x):\n  if x: pass\n" + "  elif x: assert x\n" * 3000,
    "def test_it(x):\n  assert " + "not " * 200 + "x",
    "def test_it(x):\n  assert " + " + ".join(["x"] * 900) + " == 1",
    "def test_it(x):\n  assert " + " and ".join(["x"] * 3000),
    "def test_it(x):\n  assert x" + ".a" * 900,
    "def test_it(x):\n  assert x" + "(1)" * 900,
    "def test_it(x):\n  assert " + "(x == 1) is " * 100 + "True",
    "def test_it(x):\n  assert " + "all(y for y in " * 60 + "x" + ")" * 60,
    "def test_it():\n  a = b\n  b = a\n  assert a == b",
    "def f(x):\n  g(x)\n  assert x\ndef g(x):\n  f(x)\n  f(x)\ndef test_it(x):\n" + "  f(x)\n" * 99,
    "a = b\nb = a\n@a.skip\n@b\ndef test_it(): pass",
    "class A(B): pass\nclass B(A):\n  def test_it(self): pass",
    "from pytest import mark as mark\nmark = mark.mark\n@mark.skip\ndef test_it(): pass",
    "def test_it(a, a_, *b, c=1, **d): assert a",
    "@pytest.mark.parametrize('a', range(10 ** 18))\ndef test_it(a): pass",
    "@pytest.mark.parametrize()\ndef test_it(a): pass",
    "pytest.mark.skipif()\npytest.raises()\nself.assertEqual()\nassertRaises(x=1)\npatch()\n",
    "def test_\u00e9t\u00e9(\u00fc): assert \u00fc.\u00e4 == '\u00f6'",
    "class TestA:\n  def test_it(): assert x\n  async def setUp(*, a): pass",
    "match x:\n  case {'a': [b, *c], **d} if b: assert c\n  case A(b=1) | 2: pass",
    "def test_it():\n  assert f'{x!r:>{y}}' == f''",
    '"""\n>>> f(1)\n2\n>>> (((\n3\n"""',
]


@pytest.mark.parametrize("source", HOSTILE, ids=range(len(HOSTILE)))
def test_odd_source_is_read_or_refused(source):
    try:
        found = sheet(source.encode(), 6)
    except Unparseable:
        return
    texts = [one.name for one in found.tests]
    texts += [one.form for test in found.tests for one in test.assertions]
    texts += [marker.says for marker in found.markers]
    assert all(text.isascii() and text.isprintable() and len(text) <= 256 for text in texts)


def test_a_file_of_too_many_claims_is_refused(monkeypatch):
    monkeypatch.setattr(python_tests, "_MOST", 50)
    source = "".join(f"def test_{n}(x):\n" + "  assert x\n" * 20 for n in range(3))
    with pytest.raises(Unparseable, match="too many tests"):
        sheet(source.encode(), 6)
