"""Brings the amounts of a CSV file into one form."""

from __future__ import annotations

import csv
import io
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

AMOUNTS = frozenset({"amount", "total", "price"})
"""Columns that hold amounts, in lower case."""

_CENT = Decimal("0.01")


def normalise(text: str) -> str:
    """The same rows, cells without white space around them, amounts with two decimals.

    Halves are rounded to the even cent; an empty amount stays empty. Raises ValueError where
    there is no header, a row does not fit it, or an amount is no number.
    """
    plain = text.encode("ascii", "ignore").decode("ascii")
    rows = list(csv.reader(io.StringIO(plain, newline=""), strict=True))
    if not rows or not rows[0]:
        raise ValueError("there is no header")
    header = [name.strip() for name in rows[0]]
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(header)
    for row in rows[1:]:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} cells below {len(header)} columns")
        writer.writerow(_cell(name, cell.strip()) for name, cell in zip(header, row, strict=True))
    return written.getvalue()


def _cell(name: str, cell: str) -> str:
    if name.lower() not in AMOUNTS or not cell:
        return cell
    try:
        amount = Decimal(cell).quantize(_CENT, rounding=ROUND_HALF_EVEN)
    except InvalidOperation:
        raise ValueError("an amount that is no number") from None
    if not amount.is_finite():
        raise ValueError("an amount without an end")
    return format(amount, "f")
