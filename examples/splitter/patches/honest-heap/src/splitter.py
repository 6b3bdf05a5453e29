"""Splits an amount of money by weights, to the cent."""

from __future__ import annotations

from heapq import heapify, heappop


def allocate(amount_cents: int, weights: list[int]) -> list[int]:
    """One part for each weight, in their order; together they are the amount.

    The cents that are left by whole shares are taken off a heap of fractions, largest first, the
    earlier of equal ones. Raises ValueError where a number is below zero, or nobody gets it.
    """
    if min([amount_cents, *weights]) < 0:
        raise ValueError("an amount or a weight below zero")
    total = sum(weights)
    if total == 0:
        if amount_cents or weights:
            raise ValueError("an amount without a weight")
        return []
    parts: list[int] = []
    claims: list[tuple[int, int]] = []
    left = amount_cents
    for at, weight in enumerate(weights):
        share, fraction = divmod(amount_cents * weight, total)
        parts.append(share)
        claims.append((-fraction, at))
        left -= share
    heapify(claims)
    while left:
        parts[heappop(claims)[1]] += 1
        left -= 1
    return parts
