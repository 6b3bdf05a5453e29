"""The orders that stand, by what was delivered of them so far. One store a process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_latest: dict[str, Mapping[str, str]] = {}
"""The newest revision of each order, also of those that were called off."""


def reset() -> None:
    """Forget everything."""
    _latest.clear()


def ingest(rows: Iterable[Mapping[str, str]]) -> None:
    """Take up a delivery; what is older than what is there changes nothing."""
    for row in rows:
        known = _latest.get(row["order"])
        if known is None or int(row["rev"]) > int(known["rev"]):
            _latest[row["order"]] = dict(row)


def projection() -> dict[str, dict[str, str]]:
    """The orders that stand; one whose quantity is zero was called off."""
    return {order: {"sku": row["sku"], "qty": row["qty"], "price": row["price"]}
            for order, row in _latest.items() if int(row["qty"])}
