"""The orders that stand, by what was delivered of them so far. One store a process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_journal: list[tuple[str, int, Mapping[str, str]]] = []
"""All that was ever delivered: order, revision, row."""


def reset() -> None:
    """Forget everything."""
    del _journal[:]


def ingest(rows: Iterable[Mapping[str, str]]) -> None:
    """Write a delivery down, whatever is in it."""
    _journal.extend((row["order"], int(row["rev"]), dict(row)) for row in rows)


def projection() -> dict[str, dict[str, str]]:
    """The orders that stand: of each its last revision, unless its quantity is zero."""
    found: dict[str, dict[str, str]] = {}
    for order, _, row in sorted(_journal, key=lambda entry: entry[:2]):
        found[order] = {key: row[key] for key in ("sku", "qty", "price")}
    return {order: row for order, row in found.items() if int(row["qty"]) != 0}
