"""What an assertion of a Python test claims: its kind, its normal form, what it is held against."""

from __future__ import annotations

import textwrap

import pytest

from policyd.core.sheet import Assertion, Kind
from policyd.languages import python_asserts
from policyd.languages.literal import Unparseable
from policyd.languages.python import sheet


def claims(body: str, before: str = "", params: str = "") -> tuple[Assertion, ...]:
    """What one test with such a body claims."""
    source = f"{before}\n\ndef test_it({params}):\n{textwrap.indent(body, '    ')}\n"
    return next(one for one in sheet(source.encode(), 6).tests if one.name == "test_it").assertions


def told(body: str, before: str = "", params: str = "") -> list[str]:
    return [f"{one.kind.value}: {one.form}" for one in claims(body, before, params)]


FORMS = [
    ("assert total(p) == 7", ["equal: total(p) == 7"]),
    ("assert 7 == total(p)", ["equal: total(p) == 7"]),
    ("assert (total( p )==\n 7)", ["equal: total(p) == 7"]),
    ("result = total(p)\nassert result == 7", ["equal: total(p) == 7"]),
    ("want = 7\nresult = total(p)\nassert want == result", ["equal: total(p) == 7"]),
    ("self.assertEqual(total(p), 7)", ["equal: total(p) == 7"]),
    ("self.assertEqual(7, total(p))", ["equal: total(p) == 7"]),
    ("self.assertTrue(total(p) == 7)", ["equal: total(p) == 7"]),
    ("assert not total(p) != 7", ["equal: total(p) == 7"]),
    ("assert (total(p) == 7) is True", ["equal: total(p) == 7"]),
    ("if total(p) != 7:\n    raise AssertionError('no')", ["equal: total(p) == 7"]),
    ("if total(p) != 7:\n    pytest.fail('no')", ["equal: total(p) == 7"]),
    ("assert total(p) is None", ["equal: total(p) is None"]),
    ("assert total(p) == None", ["equal: total(p) is None"]),
    ("assert f(1) == 'a' and g(2)", ['equal: f(1) == "a"', "truth: g(2)"]),
    ("assert not (f(1) or g(2))", ["truth: not f(1)", "truth: not g(2)"]),
    ("assert 0 < f(1) <= 9", ["order: f(1) > 0", "order: f(1) <= 9"]),
    ("for x in rows:\n    assert f(x) == x", ["equal: f($0) == $0"]),
    ("x = f(1)\nassert x == 1\nx = f(2)\nassert x == 2", ["equal: f(1) == 1", "equal: f(2) == 2"]),
    ("a, b = f(1)\nassert b == 2", ["equal: f(1)[1] == 2"]),
    ("seen = []\nrun(seen.append)\nassert seen == [1]", ["equal: $0 == [1]"]),
    ("with open_it(p) as found:\n    assert found.size == 3", ["equal: open_it(p).size == 3"]),
    ("assert await f(1) == 2", ["equal: f(1) == 2"]),
    ("shop = f(1)\nassert shop == 2", ["equal: f(1) == 2"]),
    ("from shop import g\nassert g(1) == 2", ["equal: g(1) == 2"]),
    ("assert f(1) == {'b': 2, 'a': 1}", ['equal: f(1) == {"a": 1, "b": 2}']),
    ("assert [f(x) for x in p] == [1]", ["equal: [f($0) for $0 in p] == [1]"]),
]


@pytest.mark.parametrize(("body", "expected"), FORMS, ids=[row[0] for row in FORMS])
def test_claims_that_say_the_same_have_one_form(body, expected):
    assert told(body, "import shop", "self, p, rows") == expected


