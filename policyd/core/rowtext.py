"""Rows of records as text: how a value is written in JSON and in YAML. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

Value = str | int | bool | date | Sequence[Any] | Mapping[str, Any]
Row = Mapping[str, Any]
"""Keys to values, in the order in which they are written."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_HASH = re.compile(r"(?=.*[a-df])(?:[0-9a-f]{40}|[0-9a-f]{64})")
"""One that nobody reads as a number."""
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 _./()+@=:;<>~\[\],-]*")
_PLAIN_INSIDE = re.compile(r"[A-Za-z][A-Za-z0-9 _./()+@=:;<>~-]*")
"""Without what ends a value between [ and ], or { and }."""
_SPLITS = re.compile(r":(?: |\Z)| \Z")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""Texts that a reader of YAML, of whatever version, may take for something else."""


def plain(value: Any) -> Any:
    """A value as a file gives it back: dates are texts, tuples are lists."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(one) for one in value]
    return value


def as_json(value: Any, *, indent: str | None = None, tight: bool = False) -> str:
    """JSON on one line, or over several with `indent`; `tight` leaves the blanks out."""
    separators = (",", ":") if tight and indent is None else None
    made = json.dumps(plain(value), indent=indent, ensure_ascii=False, separators=separators)
    return "".join(one if one.isprintable() or one in "\n\t" else _escaped(one) for one in made)


def as_yaml(value: Any, *, inside: bool = False) -> str:
    """A value on one line; `inside` of brackets, where fewer texts go without quotes."""
    value = plain(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{as_yaml(key, inside=True)}: {as_yaml(one, inside=True)}"
                               for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(as_yaml(one, inside=True) for one in value) + "]"
    return value if isinstance(value, str) and _goes_plain(value, inside) else as_json(value)


def yaml_lines(row: Row) -> list[str]:
    """The keys of a row, one a line."""
    return [f"{as_yaml(key)}: {as_yaml(value)}" for key, value in row.items()]


def _goes_plain(text: str, inside: bool) -> bool:
    if _DATE.fullmatch(text) or _HASH.fullmatch(text):
        return True
    form = _PLAIN_INSIDE if inside else _PLAIN
    return form.fullmatch(text) is not None and _SPLITS.search(text) is None \
        and text.lower() not in _WORDS


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1]
