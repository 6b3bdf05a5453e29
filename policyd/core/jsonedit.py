"""Rows in a list that is written as JSON, edited as text. Raises ValueError where it cannot. Pure.

Places are offsets in the text: of the list's `[`, and of where each row begins.
"""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder
from typing import Any

from policyd.core.rowtext import Row, as_json

_READER = JSONDecoder()
_BLANK = " \t\r\n"
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_NEWLINE = re.compile(r"\r\n|\n|\r")


def added(text: str, listed: int, rows: tuple[int, ...], row: Row) -> str:
    """The text with a row more at the end of the list."""
    if rows:
        end, like = _end(text, rows[-1]), text[rows[-1]:_end(text, rows[-1])]
        return text[:end] + _separator(text, listed, rows) \
            + _like(text, rows[-1], like, row) + text[end:]
    closing = _end(text, listed)
    if text[:listed].strip() and not _NEWLINE.search(text.strip()):
        return text[:listed] + f"[{as_json(row, tight=_is_tight(text))}]" + text[closing:]
    base, newline = _indent_at(text, listed), newline_of(text)
    unit = match[1] if (match := _INDENT.search(text)) else "  "
    lines = as_json(row, indent=unit).split("\n")
    inner = newline.join(base + unit + line for line in lines)
    return f"{text[:listed]}[{newline}{inner}{newline}{base}]{text[closing:]}"


def removed(text: str, listed: int, rows: tuple[int, ...], at: int) -> str:
    """The text without a row, its comma and the white space between."""
    end = _end(text, rows[at])
    if len(rows) == 1:
        return f"{text[:listed]}[]{text[_end(text, listed):]}"
    if at:
        return text[:_end(text, rows[at - 1])] + text[end:]
    return text[:rows[0]] + text[rows[1]:]


def replaced(text: str, start: int, value: Any) -> str:
    """The text with another value in place of the one that begins here."""
    end = _end(text, start)
    return text[:start] + _like(text, start, text[start:end], value) + text[end:]


def more(text: str, start: int, values: Row) -> str:
    """The text with keys more in the mapping that begins here and has one at least."""
    end = _end(text, start)
    inner = text[start + 1:end - 1]
    before = inner[:len(inner) - len(inner.lstrip(_BLANK))]
    last = end - 1 - (len(inner) - len(inner.rstrip(_BLANK)))
    tight = _is_tight(text[start:end])
    gap = before if _NEWLINE.search(before) else "" if tight else " "
    pairs = (as_json({key: value}, tight=tight)[1:-1] for key, value in values.items())
    return text[:last] + "".join(f",{gap}{pair}" for pair in pairs) + text[last:]


def newline_of(text: str) -> str:
    """How the lines of a text end, by its first one."""
    return match[0] if (match := _NEWLINE.search(text)) else "\n"


def _like(text: str, start: int, model: str, value: Any) -> str:
    """A value in the style of the one that begins at `start`."""
    first = re.match(r"[{\[]([ \t]*(?:\r\n|\n|\r)[ \t\r\n]*)\S", model)
    if first is None:
        return as_json(value, tight=_is_tight(model))
    newline, base = newline_of(text), _indent_at(text, start)
    inner = _NEWLINE.split(first[1])[-1]
    unit = inner.removeprefix(base) if inner.startswith(base) and inner != base else "  "
    return as_json(value, indent=unit).replace("\n", newline + base)


def _separator(text: str, listed: int, rows: tuple[int, ...]) -> str:
    """What stands between two rows."""
    if len(rows) > 1:
        return text[_end(text, rows[-2]):rows[-1]]
    before = text[listed + 1:rows[0]]
    return "," + (before if _NEWLINE.search(before) else "" if _is_tight(text) else " ")


def _indent_at(text: str, offset: int) -> str:
    """The white space at the beginning of the line that holds this place."""
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    line = text[start:]
    return line[:len(line) - len(line.lstrip(" \t"))]


def _is_tight(text: str) -> bool:
    return '":' in text and '": ' not in text


def _end(text: str, start: int) -> int:
    try:
        _, end = _READER.raw_decode(text, start)
    except (JSONDecodeError, RecursionError):
        line = len(_NEWLINE.findall(text[:start])) + 1
        raise ValueError(f"what begins in line {line} stands in brackets and is no JSON; write "
                         "a row a line, or edit it by hand") from None
    return end
