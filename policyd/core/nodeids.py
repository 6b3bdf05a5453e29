"""The ids of tests as pytest gives them, brought into one form: what is one test is one text.

`tests/./test_a.py::test_b[\\u3044]` is `tests/test_a.py::test_b[い]`: paths are resolved, escapes
of characters decoded, everything NFC. What no eye can see is written as an escape.
"""

from __future__ import annotations

import re
import unicodedata
from posixpath import normpath

from policyd.core.nodes import shown
from policyd.core.zones import fold

_ESCAPE = re.compile(r"\\(?:\\|[nrt]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})?")
_CONTROLS = {r"\n": "\n", r"\r": "\r", r"\t": "\t"}
_EXAMPLE = "such as tests/test_a.py::test_b"


def normalised(text: str) -> str:
    """The one form of a node id. Raises ValueError, with a sentence, where it names no test.

    Stable: what it returns is its own form.
    """
    decoded = unicodedata.normalize("NFC", _ESCAPE.sub(_decoded, text))
    if decoded != decoded.strip():
        raise ValueError(f"{shown(text)} has white space around it")
    path, found, name = _visible(decoded).partition("::")
    if not found:
        raise ValueError(f"{shown(text)} is no node id: name one test, {_EXAMPLE}, "
                         "not a file or folder with all below it")
    return f"{_path(path, text)}::{_name(name, text)}"


def is_below(nodeid: str, folder: str) -> bool:
    """Whether the file of a normalised node id lies below a folder, however both are spelt."""
    return f"{fold(nodeid.partition('::')[0])}/".startswith(f"{fold(folder.strip('/'))}/")


def _path(path: str, text: str) -> str:
    if "\\" in path:
        raise ValueError(f"{shown(text)}: a path has / between its folders and no character "
                         "that cannot be seen")
    if path.startswith("/") or re.match("[A-Za-z]:", path):
        raise ValueError(f"{shown(text)} begins outside the repository; a path starts at its root")
    resolved = normpath(path)
    if resolved.split("/")[0] in ("..", "."):
        raise ValueError(f"{shown(text)} names no file inside the repository")
    if path.endswith(("/", "/.", "/..")) or any(c in path for c in "*?["):
        raise ValueError(f"{shown(text)} is no node id: name one test, {_EXAMPLE}")
    return resolved


def _name(name: str, text: str) -> str:
    """What stands behind the path; parameters in brackets may hold anything."""
    plain, bracket, _ = name.partition("[")
    parts = plain.split("::")
    if not all(part.strip() for part in parts) or any(c in plain for c in "*?"):
        raise ValueError(f"{shown(text)} is no node id: name one test, {_EXAMPLE}")
    if bracket and not name.endswith("]"):
        raise ValueError(f"{shown(text)}: the parameters have no closing bracket")
    return name


def _decoded(match: re.Match[str]) -> str:
    """The character; a backslash that escapes none is written as one that stands for itself."""
    escape = match[0]
    if escape in _CONTROLS:
        return _CONTROLS[escape]
    number = int(escape[2:] or "5c", 16)
    if number == ord("\\"):
        return r"\\"
    is_character = number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF
    return chr(number) if is_character else "\\" + escape


def _visible(text: str) -> str:
    """Text in which each character that cannot be seen is an escape of its own."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
