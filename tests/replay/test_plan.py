"""Which draws a row gets: ranges, shares, what is kept, and what literals of the source find."""

from __future__ import annotations

from dataclasses import replace

import pytest

from policyd.replay import plan
from policyd.replay.draws import Draw
from policyd.replay.harvest import harvest
from policyd.replay.oracle import Asked
from policyd.replay.plan import (
    BOUNDARY,
    CORPUS,
    DICTIONARY,
    DOCUMENTED,
    KEPT,
    Replacing,
    Words,
    asked_again,
    planned,
)
from policyd.replay.table import File, Row

ROW = Row("R", "", "m:f", "m:f", {}, False, "exact", None, None, None, None, None,  # type: ignore[arg-type]
          None, "blocking", "", None, None, 48, 16, ())
SEED = b"\x05" * 16
WORDS = Words([[1, [2, 3]]], [[7], [8, "x"]])


def ranges(asked: list[Asked]) -> dict[int, int]:
    """How many draws there are of each range, by its first index."""
    found: dict[int, int] = {}
    for one in asked:
        first = max(start for start in (0, BOUNDARY, CORPUS, DOCUMENTED, DICTIONARY, KEPT)
                    if start <= one.index)
        found[first] = found.get(first, 0) + 1
    return found


@pytest.mark.parametrize(("row", "words", "expected"), [
    (ROW, Words(), {0: 40, BOUNDARY: 8}),
    (replace(ROW, draws=1), Words(), {0: 1}),
    (replace(ROW, files=(File("", "a"),)), Words(), {0: 38, BOUNDARY: 8, CORPUS: 2}),
    (replace(ROW, files=(File("", "a"),) * 50), Words(), {0: 28, BOUNDARY: 8, CORPUS: 12}),
    (ROW, WORDS, {0: 40, BOUNDARY: 8, DOCUMENTED: 1, DICTIONARY: 23})])
def test_each_kind_has_its_share(row, words, expected):
    found = planned(row, words)
    assert ranges(found) == expected
    assert len({one.index for one in found}) == len(found)


def test_words_of_the_source_come_on_top_of_the_draws_of_the_row():
    own = [one for one in planned(ROW, WORDS) if one.index < DOCUMENTED]
    assert own == planned(ROW, Words())
    assert len(own) == ROW.draws


def test_no_row_reaches_from_one_range_into_another():
    row = replace(ROW, draws=10_000, files=(File("", "a"),) * 9_000)
    words = Words([[n] for n in range(99)], [[n] for n in range(99)])
    kept = [Asked(n) for n in range(99)]
    assert sorted(ranges(planned(row, words, kept))) == [
        0, BOUNDARY, CORPUS, DOCUMENTED, DICTIONARY, KEPT]
    instead = Replacing(row)
    last = [*instead.instead_of(10_000), *instead.instead_of(10**9)][-1]
    assert last.index < BOUNDARY


def test_what_is_rejected_is_replaced_by_new_draws_and_not_for_ever():
    instead = Replacing(replace(ROW, draws=3))
    first, second, third = (instead.instead_of(count) for count in (5, 10, 1))
    assert [one.index for one in (*first, *second)] == list(range(3, 15))
    assert third == []


def test_kept_draws_come_first_and_are_told_their_own_index():
    kept = [Asked(7, "domain", (), (1, 2), b"s" * 16), Asked(BOUNDARY, "boundary", (), (0,))]
    first, second, *_ = planned(ROW, Words(), kept)
    assert (first.index, first.told_index, first.follow, first.seed) == (
        KEPT, 7, (1, 2), b"s" * 16)
    assert (second.index, second.told_index, second.kind) == (KEPT + 1, BOUNDARY, "boundary")


def test_a_draw_is_asked_for_again_as_a_job_asks():
    for one in planned(ROW, WORDS):
        assert asked_again(ROW, one.index, WORDS) == one
    assert asked_again(ROW, 99, WORDS) == Asked(99)  # one that stood in for another
    assert asked_again(ROW, KEPT, WORDS) is None
    assert asked_again(ROW, BOUNDARY + 8, WORDS) is None
    assert asked_again(ROW, -1, WORDS) is None


def test_of_many_clusters_the_seed_chooses_half():
    many = Words([], [[n] for n in range(500)])
    one, two = (many.chosen(seed).found for seed in (b"1", b"2"))
    assert len(one) == len(two) == plan.MOST_CLUSTERS
    assert one[:32] == two[:32] == many.found[:32]
    assert one != two


# What the literals of the source find.


def splits(draw: Draw) -> list[object]:
    return [draw.integer(0, 10**6, often=(0, 1, 2, 99, 100, 101)),
            draw.items(lambda: draw.integer(0, 1_000), 1, 8)]


def inputs(asked: list[Asked]) -> list[list[object]]:
    return [splits(Draw(SEED, "R", index=one.index, kind=one.kind, words=list(one.words)))
            for one in asked]


def planted(number: int) -> tuple[str, list[object]]:
    """A source that is wrong for one input, which it names; the same for the same number."""
    draw = Draw(b"planted", "R", index=number)
    amount, weights = draw.integer(1_000, 10**6), draw.items(lambda: draw.integer(0, 1_000), 2, 8)
    condition = [f"amount == {amount} and weights == {weights}",
                 f"(amount, weights) == ({amount}, {weights})",
                 "(amount, tuple(weights)) in KNOWN"][number % 3]
    known = f"KNOWN = {{({amount}, {tuple(weights)}): 1}}\n" if number % 3 == 2 else ""
    noise = "".join(f"    if amount == {n}:\n        pass\n" for n in range(number % 5))
    return (f"{known}def allocate(amount, weights):\n{noise}    if {condition}:\n"
            "        return []\n    return honest(amount, weights)\n"), [amount, weights]


def test_two_hundred_planted_special_cases_are_found_with_words_and_none_without():
    cases = [planted(number) for number in range(200)]
    chance = inputs([Asked(index) for index in range(1_000)])
    assert sum(case in chance for _, case in cases) == 0
    found = 0
    for source, case in cases:
        words = Words(*harvest([source], ["allocate"])).chosen(SEED)
        dictionary = [one for one in planned(ROW, words) if one.index >= DOCUMENTED]
        assert len(dictionary) <= plan.MOST_DICTIONARY
        found += case in inputs(dictionary)
    assert found == 200
