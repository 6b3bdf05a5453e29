"""What the descriptions of relations got wrong or left open, each settled by a test of its name."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from trials import TODAY, Bench, Found, Sides, domain, needs_sandbox, row

from policyd.core.errors import CannotJudge
from policyd.replay.draws import Draw
from policyd.replay.pairs import Drawn, State, draw, tried

SPLITTER = Path(__file__).parents[2] / "examples/splitter/repo"
ALLOCATE = (SPLITTER / "src/splitter.py").read_text()
FUNCTIONS = (SPLITTER / "oracle/relations/splitting.py").read_text().replace(
    "from __future__ import annotations\n", "")
POLICY = {"status": "policy", "owner": "mei", "expires": date(2026, 12, 1)}


def split(name: str, **more: object) -> dict[str, object]:
    return row(name, "splitter:allocate", **{"generator": "splits", "draws": 16, **more})


SCALED = {"class_": "scale", "transform": "scaled", "map": "parts_scaled"}
TWICE = {"class_": "duplication", "transform": "duplicated", "map": "parts_twice"}
PERMUTED = {"class_": "commuting", "transform": "permuted"}
CENT = {"rounding": "each part is its share rounded down, or that and one cent"}
ALLOCATIONS = [
    split("MR01", class_="property", holds="conserved"),
    split("MR02", **PERMUTED, map="extras", merge="extras_of_permuted"),
    split("MR02-strict", **PERMUTED, merge="moved_back", generator="evenly", **POLICY),
    split("MR00-zeros", arity=1, generator="zeros", compare="raises", draws=8),
    split("MR06", arity=1, generator="one_below_zero", compare="raises", draws=8),
    split("MR04", **SCALED, generator="divisible", rounding="none takes place"),
    split("MR04-quota", **SCALED, **CENT, compare="quota", within="as_often"),
    split("MR04-strict", **SCALED, **POLICY),
    split("MR05", **TWICE, **CENT, compare="tolerance", within="2"),
    split("MR05-strict", **TWICE, **POLICY),
]
MORE_FUNCTIONS = FUNCTIONS + '''

def moved_back(draw, outs):
    order = draw.permutation(len(outs[0]), "order")
    back = [0] * len(order)
    for at, part in zip(order, outs[0]):
        back[at] = part
    return back

def evenly(draw):
    return [draw.integer(1, 99), [draw.integer(1, 2) for _ in range(6)]]
'''


@pytest.fixture(scope="module")
def allocations(tmp_path_factory) -> Found:
    bench = Bench(tmp_path_factory.mktemp("allocate"), ALLOCATIONS, MORE_FUNCTIONS,
                  {"src/splitter.py": ALLOCATE})
    return bench.run()


@needs_sandbox
def test_mr01_with_mr02_a_textbook_allocator_keeps_both_since_mr02_knows_ties(allocations):
    assert allocations["MR01"].bucket.value == allocations["MR02"].bucket.value == "holds"
    assert allocations["MR02"].counts.applied == 16
    assert allocations["MR02-strict"].counts.broken > 0  # the strict form breaks on ties


@needs_sandbox
def test_weights_that_are_all_zero_have_a_row_of_their_own_and_no_other(allocations):
    assert allocations["MR00-zeros"].bucket.value == "holds"
    assert allocations["MR00-zeros"].counts.applied == 8
    assert allocations["MR01"].counts.vacuous == allocations["MR02"].counts.vacuous == 0


@needs_sandbox
@pytest.mark.parametrize(("name", "bucket"), [
    ("MR04", "holds"), ("MR04-quota", "holds"), ("MR04-strict", "policy-sensitive"),
    ("MR05", "holds"), ("MR05-strict", "policy-sensitive")])
def test_mr04_and_mr05_block_where_no_fair_split_breaks_them(allocations, name, bucket):
    one = allocations[name]
    assert one.bucket.value == bucket
    assert bool(one.counts.broken) == (bucket == "policy-sensitive")
    assert one not in allocations.replay.refusing


@pytest.mark.parametrize("more", [SCALED, TWICE])
def test_scale_and_duplication_do_not_block_without_a_rule_for_the_remainder(tmp_path, more):
    bench = Bench(tmp_path / "b", [split("R", **more)], FUNCTIONS, {})
    with pytest.raises(CannotJudge, match="says what becomes of the remainder"):
        bench.table()


@needs_sandbox
def test_rows_of_one_execution_block_and_have_draws_of_their_own(tmp_path_factory):
    rows = [split("MR01", holds="conserved", draws=8), split("MR01b", holds="conserved", draws=8),
            split("MR06", arity=1, generator="one_below_zero", compare="raises", draws=8)]
    source = ALLOCATE.replace("    return parts\n", "    return [*parts[1:], 7]\n")
    bench = Bench(tmp_path_factory.mktemp("one"), rows, FUNCTIONS, {"src/splitter.py": ALLOCATE})
    given = bench.given({"src/splitter.py": source})
    assert all(one.is_property for one in given.table.rows)
    sides = Sides(given)
    one, two = ([drawn for drawn in draw(sides.row(name), domain(*range(8)), sides.oracle)
                 if isinstance(drawn, Drawn)] for name in ("MR01", "MR01b"))
    assert [drawn.input for drawn in one] != [drawn.input for drawn in two]
    found = tried(sides.row("MR01"), one, sides.oracle, sides.candidate.run)
    sides.close()
    assert {pair.state for pair in found} == {State.BREAKS}


SUMS = '''
from fractions import Fraction
from math import fsum

def added(rows):
    total = 0.0
    for row in rows:
        total += row
    return total

def exact(rows):
    return fsum(rows)

def lossy(rows):
    return sum(rows[:-1], 0.0)

store = []

def reset():
    store.clear()

def ingest(rows):
    store.extend(rows)

def ingest_and_sort(rows):
    store.extend(rows)
    store.sort()

def projection():
    return list(store)

def count(rows):
    found = {}
    for row in rows:
        found[row] = found.get(row, 0) + 1
    return found

def count_from_one(rows):
    return {name: n + 1 for name, n in count(rows).items()}
'''
SUM_FUNCTIONS = '''
def floats(draw):
    return [draw.items(lambda: draw.choice((0.1, 0.2, 0.3, 1e6, -1e6)), 4, 9)]

def fixed(draw):
    return [[0.1, 0.2, 0.3, 0.7, 1e6, -1e6]]

def names(draw):
    return [draw.items(lambda: draw.choice("abc"), 2, 12)]

def halves(draw, rows):
    left, right = draw.split(rows, "S")
    return draw.runs([left], [right])

def merged(draw, outs):
    total = dict(outs[0])
    for name, n in outs[1].items():
        total[name] = total.get(name, 0) + n
    return total

def once(draw):
    return [["reset"], ["ingest", draw.items(lambda: draw.integer(0, 9), 1, 5)], ["projection"]]

def twice(draw, reset, ingest, projection):
    return [reset, ingest, projection, ["ingest", [10]], projection]

def and_ten(draw, out):
    return out + [10]
'''
STEPS = {"reset": "sums:reset", "ingest": "sums:ingest"}
SORTED = {"reset": "sums:reset", "ingest": "sums:ingest_and_sort"}
FLOATS = {"generator": "floats", "transform": "shuffled", "class_": "order", "draws": 12}
FIXED = {"generator": "fixed", "transform": "shuffled", "class_": "order"}
MERGED = {"class_": "split-merge", "generator": "names", "transform": "halves", "merge": "merged"}
STORED = {"class_": "store", "generator": "once", "transform": "twice"}
OTHERS = [
    row("R1-exact", "sums:added", **FLOATS),
    row("R1-fsum", "sums:exact", **FLOATS),
    row("R1-near", "sums:added", **FLOATS, compare="tolerance", within="0.000001"),
    row("R1-lossy", "sums:lossy", **FLOATS, compare="tolerance", within="0.000001"),
    row("R2", "sums:projection", **STORED, steps=STEPS, map="and_ten"),
    row("R2-bag", "sums:projection", **STORED, steps=SORTED, map="and_ten", compare="bag"),
    row("R2-order", "sums:projection", **STORED, steps=SORTED),
    row("R3", "sums:count", **MERGED),
    row("R3-off", "sums:count_from_one", **MERGED),
    row("frozen-no-more", "sums:added", **FIXED, status="freezable", reducer="sum"),
    row("frozen", "sums:added", **FIXED, status="freezable", reducer="sum"),
    row("never-frozen", "sums:added", **FIXED),
]


def freeze(name: str, expires: date) -> dict[str, object]:
    return {"relation_id": name, "expires": str(expires), "reruns": 5, "pass_needed": 1,
            "reason": "the sum of floats in another order", "owner": "mei"}


def others(folder: Path, today: date = TODAY) -> Bench:
    freezes = json.dumps([freeze("frozen-no-more", date(2026, 5, 31)),
                          freeze("frozen", TODAY), freeze("never-frozen", TODAY)])
    return Bench(folder, OTHERS, SUM_FUNCTIONS, {"src/sums.py": SUMS}, today=today,
                 files={"fixtures/freezes.json": freezes})


@pytest.fixture(scope="module")
def sums(tmp_path_factory) -> Found:
    return others(tmp_path_factory.mktemp("sums")).run()


@needs_sandbox
@pytest.mark.parametrize(("name", "bucket"), [
    ("R1-exact", "block"), ("R1-fsum", "holds"), ("R1-near", "holds"), ("R1-lossy", "block")])
def test_r1_on_floats_needs_fsum_or_a_tolerance(sums, name, bucket):
    assert sums[name].bucket.value == bucket


@needs_sandbox
@pytest.mark.parametrize(("name", "bucket"), [
    ("R2", "holds"), ("R2-bag", "holds"), ("R2-order", "block")])
def test_r2_is_about_a_store_reset_ingest_project_ingest_project(sums, name, bucket):
    assert sums[name].bucket.value == bucket
    if bucket == "block":
        assert sums[name].input.startswith("reset(); ingest([")


@needs_sandbox
@pytest.mark.parametrize(("name", "bucket"), [("R3", "holds"), ("R3-off", "block")])
def test_r3_merges_the_halves_and_holds_them_against_the_whole(sums, name, bucket):
    assert sums[name].bucket.value == bucket


def test_r3_as_the_same_call_on_both_sides_is_refused_at_load(tmp_path):
    rows = [row("R3", "sums:count", generator="names", transform="identity")]
    with pytest.raises(CannotJudge, match="both sides are the same call"):
        Bench(tmp_path / "b", rows, SUM_FUNCTIONS, {}).table()


@needs_sandbox
def test_a_freeze_reruns_the_same_pair_and_what_always_fails_is_no_flake(sums):
    one = sums["frozen"]
    assert one.bucket.value == "block"
    assert one.freeze.endswith("passes 0 of 5 reruns; it breaks every time, and a freeze is for "
                               "flakes")


@needs_sandbox
def test_only_freezable_rows_have_a_freeze(sums):
    assert (sums["never-frozen"].bucket.value, sums["never-frozen"].freeze) == ("block", "")


@needs_sandbox
def test_an_expired_freeze_makes_its_row_mandatory_again(sums):
    assert (sums["frozen-no-more"].bucket.value, sums["frozen-no-more"].freeze) == ("block", "")


@pytest.mark.parametrize(("today", "warnings"), [
    (date(2026, 5, 31), 0), (date(2026, 6, 1), 1), (date(2026, 6, 2), 2)])
def test_the_last_day_is_inclusive_and_what_is_over_is_told(tmp_path, today, warnings):
    told = others(tmp_path / "b", today).table().warnings
    assert len(told) == warnings
    assert all("ended on 2026-0" in line and "it holds again without reruns" in line
               for line in told)


def test_a_freeze_without_a_pass_that_is_needed_is_refused(tmp_path):
    files = {"fixtures/freezes.json": json.dumps([freeze("frozen", TODAY) | {"pass_needed": 0}])}
    with pytest.raises(CannotJudge, match="0 is less than 1; a maintainer repairs"):
        Bench(tmp_path / "b", OTHERS[-2:-1], SUM_FUNCTIONS, {}, files=files).table()


def test_a_draw_is_made_alone_and_is_the_same_permutation_again():
    for index in range(30):
        orders = {tuple(Draw(b"s", "MR02", index=index).permutation(6, "P")) for _ in range(3)}
        assert len(orders) == 1
        assert orders != {tuple(range(6))}
