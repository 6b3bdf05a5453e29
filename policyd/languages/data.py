"""Data of tests in, the results that they want out: objects of JSON with a key such as `expected`.

A key that may as well belong to an input, such as `output`, counts beside one that names an input.
What is no JSON is nobody's fault here: a test may need it like that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from policyd.core.sheet import Sample, Sheet
from policyd.languages.literal import bounded, number_form, text_form

_WANTED = re.compile(
    r"(?:expect|want)(?:s|ed)?(?:[_ -]?(?:output|result|value|answer|return|error|text|html|json"
    r"|code|status|response|body)s?)?", re.IGNORECASE | re.ASCII)
"""No more than these words: what is expected on a day, say, is an input."""
_MAY_BE_WANTED = re.compile(r"outputs?|results?|answers?", re.ASCII)
_GIVEN = re.compile(r"inputs?|given|args|arguments|source|in", re.ASCII)
_KEY = re.compile(r'"(?:expect|want|output|result|answer)[^"\n]{0,20}"\s*:', re.IGNORECASE)
_MOST = 20_000
"""Of one file."""

_Pairs = Sequence[tuple[str, Any]]


def sheet(source: bytes, min_length: int) -> Sheet:  # noqa: ARG001
    """Nothing where it cannot be parsed, which only JSON with such a key is."""
    text = source.decode("utf-8-sig", "replace")
    if not _KEY.search(text):
        return Sheet()
    found: list[_Pairs] = []

    def kept(pairs: _Pairs) -> dict[str, Any]:
        if _wanted(pairs) and len(found) < _MOST:
            found.append(pairs)
        return dict(pairs)

    try:
        json.loads(text, object_pairs_hook=kept)
        return Sheet(samples=tuple(_samples(text, found)))
    except (ValueError, RecursionError, MemoryError):
        return Sheet()


def _wanted(pairs: _Pairs) -> str:
    """The key of what is wanted; "" for none."""
    names = [name for name, _ in pairs]
    sure = next((name for name in names if _WANTED.fullmatch(name)), "")
    if sure or not any(map(_GIVEN.fullmatch, names)):
        return sure
    return next((name for name in names if _MAY_BE_WANTED.fullmatch(name)), "")


def _samples(text: str, found: Sequence[_Pairs]) -> Iterator[Sample]:
    """An object ends before the next one begins, unless it lies inside: good enough for lines."""
    line, at = 1, 0
    for pairs in found:
        name = _wanted(pairs)
        begin = text.find(json.dumps(name), at)
        if begin >= 0:
            line += text.count("\n", at, begin)
            at = begin + 1
        values = dict(pairs)
        result = _form(values.pop(name))
        given = [form for value in values.values() for form in _forms(value)]
        yield Sample(line, tuple(dict.fromkeys(given)), result)


def _forms(value: Any) -> Iterator[str]:
    """Of a list also what is in it: arguments stand like that."""
    yield _form(value)
    if isinstance(value, list):
        yield from map(_form, value)


def _form(value: Any) -> str:
    """As readers of languages spell it."""
    match value:
        case bool() | None:
            return str(value)
        case int() | float():
            return number_form(value)
        case str():
            return text_form(value)
        case list():
            return bounded(f"[{', '.join(map(_form, value))}]")
    return bounded("{%s}" % ", ".join(  # noqa: UP031
        f"{text_form(name)}: {_form(each)}" for name, each in value.items()))
