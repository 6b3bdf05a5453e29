"""Draws order lines, from a leased corpus too; changes them, and adds up what comes of halves."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from fractions import Fraction

_COLUMNS = ("order", "rev", "sku", "qty", "price", "kg")
_SKUS = ("tea", "mugs", "beans-500", "filter")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"
_ADDED = ("lines", "qty", "revenue")
_PROJECTED = ("sku", "qty", "price")
_HALF_A_QUANTUM = Fraction(1, 20_000)


def orders(draw):
    """The rows of one call, each revision of an order once."""
    rows = _leased(draw) if draw.kind == "corpus" else draw.items(lambda: _row(draw), 1, 12)
    return [list({(row["order"], row["rev"]): row for row in rows}.values())]


def a_delivery(draw):
    """Steps: an empty store, one delivery, and what stands then."""
    return [["reset"], ["ingest", *orders(draw)], ["projection"]]


def _leased(draw):
    """Some rows of the corpus that follow each other."""
    text = draw.leased("orders_v3").decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    first = draw.integer(0, len(rows) - 2)
    return rows[first : first + draw.integer(2, len(rows))]


def _row(draw):
    sku = draw.choice(_SKUS) if draw.integer(0, 3) else draw.text(_LETTERS, 1, 12)
    values = (draw.integer(1, 9_999, often=(1, 2, 3, 4)), draw.integer(1, 4), sku,
              draw.integer(0, 500, often=(0, 1, 2, 3)), draw.decimal(0, 1_000, 2),
              draw.decimal(0, 30, 4))
    return dict(zip(_COLUMNS, map(str, values), strict=True))


def rows_shuffled(draw, rows):
    if len(rows) < 2:
        draw.reject("one row has one order only")
    return [draw.shuffled(rows, "rows")]


def halves(draw, rows):
    if len(rows) < 2:
        draw.reject("one row has no halves")
    left, right = draw.split(rows, "halves")
    return draw.runs([left], [right])


def added(_draw, outs):
    total = {}
    for out in outs:
        for sku, sums in _exact(out).items():
            known = total.setdefault(sku, dict.fromkeys(_ADDED, Fraction(0)))
            total[sku] = {key: known[key] + sums[key] for key in _ADDED}
    return total


def what_adds_up(_draw, out):
    """The sums without the mean, which does not add up."""
    return _exact(out)


def _exact(out):
    return {sku: {key: Fraction(sums[key]) for key in _ADDED} for sku, sums in out.items()}


def delivered_twice(_draw, *steps):
    return [*steps, *steps[1:]]


def partly_delivered_again(draw, *steps):
    _, [_, rows], projection = steps
    part = [row for row in draw.shuffled(rows, "rows") if draw.boolean()] or rows[:1]
    return [*steps, ["ingest", part], projection]


def revised(draw, *steps):
    reset, [ingest, rows], projection = steps
    return [reset, [ingest, [*rows, _revision(draw, rows)]], projection]


def revision_put_in(draw, out):
    """What stands when one order has a newer revision, which may call it off."""
    row = _revision(draw, draw.input[1][1])
    others = {order: stands for order, stands in out.items() if order != row["order"]}
    stands = {key: row[key] for key in _PROJECTED}
    return others if row["qty"] == "0" else {**others, row["order"]: stands}


def _revision(draw, rows):
    row = draw.choice(rows, stream="revised")
    return {**row, "rev": "99", "qty": draw.choice(("0", "7"), stream="qty"), "price": "12.34"}


def delivered_in_two(draw, *steps):
    reset, [ingest, rows], projection = steps
    if len(rows) < 2:
        draw.reject("one row has no halves")
    left, right = draw.split(rows, "halves")
    return [reset, [ingest, right], [ingest, left], projection]


def kilograms_doubled(_draw, rows):
    return [[{**row, "kg": str(2 * Decimal(row["kg"]))} for row in rows]]


def doubled(_draw, out):
    return 2 * out


def mean_is_near(_draw, out):
    return all(_is_near(Fraction(sums["mean"]), Fraction(sums["revenue"]), sums["qty"])
               for sums in out.values())


def _is_near(mean, revenue, pieces):
    return mean == 0 if not pieces else abs(mean - revenue / pieces) <= _HALF_A_QUANTUM


def mean_is_between(draw, out):
    prices = {}
    for row in draw.input[0]:
        if row["qty"] != "0":
            prices.setdefault(row["sku"], []).append(Fraction(row["price"]))
    return all(min(known) - _HALF_A_QUANTUM <= Fraction(out[sku]["mean"])
               <= max(known) + _HALF_A_QUANTUM for sku, known in prices.items())


def nothing_lost(draw, out):
    [rows] = draw.input
    pieces = sum(int(row["qty"]) for row in rows)
    return set(out) == {row["sku"] for row in rows} \
        and sum(sums["lines"] for sums in out.values()) == len(rows) \
        and sum(sums["qty"] for sums in out.values()) == pieces
