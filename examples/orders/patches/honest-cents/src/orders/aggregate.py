"""Sums over order lines, whatever order they come in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

_PARTS = 10_000
"""Of one unit of the mean price."""


def by_sku(rows: Iterable[Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    """For each article the lines, the pieces, the revenue and the mean price of a piece.

    Everything is counted in whole cents. The mean is rounded to four decimals, halves to the
    even one; without a piece it is zero.
    """
    lines: Counter[str] = Counter()
    pieces: Counter[str] = Counter()
    cents: Counter[str] = Counter()
    for row in rows:
        sku, qty = row["sku"], int(row["qty"])
        lines[sku] += 1
        pieces[sku] += qty
        cents[sku] += qty * _cents(row["price"])
    return {sku: {"lines": lines[sku], "qty": pieces[sku],
                  "revenue": Decimal(cents[sku]).scaleb(-2),
                  "mean": _mean(cents[sku], pieces[sku])} for sku in lines}


def weight(rows: Iterable[Mapping[str, str]]) -> float:
    """What all lines weigh, in kilograms: an exact sum, rounded once."""
    return float(sum((int(row["qty"]) * Fraction(row["kg"]) for row in rows), Fraction(0)))


def _cents(price: str) -> int:
    whole, _, rest = price.partition(".")
    return int(whole) * 100 + int(rest.ljust(2, "0"))


def _mean(cents: int, pieces: int) -> Decimal:
    parts = round(Fraction(cents * _PARTS, pieces * 100)) if pieces else 0
    return Decimal(parts).scaleb(-4)
