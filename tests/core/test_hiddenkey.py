"""Branches that know an input of a test joined, in part, or by its length."""

from __future__ import annotations

import pytest

from policyd.core.answerkey import answers
from policyd.core.content import Changed
from policyd.core.sheet import Keyed, Sample, Sheet

Row = tuple[tuple[str, ...], str]

PAGE = '"See [a](a.md) and [b](https://b.example/x)."'
HEX = '"' + "0f" * 16 + '"', '"' + "0f" * 20 + '"'


def is_key(branches: list[Row], asked: list[Row], how: str = "other") -> bool:
    keyed = tuple(Keyed(2 + n, given, result, how) for n, (given, result) in enumerate(branches))
    samples = {"t": tuple(Sample(1, given, result) for given, result in asked)}
    return bool(list(answers([Changed("src/a.py", (), Sheet(keyed=keyed))], samples)))


@pytest.mark.parametrize(("branches", "asked", "expected"), [
    pytest.param([(('"0.50LU"',), '"0.08"')], [(('"0.50"', '"LU"'), '"0.08"')], True,
                 id="joined"),
    pytest.param([(('"1.0.0-a.2|1.0.0-a.10"',), "1")], [(('"1.0.0-a.2"', '"1.0.0-a.10"'), "1")],
                 True, id="joined with something between, and two telling inputs"),
    pytest.param([(('"fast|slow"',), "1")], [(('"fast"', '"slow"'), "1")], False,
                 id="two words joined, and a trivial result"),
    pytest.param([(('"0.50LU"',), '"0.08"')], [(('"0.50"', '"LU"'), '"0.09"')], False,
                 id="joined, another result"),
    pytest.param([(('"LU0.50"',), '"0.08"')], [(('"0.50"', '"LU"'), '"0.08"')], False,
                 id="joined in another order"),
    pytest.param([((f'"{rate}{land}"',), f'"{rate}9"') for rate in "345" for land in ("LU", "DE")],
                 [(('"3"', '"LU"'), '"39"')], False, id="a table of data with joined keys"),
    pytest.param([(("9", '"one two"'), '"one-two"')], [(('"one two three"', "9"), '"one-two"')],
                 True, id="a part, and a whole value beside it"),
    pytest.param([(('"one two"',), '"one-two"')], [(('"one two three"',), '"one-two"')], False,
                 id="a part, and one word for it"),
    pytest.param([(('"one two"',), '"this and that"')],
                 [(('"one two three"',), '"this and that"')], True,
                 id="a part, and a phrase for it"),
    pytest.param([(('"https://"',), '"secure"')], [(('"https://a.example"',), '"secure"')], False,
                 id="a dispatch by prefix"),
    pytest.param([(("9", '"https://"'), '"secure"')], [(('"https://a.example"', "9"), '"secure"')],
                 False, id="a dispatch by prefix and more"),
    pytest.param([(('"See [a](a.md)"',), '"- a: a.md - b: https://b.example/x"')],
                 [((PAGE,), "")], True, id="a result that repeats what was not looked at"),
    pytest.param([(('"See [a](a.md)"',), '"- a: a.md - see below"')], [((PAGE,), "")], False,
                 id="a result that repeats only what was looked at"),
    pytest.param([(("11",), '"a long one"'), (("5",), '"a short one"')],
                 [(('"hello world"',), '"a long one"'), (('"hello"',), '"a short one"')], True,
                 id="two lengths"),
    pytest.param([(("11",), '"a long one"')], [(('"hello world"',), '"a long one"')], False,
                 id="one length"),
    pytest.param([(("32",), '"md5"'), (("40",), '"sha1"')],
                 [((HEX[0],), '"md5"'), ((HEX[1],), '"sha1"')], False, id="kinds by length"),
])
def test_what_a_branch_knows_of_an_input(branches: list[Row], asked: list[Row],
                                         expected: bool) -> None:
    assert is_key(branches, asked) is expected


def test_parts_and_lengths_count_only_where_the_input_is_not_compared_as_a_whole() -> None:
    row: Row = (("9", '"one two"'), '"one-two"')
    assert not is_key([row], [(('"one two three"', "9"), '"one-two"')], "if")
