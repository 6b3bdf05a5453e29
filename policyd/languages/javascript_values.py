"""What literals of JavaScript are worth: text without its escapes, numbers in any base."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TypeGuard

from policyd.core.values import dataclass
from policyd.languages.javascript_tree import Node
from policyd.languages.literal import bounded, number_form, text_form

_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,8})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})"
                     r"|([0-3]?[0-7]{1,2})|(\r\n|[\s\S]))")
_ONE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v",
        "\n": "", "\r": "", "\r\n": "", "\u2028": "", "\u2029": ""}
_PLAIN_REGEX = re.compile(r"\^?((?:[^\\^$.|?*+()\[\]{}]|\\[^A-Za-z0-9])+)\$?")
_WIDEST = 4096
_PIECES = frozenset({"string_fragment", "escape_sequence", "html_character_reference"})

Constant = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Display:
    """An array or object made of constants only."""

    form: str
    signed: str
    """The form with the signs of its numbers."""
    size: int
    """How many constants it holds, keys and those of inner displays included."""
    alike: str | None
    """The form of its constants where they are all the same."""


Worth = Constant | Display


def is_text_piece(node: Node) -> bool:
    return node.kind in _PIECES


def text_of(node: Node) -> str | None:
    """The text of a string, or of a template without holes; None for anything else."""
    if node.kind not in ("string", "template_string"):
        return None
    if any(child.kind not in _PIECES for child in node.children):
        return None
    return pieces_text(node.children)


def pieces_text(pieces: Sequence[Node]) -> str:
    return paired("".join(unescaped(piece.text) if piece.kind == "escape_sequence"
                          else piece.text for piece in pieces))


def unescaped(text: str) -> str:
    return _ESCAPE.sub(_meant, text)


def paired(text: str) -> str:
    """Two halves of a character that stand side by side are that character."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def number_of(text: str) -> int | float | None:
    """None where it is too large to be worth comparing, or no number."""
    plain = text.replace("_", "").lower().removesuffix("n")
    try:
        if re.fullmatch(r"0[xob].*", plain):
            value: int | float = int(plain, 0)
        elif re.fullmatch(r"0[0-7]+", plain):
            value = int(plain, 8)
        elif plain.isdigit():
            value = int(plain) if len(plain) < 1000 else math.inf
        else:
            value = float(plain)
    except ValueError:
        return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value.bit_length() <= _WIDEST else None


def regex_text(node: Node) -> str:
    """The text that a plain pattern asks for, or the pattern as it is written."""
    pattern = node.get("pattern")
    written = pattern.text if pattern else ""
    plain = _PLAIN_REGEX.fullmatch(written)
    return re.sub(r"\\(.)", r"\1", plain[1]) if plain else written


def recorded(text: str) -> str | int | float:
    """The text or number that a snapshot in a test is of; of anything else, the snapshot."""
    plain = text.strip()
    if plain[:1] == plain[-1:] == '"' and len(plain) > 1:
        return unescaped(plain[1:-1])
    value = number_of(plain.removeprefix("-")) if plain.removeprefix("-")[:1].isdigit() else None
    if value is None:
        return plain
    return -value if plain.startswith("-") else value


def form(value: Worth) -> str:
    """The one spelling under which equal values meet, in any language."""
    if isinstance(value, Display):
        return value.form
    if isinstance(value, str):
        return text_form(value)
    return repr(value) if value is None or isinstance(value, bool) else number_form(value)


def signed(value: Worth) -> str:
    """The same with the sign of a number: -1 is another answer than 1."""
    if isinstance(value, Display):
        return value.signed
    return f"-{form(value)}" if is_number(value) and value < 0 else form(value)


def array(values: Sequence[Worth]) -> Display:
    plain, exact = (bounded("[" + ", ".join(map(each, values)) + "]") for each in (form, signed))
    return _display(values, plain, exact)


def table(keys: Sequence[Worth], values: Sequence[Worth]) -> Display:
    plain, exact = (_table(keys, values, each) for each in (form, signed))
    return _display([*keys, *values], plain, exact)


def _table(keys: Sequence[Worth], values: Sequence[Worth],
           spelled: Callable[[Worth], str]) -> str:
    pairs = sorted(zip(map(spelled, keys), map(spelled, values), strict=True))
    return bounded("{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}")


def _display(values: Sequence[Worth], spelled: str, exact: str) -> Display:
    inner = [value for value in values if isinstance(value, Display)]
    alike = {value.alike if isinstance(value, Display) else form(value) for value in values}
    size = len(values) - len(inner) + sum(value.size for value in inner)
    return Display(spelled, exact, size, alike.pop() if len(alike) == 1 else None)


def total(values: Sequence[int | float]) -> int | float | None:
    try:
        return _finite(sum(values)) if all(map(_is_tame, values)) else None
    except OverflowError:
        return None


def operated(left: Worth, sign: str, right: Worth) -> int | float | None:
    """`left - right` or `left * right` of numbers; None for all else."""
    if not (is_number(left) and is_number(right) and _is_tame(left) and _is_tame(right)):
        return None
    try:
        return _finite(left - right if sign == "-" else left * right)
    except OverflowError:
        return None


def is_number(value: object) -> TypeGuard[int | float]:
    return type(value) in (int, float)


def _is_tame(value: Worth) -> bool:
    return not isinstance(value, int) or value.bit_length() <= _WIDEST


def _finite(value: int | float) -> int | float | None:
    return value if isinstance(value, int) or math.isfinite(value) else None


def _meant(found: re.Match[str]) -> str:
    brace, four, two, octal, one = found.groups()
    if one is not None:
        return _ONE.get(one, one)
    code = int(octal, 8) if octal else int(brace or four or two, 16)
    return chr(code) if code < 0x110000 else "?"