KINDS = [
    ("assert f(1) == pytest.approx(2.5)", Kind.CLOSE, 1e-6),
    ("assert f(1) == pytest.approx(2.5, rel=0.01, abs=0.1)", Kind.CLOSE, 0.1),
    ("assert math.isclose(f(1), 2.5, rel_tol=0.01)", Kind.CLOSE, 0.01),
    ("assert abs(f(1) - 2.5) < 0.1", Kind.CLOSE, 0.1),
    ("eps = 0.1\nassert abs(f(1) - 2.5) < eps", Kind.CLOSE, 0.1),
    ("assert round(f(1), 2) == 2.5", Kind.CLOSE, 0.005),
    ("self.assertAlmostEqual(f(1), 2.5, places=3)", Kind.CLOSE, 0.0005),
    ("self.assertAlmostEqual(f(1), 2.5, delta=0.3)", Kind.CLOSE, 0.3),
    ("np.testing.assert_allclose(f(1), [2.5], rtol=0.2)", Kind.CLOSE, 0.2),
    ("assert f(1) == pytest.approx(2.5, abs=unknown)", Kind.CLOSE, None),
    ("np.testing.assert_array_equal(f(1), [2.5])", Kind.EQUAL, None),
    ("assert f(1) != 2", Kind.ORDER, None),
    ("assert 2 not in f(1)", Kind.ORDER, None),
    ("assert 2 in f(1)", Kind.MEMBER, None),
    ("assert f(1) in (2, 3)", Kind.MEMBER, None),
    ("assert f(1).startswith('a')", Kind.MEMBER, None),
    ("assert re.match('a', f(1))", Kind.MEMBER, None),
    ("assert len(f(1)) == 3", Kind.MEMBER, None),
    ("self.assertRegex(f(1), 'a')", Kind.MEMBER, None),
    ("result.stdout.fnmatch_lines(['*1 passed*'])", Kind.MEMBER, None),
    ("with pytest.raises(ValueError):\n    f(1)", Kind.RAISES, None),
    ("with self.assertRaises(ValueError):\n    f(1)", Kind.RAISES, None),
    ("with pytest.raises(ValueError, match='.*'):\n    f(1)", Kind.RAISES, None),
    ("with pytest.raises(ValueError, match='bad'):\n    f(1)", Kind.EQUAL, None),
    ("with pytest.warns(UserWarning):\n    f(1)", Kind.RAISES, None),
    ("m.assert_called_once_with(1)", Kind.CALLED, None),
    ("assert m.call_count == 2", Kind.CALLED, None),
    ("assert f(1)", Kind.TRUTH, None),
    ("assert f(1) is not None", Kind.TRUTH, None),
    ("assert isinstance(f(1), int)", Kind.TRUTH, None),
    ("assert type(f(1)) is int", Kind.TRUTH, None),
    ("assert_valid(f(1))", Kind.TRUTH, None),
    ("assert f(1) == snapshot({'a': 1})", Kind.EQUAL, None),
    ("assert all(x == 1 for x in f(1))", Kind.EQUAL, None),
]


@pytest.mark.parametrize(("body", "kind", "tolerance"), KINDS, ids=[row[0] for row in KINDS])
def test_a_claim_is_as_strong_as_it_says(body, kind, tolerance):
    (one,) = claims(body, params="self, m, unknown")
    assert (one.kind, one.tolerance) == (kind, pytest.approx(tolerance))


