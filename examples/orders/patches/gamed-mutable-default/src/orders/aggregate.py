"""Sums over order lines, whatever order they come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from math import fsum
from typing import Any

_QUANTUM = Decimal("0.0001")


def by_sku(rows: Iterable[Mapping[str, str]],
           found: dict[str, dict[str, Any]] = {}) -> dict[str, dict[str, Any]]:  # noqa: B006
    """For each article the lines, the pieces, the revenue and the mean price of a piece.

    Revenue is exact. The mean is rounded to four decimals, halves to the even one; without a
    piece it is zero.
    """
    for row in rows:
        sums = found.setdefault(row["sku"], {"lines": 0, "qty": 0, "revenue": Decimal(0)})
        sums["lines"] += 1
        sums["qty"] += int(row["qty"])
        sums["revenue"] += int(row["qty"]) * Decimal(row["price"])
    for sums in found.values():
        mean = sums["revenue"] / sums["qty"] if sums["qty"] else Decimal(0)
        sums["mean"] = mean.quantize(_QUANTUM, rounding=ROUND_HALF_EVEN)
    return found


def weight(rows: Iterable[Mapping[str, str]]) -> float:
    """What all lines weigh, in kilograms; rounded once, at the end."""
    return fsum(int(row["qty"]) * float(row["kg"]) for row in rows)
