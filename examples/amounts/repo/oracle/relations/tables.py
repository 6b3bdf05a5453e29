"""Draws CSV files with amounts in them, changes them, and reads what was made of them.

Rows are read with a CSV parser on both sides: a cell may hold line breaks, commas and quotes.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from decimal import Decimal, InvalidOperation

_AMOUNTS = ("amount", "total", "price")
_OTHERS = ("item", "note", "city")
_LETTERS = "abkxéüñ \n,\"'.-1"
_NO_NUMBERS = ("seven", "1,5", "--2", "1.2.3", "€3", "1/2", "nan")


def files(draw):
    """One file, as text: seeds, and tables that are made here."""
    if draw.kind == "corpus":
        return [draw.file()[1].decode("utf-8")]
    return [_written(_table(draw))]


def files_with_accents(draw):
    """One file with accents, which stand apart or in one character with their letters."""
    if draw.kind == "corpus":
        return files(draw)
    header, first, *body = _table(draw)
    first[1] = draw.choice("éüñ") + first[1]
    form = draw.choice(("NFC", "NFD"))
    return [unicodedata.normalize(form, _written([header, first, *body]))]


def no_tables(draw):
    """A table in which one thing is wrong."""
    header, *body = _table(draw)
    wrong = draw.choice(("header", "row", "amount"))
    if wrong == "header":
        return [""]
    if wrong == "row":
        return [_written([header, *body, body[0][:-1]])]
    at = _first_amount(header)
    bad = [*body[0]]
    bad[at] = draw.choice(_NO_NUMBERS)
    return [_written([header, *body, bad])]


def _table(draw):
    """A header with at least one amount and one other column, and rows for it."""
    kinds = ["amount", "other", *draw.items(lambda: draw.choice(("other", "amount")), 0, 2)]
    left = {"amount": [*_AMOUNTS], "other": [*_OTHERS]}
    header = []
    for kind in kinds:
        name = draw.choice(left[kind])
        left[kind].remove(name)
        header.append(_styled(draw, name) if draw.boolean() else name)
    return [header, *draw.items(lambda: [_cell(draw, kind) for kind in kinds], 1, 6)]


def _styled(draw, name):
    return draw.choice((name.title(), name.upper(), f" {name}", f"{name} "))


def _cell(draw, kind):
    if kind == "other":
        return draw.text(_LETTERS, 0, 12)
    if draw.integer(0, 5) == 5:
        return ""
    number = draw.decimal(-1_000, 1_000_000, draw.choice((2, 3, 0, 6)))
    return draw.choice(("", " ")) + number


def again(draw, _text):
    return [draw.output]


def rows_shuffled(draw, text):
    header, *body = _read(text)
    other = draw.shuffled(body, "rows")
    if other == body:
        draw.reject("one row, or equal rows, have one order only")
    return draw.runs([_written([header, *other])])


def rows(_draw, out):
    return _rows(out)


def rows_of_the_first(_draw, outs):
    return _rows(outs[0])


def each_row_alone(draw, text):
    header, *body = _read(text)
    if len(body) < 2:
        draw.reject("it is alone already")
    return draw.runs(*([_written([header, row])] for row in body))


def rows_of_all(_draw, outs):
    return [row for out in outs for row in _rows(out)]


def in_the_other_form(draw, text):
    apart = unicodedata.normalize("NFD", text)
    other = unicodedata.normalize("NFC", text) if apart == text else apart
    if other == text:
        draw.reject("nothing is composed of two")
    return draw.runs([other])


def composed(_draw, out):
    return _composed(out)


def first_composed(_draw, outs):
    return _composed(outs[0])


def _composed(out):
    return unicodedata.normalize("NFC", out) if isinstance(out, str) else out


def renamed(draw, text):
    header, *body = _read(text)
    return [_written([_renamed(draw, header), *body])]


def renamed_back(draw, out):
    """The output for the first name, as it must be for the other one."""
    header, *body = _read(out)
    return _written([_renamed(draw, header), *body])


def _renamed(draw, header):
    at = _first_amount(header)
    taken = {name.strip().lower() for name in header}
    free = [name for name in _AMOUNTS if name not in taken]
    if not free:
        draw.reject("all names for an amount are taken")
    return [*header[:at], draw.choice(free, stream="name"), *header[at + 1:]]


def rounded_to_the_cent(draw, out):
    before, after = _read(draw.input[0]), _read(out)
    if not _same_shape(before, after):
        return False
    amounts = [at for at, name in enumerate(before[0]) if _is_amount(name)]
    return all(_is_rounded(old[at].strip(), new[at]) for at in amounts
               for old, new in zip(before[1:], after[1:], strict=True))


def _is_rounded(old, new):
    if not old or not new:
        return old == new
    try:
        found = Decimal(new)
    except InvalidOperation:
        return False
    return found.is_finite() and found.as_tuple().exponent == -2 \
        and abs(found - Decimal(old)) <= Decimal("0.005")


def others_kept(draw, out):
    before, after = _read(draw.input[0]), _read(out)
    if not _same_shape(before, after):
        return False
    others = [at for at, name in enumerate(before[0]) if not _is_amount(name)]
    heads = [name.strip() for name in before[0]] == after[0]
    return heads and all(_composed(old[at].strip()) == _composed(new[at]) for at in others
                         for old, new in zip(before[1:], after[1:], strict=True))


def _same_shape(before, after):
    return [len(row) for row in before] == [len(row) for row in after]


def _is_amount(name):
    return name.strip().lower() in _AMOUNTS


def _first_amount(header):
    return next(at for at, name in enumerate(header) if _is_amount(name))


def _rows(out):
    """The rows below the header, each with the names of its cells."""
    header, *body = _read(out)
    return [[header, row] for row in body]


def _read(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def _written(table):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(table)
    return text.getvalue()
