"""Sums over order lines, whatever order they come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum
from typing import Any

_QUANTUM = 1e-9


def by_sku(rows: Iterable[Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    """For each article the lines, the pieces, the revenue and the mean price of a piece.

    Revenue is rounded to a billionth, the mean to four decimals; without a piece it is zero.
    """
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        sums = found.setdefault(row["sku"], {"lines": 0, "qty": 0, "revenue": 0.0})
        sums["lines"] += 1
        sums["qty"] += int(row["qty"])
        sums["revenue"] += int(row["qty"]) * float(row["price"])
    for sums in found.values():
        sums["revenue"] = round(sums["revenue"] / _QUANTUM) * _QUANTUM
        sums["mean"] = round(sums["revenue"] / sums["qty"], 4) if sums["qty"] else 0.0
    return found


def weight(rows: Iterable[Mapping[str, str]]) -> float:
    """What all lines weigh, in kilograms; rounded once, at the end."""
    return fsum(int(row["qty"]) * float(row["kg"]) for row in rows)
