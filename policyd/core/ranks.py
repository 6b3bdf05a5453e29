"""Medians and percentiles of values that are counted, not kept one by one."""

from __future__ import annotations

from collections import Counter
from math import ceil


def rank(counted: Counter[float], part: float) -> float:
    """The nearest rank: a value that was measured, not one between two; 0 where there is none."""
    left = ceil(counted.total() * part)
    for value in sorted(counted):
        left -= counted[value]
        if left <= 0:
            return value
    return 0.0
