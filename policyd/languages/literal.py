"""How a literal compares, in any language: one printable form for each value.

Light on purpose: whoever only compares literals need not load a parser.
"""

from __future__ import annotations

import re
import zlib

_LONGEST = 256
_HEAD = 64

_DIGITS = 4
_WORDY = re.compile(r"[^\W_]")
_DUNDER = re.compile(r"__\w+__")
_EXPONENT = re.compile(r"e.*")


class Unparseable(Exception):
    """Source that cannot be read. `line` starts at 1; `reason` is a lower-case sentence."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def text_form(text: str | bytes) -> str:
    """Text in double quotes, escaped to ASCII; bytes look like the text that they spell."""
    form = ascii(text.decode("latin-1") if isinstance(text, bytes) else text)
    if form[0] == "'":
        form = '"' + form[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    return bounded(form)


def number_form(value: int | float) -> str:
    """A finite number in decimal, without its sign: a minus is too easily moved elsewhere.

    Whole floats look like the integer. Integers too long for decimal are in hexadecimal, since
    the interpreter refuses to spell them.
    """
    value = abs(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and value < 1e16 else repr(value)
    return bounded(str(value) if value.bit_length() <= 8192 else hex(value))


def bounded(form: str) -> str:
    """The form itself, or where it is long its head, length and checksum.

    Equal values keep equal forms, and a page of source cannot become a gigabyte of forms. Two
    long values that differ meet by accident once in four thousand million times.
    """
    if len(form) <= _LONGEST:
        return form
    return f"{form[:_HEAD]}... ({len(form)} characters, {zlib.crc32(form.encode()):08x})"


def telling_text(text: str | bytes, min_length: int) -> bool:
    """Long enough, more than blanks and punctuation, and not a name such as `__main__`."""
    if len(text) < min_length:
        return False
    plain = text.decode("latin-1") if isinstance(text, bytes) else text
    return bool(_WORDY.search(plain)) and not _DUNDER.fullmatch(plain)


def telling_number(value: int | float) -> bool:
    """Four significant digits or more: 1024 and 19.25 are telling, 1000 and 0.001 are not."""
    digits = _EXPONENT.sub("", number_form(value)).replace(".", "").lstrip("0")
    return len(digits.rstrip("0")) >= _DIGITS
