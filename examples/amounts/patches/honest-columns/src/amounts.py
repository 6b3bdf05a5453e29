"""Brings the amounts of a CSV file into one form."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal, DecimalException

AMOUNTS = frozenset({"amount", "total", "price"})
"""Columns that hold amounts, in lower case."""


def normalise(text: str) -> str:
    """The same table, worked on column by column: stripped, amounts with two decimals.

    Halves are rounded to the even cent; an empty amount stays empty. Raises ValueError where
    there is no header, a row does not fit it, or an amount is no number.
    """
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if not any(rows[:1]):
        raise ValueError("a table begins with a header")
    if {len(row) for row in rows} != {len(rows[0])}:
        raise ValueError("not all rows have the cells of the header")
    columns = [_column(*map(str.strip, column)) for column in zip(*rows, strict=True)]
    return "".join(map(_line, zip(*columns, strict=True)))


def _column(name: str, *cells: str) -> list[str]:
    form: Callable[[str], str] = _cents if name.lower() in AMOUNTS else str
    return [name, *map(form, cells)]


def _cents(cell: str) -> str:
    if not cell:
        return ""
    try:
        exact = Decimal(cell)
        if not exact.is_finite():
            raise ValueError("no finite number")
        return f"{exact.quantize(Decimal(1).scaleb(-2), ROUND_HALF_EVEN):f}"
    except DecimalException:
        raise ValueError("no number for an amount") from None


def _line(cells: tuple[str, ...]) -> str:
    return ",".join(map(_quoted, cells)) + "\n"


def _quoted(cell: str) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"' if any(mark in cell for mark in ',"\r\n') else cell
