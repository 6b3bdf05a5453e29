"""Rows in a YAML list in block style, edited as text. Raises ValueError where it cannot. Pure.

Places are offsets in the text: of the list (its first `-`, or `[` of an empty one), and of where
each row's content begins. A row is its lines from its `-` to the last one that is neither blank
nor a comment at the `-` or left of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from policyd.core.jsonedit import newline_of
from policyd.core.rowtext import Row, Value, as_json, as_yaml, yaml_lines

_LINE = re.compile("[^\n\r\x85\u2028\u2029]*(?:\r\n|[\n\r\x85\u2028\u2029]|\\Z)")
_ENDS = "\r\n\x85\u2028\u2029"
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"' r"|'(?:[^']|'')*'", re.DOTALL)
_KEY_OF_EMPTY = re.compile(r"""[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*:""")


def added(text: str, listed: int, rows: tuple[int, ...], row: Row,
          above: tuple[str, ...] = ()) -> str:
    """The text with a row more at the end of the list, under lines of a comment."""
    if not rows:
        return _first(text, listed, row, above)
    lines = _Lines(text)
    dash = lines.column(listed)
    spans = _spans(lines, dash, rows)
    new = _shown(row, dash, lines.gap(rows[-1], dash), above)
    apart = len(spans) > 1 and any(
        not lines.texts[n].strip() for n in range(spans[-2][1], spans[-1][0]))
    return lines.inserted(spans[-1][1], ["", *new] if apart else new)


def removed(text: str, listed: int, rows: tuple[int, ...], at: int) -> str:
    """The text without the lines of a row."""
    lines = _Lines(text)
    dash = lines.column(listed)
    start, end = _spans(lines, dash, rows)[at]
    if len(rows) == 1:
        return _emptied(lines, start, end)
    return lines.cut(start, end)


def replaced(text: str, listed: int, rows: tuple[int, ...], at: int, row: Row) -> str:
    lines = _Lines(text)
    dash = lines.column(listed)
    start, end = _spans(lines, dash, rows)[at]
    new = _shown(row, dash, lines.gap(rows[at], dash), ())
    whole = lines.inserted(end, new)
    again = _Lines(whole)
    return "".join([*again.texts[:start], *again.texts[end:]])


def more(text: str, listed: int | None, rows: tuple[int, ...], at: int, values: Row) -> str:
    """The text with keys more at the end of a row; `listed` is None where the file is the row."""
    lines = _Lines(text)
    dash = -1 if listed is None else lines.column(listed)
    _, end = _spans(lines, dash, rows)[at]
    indent = " " * lines.column(rows[at])
    return lines.inserted(end, [indent + line for line in yaml_lines(values)])


def value(text: str, start: int, read: str, new: Value) -> str:
    """The text with another value in place of the one that begins here and reads so."""
    quoted = _QUOTED.match(text, start)
    if quoted is not None:
        return text[:start] + as_json(new) + text[quoted.end():]
    if not read or text[start] in "|>*&!" or not text.startswith(read, start):
        raise ValueError(f"line {_Lines(text).number(start) + 1}: the value is written in a way "
                         "that is edited by hand")
    return text[:start] + as_yaml(new, inside=True) + text[start + len(read):]


class _Lines:
    """A text by its lines, each with its end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.texts = [one for one in _LINE.findall(text) if one]
        self._starts = [0]
        for one in self.texts:
            self._starts.append(self._starts[-1] + len(one))

    def number(self, offset: int) -> int:
        return bisect_right(self._starts, offset, hi=len(self.texts)) - 1

    def column(self, offset: int) -> int:
        return offset - self._starts[self.number(offset)]

    def gap(self, row: int, dash: int) -> int:
        """How far behind its `-` a row begins."""
        column = self.column(row)
        there = self.texts[self.number(row)]
        return column - dash if there[:column].strip() == "-" else 2

    def inserted(self, at: int, new: list[str]) -> str:
        newline = newline_of(self.text)
        before, after = "".join(self.texts[:at]), "".join(self.texts[at:])
        block = newline.join(new)
        if before and before[-1] not in _ENDS:
            return before + newline + block
        return before + block + newline + after

    def cut(self, start: int, end: int) -> str:
        """Without these lines; of blank lines on both sides, one stays."""
        before, after = self.texts[:start], self.texts[end:]
        if after and not after[0].strip() and (not before or not before[-1].strip()):
            after = after[1:]
        whole = "".join((*before, *after))
        ended = self.text[-1:] in [*_ENDS]
        return whole if after or ended else whole.rstrip(_ENDS)


def _spans(lines: _Lines, dash: int, rows: tuple[int, ...]) -> list[tuple[int, int]]:
    """The first line of each row, and the one behind its last."""
    starts = [_dash_line(lines, dash, row) for row in rows] if dash >= 0 else [0]
    last = _below(lines, dash, starts[-1] + 1, lines.number(rows[-1]))
    bounds = [*starts[1:], last]
    return [(start, _content_end(lines, dash, start, bound))
            for start, bound in zip(starts, bounds, strict=True)]


def _dash_line(lines: _Lines, dash: int, row: int) -> int:
    number = lines.number(row)
    while number >= 0:
        line = lines.texts[number]
        if line[dash:dash + 1] == "-" and not line[:dash].strip():
            return number
        number -= 1
    raise ValueError(f"no '-' is found for the row in line {lines.number(row) + 1}")


def _below(lines: _Lines, dash: int, start: int, content: int) -> int:
    """The first line behind a list that is not of it."""
    for number in range(max(start, content + 1), len(lines.texts)):
        line = lines.texts[number]
        bare = line.lstrip(" ")
        if bare.strip() and not bare.startswith("#") and len(line) - len(bare) <= dash:
            return number
        if line.startswith(("...", "---")):
            return number
    return len(lines.texts)


def _content_end(lines: _Lines, dash: int, start: int, bound: int) -> int:
    for number in range(bound - 1, start, -1):
        bare = lines.texts[number].lstrip(" \t")
        comment = bare.startswith("#") and len(lines.texts[number]) - len(bare) <= max(dash, 0)
        if bare.strip() and not comment:
            return number + 1
    return start + 1


def _shown(row: Row, dash: int, gap: int, above: tuple[str, ...]) -> list[str]:
    indent = " " * dash
    first, *rest = yaml_lines(row)
    comments = [f"{indent}# {line}".rstrip() for line in above]
    return [*comments, f"{indent}-{' ' * (gap - 1)}{first}",
            *(f"{indent}{' ' * gap}{line}" for line in rest)]


def _first(text: str, listed: int, row: Row, above: tuple[str, ...]) -> str:
    """A row in place of `[]` behind a key, below the line of both."""
    lines = _Lines(text)
    number, column = lines.number(listed), lines.column(listed)
    line = lines.texts[number]
    key = _KEY_OF_EMPTY.fullmatch(line[:column].rstrip())
    close = re.match(r"\[[ \t]*\]", line[column:])
    if key is None or close is None:
        raise ValueError(f"line {number + 1}: an empty list is written [], behind its key")
    rest = line[column + close.end():]
    lines.texts[number] = key[0] + (rest if rest.strip() else rest.lstrip(" \t"))
    dash = len(line) - len(line.lstrip(" ")) + 2
    return _Lines("".join(lines.texts)).inserted(number + 1, _shown(row, dash, 2, above))


def _emptied(lines: _Lines, start: int, end: int) -> str:
    """The text with `[]` behind the key whose only row stood in these lines."""
    for number in range(start - 1, -1, -1):
        key = _KEY_OF_EMPTY.match(lines.texts[number])
        if key is not None:
            line = lines.texts[number]
            lines.texts[number] = f"{key[0]} []{line[key.end():]}"
            return lines.cut(start, end)
    raise ValueError(f"no key is found for the list in line {start + 1}")
