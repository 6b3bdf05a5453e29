"""What literals of Python are there for, what tests give and want, and what they stand in for."""

from __future__ import annotations

import textwrap

import pytest

from policyd.core.sheet import Role, Sheet
from policyd.languages.python import sheet


def read(source: str) -> Sheet:
    return sheet(textwrap.dedent(source).encode(), 6)


def roles(source: str) -> dict[str, str]:
    return {one.value.strip('"'): one.role.value for one in read(source).literals}


def test_a_constant_of_a_module_is_known_by_its_name():
    told = read("""
        RATE = 'EUR 19.25'
        LIMIT: int = 86401
        a = b = 'SHIPPED-EAST'
        TABLE['x'] = 'SHIPPED-WEST'
        BOTH = f('SHIPPED-NORTH')
        def ship():
            INNER = 'SHIPPED-SOUTH'
        """)
    assert {(one.value.strip('"'), one.name) for one in told.literals} == {
        ("EUR 19.25", "RATE"), ("86401", "LIMIT"), ("SHIPPED-EAST", ""), ("SHIPPED-WEST", ""),
        ("SHIPPED-NORTH", ""), ("SHIPPED-SOUTH", "")}


ROLES = [
    ("assert f('input-one') == 'answer-one'", {"input-one": "plain", "answer-one": "answer"}),
    ("assert 'answer-one' in f('input-one')", {"input-one": "plain", "answer-one": "answer"}),
    ("self.assertEqual(f('input-one'), 'answer-one')",
     {"input-one": "plain", "answer-one": "answer"}),
    ("assert f(1) == Decimal('19.255')", {"19.255": "answer"}),
    ("assert f(1) == pytest.approx(19.255)", {"19.255": "answer"}),
    ("assert f(1) == snapshot('answer-one')", {"answer-one": "answer"}),
    ("want = 'answer-one'\nassert f(1) == want", {"answer-one": "answer"}),
    ("got = f('input-one')\nassert got == 'answer-one'",
     {"input-one": "plain", "answer-one": "answer"}),
    ("for a, want in [('input-one', 'answer-one')]:\n    assert f(a) == want",
     {"input-one": "plain", "answer-one": "answer"}),
    ("with pytest.raises(ValueError, match='answer-one'):\n    f('input-one')",
     {"input-one": "plain", "answer-one": "answer"}),
    ("m.assert_called_once_with('answer-one')", {"answer-one": "answer"}),
    ("result.stdout.fnmatch_lines(['answer-one'])", {"answer-one": "answer"}),
    ("assert f(1) == {'key-one': 'answer-one', 'a whole sentence.': g()}",
     {"key-one": "name", "answer-one": "answer", "a whole sentence.": "plain"}),
    ("x['key-one'] = g('input-one')", {"key-one": "name", "input-one": "plain"}),
    ("x.get('key-one')", {"key-one": "name"}),
    ("client.get('/path/to/it')", {"/path/to/it": "plain"}),
    ("getattr(x, 'name-one')", {"name-one": "name"}),
    ("f('--option-one', 'input-one')", {"--option-one": "name", "input-one": "plain"}),
    ("parser.add_argument('--x', dest='name-one', help='what it does')",
     {"name-one": "name", "what it does": "name"}),
    ("logger.info('text-one %s', f('input-one'))", {"text-one %s": "name", "input-one": "plain"}),
    ("print('text-one')", {"text-one": "name"}),
    ("monkeypatch.setenv('NAME_ONE', 'input-one')", {"NAME_ONE": "name", "input-one": "plain"}),
    ("os.environ['NAME_ONE']", {"NAME_ONE": "name"}),
    ("open('input-one', 'rt', encoding='utf-8-sig')",
     {"input-one": "plain", "utf-8-sig": "name"}),
    ("x.decode('utf-8-sig')", {"utf-8-sig": "name"}),
    ("x.strftime('%Y-%m-%d')", {"%Y-%m-%d": "name"}),
    ("mock.patch('shop.app.total')", {"shop.app.total": "name"}),
    ("importlib.import_module('shop.app')", {"shop.app": "name"}),
    ("if sys.platform == 'freebsd':\n    pass", {"freebsd": "name"}),
]


