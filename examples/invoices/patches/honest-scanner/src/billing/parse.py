"""Reads invoices, and writes them.

    invoice 2026-114
    currency EUR
    line 2 x 12.50 paper, white
    line 1 x -3.00 bottle returned
    total 22.00
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any


def parse(text: str) -> dict[str, Any]:
    """What an invoice says, with its net amounts and their total, which are worked out.

    Read word by word, counted in cents. One whose stated total is another, or that comes to
    less than nothing, is `rejected`. Raises ValueError for what has not the form of an invoice.
    """
    *rows, end = text.split("\n")
    if end or len(rows) < 3:
        raise ValueError("too short for the form of an invoice")
    number, currency = _after("invoice", rows[0]), _after("currency", rows[1])
    if not number or set(number) & set(" \t") or not _is_currency(currency):
        raise ValueError("the head has another form")
    lines = [_line(_after("line", row)) for row in rows[2:-1]]
    cents = sum(line.pop("cents") for line in lines)
    return {"number": number, "currency": currency, "lines": lines, "total": _money(cents),
            "rejected": not 0 <= cents == _cents(_after("total", rows[-1]))}


def render(invoice: Mapping[str, Any]) -> str:
    """The text of an invoice: number, currency, and lines with quantity, price and label."""
    rows = [f"invoice {invoice['number']}", f"currency {invoice['currency']}"]
    cents = 0
    for line in invoice["lines"]:
        price = int(line["price"] * 100)
        cents += line["qty"] * price
        rows.append(f"line {line['qty']} x {_money(price)} {line['label']}")
    return "\n".join([*rows, f"total {_money(cents)}", ""])


def _after(word: str, row: str) -> str:
    first, _, rest = row.partition(" ")
    if first != word:
        raise ValueError(f"no {word} where the form has one")
    return rest


def _line(text: str) -> dict[str, Any]:
    qty, times, price, label = [*text.split(" ", 3), "", "", ""][:4]
    if times != "x" or not qty.isdecimal() or not label or label != label.strip():
        raise ValueError("a line of another form")
    cents = _cents(price)
    return {"qty": int(qty), "price": _money(cents), "label": label,
            "net": _money(int(qty) * cents), "cents": int(qty) * cents}


def _cents(text: str) -> int:
    whole, point, rest = text.removeprefix("-").partition(".")
    if not (point and whole.isdecimal() and rest.isdecimal() and len(rest) == 2):
        raise ValueError("an amount of another form")
    return int(whole + rest) * (-1 if text.startswith("-") else 1)


def _money(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)


def _is_currency(text: str) -> bool:
    return len(text) == 3 and text.isascii() and text.isalpha() and text.isupper()
