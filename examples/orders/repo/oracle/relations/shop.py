"""Draws order lines, from a leased corpus too; changes them, and adds up what comes of halves."""

from __future__ import annotations

import csv
import io
from fractions import Fraction

_COLUMNS = ("order", "rev", "sku", "qty", "price", "kg")
_SKUS = ("tea", "mugs", "beans-500", "filter")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"
_ADDED = ("lines", "qty", "revenue")
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


def delivered_in_two(draw, *steps):
    reset, [ingest, rows], projection = steps
    if len(rows) < 2:
        draw.reject("one row has no halves")
    left, right = draw.split(rows, "halves")
    return [reset, [ingest, right], [ingest, left], projection]


def mean_is_near(_draw, out):
    return all(_is_near(Fraction(sums["mean"]), Fraction(sums["revenue"]), sums["qty"])
               for sums in out.values())


def _is_near(mean, revenue, pieces):
    return mean == 0 if not pieces else abs(mean - revenue / pieces) <= _HALF_A_QUANTUM


def nothing_lost(draw, out):
    [rows] = draw.input
    pieces = sum(int(row["qty"]) for row in rows)
    return set(out) == {row["sku"] for row in rows} \
        and sum(sums["lines"] for sums in out.values()) == len(rows) \
        and sum(sums["qty"] for sums in out.values()) == pieces
