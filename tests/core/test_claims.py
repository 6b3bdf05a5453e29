"""Whether one claim takes the place of another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from policyd.core import claims
from policyd.core.kin import Placed
from policyd.core.sheet import Assertion, Kind, Test
from policyd.core.strength import broad


def claim(form: str, kind: Kind = Kind.EQUAL, subject: str | None = None,
          tolerance: float | None = None, types: tuple[str, ...] = ()) -> Assertion:
    own = form.partition(" ")[0] if subject is None else subject
    return Assertion(7, kind, form, own, tolerance=tolerance, types=types)


def raises(*types: str) -> Assertion:
    return claim(f"raises({types}, f($0))", Kind.RAISES, "f($0)", types=types)


def said(before: list[Assertion], after: list[Assertion]) -> list[str]:
    one, other = (Test("test_a", 1, "b", tuple(found)) for found in (before, after))
    return [loss.says for loss in claims.losses(one, other, claims.gone([one], [other]), room())]


IS3, IS4 = claim("f($0) == 3"), claim("f($0) == 4")
TRUE = claim("f($0)", Kind.TRUTH)
CLOSE = claim("f($0) ~ 3", Kind.CLOSE, tolerance=0.1)
LOCAL = claim("$0 == 3")
LIST = replace(claim("f($0) == [1, 2]"), answer="[1, 2]")


def below(bound: str, answer: str | None = None) -> Assertion:
    return replace(claim(f"f($0) < {bound}", Kind.ORDER), answer=bound if answer is None else "")


ROWS = [
    # title, before, after, what is said
    ("nothing changes", [IS3], [IS3], []),
    ("another value", [IS3], [IS4], []),
    ("another order", [IS3, TRUE], [TRUE, IS3], []),
    ("more", [IS3], [IS3, TRUE], []),
    ("stronger", [TRUE], [IS3], []),
    ("it says less, and another one of the same says more", [IS3, TRUE], [IS3], []),
    ("that of a local is no other one", [LOCAL, claim("$0", Kind.TRUTH)], [LOCAL],
     ["loses an assertion"]),
    ("gone", [IS3, claim("g($0) == 1")], [IS3], ["loses an assertion"]),
    ("two of one kind become one", [IS3, IS4], [claim("f($0) == 5")], ["loses an assertion"]),
    ("one about both", [claim("$0.a == 1", subject="$0.a"), claim("$0.b == 2", subject="$0.b")],
     [claim("[$0.a, $0.b] == [1, 2]", subject="[$0.a, $0.b]")], []),
    ("weaker", [IS3], [TRUE], ["weakens an assertion"]),
    ("it cannot fail", [IS3], [replace(IS3, kind=Kind.NOTHING)], ["cannot fail any more"]),
    ("it could not fail before", [replace(IS3, kind=Kind.NOTHING)], [], []),
    ("another name", [claim("total($0) == 3")], [claim("grand_total($0) == 3")], []),
    ("another thing", [claim("total($0) == 3")], [claim("colour($0) == 3")],
     ["loses an assertion"]),
    ("inlined", [claim("$0 == 3")], [claim("total($0) == 3")], []),
    ("other values inside", [claim("f([1, 2]) == 3")], [claim("f($0) == $1")], []),
    ("equal to close", [IS3], [CLOSE], ["weakens an assertion"]),
    ("close to equal", [CLOSE], [IS3], []),
    ("a wider tolerance", [CLOSE], [replace(CLOSE, tolerance=1.0)], ["raises a tolerance"]),
    ("a tolerance that is not known", [CLOSE], [replace(CLOSE, tolerance=None)],
     ["raises a tolerance"]),
    ("a narrower tolerance", [CLOSE], [replace(CLOSE, tolerance=0.01)], []),
    ("a broader error", [raises("ValueError")], [raises("Exception")],
     ["expects a broader error"]),
    ("more errors", [raises("ValueError")], [raises("KeyError", "ValueError")],
     ["expects a broader error"]),
    ("any error", [raises("ValueError")], [raises("*")], ["expects any error"]),
    ("another error", [raises("ValueError")], [raises("TaxError")], []),
    ("fewer errors", [raises("KeyError", "ValueError")], [raises("ValueError")], []),
    ("no error but a value", [raises("ValueError")], [IS3], []),
    ("one of two stands in for both", [claim("f(1) == [1, 2]"), claim("f(2) == [3, 4]")],
     [claim("sorted(f(1))[-1] == 2", subject="sorted(f(1))[-1]")],
     ["weakens an assertion"] * 2),
    ("an item", [LIST], [claim("f($0)[0] == 1", subject="f($0)[0]")], ["weakens an assertion"]),
    ("all items", [LIST], [claim(f"f($0)[{n}] == {n + 1}", subject=f"f($0)[{n}]")
                           for n in range(2)], []),
    ("some of the items", [replace(LIST, answer="[1, 2, 3]")],
     [claim(f"f($0)[{n}] == {n + 1}", subject=f"f($0)[{n}]") for n in range(2)],
     ["weakens an assertion"]),
    ("in any order", [LIST], [claim("set(f($0)) == {1, 2}", subject="set(f($0))")],
     ["weakens an assertion"]),
    ("no case", [claim("f($0) == 'A'")], [claim("f($0).lower() == 'a'", subject="f($0).lower()")],
     ["weakens an assertion"]),
    ("a result that comes in a list now", [replace(IS3, answer="3")],
     [replace(claim("f($0)[0] == 3", subject="f($0)[0]"), answer="3")], []),
    ("a list that is made first", [LIST], [claim("list(f($0)) == [1, 2]",
                                                 subject="list(f($0))")], []),
    ("a looser bound", [below("0.1")], [below("5")], ["loosens a bound"]),
    ("a bound that nobody knows", [below("0.1")], [below("SLACK", "")], ["loosens a bound"]),
    ("a bound on the other side", [below("0.1")], [replace(below("0.1"), form="f($0) > 0.1")],
     ["loosens a bound"]),
    ("a closer bound", [below("5")], [below("0.1")], []),
    ("nothing given", [IS3], [claim("f([]) == 3")], ["weakens an assertion"]),
    ("something else given", [claim("f([]) == 3")], [claim("f([1]) == 3")], []),
    ("what it computes itself", [replace(IS3, against="literal")],
     [replace(claim("f($0) == f($0)"), against="call")], ["weakens an assertion"]),
    ("what something else computes", [replace(IS3, against="literal")],
     [replace(claim("f($0) == g($0)"), against="call")], []),
    ("an error without its text", [replace(raises("ValueError"), kind=Kind.EQUAL)],
     [raises("ValueError")], ["weakens an assertion"]),
]


@pytest.mark.parametrize(("before", "after", "says"), [row[1:] for row in ROWS],
                         ids=[row[0] for row in ROWS])
def test_what_a_test_lost(before, after, says):
    assert said(before, after) == says


def test_what_another_test_claims_now_is_not_lost():
    one, other, both = (Test(name, 1, name, found) for name, found in (
        ("a", (IS3, TRUE)), ("a", (TRUE,)), ("b", (IS3,))))
    assert list(claims.losses(one, other, claims.gone([one], [other, both]),
                              room())) == []
    assert claims.is_still_claimed(replace(both, name="c"), claims.gone([both], [both]))
    assert not claims.is_still_claimed(both, claims.gone([both], [other]))
    assert not claims.is_still_claimed(Test("a", 1, "a"), claims.gone([], []))


@pytest.mark.parametrize(("subject", "is_broad"), [
    ("total([1, 2])", "total(#)"), ("total($0)", "total(#)"), ("total(-1)", "total(#)"),
    ("total('a', x=2.5)", "total(#, x=#)"),
    ('total({"a": [1]})', "total(#)"), ("x2.total()", "x2.total()"), ("total(None)", "total(#)"),
    ('total("it\'s")', "total(#)"),
])
def test_a_subject_without_its_values(subject, is_broad):
    assert broad(subject) == is_broad


def room(*gained: Test) -> claims.Room:
    return claims.Room([Placed("t", one) for one in gained], ())


def test_cases_take_the_place_of_tests_once():
    three = Test("test_all", 1, "x", (claim("f($0) == $1"),), cases=3)
    found = room(three)
    assert [found.takes(Test(f"t{n}", 1, "", (claim(f"f({n}) == 1"),)), 1)
            for n in range(4)] == [True, True, True, False]


def test_tests_take_the_place_of_cases():
    found = room(*(Test(f"t{n}", 1, "", (claim(f"f({n}) == 1"),)) for n in range(2)))
    assert not found.takes(Test("test_all", 1, "", (claim("f($0) == $1"),), cases=3), 3)
    assert found.takes(Test("test_all", 1, "", (claim("f($0) == $1"),), cases=2), 2)


def test_one_test_is_not_another_that_is_only_called_alike():
    assert not room(Test("test_b", 1, "", (claim("f(2) == 1"),))).takes(
        Test("test_a", 1, "", (claim("f(1) == 1"),)), 1)


def test_cases_that_a_test_gains_are_its_own_claims_and_no_other_test():
    was = Test("test_a", 1, "a", tuple(claim(f"f({n}) == {n}") for n in range(3)))
    now = Test("test_a", 1, "b", (claim("f($0) == $1"),), cases=3)
    found = claims.Room([], [(Placed("t", was), Placed("t", now))])
    assert list(claims.losses(was, now, claims.gone([was], [now]), found)) == []
    assert not found.takes(Test("test_b", 1, "c", (claim("f(7) == 7"),)), 1)


def literal(form: str, answer: str) -> Assertion:
    return replace(claim(f"{form} == {answer}", subject=form), against="literal", answer=answer)


def renamed(was: list[Assertion], now: list[Assertion], *uses: str) -> list[str]:
    """A test that took things from the first module, and from the second one now."""
    one, other = (Test("test_a", 1, "b", tuple(found), (use,))
                  for found, use in zip((was, now), uses, strict=True))
    return [loss.says for loss in claims.losses(one, other, claims.gone([one], [other]), room())]


LONG = 'f("one.example")'


@pytest.mark.parametrize(("was", "now", "uses", "says"), [
    (LONG, 'shop.Page("one.example")', ("shop.front.f", "shop"), []),
    (LONG, 'shop.Page("two.example")', ("shop.front.f", "shop"), ["loses an assertion"]),
    (LONG, 'Page("one.example")', ("shop.front.f", "store.Page"), ["loses an assertion"]),
    (LONG, 'colour("one.example")', ("shop.front.f", "shop"), ["loses an assertion"]),
    (LONG, 'numpy.size("one.example")', ("numpy.f", "numpy"), ["loses an assertion"]),
    (LONG, 'httpx.Page("one.example")', ("httpx._front.f", "httpx"), []),
    ("f(1)", "shop.Page(1)", ("shop.front.f", "shop"), ["loses an assertion"]),
])
def test_the_same_of_another_thing_of_the_project(was, now, uses, says):
    assert renamed([literal(was, "7")], [literal(now, "7")], *uses) == says
    assert renamed([literal(was, "7")], [literal(now, "8")], *uses) == ["loses an assertion"]


def test_no_claim_is_used_up_by_one_that_another_would_do_for():
    was = [literal("total(a, $0)", "1"), literal("total(b, $0)", "2"), literal("total(c, $0)", "3")]
    now = [literal("total(c, x, $0)", "3"), literal("total(a, x, $0)", "1"),
           literal("total(b, x, $0)", "2")]
    assert renamed(was, now, "shop", "shop") == []
    assert renamed(was, now[1:], "shop", "shop") == ["loses an assertion"]
    weaker = replace(was[1], kind=Kind.MEMBER, form="2 in total(b, $0)")
    assert renamed([weaker, *was], [was[0], *now], "shop", "shop") == []
    assert renamed([weaker, *was], [was[0], *now[1:]], "shop", "shop") == ["loses an assertion"]
