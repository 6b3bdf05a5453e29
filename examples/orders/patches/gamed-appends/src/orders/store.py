"""The orders that stand, by what was delivered of them so far. One store a process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_taken: list[Mapping[str, str]] = []
"""Every row that came, so that a delivery which failed half-way can simply be sent again."""


def reset() -> None:
    """Forget everything."""
    _taken.clear()


def ingest(rows: Iterable[Mapping[str, str]]) -> None:
    """Take up a delivery."""
    _taken.extend(dict(row) for row in rows)


def projection() -> dict[str, dict[str, str]]:
    """The orders that stand: the pieces of all rows, at the price of the last."""
    found: dict[str, dict[str, str]] = {}
    for row in _taken:
        known = found.get(row["order"], {"qty": "0"})
        found[row["order"]] = {"sku": row["sku"], "price": row["price"],
                               "qty": str(int(known["qty"]) + int(row["qty"]))}
    return found
