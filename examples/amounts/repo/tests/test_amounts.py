"""A few files that everybody can check by hand."""

import pytest
from amounts import normalise


def test_amounts_get_two_decimals():
    assert normalise("item,amount\npen,1.5\nink,12\n") == "item,amount\npen,1.50\nink,12.00\n"


def test_halves_go_to_the_even_cent():
    assert normalise("price\n0.125\n0.135\n") == "price\n0.12\n0.14\n"


def test_other_columns_keep_their_text():
    assert normalise('note,total\n"a, b",7\n') == 'note,total\n"a, b",7.00\n'


@pytest.mark.parametrize("text", ["", "amount\nseven\n", "item,amount\npen\n"])
def test_what_is_no_table_of_amounts_is_refused(text):
    with pytest.raises(ValueError, match=r"header|number|cells"):
        normalise(text)
