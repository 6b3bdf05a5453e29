"""INI files as the runners of tests read them: sections, keys, and values over several lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from policyd.languages.literal import Unparseable


class Entry(NamedTuple):
    """A key, its first line, and its value line by line; lines that are remarks are left out."""

    section: str
    key: str
    line: int
    lines: tuple[str, ...]


def entries(text: str) -> Iterator[Entry]:
    """In their order. Raises Unparseable for what no reader of INI takes, and for a key twice."""
    section, seen = "", set[tuple[str, str]]()
    entry: Entry | None = None
    more: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.rstrip()
        if not line.strip() or line.lstrip()[0] in "#;":
            continue
        if line[0].isspace():
            if entry is None:
                raise Unparseable(number, "the line goes on with a value that did not begin")
            more.append(line.strip())
            continue
        if entry is not None:
            yield entry._replace(lines=(*entry.lines, *more))
        entry, more = None, []
        if line.startswith("["):
            section = _section(line, number)
            continue
        entry = _entry(section, line, number)
        if (section, entry.key) in seen:
            raise Unparseable(number, "a key stands twice in its section")
        seen.add((section, entry.key))
    if entry is not None:
        yield entry._replace(lines=(*entry.lines, *more))


def _section(line: str, number: int) -> str:
    name, closed, _ = line[1:].partition("]")
    if not closed:
        raise Unparseable(number, "the name of the section has no end")
    return name.strip()


def _entry(section: str, line: str, number: int) -> Entry:
    """`key = value` or `key: value`, whichever sign comes first."""
    ends = [at for sign in "=:" if (at := line.find(sign)) > 0]
    if not ends or not section:
        raise Unparseable(number, "neither a section nor a key with a value")
    key, value = line[: min(ends)].strip(), line[min(ends) + 1 :].strip()
    return Entry(section, key, number, (value,) if value else ())
