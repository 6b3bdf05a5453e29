"""Draws invoices, writes them down without the code under test, and changes them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

_CURRENCIES = ("EUR", "CHF", "USD", "JPY")
_LETTERS = "abckxé 0123456789.,:-"


def invoices(draw):
    """An invoice as plain values; it comes to nothing or more."""
    invoice = {"number": str(draw.integer(1, 10**6, often=(1, 2, 3))),
               "currency": draw.choice(_CURRENCIES),
               "lines": draw.items(lambda: _line(draw), 1, 6)}
    if _total(invoice) < 0:
        draw.reject("it comes to less than nothing")
    return [invoice]


def _line(draw):
    low = -20 if draw.integer(0, 5) == 5 else 0
    return {"qty": draw.integer(0, 999, often=(1, 2, 3)),
            "price": Decimal(draw.decimal(low, 1_000, 2)),
            "label": draw.text(_LETTERS, 0, 16).strip() or "paper"}


def texts(draw):
    """The text of an invoice."""
    [invoice] = invoices(draw)
    return [_text(invoice, _total(invoice))]


def misstated(draw):
    """The text of one whose stated total is off."""
    [invoice] = invoices(draw)
    off = Decimal(draw.integer(1, 10_000, often=(1, 10, 100))).scaleb(-2)
    return [_text(invoice, _total(invoice) + (-off if draw.boolean() else off))]


def formless(draw):
    """A text that lost one line of its head or foot, or has one that says nothing."""
    lines = texts(draw)[0].splitlines(keepends=True)
    wrong = draw.choice(("lost", "empty", "odd"))
    if wrong == "lost":
        del lines[draw.choice((0, 1, -1))]
    else:
        lines.insert(draw.integer(0, len(lines)), "\n" if wrong == "empty" else "line of two\n")
    return ["".join(lines)]


def _total(invoice):
    return sum((line["qty"] * line["price"] for line in invoice["lines"]), Decimal("0.00"))


def _text(invoice, total):
    head = [f"invoice {invoice['number']}", f"currency {invoice['currency']}"]
    body = [f"line {line['qty']} x {line['price']} {line['label']}" for line in invoice["lines"]]
    return "\n".join([*head, *body, f"total {total}", ""])


def read_back(draw, _invoice):
    return [draw.output]


def as_it_was(draw, _out):
    return _written({**draw.input[0], "rejected": False})


def without_sums(_draw, outs):
    return _written(outs[0])


def _written(invoice):
    """What stands in the text of an invoice, and whether its total is right."""
    lines = [[line["qty"], Fraction(line["price"]), line["label"]] for line in invoice["lines"]]
    return [invoice["number"], invoice["currency"], lines, invoice["rejected"]]


def lines_shuffled(draw, text):
    head, body, foot = _parts(text)
    other = draw.shuffled(body, "lines")
    if other == body:
        draw.reject("equal lines changed places")
    return draw.runs(["".join([*head, *other, foot])])


def lines_and_total(_draw, out):
    return [*out["lines"], Fraction(out["total"])]


def lines_and_total_of_the_first(draw, outs):
    return lines_and_total(draw, outs[0])


def quantities_scaled(draw, text):
    factor = _factor(draw)
    head, body, foot = _parts(text)
    body = [f"line {int(line.split(' ')[1]) * factor} {line.split(' ', 2)[2]}" for line in body]
    total = Decimal(foot.split(" ")[1]) * factor
    return draw.runs(["".join([*head, *body, f"total {total}\n"])])


def total_scaled(draw, out):
    return [Fraction(out["total"]) * _factor(draw), out["rejected"]]


def total_of_the_first(_draw, outs):
    return [Fraction(outs[0]["total"]), outs[0]["rejected"]]


def _factor(draw):
    return draw.choice((2, 3, 10), stream="factor")


def in_other_currency(draw, text):
    head, body, foot = _parts(text)
    return ["".join([head[0], f"currency {_other(draw, text)}\n", *body, foot])]


def currency_put_in(draw, out):
    return {**out, "currency": _other(draw, draw.input[0])}


def _other(draw, text):
    now = text.split("\n")[1].split(" ")[1]
    return draw.choice([one for one in _CURRENCIES if one != now], stream="currency")


def _parts(text):
    """Head, lines and foot of a text that was written here."""
    lines = text.splitlines(keepends=True)
    return lines[:2], lines[2:-1], lines[-1]


def conserved(draw, out):
    _, body, _ = _parts(draw.input[0])
    nets = [Fraction(line["net"]) for line in out["lines"]]
    return len(nets) == len(body) and sum(nets) == Fraction(out["total"]) \
        and all(net == line["qty"] * Fraction(line["price"])
                for net, line in zip(nets, out["lines"], strict=True)) \
        and out["rejected"] is False


def is_rejected(_draw, out):
    return out["rejected"] is True
