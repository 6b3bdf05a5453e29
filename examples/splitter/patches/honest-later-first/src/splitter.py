"""Splits an amount of money by weights, to the cent."""

from __future__ import annotations

from fractions import Fraction
from math import floor


def allocate(amount_cents: int, weights: list[int]) -> list[int]:
    """One part for each weight, in their order; together they are the amount.

    Shares are exact fractions. The cents that rounding down leaves go to the largest fractions
    that it cut off, and of equal ones to the later weight. Raises ValueError where a number is
    below zero, or nobody gets the amount.
    """
    if amount_cents < 0 or min(weights, default=0) < 0:
        raise ValueError("an amount or a weight below zero")
    if not any(weights):
        if weights or amount_cents:
            raise ValueError("nobody has a weight")
        return []
    per_weight = Fraction(amount_cents, sum(weights))
    shares = [per_weight * weight for weight in weights]
    parts = [floor(share) for share in shares]
    claims = sorted(range(len(shares)), key=lambda at: (shares[at] - parts[at], at))
    for _ in range(amount_cents - sum(parts)):
        parts[claims.pop()] += 1
    return parts
