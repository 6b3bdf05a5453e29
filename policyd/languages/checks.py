"""Definitions of the checks in, what of them runs tests out: one `Setting` for each such block.

A block is a job, a target, or all of a script. One that runs no tests, as far as its words tell,
and that no other waits for, is left out, so that whoever compares never sees it. `Setting.value`
tells one text from another and nothing more. Versions of interpreters and of others' steps, remarks
and empty lines are no part of it. Nothing is parsed: a text that is no YAML is compared as well.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from policyd.core.checks import KEY
from policyd.core.sheet import Setting, Sheet
from policyd.core.values import dataclass

_OTHER = re.compile(
    r"(?:(?:\bmake|\$\(MAKE\)|\bjust|\b(?:npm|pnpm|yarn|bun)(?: run)?)\s+(?:-C\s+)?"
    r"|(?:\./|\bscripts?/|\bsupport/|\btools?/|\bbin/)+)"
    r"(?:install|i|ci|build|bundle|lint|format|types|docs?|publish|release|deploy|version|clean"
    r"|bench(?:mark)?s?)\b(?![-/])|\bactions/checkout\b|\bcheck-latest\b|\blatest\b")
"""What sounds like tests, or may run anything, and does not."""
_RUNS = re.compile(
    r"(?i)test|check|verif|cov|spec\b|jest|mocha|\bava\b|\btap\b|karma|cypress|playwright|\bnox\b"
    r"|\btox\b|\bmake\b|\$\(MAKE\)|\bjust\b|\b(?:npm|pnpm|yarn|bun|npx)\b|\binv(?:oke)?\b|\bhatch\b"
    r"|\brake\b|\bgradle|\bmvn\b|\bcargo\b|\bgo\b|\bbazel\b|\./|\bscripts?/|\.sh\b|\binclude\b"
    r"|\.github/workflows/|\.ci/|&\w")
"""Words of tests, of what runs them, and of what runs scripts that nobody reads here."""
_VERSIONED = re.compile(r"-?\s*[\w-]*(?:version|python|node|image|uses)[\w-]*['\"]?\s*:", re.I)
_VERSION = re.compile(r"""(?<=[@:\s\["'=])v?\d+(?:\.\w+)*(?:-[\w.]+)?(?=["'\],\s]|$)""")
_ONLY_VERSION = re.compile(r"""-\s*["']?v?\d+(?:\.\w+)*(?:-[\w.]+)?["']?,?""")
_SHA = re.compile(r"(?<=@)[0-9a-f]{40}\b(?:\s+#.*)?")
_IMAGE = re.compile(r"@sha256:[0-9a-f]{64}\b")
_MANY = re.compile(r"""["']?#["']?(?:\s*,\s*["']?#["']?)+,?""")
_TARGET = re.compile(r"(@?[\w.%/$(){} -]+?)\s*(?:\s[^:=]*)?:(?!=)")
_EVERYWHERE = "*"
"""What holds for all blocks."""


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    indent: int
    text: str


@dataclass(frozen=True, slots=True)
class _Block:
    """`is_apart`: whether nothing but its own words can make it run tests."""

    name: str
    lines: tuple[_Line, ...]
    is_apart: bool = True

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)


def sheet(source: bytes, min_length: int, *, form: str) -> Sheet:  # noqa: ARG001
    """`form` is workflow, makefile or commands."""
    lines = tuple(_lines(source.decode("utf-8-sig", "backslashreplace")))
    blocks = tuple(_FORMS[form](lines))
    telling = _telling(blocks)
    if telling:
        telling = tuple(block for block in blocks if block in telling or not block.is_apart)
    return Sheet(settings=(Setting(KEY, form, 1), *_settings(telling)))


def _settings(blocks: Iterable[_Block]) -> Iterator[Setting]:
    named: dict[str, list[_Line]] = {}
    for block in blocks:
        named.setdefault(block.name, []).extend(block.lines)
    for name, lines in named.items():
        plain = "\n".join(text for text, _ in groupby(_plain(lines)))
        digest = hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
        yield Setting(KEY + _shown(name), digest, lines[0].number if lines else 1)


def _shown(name: str) -> str:
    return re.sub(r"[^\w -]", "_", name, flags=re.ASCII)[:80]


def _lines(text: str) -> Iterator[_Line]:
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield _Line(number, len(line) - len(line.lstrip()), stripped)


def _telling(blocks: Sequence[_Block]) -> tuple[_Block, ...]:
    """Those that run tests, and those that these name."""
    found = [block for block in blocks if _RUNS.search(_OTHER.sub("", block.text))]
    waiting = [block for block in blocks if block not in found]
    while more := [block for block in waiting if any(_names(one, block) for one in found)]:
        found += more
        waiting = [block for block in waiting if block not in more]
    return tuple(block for block in found if block.is_apart or _RUNS.search(block.text))


def _names(block: _Block, other: _Block) -> bool:
    return other.is_apart and re.search(
        rf"(?<![\w-]){re.escape(other.name)}(?![\w-])", block.text) is not None


def _plain(lines: Iterable[_Line]) -> Iterator[str]:
    """Each with its depth: what is moved under another key is another thing."""
    for line in lines:
        text = " ".join(line.text.split())
        if _ONLY_VERSION.fullmatch(text):
            text = "- #"
        elif _VERSIONED.match(text):
            text = _MANY.sub("#", _VERSION.sub("#", _SHA.sub("#", _IMAGE.sub("", text))))
            text = text.replace('"#"', "#").replace("'#'", "#")
        yield f"{line.indent}:{text}"


def _of_workflow(lines: Sequence[_Line]) -> Iterator[_Block]:
    """Jobs below `jobs`, or at the top where they have a `script`; all else is about all of it."""
    for block in _split(lines, 0):
        inner = block.lines[1:]
        if block.name == "jobs" and block.lines[0].text.endswith(":") and inner:
            yield from _split(inner, min(line.indent for line in inner))
        elif any(line.text.startswith("script:") for line in inner):
            yield block
        elif block.name != "name":
            yield _Block(_EVERYWHERE + block.name, block.lines, is_apart=False)


def _split(lines: Sequence[_Line], indent: int) -> Iterator[_Block]:
    """By the lines that stand no deeper."""
    held: list[_Line] = []
    for line in lines:
        if held and line.indent <= indent:
            yield _Block(_key(held[0]), tuple(held))
            held = []
        held.append(line)
    if held:
        yield _Block(_key(held[0]), tuple(held))


def _key(line: _Line) -> str:
    return line.text.partition(":")[0].strip("'\" ")


def _of_makefile(lines: Sequence[_Line]) -> Iterator[_Block]:
    """Targets; the first is what runs unasked. Variables are about all of them."""
    about: list[_Line] = []
    first = ""
    for block in _split(lines, 0):
        target = _TARGET.match(block.lines[0].text)
        if target is None:
            about += block.lines
        elif target[1] != ".PHONY":
            name = target[1].lstrip("@")
            first = first or ("" if name.startswith(".") else name)
            yield _Block(name, block.lines)
    yield _Block(_EVERYWHERE, (*about, _Line(1, 0, f"first {first}")), is_apart=False)


def _of_commands(lines: Sequence[_Line]) -> Iterator[_Block]:
    yield _Block(_EVERYWHERE, (_Line(1, 0, "test"), *lines), is_apart=False)


_FORMS: Mapping[str, Callable[[Sequence[_Line]], Iterator[_Block]]] = {
    "workflow": _of_workflow, "makefile": _of_makefile, "commands": _of_commands}
