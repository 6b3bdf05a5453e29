"""A policy for a layout: the shipped one, with what a survey saw put in its place. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from policyd.core.render import printable
from policyd.core.survey import Layout
from policyd.core.values import dataclass

_WIDTH = 100
_TITLE = """\
# yaml-language-server: $schema=policy.schema.json
# A draft by `policyd policy survey`, from names of files and branches alone. It observes: it logs
# and refuses nothing. Before it counts: say who the maintainers are (groups), read the zones, put
# the file into HOME/policies, `policyd policy lint --repo REPO`, `policyd policy backtest REPO`,
# and write down as cases what it shall say.
"""
_GROUPS = (
    "# Nobody yet. Authors and committers of a history are what somebody typed, not who pushed:",
    "# put in the names that the server reports. Maintainers can change what the rules protect.",
    "groups:",
    "  maintainers: [edit-me]",
    '  agents: ["edit-me-too"]')


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be said of repositories of one layout."""

    layout: Layout
    repositories: tuple[str, ...]
    guarded: tuple[str, ...]
    mirrors: tuple[str, ...] = ()
    seen: Mapping[str, str] | None = None
    """A remark by zone: how much lies there."""
    remarks: tuple[str, ...] = ()


def text(draft: Draft, shipped: str) -> str:
    """The policy file. The shipped policy must have the keys that are put in place."""
    lines = shipped.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("version:"))
    lines = [*_TITLE.splitlines(), *_comments(draft.remarks), "", *lines[start:]]
    mirrors = [f"# {printable(name)} looks like a mirror: a policy of its own with mirror: true"
               for name in draft.mirrors]
    lines = _put(lines, "repositories", [*mirrors, *_entry("repositories:", draft.repositories)])
    lines = _put(lines, "mode", ["mode: observe"])
    lines = _put(lines, "guarded", _entry("guarded:", draft.guarded or ("main",)))
    lines = _put(lines, "groups", _GROUPS, comments=True)
    seen = draft.seen or {}
    for zone, globs in (("source", draft.layout.source),
                        ("tests", (*draft.layout.tests, "!tests/ledger/**"))):
        lines = _put(lines, zone, [*_comments((seen.get(zone, ""),), "  "),
                                   *_entry(f"  {zone}:", globs)], indent="  ")
    lines = _more(lines, "wiring", draft.layout.wiring)
    return "\n".join(lines) + "\n"


def _put(lines: Sequence[str], key: str, new: Iterable[str], *, indent: str = "",
         comments: bool = False) -> list[str]:
    """In place of a key and all below it; `comments`: of the comments above it too."""
    start, end = _block(lines, key, indent)
    while comments and lines[start - 1].startswith(f"{indent}#"):
        start -= 1
    return [*lines[:start], *new, *lines[end:]]


def _more(lines: Sequence[str], zone: str, globs: Sequence[str]) -> list[str]:
    """Further globs at the end of a zone that is a list over several lines."""
    start, end = _block(lines, zone, "  ")
    if not globs or end - start < 2:
        return [*lines]
    return [*lines[:end], *(f"    - {json.dumps(glob, ensure_ascii=False)}" for glob in globs),
            *lines[end:]]


def _block(lines: Sequence[str], key: str, indent: str) -> tuple[int, int]:
    start = next(number for number, line in enumerate(lines) if line.startswith(f"{indent}{key}:"))
    end = start + 1
    below = re.compile(rf"{indent}(\s+|- )\S")
    while end < len(lines) and below.match(lines[end]) and not lines[end].strip().startswith("#"):
        end += 1
    return start, end


def _comments(remarks: Iterable[str], indent: str = "") -> list[str]:
    return [f"{indent}# {printable(remark)}" for remark in remarks if remark]


def _entry(key: str, globs: Iterable[str]) -> list[str]:
    """A key and its list, on one line where that is short. JSON's quoting is YAML's."""
    quoted = [json.dumps(glob, ensure_ascii=False) for glob in globs]
    line = f"{key} [{', '.join(quoted)}]"
    indent = " " * (len(key) - len(key.lstrip()) + 2)
    return [line] if len(line) <= _WIDTH else [key, *(f"{indent}- {one}" for one in quoted)]
