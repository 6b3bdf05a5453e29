"""All draws of one relation: what is rejected is replaced, what breaks is made simpler."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from trials import Bench, Sides, domain, needs_sandbox, row

from policyd.replay import fare
from policyd.replay.budget import Budget
from policyd.replay.candidate import Candidate
from policyd.replay.execute import Limits
from policyd.replay.fare import Fare, smaller
from policyd.replay.oracle import Asked
from policyd.replay.plan import KEPT, Words, planned

pytestmark = needs_sandbox

SOURCE = """
import time

def honest(n):
    return n

def even(n):
    return 2 * n

def large(n):
    return n if n < 613 else -1

def long(items):
    return sum(items) if len(items) < 4 or 7 not in items else -1

def slow(n):
    time.sleep(60)
"""
FUNCTIONS = """
def small(draw):
    n = draw.integer(0, 1000)
    if n >= 500:
        draw.reject("too large")
    return [n]

def nothing(draw):
    draw.reject("never")

def by_index(draw):
    return [draw.integer(0, 99) + (100 if draw.every(3) else 0), draw.kind]

def not_below(draw, out):
    return out >= 0

def only_small(draw, n):
    if n >= 500:
        draw.reject("too large")
    return [n + 1]

def many(draw):
    return [draw.items(lambda: draw.integer(0, 9), 0, 9)]
"""
ROWS = [
    row("some", "m:honest", generator="small", holds="is_int"),
    row("in-transform", "m:honest", transform="only_small", compare="map", map="one_up"),
    row("none", "m:honest", generator="nothing", holds="is_int"),
    row("large", "m:large", holds="not_below"),
    row("long", "m:long", generator="many", holds="not_below", draws=32),
    row("slow", "m:slow", holds="not_below"),
    row("kept", "m:honest", generator="by_index", holds="is_int"),
]


@pytest.fixture(scope="module")
def sides(tmp_path_factory) -> Iterator[Sides]:
    functions = FUNCTIONS + "\ndef one_up(draw, out):\n    return out + 1\n"
    found = Sides(Bench(tmp_path_factory.mktemp("fare"), ROWS, functions,
                        {"src/m.py": SOURCE}).given())
    yield found
    found.close()


def fared(sides: Sides, name: str, asked: list[Asked] | None = None) -> Fare:
    one = sides.row(name)
    return fare.fare(one, planned(one, Words()) if asked is None else asked, sides.oracle,
                     sides.candidate)


@pytest.mark.parametrize("name", ["some", "in-transform"])
def test_rejected_draws_are_replaced_and_counted(sides, name):
    found = fared(sides, name)
    counts = found.counts
    assert (counts.applied, counts.broken, counts.vacuous) == (8, 0, 0)
    assert counts.rejected > 0
    assert counts.drawn == counts.applied + counts.rejected
    assert all(pair.drawn.input[0] < 500 for pair in found.pairs)
    assert len({pair.drawn.asked.index for pair in found.pairs}) == 8


def test_what_is_always_rejected_comes_to_an_end(sides):
    counts = fared(sides, "none").counts
    assert (counts.applied, counts.rejected) == (0, 8 + 4 * 8)


def test_kept_draws_that_are_rejected_are_not_replaced(sides):
    kept = [Asked(KEPT + n, follow=(900 + n,)) for n in range(5)]
    counts = fared(sides, "some", [*kept, *domain(0)]).counts
    assert counts.applied == 1
    assert counts.rejected >= 5


def test_a_kept_draw_is_the_draw_that_it_was(sides):
    one = sides.row("kept")
    seed = sides.given.seed
    first = [pair.drawn for pair in fared(sides, "kept", domain(3, 4)).pairs]
    assert [drawn.input[0] >= 100 for drawn in first] == [True, False]
    kept = [Asked(drawn.asked.index, "domain", (), drawn.choices, seed) for drawn in first]
    again = [pair.drawn for pair in fared(sides, "kept", planned(one, Words(), kept)[:2]).pairs]
    assert [drawn.input for drawn in again] == [drawn.input for drawn in first]
    assert [drawn.asked.index for drawn in again] == [KEPT, KEPT + 1]


@pytest.mark.parametrize(("name", "simplest"), [("large", [613]), ("long", [[0, 0, 0, 7]])])
def test_the_first_break_is_made_the_simplest_that_breaks(sides, name, simplest):
    found = fared(sides, name)
    small = smaller(found, found.broken[0], sides.oracle, sides.candidate)
    [given] = small.drawn.input
    assert [sorted(given) if isinstance(given, list) else given] == simplest
    assert small.why == "its output does not have the property"


def test_without_time_the_first_break_stays_as_it_is(sides):
    found = fared(sides, "large")
    assert smaller(found, found.broken[0], sides.oracle, sides.candidate,
                   seconds=-1.0) == found.broken[0]


def test_what_runs_out_of_time_is_not_made_smaller(sides):
    given = sides.given
    with Candidate(given.candidate, given.table.roots, Budget(60),
                   limits=Limits(wall_seconds=0.3)) as slow:
        found = fare.fare(sides.row("slow"), domain(1), sides.oracle, slow)
        runs = len(slow.known)
        assert smaller(found, found.broken[0], sides.oracle, slow) == found.broken[0]
        assert len(slow.known) == runs


def test_a_row_whose_first_runs_take_all_their_time_ends_there(sides):
    given, one = sides.given, sides.row("slow")
    with Candidate(given.candidate, given.table.roots, Budget(60),
                   limits=Limits(wall_seconds=0.3)) as slow:
        found = fare.fare(one, planned(one, Words()), sides.oracle, slow)
    assert found.is_cut
    assert (found.counts.applied, found.counts.broken) == (2, 2)


def test_a_run_is_made_once_for_all_relations(sides):
    before = dict(sides.candidate.known)
    fared(sides, "large")
    assert sides.candidate.known == before


def test_verdict_lines_name_draws_and_states_and_are_sorted(sides):
    found = fare.lines([fared(sides, "some"), fared(sides, "large")], sides.candidate)
    assert found == sorted(found)
    assert {line.split()[0] for line in found} == {"some", "large"}
    assert {line.split()[2] for line in found} <= {"holds", "breaks"}
