"""One draw alone: the same again, unlike any other, within its bounds, and made of its choices."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyd.replay.draws import KINDS, Draw, Rejected, Runs

SEED = b"\x01" * 32
NAMES = ("north", "south", "east")


def splits(draw):
    weights = draw.items(lambda: draw.integer(0, 9), 1, 8)
    if draw.every(3):
        weights[draw.integer(0, len(weights) - 1)] = 0
    if not any(weights):
        draw.reject("no weight at all")
    return [draw.integer(0, 10**6, often=(0, 1, 2, 99, 100, 101)), weights]


def ledger(draw):
    """Something of each primitive, nested."""
    def row():
        return {"to": draw.choice(NAMES), "paid": draw.boolean(),
                "sum": draw.decimal("-5.5", 200, 2), "tags": draw.items(tag, 0, 3),
                "at": draw.integer(-20, 5)}

    def tag():
        return draw.text("ab-", 0, 4)

    return [draw.items(row, 0, 4), draw.text("xyz", 2, 2), draw.integer(10**30, 10**31)]


def belongs(made) -> bool:
    rows, text, large = made
    return (len(rows) <= 4 and len(text) == 2 and set(text) <= set("xyz")
            and 10**30 <= large <= 10**31 and all(
                row["to"] in NAMES and type(row["paid"]) is bool and -20 <= row["at"] <= 5
                and -5.5 <= float(row["sum"]) <= 200 and row["sum"][-3] == "."
                and len(row["tags"]) <= 3 and all(len(tag) <= 4 and set(tag) <= set("ab-")
                                                  for tag in row["tags"]) for row in rows))


def draw(index: int = 0, relation: str = "MR02", **more) -> Draw:
    return Draw(SEED, relation, index=index, **more)


def made(generator, index, **more):
    """The input, or why there is none."""
    try:
        return generator(draw(index, **more))
    except Rejected as error:
        return str(error)


# The same again, and unlike any other.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("generator", [splits, ledger])
def test_a_draw_made_alone_is_the_draw_of_a_batch_in_any_order(generator, kind):
    more = {"kind": kind, "words": [100, [1, 2], "ab", {"to": "east", "at": -7}]}
    batch = [made(generator, index, **more) for index in range(40)]
    assert [made(generator, index, **more) for index in reversed(range(40))] == batch[::-1]
    assert len({repr(one) for one in batch}) > (30 if kind in ("domain", "corpus") else 2)


def test_seed_relation_index_and_stream_each_make_another_draw():
    def numbers(**changed):
        fields = {"seed": SEED, "relation": "MR02", "index": 3, "stream": "input"} | changed
        one = Draw(fields["seed"], fields["relation"], index=fields["index"],
                   stream=fields["stream"])
        return tuple(one.integer(0, 2**64) for _ in range(2)) + tuple(one.permutation(20, "P"))

    changes = [{}, {"seed": b""}, {"seed": SEED + b"M"}, {"relation": "R02"}, {"index": 4},
               {"index": 30}, {"relation": "MR0", "index": 23}]
    found = [numbers(**change) for change in changes]
    for at in range(len(found[0])):
        assert len({one[at] for one in found}) >= (len(found) if at < 2 else 2)
    other = numbers(stream="change")
    assert other[:2] != found[0][:2]
    assert other[2:] == found[0][2:], "a permutation is by its name alone"


def test_no_two_lists_of_fields_are_one():
    """`a` + `bc` is `ab` + `c` unless each field is kept apart from the next."""
    one, other = Draw(b"a", "bc", index=1), Draw(b"ab", "c", index=1)
    assert one.integer(0, 2**64) != other.integer(0, 2**64)
    assert draw().integer(0, 2**64, stream="a") != draw().integer(0, 2**64, stream="b")


def shared(seed: int, draws: int) -> list[list[int]]:
    """One random.Random for all draws, as it is not done here."""
    order = random.Random(seed)
    found = []
    for _ in range(draws):
        found.append(list(range(order.choice([2, 5, 8]))))
        order.shuffle(found[-1])
    return found


def test_rerun_alone_every_permutation_is_the_same_where_a_shared_state_repeats_few():
    batch = [draw(index).permutation(2 + index % 7, "P") for index in range(30)]
    alone = [draw(index).permutation(2 + index % 7, "P") for index in reversed(range(30))][::-1]
    assert alone == batch
    before = shared(20260917, 30)
    assert sum(shared(20260917, index + 1)[0] == before[index] for index in range(30)) <= 10


def test_a_permutation_is_by_name_whatever_was_drawn_before_and_by_whom():
    transform = draw(7, stream="change")
    transform.integer(0, 9)
    transform.permutation(6, "Q")
    shuffled = transform.shuffled([10, 20, 30, 40, 50, 60], "P")
    mapping = draw(7, stream="change", known=[[1], [2]])
    assert mapping.shuffled((1, 2, 3, 4, 5, 6), "P") == tuple(one // 10 for one in shuffled)
    assert mapping.shuffled("abcdef", "P") == "".join("abcdef"[one // 10 - 1] for one in shuffled)
    assert mapping.permutation(6, "Q") != mapping.permutation(6, "P")
    generator = draw(7, kind="dictionary", words=[1, 2, 3])
    assert generator.shuffled([10, 20, 30, 40, 50, 60], "P") == shuffled
    assert generator.choices == []


def test_a_number_of_a_named_stream_is_the_same_in_each_function():
    generator = draw(5, kind="dictionary", words=[3, 3])
    generator.integer(0, 9)
    factors = [generator.integer(2, 400, stream="k"), generator.integer(2, 400, stream="k")]
    transform = draw(5, kind="dictionary", stream="change")
    assert [transform.integer(2, 400, stream="k") for _ in range(2)] == factors
    assert transform.choice(range(2, 401), stream="j") != factors[0]
    assert len(generator.choices) == 1


@pytest.mark.parametrize("n", [2, 3, 4, 8, 40])
def test_no_permutation_leaves_all_where_it_was(n):
    for index in range(300):
        order = draw(index).permutation(n, "P")
        assert sorted(order) == list(range(n)) != order
    assert draw().permutation(1, "P") == [0]
    assert draw().permutation(0, "P") == []


@pytest.mark.parametrize(("n", "others"), [(4, 23), (6, 719)])
def test_all_other_permutations_come_as_often(n, others):
    found = Counter(tuple(draw(index).permutation(n, "P")) for index in range(10 * others))
    assert len(found) <= others
    assert max(found.values()) < 10 + 5 * 10**0.5
    assert len(found) > 0.99 * others


def test_a_split_leaves_nothing_out_and_no_part_empty():
    cuts = set()
    for index in range(60):
        left, right = draw(index).split([1, 2, 3, 4], "at")
        assert left + right == [1, 2, 3, 4]
        cuts.add(len(left))
        assert draw(index, stream="change").split("abcd", "at") == ("abcd"[:len(left)],
                                                                    "abcd"[len(left):])
    assert cuts == {1, 2, 3}
    assert draw().split((1,), "at") == ((1,), ())
    assert draw().split(b"", "at") == (b"", b"")


@pytest.mark.parametrize("odd", [None, 3, {"a": 1}, {1, 2}, 1.5, True])
def test_what_has_no_order_is_neither_shuffled_nor_split(odd):
    with pytest.raises(TypeError, match="has no order"):
        draw().shuffled(odd, "P")
    with pytest.raises(TypeError, match="cannot be split"):
        draw().split(odd, "P")


# Within bounds, and evenly.


@given(st.integers(-10**40, 10**40), st.integers(0, 10**40), st.integers(0, 10**6),
       st.sampled_from(KINDS), st.lists(st.integers(-10**6, 10**6), max_size=3))
@settings(max_examples=200, deadline=None)
def test_an_integer_is_within_its_bounds(low, span, index, kind, words):
    one = draw(index, kind=kind, words=words)
    assert low <= one.integer(low, low + span, often=words) <= low + span
    assert low == one.integer(low, low)


@given(st.integers(-12, 12), st.integers(0, 24))
def test_choices_of_an_integer_count_outward_from_the_one_nearest_zero(low, span):
    high = low + span
    order = [draw(follow=[n]).integer(low, high) for n in range(span + 1)]
    assert sorted(order) == list(range(low, high + 1))
    nearest = min(order, key=abs)
    assert order == sorted(order, key=lambda value: (abs(value - nearest), value < nearest))


def test_bounds_without_anything_between_are_an_error():
    one = draw()
    for ask in (lambda: one.integer(1, 0), lambda: one.items(int, 2, 1), lambda: one.choice([]),
                lambda: one.items(int, -1, 1), lambda: one.text("", 0, 1),
                lambda: one.decimal(2, 1, 2), lambda: one.decimal("0.001", 1, 2),
                lambda: one.decimal("x", 1, 2), lambda: Draw(b"", "", index=0, kind="other")):
        with pytest.raises(ValueError, match=r"lies from|list has|choose from|no kind"):
            ask()
    assert one.text("", 0, 0) == ""


def even(values, count: int, draws: int) -> bool:
    """Within five deviations of what chance does."""
    expected = draws / count
    return all(abs(values[n] - expected) < 5 * expected**0.5 for n in range(count))


@pytest.mark.parametrize("count", [2, 3, 7, 10, 33, 100])
def test_all_values_come_as_often_by_index_and_within_one_draw(count):
    by_index = Counter(draw(index).integer(0, count - 1) for index in range(100 * count))
    assert even(by_index, count, 100 * count)
    one = draw(9)
    in_one = Counter(one.integer(0, count - 1) for _ in range(100 * count))
    assert even(in_one, count, 100 * count)


def test_what_is_drawn_first_says_nothing_of_what_is_drawn_second():
    pairs: Counter[tuple[int, int]] = Counter()
    following: Counter[tuple[int, int]] = Counter()
    last = 0
    for index in range(6400):
        one = draw(index)
        pair = one.integer(0, 7), one.integer(0, 7)
        pairs[pair] += 1
        following[last, pair[1]] += 1
        last = pair[0]
    for found in (pairs, following):
        assert even({n: found[divmod(n, 8)] for n in range(64)}, 64, 6400)


def test_a_small_range_is_gone_through_and_a_large_one_by_strata():
    for start in range(0, 60, 10):
        assert {draw(n).integer(0, 9) for n in range(start, start + 10)} == set(range(10))
    for start in range(0, 64, 16):
        large = [draw(n).integer(0, 10**6 - 1) for n in range(start, start + 16)]
        assert sorted(value * 16 // 10**6 for value in large) == list(range(16))
    lengths = [len(draw(n).items(lambda: 0, 1, 8)) for n in range(48)]
    assert set(Counter(lengths).values()) == {6}


def test_items_of_a_list_are_strata_too_and_its_length_moves_nothing_behind_it():
    def listed(one):
        one.boolean()
        items = one.items(lambda: (one.integer(0, 9), one.boolean() and one.boolean()), 3, 6)
        return items[2][0], one.integer(0, 9), len(items)

    drawn = [listed(draw(index)) for index in range(40)]
    for block in range(0, 40, 10):
        for at in (0, 1):
            assert {one[at] for one in drawn[block : block + 10]} == set(range(10))
    assert {one[-1] for one in drawn} == {3, 4, 5, 6}


def test_strata_come_in_orders_of_their_own():
    def steps(start, one):
        values = [draw(index, relation=one).integer(0, 6) for index in range(start, start + 7)]
        return {(other - value) % 7 for value, other in pairwise(values)}

    assert len({tuple(steps(start, one)) for start in (0, 7, 14) for one in "abcd"}) > 2


def test_a_large_range_has_all_its_digits():
    drawn = [draw(index).integer(0, 2**200 - 1) for index in range(300)]
    assert len({value % 2**32 for value in drawn}) == 300
    assert even(Counter(value >> 64 & 3 for value in drawn), 4, 300)


def test_values_that_come_often_are_every_other_draw():
    often = (0, 1, 2, 99, 100, 101, 10**7)
    drawn = [draw(index).integer(0, 10**6, often=often) for index in range(48)]
    assert all((one in often) != (other in often)
               for one, other in zip(drawn[::2], drawn[1::2], strict=True))
    assert set(often) & set(drawn) == set(often[:-1])
    pairs = {tuple(value in often for value in (one.integer(0, 10**6, often=often),
                                                one.integer(0, 10**6, often=often)))
             for one in map(draw, range(24))}
    assert len(pairs) == 4
    rest = [value for value in drawn if value not in often][:16]
    assert sorted(value * 16 // (10**6 + 1) for value in rest) == list(range(16))


def test_a_third_of_the_draws_has_a_zero_by_index_not_by_luck():
    inputs = [made(splits, index) for index in range(0, 300, 3)]
    assert all(one == "no weight at all" or 0 in one[1] for one in inputs)
    assert [index for index in range(9) if draw(index).every(3)] == [0, 3, 6]
    assert not draw(1).every(4)


def test_a_boundary_draw_takes_what_is_at_the_edges():
    integers = [draw(index, kind="boundary").integer(-4, 90) for index in range(28)]
    assert set(integers) == {-4, -3, 90, 89, 0, 1, -1}
    assert set(Counter(integers).values()) == {4}
    assert {draw(index, kind="boundary").integer(3, 3) for index in range(5)} == {3}
    lengths = [len(draw(index, kind="boundary").items(lambda: 0, 1, 8)) for index in range(8)]
    assert all({one, other} == {1, 8} for one, other in zip(lengths[::2], lengths[1::2],
                                                             strict=True))
    assert {draw(index, kind="boundary").choice("abcd") for index in range(4)} == {"a", "d"}
    assert {draw(index, kind="boundary").decimal(0, 2, 1) for index in range(10)} == {
        "0.0", "0.1", "1.9", "2.0"}


def test_edges_meet_each_other_and_items_are_alike_in_half_of_the_draws():
    pairs = set()
    alike = 0
    for index in range(400):
        one = draw(index, kind="boundary")
        pairs.add((one.integer(2, 100), one.integer(2, 100)))
        alike += len(set(one.items(lambda one=one: one.integer(0, 100), 5, 5))) == 1
    assert len(pairs) == 16
    assert 200 <= alike <= 210


# Words.


def test_a_documented_call_is_drawn_as_it_stands():
    def call(one):
        return [one.items(lambda: one.integer(0, 50), 1, 8), one.integer(0, 1000),
                one.choice(NAMES), one.text("abc", 0, 5), one.decimal(0, 100, 2)]

    words = [100, [25, 25, 50], "cab", "south", "12.50"]
    found = [call(draw(index, kind="documented", words=words)) for index in range(20)]
    assert found == [[[25, 25, 50], 100, "south", "cab", "12.50"]] * 20


@pytest.mark.parametrize(("word", "ask"), [
    (True, lambda one: one.integer(0, 1)), (1.0, lambda one: one.integer(0, 1)),
    ("1", lambda one: one.integer(0, 1)), (1, lambda one: one.choice(["1", 1.0])),
    (1, lambda one: one.choice([True])), (1001, lambda one: one.integer(0, 1000)),
    ("west", lambda one: one.choice(NAMES)), ("abd", lambda one: one.text("abc", 0, 5)),
    ("abcabc", lambda one: one.text("abc", 0, 5)), (b"a", lambda one: one.text("abc", 0, 5)),
    ([1] * 9, lambda one: one.items(lambda: 0, 1, 8)), ("1.234", lambda one: one.decimal(0, 9, 2)),
    ("1e0", lambda one: one.decimal(0, 9, 2)), ("9.01", lambda one: one.decimal(0, 9, 2)),
    ("٣", lambda one: one.decimal(0, 9, 2)), ("0" * 10**6, lambda one: one.decimal(0, 9, 2)),
    (float("nan"), lambda one: one.decimal(0, 9, 2)), (True, lambda one: one.decimal(0, 9, 2)),
    ({1: 2}, lambda one: one.items(lambda: 0, 1, 8))])
def test_a_word_of_another_type_or_out_of_the_domain_is_never_used(word, ask):
    for index in range(8):
        with_word, without = (draw(index, kind="documented", words=words) for words in ([word], []))
        assert ask(with_word) == ask(without)
        assert with_word.choices == without.choices
        assert with_word._words == [word] or word == {1: 2}


@pytest.mark.parametrize(("word", "drawn"), [
    ("12.5", "12.50"), (12.5, "12.50"), (12, "12.00"), ("-0.00", "0.00"), ("-3", "-3.00"),
    ("7.1000", "7.10"), (-0.25, "-0.25")])
def test_a_number_is_a_word_for_a_decimal_however_it_is_written(word, drawn):
    assert draw(kind="documented", words=[word]).decimal(-20, 20, 2) == drawn


def test_decimals_have_all_their_places():
    assert [draw(follow=[n]).decimal("-0.02", 30, 2) for n in (0, 1, 2, 4, 5, 105)] == [
        "0.00", "0.01", "-0.01", "-0.02", "0.03", "1.03"]
    assert draw(follow=[7]).decimal(0, 30, 0) == "7"


def test_elements_of_a_list_go_through_make_and_those_out_of_the_domain_do_not():
    for index in range(10):
        one = draw(index, kind="documented", words=[[5, 77, "x", 3]])
        items = one.items(lambda one=one: one.integer(0, 9), 1, 8)
        assert (len(items), items[0], items[3]) == (4, 5, 3)
        assert set(items) <= set(range(10))
        assert one.integer(0, 9) in range(10)


def test_a_word_is_used_once():
    for index in range(20):
        one = draw(index, kind="documented", words=[5, 6])
        assert [one.integer(0, 10**9) for _ in range(2)] == [5, 6]
        assert one.integer(0, 10**9) > 6
        one = draw(index, kind="documented", words=[{"a": 5, "b": [6]}, 7])
        assert [one.integer(0, 10**9) for _ in range(3)] == [7, 5, 6]
        assert one.integer(0, 10**9) > 7


def test_rows_nested_lists_and_tuples_are_built_of_their_parts():
    def row(one):
        named = {"to": one.choice(NAMES), "n": one.integer(0, 99)}
        return named, (one.integer(0, 9), one.boolean())

    rows = [({"to": "south", "n": 17}, (4, True)), ({"to": "east", "n": 18}, (5, False))]
    words = [[list(one) for one in rows]]
    one = draw(kind="documented", words=words)
    found = one.items(lambda: row(one), 0, 5)
    assert [first for first, _ in found] == [first for first, _ in rows]
    one = draw(kind="documented", words=[[[1, 2], [], [3]]])
    assert one.items(lambda: one.items(lambda: one.integer(0, 9), 0, 4), 0, 4) == [[1, 2], [], [3]]
    assert words == [[list(one) for one in rows]], "words are the caller's"


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_the_generators_alone(kind):
    """A draw is made again from its choices, where its words are gone."""
    with_words, without = (draw(9, kind=kind, words=words, stream="change", known=[[1], 2])
                           for words in ([5, [6]], []))
    assert [with_words.integer(0, 10**6), with_words.items(lambda: with_words.boolean(), 0, 3)] == [
        without.integer(0, 10**6), without.items(lambda: without.boolean(), 0, 3)]


def test_a_dictionary_draw_mixes_words_with_random_values():
    drawn = [draw(index, kind="dictionary", words=[5000]).integer(0, 10**6) for index in range(800)]
    exact, near = drawn.count(5000), drawn.count(4999) + drawn.count(5001)
    assert 390 < exact < 510
    assert 110 < near < 190
    assert 150 < 800 - exact - near < 250


def test_a_dictionary_draw_takes_a_list_whole_or_not_at_all():
    drawn = []
    for index in range(400):
        one = draw(index, kind="dictionary", words=[[11, 22, 33, 44, 55]])
        drawn.append(one.items(lambda one=one: one.integer(0, 99), 0, 9))
    whole = sum(items == [11, 22, 33, 44, 55] for items in drawn)
    near = sum(items in ([12, 23, 34, 45, 56], [10, 21, 32, 43, 54]) for items in drawn)
    assert 190 < whole < 260
    assert 50 < near < 100
    assert not any(len({11, 22, 33, 44, 55}.intersection(items)) > 3 for items in drawn
                   if items != [11, 22, 33, 44, 55])


def test_in_a_dictionary_draw_a_constant_reaches_each_argument():
    second = 0
    for index in range(200):
        one = draw(index, kind="dictionary", words=[7])
        one.items(lambda one=one: one.integer(0, 9), 3, 3)
        second += one.integer(0, 10**6) == 7
    assert second > 20


def planted(count: int) -> list[tuple[int, int]]:
    numbers = random.Random(1)
    return [(numbers.randrange(10**6), numbers.randrange(10**6)) for _ in range(count)]


def two(one):
    return one.integer(0, 10**6), one.integer(0, 10**6)


def test_planted_cases_are_found_with_their_constants_and_not_without():
    """A candidate that is wrong for one input of 10**12: what 1,000 random draws never see."""
    cases = planted(20)
    needed = [[next(index for index in range(48) if case == two(
                   draw(index, relation=f"R{number}", kind="dictionary", words=words)))
               for words in (case, case[::-1], [*case, 5])] for number, case in enumerate(cases)]
    assert max(map(max, needed)) < 20
    blind = {two(draw(index)) for index in range(1000)}
    assert not blind & set(cases)


def test_a_case_of_one_constant_is_found_wherever_it_is_compared():
    for constant, _ in planted(20):
        drawn = [two(draw(index, kind="dictionary", words=[constant])) for index in range(48)]
        assert any(first == constant for first, _ in drawn)
        assert any(second == constant for _, second in drawn)


# Choices.

WORDS = st.lists(st.integers(-30, 300) | st.text("ab-xyz", max_size=4) | st.sampled_from(NAMES)
                 | st.lists(st.integers(0, 9), max_size=4) | st.decimals(0, 200, places=2).map(str)
                 | st.dictionaries(st.sampled_from(["to", "at"]), st.integers(-20, 5)), max_size=6)


@pytest.mark.parametrize("generator", [splits, ledger])
@given(index=st.integers(0, 500), kind=st.sampled_from(KINDS), words=WORDS)
@settings(max_examples=100, deadline=None)
def test_choices_followed_make_the_same_input_and_the_same_choices(generator, index, kind, words):
    first = draw(index, kind=kind, words=words)
    try:
        made = generator(first)
    except Rejected:
        return
    for follow, again in ((first.choices, kind), ([*first.choices, 5], "domain")):
        second = draw(index, kind=again, follow=follow, words=words)
        assert generator(second) == made
        assert second.choices == first.choices


@given(st.integers(0, 500), st.lists(st.integers(0, 40) | st.integers(0, 10**32), max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_choices_make_an_input_of_the_domain(index, follow):
    one = draw(index, follow=follow)
    made = ledger(one)
    assert belongs(made)
    again = draw(index, follow=one.choices)
    assert (ledger(again), again.choices) == (made, one.choices)


def test_no_choices_make_the_simplest_input():
    assert ledger(draw(5, follow=[])) == [[], "xx", 10**30]
    assert made(splits, 1, follow=[2]) == "no weight at all"
    assert made(splits, 1, follow=[2, 0, 1]) == [0, [0, 1, 0]]
    assert made(splits, 0, follow=[2, 3, 4, 5, 1, 9]) == [9, [3, 0, 5]]


def test_choices_are_what_was_chosen_of_how_many():
    one = draw(2, kind="documented", words=[[-2, 3], "south", "ba", "0.07"])
    assert [one.items(lambda: one.integer(-5, 9), 1, 4), one.choice(NAMES), one.text("ab", 0, 3),
            one.decimal(0, 1, 2)] == [[-2, 3], "south", "ba", "0.07"]
    assert one.choices == [1, 4, 5, 1, 2, 1, 0, 7]


def test_a_choice_too_many_counts_from_the_first_again():
    assert draw(follow=[13]).integer(0, 9) == 3
    assert draw(follow=[-1]).choice("abc") == "c"
    one = draw(follow=[25])
    one.integer(0, 9)
    assert one.choices == [5]


# What else functions see.


def test_a_rejection_passes_a_functions_own_handlers():
    def careless(one):
        try:
            one.reject("not that")
        except Exception:
            return [1]

    with pytest.raises(Rejected, match="not that"):
        careless(draw())


def test_files_are_gone_through_by_index_and_leased_ones_by_id():
    files = [(lease, name, name.encode) for lease, name in
             (("prices", "fixtures/prices.csv"), ("", "seeds/a"), ("", "seeds/b"))]
    names = [draw(index, kind="corpus", files=files).file()[0] for index in range(6)]
    assert names == ["fixtures/prices.csv", "seeds/a", "seeds/b"] * 2
    one = draw(1, files=files)
    assert [one.file(), one.file()] == [("seeds/a", b"seeds/a"), ("seeds/b", b"seeds/b")]
    assert one.choices == [1, 2]
    assert draw(1, files=files, follow=[0]).file()[0] == "fixtures/prices.csv"
    assert one.leased("prices") == b"fixtures/prices.csv"
    for missing in ("", "rates", "seeds/a"):
        with pytest.raises(LookupError, match="names no lease"):
            one.leased(missing)
    with pytest.raises(LookupError, match="names no files"):
        draw().file()


def test_input_and_output_are_there_once_they_are_known():
    one = draw(known=[[1, [2]], None])
    assert (one.input, one.used_output) == ([1, [2]], False)
    assert (one.output, one.used_output) == (None, True)
    with pytest.raises(LookupError, match="a generator has no input"):
        _ = draw().input
    early = draw(known=[[1]])
    with pytest.raises(LookupError, match="no output yet"):
        _ = early.output
    assert early.used_output


def test_runs_are_several_inputs():
    runs = draw().runs([[1]], [[2], 3])
    assert (type(runs), runs.inputs) == (Runs, [[[1]], [[2], 3]])


def test_no_neighbouring_index_repeats_a_draw():
    inputs = [repr(made(ledger, index)) for index in range(200)]
    assert all(one != other for one, other in pairwise(inputs))
