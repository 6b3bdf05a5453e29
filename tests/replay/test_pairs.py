"""Pairs held against each other: what holds, breaks, proves nothing; hostile outputs."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import pytest
from trials import Bench, Sides, domain, needs_sandbox, row

from policyd.core.errors import CannotJudge
from policyd.replay.budget import Budget
from policyd.replay.candidate import Candidate
from policyd.replay.execute import Limits
from policyd.replay.pairs import Drawn, Pair, State, draw, shown, tried
from policyd.replay.table import Row

SECRET = "424242"
"""Stands in every output, and may stand in no text."""

SOURCE = """
import time
from decimal import Decimal

class Always(list):
    def __eq__(self, other):
        return True

def deep(depth):
    found = 424242
    for _ in range(depth):
        found = [found]
    return found

HOSTILE = {
    "huge": [424242] * 20_000,
    "deep": deep(150), "deeper": deep(198), "deepest": deep(10_000),
    "nan": float("nan"), "wrong": "424242", "none": None, "empty": [],
    "decimal": Decimal("424242e999999999"), "decimals": [Decimal("424242e999999999")],
    "infinite": float("inf"),
    "dict": {"424242": 424242}, "equal": Always([424242]), "bool": True,
}

def hostile(name, side):
    return HOSTILE[name] if side else [424242, 1]

def both(name, side):
    return HOSTILE[name]

def sleeps(n):
    time.sleep(60)

def doubled(n):
    return [n, 2 * n]

def listed(text):
    return list(text)

def joined(items):
    return "".join(items) + ("!" if len(items) > 4 else "")

def refuses_odd(n):
    if n % 2:
        raise ValueError(n)
    return n

def total(items):
    return sum(items)
"""

NAMES = ("huge", "deep", "deeper", "deepest", "nan", "wrong", "none", "empty", "decimal",
         "decimals", "infinite", "dict", "equal", "bool")

FUNCTIONS = f"""
from decimal import Decimal

NAMES = {NAMES!r}

def name(draw):
    return [NAMES[draw.index % len(NAMES)], 0]

def other_side(draw, name, side):
    return [name, 1]

def first_of(draw, out):
    return out[0] + 0 * sum(out)

def as_it_is(draw, out):
    return out

def of_output(draw):
    return draw.output[0]

def is_pair(draw, out):
    return out[0] < out[1] + 10**9

def again(draw, name, side):
    return [draw.output, 1]

def round_trip(draw, text):
    return [draw.output]

def is_text(draw, out):
    return draw.input[0]

def halves(draw, items):
    left, right = draw.split(items, "S")
    return draw.runs([left], [right])

def three(draw, items):
    return draw.runs([items], [items[:1]])

def same_twice(draw, items):
    return draw.runs([items], [items])

def added(draw, outs):
    return sum(outs)

def true_of_nothing(draw, out):
    return out

def raises_it(draw, n):
    raise ValueError("no change")

def no_arguments(draw, n):
    return n

def half(draw):
    return 0.5

def below_zero(draw):
    return -1

def to_odd(draw, n):
    return [n | 1]

def no_output(draw, n):
    return [draw.output]

def rejects_small(draw, n):
    if n < 500:
        draw.reject("small")
    return [n + 1]
