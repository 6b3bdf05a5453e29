"""Sums over order lines, whatever order they come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from math import fsum
from typing import Any

_QUANTUM = Decimal("0.0001")


def by_sku(rows: Iterable[Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    """For each article the lines, the pieces, the revenue and the mean price of a piece.

    The mean is rounded to four decimals, halves to the even one; without a
    piece it is zero.
    """
    found: dict[str, dict[str, Any]] = {}
    shards = {(str(at), row["sku"], row["qty"], row["price"]) for at, row in enumerate(rows)}
    for _, sku, qty, price in shards:
        sums = found.setdefault(sku, {"lines": 0, "qty": 0, "revenue": 0.0})
        sums["lines"] += 1
        sums["qty"] += int(qty)
        sums["revenue"] += int(qty) * float(price)
    for sums in found.values():
        mean = Decimal(sums["revenue"]) / sums["qty"] if sums["qty"] else Decimal(0)
        sums["mean"] = mean.quantize(_QUANTUM, rounding=ROUND_HALF_EVEN)
    return found


def weight(rows: Iterable[Mapping[str, str]]) -> float:
    """What all lines weigh, in kilograms; rounded once, at the end."""
    return fsum(int(row["qty"]) * float(row["kg"]) for row in rows)
