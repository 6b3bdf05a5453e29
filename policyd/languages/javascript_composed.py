"""Keys of JavaScript that are put together of several inputs, taken apart again."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from policyd.languages.javascript_constants import Constants, operands
from policyd.languages.javascript_names import arguments, callee, member
from policyd.languages.javascript_tree import Node
from policyd.languages.javascript_values import (
    Worth,
    is_number,
    is_text_piece,
    number_of,
    pieces_text,
    signed,
)

_AS_JSON = ("JSON",)
_MOST = 12
_LONGEST = 1_000
_NUMBER = re.compile(r"-?\d[\d.]*(?:e[+-]?\d+)?")


def marks_of(node: Node, constants: Constants) -> tuple[str, ...]:
    """The texts before, between and behind the inputs of a key; empty where it is not so made.

    `${a}|${b}`, a + "|" + b, [a, b].join("|"); of JSON.stringify([a, b]) a word of its own.
    """
    if node.kind == "template_string":
        return _between([(pieces_text([one]) if is_text_piece(one) else _text(one, constants))
                         for one in node.children[:2 * _MOST]])
    if node.kind == "binary_expression" and node.op == "+":
        return _between([_text(one, constants) for one in list(operands(node))[:2 * _MOST]])
    if node.kind != "call_expression":
        return ()
    called, given = node.get("function"), arguments(node)
    holder = called.get("object") if called is not None else None
    if callee(node) == "JSON.stringify" and given and given[0].kind == "array":
        return _AS_JSON
    if called is not None and member(called) == "join" and holder is not None \
            and holder.kind == "array":
        between = _text(given[0], constants) if given else ","
        return ("", *([between] * (len(holder.children) - 1)), "") if between and (
            1 < len(holder.children) <= _MOST) else ()
    return ()


def taken_apart(key: Worth, marks: Sequence[str]) -> tuple[str, ...]:
    """The inputs that make a key, as `Literal.value`; what a number is spelled like is one."""
    if not marks or not isinstance(key, str) or len(key) > _LONGEST:
        return ()
    if tuple(marks) == _AS_JSON:
        return _from_json(key)
    return tuple(signed(_number(part)) for part in _split(key, marks))


def _between(pieces: Sequence[str | None]) -> tuple[str, ...]:
    """None stands for an input; two that touch cannot be told apart."""
    marks = [""]
    for piece in pieces:
        if piece is None:
            marks.append("")
        else:
            marks[-1] += piece
    return tuple(marks) if 2 < len(marks) <= _MOST and all(marks[1:-1]) else ()


def _text(node: Node, constants: Constants) -> str | None:
    part = constants.of(node)
    if part is None:
        return None
    return part.value if isinstance(part.value, str) else signed(part.value)


def _split(key: str, marks: Sequence[str]) -> list[str]:
    if not (key.startswith(marks[0]) and key.endswith(marks[-1])):
        return []
    rest = key[len(marks[0]) : len(key) - len(marks[-1])]
    parts: list[str] = []
    for mark in marks[1:-1]:
        head, found, rest = rest.partition(mark)
        if not found:
            return []
        parts.append(head)
    return [*parts, rest]


def _number(text: str) -> str | int | float:
    plain = text.removeprefix("-")
    value = number_of(plain) if _NUMBER.fullmatch(text) else None
    if value is None or signed(value) != plain:
        return text
    return -value if text.startswith("-") else value


def _from_json(key: str) -> tuple[str, ...]:
    try:
        found = json.loads(key)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(found, list) or not 0 < len(found) <= _MOST:
        return ()
    plain = [one for one in found if isinstance(one, str | bool) or is_number(one)]
    return tuple(map(signed, plain)) if len(plain) == len(found) else ()
