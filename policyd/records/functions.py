"""The functions that a Python file defines at its top, by a look at its text: nothing runs."""

from __future__ import annotations

import re
import unicodedata

from policyd.core.rows import Parsed

_TOKEN = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"""' r"|'''(?:[^'\\]++|\\.|'(?!''))*+'''"
    r'|"(?:[^"\\\n]++|\\.)*+"' r"|'(?:[^'\\\n]++|\\.)*+'" r"|#[^\n]*+"
    r"|^\f*def[ \t\f]+(\w+)[ \t\f]*\(", re.DOTALL | re.MULTILINE)


def load(data: bytes) -> Parsed:
    """Its functions; what is wrong in the file is found where it is run."""
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    names = (match[1] for match in _TOKEN.finditer(text) if match[1])
    return Parsed(functions=tuple(sorted({unicodedata.normalize("NFKC", n) for n in names})))
