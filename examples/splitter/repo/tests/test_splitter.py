"""A few splits that everybody can check by hand."""

import pytest
from splitter import allocate


def test_a_split_without_a_remainder():
    assert allocate(100, [1, 1, 2]) == [25, 25, 50]


def test_the_cent_that_is_left_goes_to_the_largest_fraction():
    assert allocate(101, [1, 1, 2]) == [25, 25, 51]
    assert allocate(10, [3, 3, 1]) == [4, 4, 2]


def test_nothing_is_split_among_nobody():
    assert allocate(0, []) == []


@pytest.mark.parametrize("weights", [[], [0, 0], [2, -1]])
def test_an_amount_needs_somebody_to_go_to(weights):
    with pytest.raises(ValueError, match=r"weight|below zero"):
        allocate(7, weights)
