"""Brings the amounts of a CSV file into one form."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from fractions import Fraction

AMOUNTS = frozenset({"amount", "total", "price"})
"""Columns that hold amounts, in lower case."""

_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)")


def normalise(text: str) -> str:
    """The same rows in composed Unicode, cells stripped, amounts with two decimals.

    Halves are rounded to the even cent; an empty amount stays empty. Raises ValueError where
    there is no header, a row does not fit it, or an amount is no number.
    """
    reader = csv.reader(io.StringIO(unicodedata.normalize("NFC", text), newline=""), strict=True)
    header = [name.strip() for name in next(reader, [])]
    if not header:
        raise ValueError("the header is missing")
    is_amount = [name.lower() in AMOUNTS for name in header]
    table = [header]
    for row in reader:
        if len(row) != len(header):
            raise ValueError(f"{len(row)} cells do not fit the header")
        table.append([_amount(cell.strip()) if of_money else cell.strip()
                      for of_money, cell in zip(is_amount, row, strict=True)])
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerows(table)
    return written.getvalue()


def _amount(cell: str) -> str:
    if not cell:
        return cell
    if not _NUMBER.fullmatch(cell):
        raise ValueError("no number where an amount belongs")
    cents = round(Fraction(cell) * 100)
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{whole}.{rest:02}"