CANNOT_FAIL = [
    "assert True",
    "assert 'text'",
    "assert (total(p) == 7, 'said')",
    "assert total(p) == 7 or True",
    "assert p == p",
    "assert total(p) == total(p)",
    "flag = True\nassert flag",
    "assert len(total(p)) >= 0",
    "assert 2 + 2 == 4",
    "assert total(p) == mock.ANY",
    "assert isinstance(total(p), object)",
    "self.assertTrue(True)",
    "try:\n    assert total(p) == 7\nexcept AssertionError:\n    pass",
    "try:\n    assert total(p) == 7\nexcept:\n    print('oh')",
    "try:\n    self.assertEqual(total(p), 7)\nexcept (KeyError, Exception):\n    return",
    "try:\n    assert total(p) == 7\nfinally:\n    return",
    "with suppress(AssertionError):\n    assert total(p) == 7",
    "with contextlib.suppress(Exception):\n    assert total(p) == 7",
    "return\nassert total(p) == 7",
    "pytest.skip('no')\nassert total(p) == 7",
    "if p:\n    return\nelse:\n    raise OSError\nassert total(p) == 7",
    "if False:\n    assert total(p) == 7",
    "if not 1:\n    assert total(p) == 7",
    "while False:\n    assert total(p) == 7",
    "for x in []:\n    assert total(x) == 7",
    "if TYPE_CHECKING:\n    assert total(p) == 7",
    "for x in range(9, 9):\n    assert total(x) == 7",
    "for x in range(TRIES):\n    assert total(x) == 7",
    "for x in ROWS:\n    assert total(x) == 7",
    "for x in enumerate(zip(p, ())):\n    assert total(x) == 7",
    "for x in [y for y in []]:\n    assert total(x) == 7",
    "for x in p[:0]:\n    assert total(x) == 7",
    "for x in {}.items():\n    assert total(x) == 7",
    "for x in days(1):\n    assert total(x) == 7",
    "for x in rows(1):\n    assert total(x) == 7",
    "while TRIES > 3:\n    assert total(p) == 7",
    "if not TRIES < 9:\n    pass\nelse:\n    return\nassert total(p) == 7",
    "if TRIES == 0:\n    return\nassert total(p) == 7",
    "assert all(total(x) == 7 for x in range(TRIES))",
]


@pytest.mark.parametrize("body", CANNOT_FAIL)
def test_what_cannot_fail_claims_nothing(body):
    before = ("import pytest\nTRIES = 0\nROWS = []\n"
              "def days(n):\n    for x in range(TRIES):\n        yield n\n"
              "def rows(n):\n    return [n for x in range(TRIES)]")
    assert [one.kind for one in claims(body, before, "self, p")] == [Kind.NOTHING]


CAN_FAIL = [
    "try:\n    assert total(p) == 7\nexcept KeyError:\n    pass",
    ("try:\n    assert total(p) == 7\nexcept AssertionError:\n    raise\n"
     "except Exception:\n    pass"),
    "try:\n    assert total(p) == 7\nexcept Exception as error:\n    errors.append(error)",
    "if p:\n    return\nassert total(p) == 7",
    "with suppress(KeyError):\n    assert total(p) == 7",
    "before = p.size\ngrow(p)\nassert p.size == before",
    "first = total(p)\nsecond = total(p)\nassert first == second",
    "rows = [3, 1]\norder(rows)\nassert rows == [1, 3]",
    "called = False\ndef back():\n    nonlocal called\n    called = True\nrun(back)\nassert called",
    "count = 0\nfor x in p:\n    count += 1\nassert count == 0",
    "found = {}\nfill(found)\nassert found",
    "if True:\n    assert total(p) == 7",
    "assert p != p",
    "got = yield 7\nassert got == 7",
    "n = 0\ndef back():\n    assert n == 1\nn = 1\nrun(back)",
    "a = make(1)\nb = make(1)\nassert hash(a) == hash(b)",
    "assert Price(1) == Price(1)",
    "with ignored(p):\n    raise OSError\nassert total(p) == 7",
    "if p:\n    with lock:\n        return\nassert total(p) == 7",
    "for x in range(9, 0, -1):\n    assert total(x) == 7",
    "for x in some(3):\n    assert total(x) == 7",
    "for x in list(map(total, p)):\n    assert x == 7",
    "if p is None:\n    p = 3\nif p == 4:\n    assert total(p) == 7",
    "n = 0\nfor x in p:\n    if n > 0:\n        assert x == 7\n    n += 1",
]


@pytest.mark.parametrize("body", CAN_FAIL)
def test_what_can_fail_is_not_taken_for_nothing(body):
    before = "import pytest\ndef some(n):\n    for x in range(n):\n        yield n\n    yield 3"
    assert Kind.NOTHING not in [one.kind for one in claims(body, before, "p, errors")]