@pytest.mark.parametrize(("body", "expected"), ROLES, ids=[row[0] for row in ROLES])
def test_a_literal_has_the_role_of_its_place(body, expected):
    assert roles(f"def test_it(self, x, m):\n{textwrap.indent(body, '    ')}") == expected


def test_cells_of_a_table_are_answers_where_something_is_held_against_them():
    assert roles("""
        @pytest.mark.parametrize(("text", "made"), [
            ("input-one", "answer-one"), pytest.param("input-two", "answer-two", id="name-two")])
        def test_it(text, made):
            assert f(text) == made
    """) == {"input-one": "plain", "answer-one": "answer", "input-two": "plain",
             "answer-two": "answer", "name-two": "name"}


def test_what_a_fixture_or_a_constant_holds_is_an_answer_where_it_is_compared():
    assert roles("""
        WANTED = "answer-one"
        @pytest.fixture
        def golden():
            return "answer-two"
        @pytest.fixture
        def given():
            return "input-one"
        def test_it(golden, given):
            assert f(given) == golden
            assert f(1) == WANTED
    """) == {"answer-one": "answer", "answer-two": "answer", "input-one": "plain"}


def test_names_of_one_function_do_not_tell_of_another():
    assert roles("""
        def test_it():
            text = "answer-one"
            assert f(1) == text
        def test_that():
            text = "input-one"
            f(text)
    """) == {"answer-one": "answer", "input-one": "plain"}


def test_literals_alone_have_no_role():
    assert Role.PLAIN is read("x = 'abcdefg'").literals[0].role


SAMPLES = [
    ("assert f('a', 2) == 5", [(('"a"', "2"), "5")]),
    ("assert 5 == f('a', n=2)", [(('"a"', "2"), "5")]),
    ("self.assertEqual(f(1), 'x')", [(("1",), '"x"')]),
    ("p = [1, 2]\nassert f(p) == 3", [(("[1, 2]",), "3")]),
    ("assert f(1) == pytest.approx(2.5)", [(("1",), "2.5")]),
    ("for a, b in [(1, 'x'), (2, 'y')]:\n    assert f(a) == b",
     [(("1",), '"x"'), (("2",), '"y"')]),
    ("assert f(x) == 5", []),
    ("assert f() == 5", []),
    ("assert f(1) != 5", []),
    ("assert f(1) == g(2)", []),
]


@pytest.mark.parametrize(("body", "expected"), SAMPLES, ids=[row[0] for row in SAMPLES])
def test_samples_are_inputs_and_the_results_that_are_wanted(body, expected):
    found = read(f"def test_it(self, x):\n{textwrap.indent(body, '    ')}").samples
    assert [(one.given, one.result) for one in found] == expected


TABLES = [
    ("'a, b', [(1, 2), (3, 4)]", "a, b", "f(a) == b", [(("1",), "2"), (("3",), "4")]),
    ("'b, a', [(1, 2)]", "a, b", "f(a) == b", [(("2",), "1")]),
    ("('a', 'expected'), [(1, 2)]", "a, expected", "check(a, expected)", [(("1",), "2")]),
    ("'a', [1, 2]", "a", "f(a) == 3", [(("1",), ""), (("2",), "")]),
    ("'a, b', [(1, x()), (y(), 2)]", "a, b", "f(a) == b", [(("1",), "")]),
    ("'a, b', ROWS", "a, b", "f(a) == b", [(("1",), "2")]),
]


@pytest.mark.parametrize(("table", "params", "claim", "expected"), TABLES,
                         ids=[row[0] for row in TABLES])
def test_rows_of_a_table_are_samples(table, params, claim, expected):
    found = read(f"ROWS = [(1, 2)]\n@pytest.mark.parametrize({table})\n"
                 f"def test_it({params}):\n    assert {claim}\n").samples
    assert [(one.given, one.result) for one in found] == expected


