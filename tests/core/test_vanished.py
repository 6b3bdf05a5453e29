"""Names that nothing says any more, and the tests that are about them."""

from __future__ import annotations

import pytest

from policyd.core.content import Changed
from policyd.core.sheet import Assertion, Defined, Kind, Sheet, Test
from policyd.core.vanished import candidates, is_of

BODY = ("charsets", "header", "negotiator", "request")


def source(before: list[Defined], after: list[Defined] | None) -> Changed:
    now = None if after is None else Sheet(defined=tuple(after))
    return Changed("src/req.js", ("source",), now, (Sheet(defined=tuple(before)),))


def changed(*names: str, after: bool) -> Changed:
    held = Sheet(tests=(Test("test_it", 3, "b", names=names),))
    return Changed("tests/a.js", ("tests",), held if after else Sheet(), (held,))


GONE = Defined("acceptsCharset", BODY)
ROWS = [
    # title, before, after, names that come to be candidates
    ("it is gone", [GONE], [], {"acceptsCharset"}),
    ("its file is gone", [GONE], None, {"acceptsCharset"}),
    ("it is there still", [GONE], [GONE], set()),
    ("it is there, and another thing", [GONE], [Defined("acceptsCharset")], set()),
    ("no test said it", [Defined("accepts", BODY)], [], set()),
    ("it is called otherwise", [GONE], [Defined("wanted", BODY)], set()),
    ("it is part of another one", [GONE], [Defined("wanted", (*BODY, *"abcdefghijkl"))], set()),
    ("one comes that is called alike", [GONE], [Defined("acceptsCharsets", ("x",) * 9)], set()),
    ("another one comes", [GONE], [Defined("total", ("prices", "sum", "tax", "rate"))],
     {"acceptsCharset"}),
    ("another small one comes", [Defined("acceptsCharset", ("a",))], [Defined("total", ("b",))],
     set()),
    ("another one was there", [GONE, Defined("wanted", BODY)], [Defined("wanted", BODY)],
     {"acceptsCharset"}),
]


@pytest.mark.parametrize(("before", "after", "found"), [row[1:] for row in ROWS],
                         ids=[row[0] for row in ROWS])
def test_what_may_have_vanished(before, after, found):
    was = changed("acceptsCharset", "get", after=False)
    assert candidates([source(before, after)], [was]) == found


def test_it_moved_to_another_file():
    there = Changed("src/b.js", ("source",), Sheet(defined=(GONE,)), is_new=True)
    assert not candidates([source([GONE], []), there], [changed("acceptsCharset", after=False)])


def test_only_tests_that_are_other_ones_now_are_asked():
    assert not candidates([source([GONE], [])], [changed("acceptsCharset", after=True)])


def about(name: str, *claims: str) -> Test:
    made = tuple(Assertion(4, Kind.EQUAL, f"{claim} == 1", claim) for claim in claims)
    return Test(name, 3, "b", made, names=("acceptsCharset", "flatten_all", "get"))


@pytest.mark.parametrize(("test", "gone", "is_it"), [
    (about("req::.acceptsCharset(type)::should be true"), "acceptsCharset", True),
    (about("TestIt::acceptsCharset"), "acceptsCharset", True),
    (about("test_flatten_all"), "flatten_all", True),
    (about("test_flatten_all_and_total_of_each_row"), "flatten_all", False),
    (about("test_it", "req.acceptsCharset(1)"), "acceptsCharset", True),
    (about("test_it", "req.acceptsCharset(1)", "total(1)"), "acceptsCharset", False),
    (about("test_it", "req.acceptsCharsets(1)"), "acceptsCharset", False),
    (about("test_other", "other()"), "other", False),
    (about("test_it"), "acceptsCharset", False),
])
def test_what_is_about_a_name(test, gone, is_it):
    assert is_of(test, frozenset({gone})) is is_it