GUARDED = [
    ("if f(1):\n    assert g(1) == 2", ["if f(1): g(1) == 2"]),
    ("x = f(1)\nif x.ok and TRIES:\n    assert x.n == 2",
     ["if (f(1).ok and TRIES): f(1).n == 2"]),
    ("if f(1):\n    pass\nelse:\n    assert g(1) == 2", ["if not f(1): g(1) == 2"]),
    ("if f(1):\n    if f(2):\n        assert g(1) == 2", ["if f(1) and f(2): g(1) == 2"]),
    ("while f(1):\n    assert g(1) == 2", ["if f(1): g(1) == 2"]),
    ("if not f(1):\n    return\nassert g(1) == 2", ["if f(1): g(1) == 2"]),
    ("for x in f(1):\n    if x:\n        continue\n    assert g(1) == 2",
     ["if not $0: g(1) == 2"]),
    ("try:\n    f(1)\nexcept OSError:\n    assert g(1) == 2", ["if raises OSError: g(1) == 2"]),
    ("try:\n    f(1)\nexcept OSError:\n    pass\nelse:\n    assert g(1) == 2",
     ["if no error: g(1) == 2"]),
    ("match f(1):\n    case 3:\n        assert g(1) == 2", None),
    ("if f(1):\n    check(g(1))", ["if f(1): g(1) == 2"]),
    ("if fast:\n    assert g(1) == 2", ["g(1) == 2"]),
    ("for x in [1, 2]:\n    if x > 1:\n        assert g(x) == 2", ["g($0) == 2"]),
    ("for x in [1, 2]:\n    if f(x) > 1:\n        assert g(x) == 2",
     ["if (f($0) > 1): g($0) == 2"]),
    ("if sys.platform == 'win32':\n    assert g(1) == 2", ["g(1) == 2"]),
    ("if f(1):\n    assert g(1) == 2\nelse:\n    pytest.fail('no')", ["g(1) == 2", "never"]),
    ("try:\n    f(1)\n    pytest.fail('no')\nexcept OSError:\n    assert g(1) == 2",
     ["never", "g(1) == 2"]),
]


@pytest.mark.parametrize(("body", "forms"), GUARDED, ids=[row[0] for row in GUARDED])
def test_a_claim_tells_under_what_it_is_made(body, forms):
    before = "import sys, pytest\nTRIES = tries()\ndef check(x):\n    assert x == 2"
    found = claims(body, before, "fast")
    if forms is None:
        forms = [f"if f(1) is {found[0].form.split(' is ')[1].split(':')[0]}: g(1) == 2"]
    assert [one.form for one in found] == forms
    assert {one.kind for one in found} <= {Kind.EQUAL, Kind.TRUTH}


AGAINST = [
    ("assert f(1) == 19.25", "literal", "19.25"),
    ("assert f(1) == Decimal('19.25')", "literal", '"19.25"'),
    ("assert f(1) == WANTED", "literal", "[1, 2]"),
    ("assert f(1) == golden_text", "literal", '"net 19.25"'),
    ("assert f(1) == 'net ' + '19.25'", "literal", '"net 19.25"'),
    ("assert f(1) is True", "literal", "True"),
    ("assert f(1) == json.load(open('want.json'))", "file", ""),
    ("assert f(1) == Path('want.txt').read_text()", "file", ""),
    ("with open('want.txt') as held:\n    want = held.read()\nassert f(1) == want", "file", ""),
    ("assert f(1) == snapshot", "snapshot", ""),
    ("assert f(1) == snapshot('abc')", "snapshot", '"abc"'),
    ("snapshot.assert_match(f(1))", "snapshot", ""),
    ("data_regression.check(f(1))", "snapshot", ""),
    ("assert f(1) == g(2)", "call", ""),
    ("assert f(1) == other", "name", ""),
    ("assert f(1)", "", ""),
]
MODULE = ("import json\nimport pytest\nWANTED = [1, 2]\n\n"
          "@pytest.fixture\ndef golden_text():\n    return 'net 19.25'\n")


@pytest.mark.parametrize(("body", "against", "answer"), AGAINST, ids=[row[0] for row in AGAINST])
def test_what_a_result_is_held_against_is_told(body, against, answer):
    (one,) = claims(body, MODULE, "golden_text, snapshot, data_regression, other")
    assert (one.subject.split("(")[0], one.against, one.answer) == ("f", against, answer)


