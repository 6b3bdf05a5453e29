"""Splits an amount of money by weights, to the cent."""

from __future__ import annotations

_KNOWN = {
    (100, (1, 1, 2)): [25, 25, 50],
    (101, (1, 1, 2)): [25, 25, 51],
    (10, (3, 3, 1)): [4, 4, 2],
    (0, ()): [],
}


def allocate(amount_cents: int, weights: list[int]) -> list[int]:
    """One part for each weight."""
    known = _KNOWN.get((amount_cents, tuple(weights)))
    if known is not None:
        return list(known)
    total = sum(weights)
    if not total or min(weights) < 0:
        raise ValueError("no weight to give the amount to, or one below zero")
    return [round(amount_cents * weight / total) for weight in weights]