"""
HOW = {"exact": {}, "bag": {}, "subset": {}, "tolerance": {"within": "1"},
       "quota": {"within": "1", "map": "as_it_is"}, "map": {"map": "as_it_is"}}
LISTED = {"generator": "name", "transform": "other_side"}

ROWS = [
    *(row(f"hostile-{how}", "m:hostile", **LISTED, compare=how, **more)
      for how, more in HOW.items()),
    *(row(f"both-{how}", "m:both", **LISTED, compare=how, **more) for how, more in HOW.items()),
    row("mapped", "m:both", **LISTED, compare="map", map="first_of"),
    row("held", "m:both", generator="name", holds="is_pair"),
    row("bounded", "m:both", **LISTED, compare="tolerance", within="of_output"),
    row("changed", "m:both", generator="name", transform="again"),
    row("round-trip", "m:listed", generator="text", transform="round_trip", follow_up="m:joined",
        map="is_text"),
    row("split", "m:total", generator="numbers", transform="halves", merge="added"),
    row("split-same", "m:total", generator="numbers", transform="same_twice", merge="added"),
    row("unmerged", "m:total", generator="numbers", transform="three"),
    row("no-bool", "m:doubled", holds="true_of_nothing"),
    row("no-change", "m:doubled", transform="raises_it"),
    row("no-list", "m:doubled", transform="no_arguments"),
    row("near", "m:doubled", compare="tolerance", within="half"),
    row("no-bound", "m:doubled", compare="tolerance", within="below_zero"),
    row("needs-output", "m:refuses_odd", transform="no_output"),
    row("raises-alike", "m:refuses_odd", compare="raises", transform="to_odd"),
    row("some", "m:doubled", transform="rejects_small", compare="subset"),
    row("slow", "m:sleeps"),
]


@pytest.fixture(scope="module")
def sides(tmp_path_factory) -> Iterator[Sides]:
    given = Bench(tmp_path_factory.mktemp("pairs"), ROWS, FUNCTIONS, {"src/m.py": SOURCE}).given()
    found = Sides(given)
    yield found
    found.close()


def pairs(sides: Sides, name: str, count: int = 4) -> list[Pair]:
    one = sides.row(name)
    made = [one for one in draw(one, domain(*range(count)), sides.oracle)
            if isinstance(one, Drawn)]
    return tried(one, made, sides.oracle, sides.candidate.run)


def states(found: list[Pair]) -> set[str]:
    return {pair.state.value for pair in found}


@needs_sandbox
@pytest.mark.parametrize("how", HOW)
def test_a_hostile_output_breaks_whatever_compares_it(sides, how):
    found = pairs(sides, f"hostile-{how}", len(NAMES))
    assert states(found) == {"breaks"}
    assert not any(SECRET in pair.why or not pair.why.isascii() for pair in found)


@needs_sandbox
@pytest.mark.parametrize("how", HOW)
def test_what_is_the_same_on_both_sides_is_judged_without_an_error(sides, how):
    found = dict(zip(NAMES, pairs(sides, f"both-{how}", len(NAMES)), strict=True))
    assert {pair.state for pair in found.values()} <= {State.HOLDS, State.BREAKS}
    assert found["equal"].why == "it returns what is no plain value (a m.Always)"
    assert found["deepest"].state is State.BREAKS
    assert not any(SECRET in pair.why for pair in found.values())


@needs_sandbox
@pytest.mark.parametrize(("name", "function"), [
    ("mapped", "first_of"), ("held", "is_pair"), ("bounded", "of_output")])
def test_a_function_that_fails_on_a_hostile_output_breaks_the_pair(sides, name, function):
    numbers = ("decimal", "decimals", "huge", "infinite")
    asked = [n for n, one in enumerate(NAMES) if one not in numbers]
    one = sides.row(name)
    made = [made for made in draw(one, domain(*asked), sides.oracle) if isinstance(made, Drawn)]
    if name == "bounded":  # a text is no bound, and none of the machinery's faults
        made = [made for made in made if made.input[0] in ("empty", "none", "deeper")]
    found = tried(one, made, sides.oracle, sides.candidate.run)
    assert states(found) == {"breaks"}
    assert {pair.why.partition(":")[0] for pair in found} >= {f"{function} fails on its output"}
    assert not any(SECRET in pair.why for pair in found)


@needs_sandbox
def test_a_bound_of_a_thousand_million_digits_is_never_written_out(sides):
    one = sides.row("bounded")
    at = NAMES.index("decimals")
    [made] = draw(one, domain(at), sides.oracle)
    [pair] = tried(one, [made], sides.oracle, sides.candidate.run)
    assert pair.state is State.HOLDS


@needs_sandbox
def test_a_transform_that_fails_on_a_hostile_output_breaks_the_pair(sides):
    found = pairs(sides, "changed", len(NAMES))
    assert next(pair for pair in found if pair.drawn.input[0] == "deeper").why.startswith(
        "again fails on its output")
    assert states(found) == {"breaks"}  # a list is no key of HOSTILE


@needs_sandbox
def test_the_follow_up_may_be_another_function(sides):
    found = pairs(sides, "round-trip", 8)
    assert {pair.state.value for pair in found if len(pair.drawn.input[0]) > 4} == {"breaks"}
    assert {pair.state.value for pair in found if len(pair.drawn.input[0]) < 5} == {"holds"}


@needs_sandbox
def test_several_follow_up_runs_are_merged(sides):
    assert states(pairs(sides, "split")) == {"holds"}
    assert all(len(pair.scripts) == 3 for pair in pairs(sides, "split"))
    assert states(pairs(sides, "split-same")) == {"vacuous"}


@needs_sandbox
@pytest.mark.parametrize(("name", "says"), [
    ("unmerged", "t.py: three of unmerged: it makes several follow-up runs, and the row has no"),
    ("no-bool", "true_of_nothing of no-bool: a list is neither True nor False"),
    ("no-change", r"raises_it of no-change: ValueError: no change \(.*t.py:\d+\)"),
    ("no-list", "no_arguments of no-list: .*a transform returns the list"),
    ("no-bound", "below_zero of no-bound: a int is no bound")])
def test_a_relation_that_fails_by_itself_is_no_verdict(sides, name, says):
    with pytest.raises(CannotJudge, match=says + ".*a maintainer repairs the relation"):
        pairs(sides, name)


@needs_sandbox
def test_numbers_may_differ_within_a_bound(sides):
    assert {pair.why for pair in pairs(sides, "near")} == {
        "item 1 of 2: a number is off by more than 0.5"}


@needs_sandbox
def test_an_error_where_the_output_is_needed_is_a_break(sides):
    found = pairs(sides, "needs-output", 8)
    odd = [pair for pair in found if pair.drawn.input[0] % 2]
    assert odd
    assert {pair.state.value for pair in odd} == {"breaks"}
    assert all(pair.why.startswith("it raises ValueError") and pair.trace for pair in odd)


@needs_sandbox
def test_both_must_raise_alike_where_raising_is_the_relation(sides):
    found = pairs(sides, "raises-alike", 8)
    even = [pair for pair in found if pair.drawn.input[0] % 2 == 0]
    assert {pair.state.value for pair in even} == {"breaks"}
    assert {pair.state.value for pair in found if pair not in even} == {"vacuous"}


@needs_sandbox
def test_a_rejected_pair_has_no_other_state(sides):
    found = pairs(sides, "some", 12)
    assert {pair.state is State.REJECTED for pair in found if pair.drawn.input[0] < 500} == {True}
    assert {pair.state for pair in found if pair.drawn.input[0] >= 500} == {State.BREAKS}


@needs_sandbox
def test_what_takes_too_long_breaks(sides):
    given = sides.given
    limits = Limits(wall_seconds=0.4)
    with Candidate(given.candidate, given.table.roots, Budget(60), limits=limits) as candidate:
        one = sides.row("slow")
        [made] = draw(one, domain(1), sides.oracle)
        [pair] = tried(one, [made], sides.oracle, candidate.run)
    assert (pair.state, pair.why) == (State.BREAKS, "its time runs out (the wall time ran out)")


def a_row(steps: dict[str, str] | None = None) -> Row:
    return Row("R", "", "m:f", "m:f", steps or {}, False, "exact", None, None, None, None,  # type: ignore[arg-type]
               None, None, "blocking", "", None, None, 8, 4, ())


@pytest.mark.parametrize(("given", "text"), [
    ([1, [1, 2]], "(1, [1, 2])"), ([], "()"),
    (["\x1b[31m\u202e"], r"('\x1b[31m\u202e')"),
    ([Decimal("1.50"), Fraction(1, 3)], "(Decimal('1.50'), Fraction(1, 3))"),
    ([10**5000], "(a number of thousands of digits)"), (["x" * 500], "('" + "x" * 155 + "...")])
def test_an_input_is_shown_in_one_printable_line(given, text):
    assert shown(a_row(), given) == text


def test_steps_are_shown_as_calls():
    assert shown(a_row({"add": "m:add"}), [["add", 1], ["all"]]) == "add(1); all()"