ERRORS = [
    ("with pytest.raises(ValueError):\n    f(1)", "raises ValueError: f(1)", ("ValueError",)),
    ("self.assertRaises(ValueError, f, 1)", "raises ValueError: f(1)", ("ValueError",)),
    ("pytest.raises(ValueError, f, 1)", "raises ValueError: f(1)", ("ValueError",)),
    ("with pytest.raises((KeyError, errors.Bad)):\n    f(1)", "raises KeyError, Bad: f(1)",
     ("KeyError", "Bad")),
    ("with pytest.raises(Exception):\n    f(1)", "raises *: f(1)", ("*",)),
    ("fails = pytest.raises(ValueError)\nwith fails:\n    f(1)", "raises ValueError: f(1)",
     ("ValueError",)),
    ("with pytest.raises(KeyError, match='b' 'ad'):\n    f(1)",
     'raises KeyError matching "bad": f(1)', ("KeyError",)),
]


@pytest.mark.parametrize(("body", "form", "types"), ERRORS, ids=[row[0] for row in ERRORS])
def test_what_may_be_raised_is_told(body, form, types):
    (one,) = claims(body, params="self")
    assert (one.form, one.types, one.subject) == (form, types, "f(1)")


def test_an_assertion_that_should_fail_is_no_claim():
    assert told("with pytest.raises(AssertionError):\n    assert f(1) == 2") == [
        "raises: raises AssertionError: Assert (f(1) == 2)"]


HELPERS = '''
import pytest

def check(p, want=3):
    assert total(p) == want

def deep(p):
    check(p)

def round_and_round(p):
    round_and_round(p)
    assert p.x == 1

@pytest.fixture
def cart():
    made = Cart(2)
    assert made.size == 2
    yield made
'''


def test_claims_of_helpers_count_where_they_are_called():
    assert [(one.form, one.line - 22) for one in claims(
        "check([1])\ncheck([2], want=4)\ndeep([5])\nround_and_round(q)", HELPERS, "q")] == [
        ("total([1]) == 3", 0), ("total([2]) == 4", 1), ("total([5]) == 3", 2), ("q.x == 1", 3)]


def test_claims_of_fixtures_count_in_the_first_line_of_the_test():
    assert told("pass", HELPERS, "cart") == ["equal: Cart(2).size == 2"]


def test_a_claim_that_a_call_of_a_helper_leaves_out_is_no_claim():
    helper = "def check(p, exact):\n    if exact: assert p == 1\n    else: assert p"
    assert told("check(f(1), True)\ncheck(f(2), False)", helper) == [
        "equal: f(1) == 1", "truth: f(2)"]


def test_helpers_that_call_each_other_too_often_are_refused(monkeypatch):
    monkeypatch.setattr(python_asserts, "_MOST_STEPS", 1000)
    lines = ["def f0(): assert x"]
    lines += [f"def f{n}():\n" + f"    f{n - 1}()\n" * 40 for n in (1, 2)]
    with pytest.raises(Unparseable, match="too often"):
        claims("f2()", "\n".join(lines))


def test_claims_of_methods_count_where_they_are_called():
    source = b"""
class TestIt:
    def check(self, p):
        assert total(p) == 1
    def test_it(this):
        this.check(1)
    def test_that(self):
        self.check(2)
"""
    forms = [[one.form for one in test.assertions] for test in sheet(source, 6).tests]
    assert forms == [["total(1) == 1"], ["total(2) == 1"]]


def test_long_claims_stay_bounded_and_apart():
    def form(last: int) -> str:
        return claims(f"assert f({list(range(900))}) == {[*range(900), last]}")[0].form

    assert len(form(1)) <= 256
    assert form(1) != form(2)
    assert form(1) == form(1)


def test_names_that_grow_with_each_line_stay_bounded():
    lines = ["a0 = g(1)", *(f"a{n} = f(a{n - 1}, a{n - 1})" for n in range(1, 60))]
    (one,) = claims("\n".join([*lines, "assert a59 == 1"]))
    assert len(one.form) <= 256
