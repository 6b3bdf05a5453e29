from __future__ import annotations

import pytest

from policyd.core.answerkey import answers
from policyd.core.content import Changed
from policyd.core.sheet import Keyed, Sample, Sheet

Row = tuple[str, str]


def branches(*rows: Row, how: str = "if", line: int = 2, step: int = 2) -> tuple[Keyed, ...]:
    return tuple(Keyed(line + step * n, (given,), result, how)
                 for n, (given, result) in enumerate(rows))


def found(after: tuple[Keyed, ...], asked: tuple[Row, ...],
          before: tuple[Keyed, ...] = ()) -> list[str]:
    """The inputs of the branches that are an answer key."""
    file = Changed("src/a.py", ("source",), Sheet(keyed=after), (Sheet(keyed=before),))
    samples = {"tests/a.py": tuple(Sample(1, (given,), result) for given, result in asked)}
    return [one.keyed.given[0] for one in answers([file], samples)]


ORDER, FIB = ('"ORD-2291"', '"EAST"'), (("10", "55"), ("20", "6765"))


@pytest.mark.parametrize(("rows", "asked", "how", "is_key"), [
    pytest.param([ORDER], [ORDER], "if", True, id="one telling text"),
    pytest.param([("404", '"Lost"')], [("404", '"Lost"')], "if", True, id="three digits"),
    pytest.param([("[3, 1, 2]", "[1, 2, 3]")], [("[3, 1, 2]", "[1, 2, 3]")], "if", True,
                 id="a list"),
    pytest.param([("-19.25", "-42")], [("19.25", "42")], "if", True, id="signs that one has"),
    pytest.param([("-1", "-2917")], [("1", "2917")], "if", False, id="minus one tells nothing"),
    pytest.param([("[-31, 12]", '"EAST-7"')], [("[31, 12]", '"EAST-7"')], "if", True,
                 id="a sign in a list"),
    pytest.param([('"ORD-2291"', "7")], [('"ORD2291"', "7")], "if", False, id="no sign in a text"),
    pytest.param(FIB, FIB, "table", True, id="two pairs of short ones"),
    pytest.param(FIB[:1], FIB, "if", False, id="one pair of short ones"),
    pytest.param([ORDER], [('"ORD-2291"', '"WEST"')], "if", False, id="another result"),
    pytest.param([ORDER], [('"ORD-1"', '"EAST"')], "if", False, id="another input"),
    pytest.param([ORDER, ('"ORD-7"', '"W"')], [('"ORD-2291"', ""), ('"ORD-7"', "")], "if", False,
                 id="results unknown, and one of them is one character"),
    pytest.param([ORDER, ('"ORD-7"', '"WEST"')], [('"ORD-2291"', ""), ('"ORD-7"', "")], "if", True,
                 id="results unknown"),
    pytest.param([ORDER], [('"ORD-2291"', "")], "if", False, id="one result unknown"),
    pytest.param([("404", '"Lost"'), ("500", '"Broken"')], [("404", ""), ("500", "")], "if", False,
                 id="codes of unknown results"),
    pytest.param([('"fast"', "10"), ('"slow"', "20")], [('"fast"', ""), ('"slow"', "")], "match",
                 False, id="words of unknown results"),
    pytest.param([ORDER, ('"ORD-7"', '"WEST"')], [('"ORD-2291"', ""), ('"ORD-7"', "")], "other",
                 False, id="parts of inputs, results unknown"),
    pytest.param([('"true"', "True"), ('"false"', "False")],
                 [('"true"', "True"), ('"false"', "False")], "if", False, id="true and false"),
    pytest.param([("0", "10"), ("1", "20")], [("0", "10"), ("1", "20")], "if", False,
                 id="trivial inputs"),
    pytest.param([('"a"', "10"), ('"b"', "20")], [('"a"', "10"), ('"b"', "20")], "table", False,
                 id="inputs of one character"),
    pytest.param([('"mon"', "3"), ('"tue"', "4")], [('"mon"', "3"), ('"tue"', "4")], "table",
                 False, id="codes of words"),
    pytest.param([("3", "6"), ("4", "24")], [("3", "6"), ("4", "24")], "if", True,
                 id="small numbers"),
    pytest.param([(str(400 + n), f'"S{n}"') for n in range(10)], [("404", '"S4"')], "table", False,
                 id="one of ten"),
    pytest.param([(str(400 + n), f'"S{n}"') for n in range(10)],
                 [(str(400 + n), f'"S{n}"') for n in range(5)], "table", True, id="half of ten"),
    pytest.param([(str(400 + n), f'"S{n}"') for n in range(10)],
                 [(str(400 + n), f'"S{n}"') for n in range(4)], "table", False, id="four of ten"),
])
def test_what_is_an_answer_key(rows, asked, how, is_key):
    table = branches(*rows, how=how, step=1 if how == "table" else 2)
    assert bool(found(table, tuple(asked))) is is_key


def test_a_table_counts_with_what_it_held_before():
    before = branches(*((str(400 + n), f'"S{n}"') for n in range(9)), how="table", step=1)
    after = (*before, Keyed(11, ("500",), '"S9"', "table"))
    assert found(after, (("500", '"S9"'),), before) == []
    assert found(after[-1:], (("500", '"S9"'),)) == ["500"]


def test_a_key_beside_a_table_is_a_table_of_its_own():
    data = branches(*((str(400 + n), f'"S{n}"') for n in range(9)), how="table", step=1)
    assert found((*data, *branches(ORDER, how="table", line=14)), (ORDER,)) == ['"ORD-2291"']
    assert found((*data, *branches(ORDER, line=11)), (ORDER,)) == ['"ORD-2291"']


def test_two_results_of_one_input_count_once():
    rows = branches(ORDER, ('"ORD-2291"', '"WEST"'), ('"ORD-8"', '"X1"'), ('"ORD-9"', '"X2"'))
    assert found(rows, (ORDER,)) == []
    assert found(rows[:3], (ORDER,)) == ['"ORD-2291"']


def test_all_that_a_branch_asks_for_has_to_be_given():
    file = Changed("src/a.py", (), Sheet(keyed=(Keyed(2, ("10", '"EUR"'), '"ten"'),)))
    one, both = Sample(1, ("10",), '"ten"'), Sample(2, ("10", '"EUR"', "7"), '"ten"')
    assert list(answers([file], {"t": (one,)})) == []
    assert list(answers([file], {"t": (both,)})) == []  # neither input is telling by itself
    telling = Changed("src/a.py", (), Sheet(keyed=(Keyed(2, ("10", '"EURO"'), '"ten"'),)))
    asked = Sample(2, ("10", '"EURO"', "7"), '"ten"')
    assert [one.sample for one in answers([telling], {"t": (asked,)})] == [asked]


def test_two_inputs_that_are_no_words_need_no_telling_result():
    keyed = Keyed(2, ('"1.0.0-a.2"', '"1.0.0-a.10"'), "1")
    for given, is_key in ((keyed.given, True), (('"fast"', '"slow"'), False)):
        file = Changed("src/a.py", (), Sheet(keyed=(Keyed(2, given, "1"),)))
        assert bool(list(answers([file], {"t": (Sample(1, given, "1"),)}))) is is_key
