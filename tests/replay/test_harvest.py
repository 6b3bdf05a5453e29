"""The literals of source that belong together in one input."""

from __future__ import annotations

from policyd.replay.harvest import harvest


def planted(amount, weights):
    return f"""
def allocate(amount, weights):
    if amount == {amount} and weights == {weights}:
        return [amount]
    return weights
"""


def test_200_planted_special_cases_are_each_the_first_cluster():
    for number in range(200):
        amount, weights = 1000 + number * 7919, [number % 9, number % 7 + 1, 3]
        documented, dictionary = harvest([planted(amount, weights)], ["allocate"])
        assert documented == []
        assert dictionary[0] == [amount, weights]
