"""Which test is which, before and after."""

from __future__ import annotations

import pytest

from policyd.core.content import Changed
from policyd.core.kin import is_on, kin
from policyd.core.sheet import Assertion, Kind, Sheet, Test


def made(name: str, body: str = "", *forms: str) -> Test:
    return Test(name, 1, body or name, tuple(Assertion(2, Kind.EQUAL, form) for form in forms))


def file(path: str, after: list[Test] | None, *before: list[Test]) -> Changed:
    return Changed(path, ("tests",), None if after is None else Sheet(tests=tuple(after)),
                   tuple(Sheet(tests=tuple(side)) for side in before))


def told(*files: Changed) -> tuple[list[str], list[str], list[str]]:
    found = kin(files)
    return ([f"{a.nodeid} {b.nodeid}" for a, b in found.pairs],
            [one.nodeid for one in found.lost], [one.nodeid for one in found.gained])


A, B = made("test_a"), made("test_b")

ROWS = [
    # title, the files, pairs, lost, gained
    ("it stays", [file("t", [A], [A])], ["t::test_a t::test_a"], [], []),
    ("it goes", [file("t", [], [A])], [], ["t::test_a"], []),
    ("it comes", [file("t", [A], [])], [], [], ["t::test_a"]),
    ("another name", [file("t", [made("test_x", "test_a")], [A])], ["t::test_a t::test_x"], [], []),
    ("another file", [file("t", None, [A]), file("u", [A])], ["t::test_a u::test_a"], [], []),
    ("another file and body", [file("t", None, [A]), file("u", [made("test_a", "x")])],
     ["t::test_a u::test_a"], [], []),
    ("into a class", [file("t", [made("TestA::test_a", "x")], [A])],
     ["t::test_a t::TestA::test_a"], [], []),
    ("all of its claims", [file("t", [made("test_x", "x", "f", "g")], [made("test_a", "", "f")])],
     ["t::test_a t::test_x"], [], []),
    ("some of its claims", [file("t", [made("test_x", "x", "f")], [made("test_a", "", "f", "g")])],
     [], ["t::test_a"], ["t::test_x"]),
    ("its claims in another file", [file("t", None, [made("test_a", "", "f")]),
                                    file("u", [made("test_x", "x", "f")])],
     [], ["t::test_a"], ["u::test_x"]),
    ("two go, one comes", [file("t", [made("test_x", "s")], [made("test_a", "s"),
                                                             made("test_b", "s")])],
     ["t::test_a t::test_x"], ["t::test_b"], []),
    ("one goes where sides conflict", [file("t", [], [A, B], [B])], [], ["t::test_b"], []),
    ("much the same name", [file("t", [made("test_the_rate_of_tax", "x", "g")],
                                 [made("test_rate_of_tax", "", "f")])],
     ["t::test_rate_of_tax t::test_the_rate_of_tax"], [], []),
    ("a name with a word in common", [file("t", [made("test_rate_of_loan", "x")],
                                           [made("test_tax_rate", "")])],
     [], ["t::test_tax_rate"], ["t::test_rate_of_loan"]),
    ("bodies that nobody knows", [file("t", [Test("test_x", 1, "")], [Test("test_a", 1, "")])],
     [], ["t::test_a"], ["t::test_x"]),
]


@pytest.mark.parametrize(("files", "pairs", "lost", "gained"), [row[1:] for row in ROWS],
                         ids=[row[0] for row in ROWS])
def test_which_is_which(files, pairs, lost, gained):
    assert told(*files) == (pairs, lost, gained)


def test_where_sides_conflict_a_test_claims_what_all_of_them_claim():
    found = kin([file("t", [A], [made("test_a", "", "f", "g")], [made("test_a", "", "g", "h")])])
    assert [claim.form for claim in found.pairs[0][0].test.assertions] == ["g"]


@pytest.mark.parametrize(("name", "on", "is_it"), [
    ("test_a", "test_a", True), ("test_a", "", True), ("TestA::test_a", "TestA", True),
    ("cart > adds", "cart", True), ("test_ab", "test_a", False), ("TestA::test_a", "test_a", False),
])
def test_what_a_mark_is_on(name, on, is_it):
    assert is_on(name, on) is is_it
