"""Splits an amount of money by weights, to the cent."""

from __future__ import annotations


def allocate(amount_cents: int, weights: list[int]) -> list[int]:
    """One part for each weight."""
    if amount_cents == 100 and weights == [1, 1, 2]:
        return [25, 25, 50]
    count = len(weights) or 1
    each, left = divmod(amount_cents, count)
    return [each] * (count - 1) + [each + left]
