"""What git hands to a pre-receive hook: lines on standard input, and its environment."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass

CHECK = "refs/check/"
"""A push to refs/check/BRANCH asks what BRANCH would say, and moves nothing."""

_LINE = re.compile(rb"([0-9a-f]{40}) ([0-9a-f]{40}) ([^\x00-\x20\x7f]+)")
_SHA256 = re.compile(rb"[0-9a-f]{64} [0-9a-f]{64} ")
_SECRET = re.compile(r"AUTH|COOKIE|TOKEN|SECRET|PASS|CREDENTIAL|PRIVATE|PUSH_CERT\Z")
_MISLEADING = re.compile(r"GIT_(TRACE|CONFIG|SSH|ASKPASS|EDITOR|PAGER|EXTERNAL|ATTR|REPLACE|GRAFT"
                         r"|SHALLOW|INDEX|WORK_TREE|NAMESPACE|CEILING)|LD_|PYTHON")
_MOST_OPTIONS = 64


@dataclass(frozen=True, slots=True)
class Line:
    """One line as git gave it: hex ids and a ref name."""

    old: str
    new: str
    ref: str


def keep_streams_apart() -> None:
    """Where a stream was closed, no file that is opened later may take its number."""
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def read() -> bytes:
    """What git wrote; whoever closed standard input on the way handed on nothing."""
    return sys.stdin.buffer.read() if sys.stdin is not None else b""


def parse(data: bytes) -> tuple[Line, ...]:
    """The lines that git wrote. Raises CannotJudge: an empty input is no push."""
    lines = []
    for raw in data.removesuffix(b"\n").split(b"\n"):
        match = _LINE.fullmatch(raw)
        if match is None:
            raise CannotJudge(_malformed(data, raw))
        old, new, ref = match.groups()
        lines.append(Line(old.decode(), new.decode(), ref.decode("utf-8", "surrogateescape")))
    return tuple(lines)


def scrubbed(given: Mapping[str, str]) -> dict[str, str]:
    """The environment without secrets, and without what would change what git children see."""
    return {name: value for name, value in given.items()
            if not _SECRET.search(name) and not _MISLEADING.match(name)}


def object_folders(given: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The quarantine, and the other object folders that git names besides the repository's."""
    quarantine = given.get("GIT_OBJECT_DIRECTORY") or given.get("GIT_QUARANTINE_PATH")
    others = given.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(":")
    return ((os.path.abspath(quarantine),) if quarantine else (),
            tuple(os.path.abspath(folder) for folder in others if os.path.isdir(folder)))


def push_options(given: Mapping[str, str]) -> tuple[str, ...]:
    """What the pusher gave with `git push -o`; a count that is no number counts as none."""
    count = given.get("GIT_PUSH_OPTION_COUNT", "0")
    most = min(int(count), _MOST_OPTIONS) if count.isascii() and count.isdigit() else 0
    return tuple(given.get(f"GIT_PUSH_OPTION_{n}", "") for n in range(most))


def _malformed(data: bytes, raw: bytes) -> str:
    if not data.strip():
        return "no ref lines received; whatever runs this hook must hand git's input on"
    if _SHA256.match(raw):
        return "the repository uses SHA-256 object ids, which libgit2 cannot read"
    return "a line of the hook's input is not `old new ref`"