def test_doctests_are_samples():
    found = read('''
        def total(prices):
            """Adds.

            >>> total([1, 2])
            3
            >>> print(total([2], tax=1.5))
            3.5
            >>> total(unknown)
            4
            >>> x = 1
            >>> total([])
            """
    ''').samples
    assert [(one.line, one.given, one.result) for one in found] == [
        (5, ("[1, 2]",), "3"), (7, ("[2]", "1.5"), "3.5")]


MOCKS = [
    ("mock.patch('shop.app.total')", "shop.app.total"),
    ("patch('shop.app.total', new=1)", "shop.app.total"),
    ("patch.object(app, 'total')", "shop.app.total"),
    ("mock.patch.object(tax.rates, 'vat')", "shop.tax.rates.vat"),
    ("patch.dict(os.environ, {'A': 'b'})", "os.environ"),
    ("patch.multiple('shop.app', total=1)", "shop.app.total"),
    ("patch(name)", "*"),
    ("patch.object(x, 'total')", "*.total"),
    ("patch.object(app, name)", "shop.app.*"),
    ("monkeypatch.setattr(app, 'total', f)", "shop.app.total"),
    ("monkeypatch.setattr('shop.app.total', f)", "shop.app.total"),
    ("monkeypatch.setattr(x, 'total', f)", "*.total"),
    ("monkeypatch.setitem(sys.modules, 'shop.app', f)", "shop.app"),
    ("mocker.patch('shop.app.total')", "shop.app.total"),
    ("mocker.patch.object(app, 'total')", "shop.app.total"),
    ("app.total = f", "shop.app.total"),
    ("sys.modules['shop.app'] = f", "shop.app"),
]


@pytest.mark.parametrize(("call", "target"), MOCKS, ids=[row[0] for row in MOCKS])
def test_stand_ins_tell_what_they_take_the_place_of(call, target):
    head = ("import os, sys\nimport shop.app as app\nfrom shop import tax\n"
            "from unittest import mock\nfrom unittest.mock import patch\n")
    (one,) = read(f"{head}def test_it(monkeypatch, mocker, x, name):\n    {call}").mocks
    assert (one.target, one.on, one.line) == (target, "test_it", 7)


def test_stand_ins_for_what_a_class_sets_up_tell_what_that_is():
    found = read("""
        from shop import Store
        from unittest import mock
        class TestA:
            def setUp(self):
                self.store = Store()
                self.fake = mock.Mock()
            def test_it(self):
                self.store = mock.MagicMock()
                self.store.count.return_value = 12
                self.fake.count.return_value = 3
                self.other = mock.Mock()
                self.store.name = 2
    """).mocks
    assert {(one.target, one.on) for one in found} == {
        ("shop.Store", "TestA::test_it"), ("shop.Store.count", "TestA::test_it")}


def test_stand_ins_are_set_for_all_of_a_file_too():
    found = read("""
        import sys
        import shop.app as app
        from unittest.mock import Mock, patch
        sys.modules["clock"] = Mock()
        from clock import face
        sys.modules.update({"tax": Mock()}, rates=Mock())
        app.total = Mock()
        @patch.dict("sys.modules", {"late": Mock()})
        def test_it(): pass
    """).mocks
    assert [(one.target, one.on) for one in found] == [
        ("clock", ""), ("clock.face", ""), ("rates", ""), ("tax", ""),
        ("shop.app.total", ""), ("late", "test_it"),
        ("sys.modules", "test_it")]


def test_stand_ins_are_on_a_test_a_class_or_the_file():
    found = read("""
        from unittest.mock import patch
        @patch("a.b")
        def test_it(): pass
        @patch("c.d")
        class TestA:
            def setup_method(self):
                patch("e.f").start()
        def helper():
            patch("g.h").start()
    """).mocks
    assert [(one.target, one.on) for one in found] == [
        ("a.b", "test_it"), ("c.d", "TestA"), ("e.f", "TestA"), ("g.h", "")]
