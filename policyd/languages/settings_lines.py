"""On which line a key stands in TOML and JSON, whose parsers do not say.

Only looked at, not parsed: where a key cannot be found, the table around it is good enough.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

Path = tuple[str, ...]

_DEEPEST = 6
_HEADER = re.compile(r"\s*\[{1,2}([^\]\[]+)\]{1,2}\s*(?:#.*)?")
_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=""")
_NAME = re.compile(r""""([^"]*)"|'([^']*)'|([\w-]+)""")
_TRIPLE = re.compile(r"\"\"\"|'''")
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:\n]')
_REMARK = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)


def toml_lines(text: str) -> Mapping[Path, int]:
    """The lines of keys and tables; the first where there are several."""
    found: dict[Path, int] = {}
    table: Path = ()
    inside = ""
    for number, line in enumerate(text.split("\n"), 1):
        if not inside and (header := _HEADER.fullmatch(line)):
            table = _names(header[1])
            found.setdefault(table, number)
        elif not inside and (key := _KEY.match(line)):
            found.setdefault((*table, *_names(key[1])), number)
        for quotes in _TRIPLE.findall(line):
            inside = "" if inside == quotes else inside or quotes
    return found


def _names(dotted: str) -> Path:
    return tuple(one or other or bare for one, other, bare in _NAME.findall(dotted))


def json_lines(text: str) -> Mapping[Path, int]:
    """The lines of keys, those of inner objects with all names on the way; the last of each."""
    found: dict[Path, int] = {}
    path: list[str | None] = []
    expects, line = False, 1
    for token in _TOKEN.findall(text):
        if token == "\n":
            line += 1
        elif token in "{[":
            path.append("" if token == "{" else None)
            expects = token == "{"
        elif token in "}]":
            del path[-1:]
            expects = False
        elif token == ",":
            expects = bool(path) and path[-1] is not None
        elif token != ":" and expects:
            path[-1] = json.loads(token, strict=False)
            expects = False
            if len(path) <= _DEEPEST and None not in path:
                found[tuple(name or "" for name in path)] = line
    return found


def without_remarks(text: str) -> str:
    """JSON without `//` and `/* */`, on the same lines."""
    return _REMARK.sub(lambda found: found[1] or "\n" * found[0].count("\n"), text)
