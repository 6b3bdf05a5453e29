"""Which names that changed source defined nothing says any more: all source and tests are read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from policyd.adapters.look import Look
from policyd.adapters.sources import Sources
from policyd.core import vanished as names
from policyd.core.content import Changed
from policyd.languages import DATA, language_of

_MOST_BYTES = 96 << 20
"""Of a tree; of a larger one nobody tells."""


def vanished(look: Look, tree: bytes, files: Sequence[Changed], zones: tuple[str, str],
             sources: Sources) -> frozenset[str]:
    """A file that cannot be read may say anything. Raises CannotJudge beyond the bounds."""
    source_zone, tests_zone = zones
    tests = [file for file in files if tests_zone in file.zones]
    source = [file for file in files if source_zone in file.zones and tests_zone not in file.zones]
    left = names.candidates(source, tests)
    if not left:
        return left
    waiting = {name.encode("ascii"): name for name in left}
    read = 0
    paths = [path for path in look.paths_in(tree, zones) if language_of(path) not in (None, DATA)]
    for _, entry in sources.files(tree, sorted(paths)):
        text = sources.bytes_of(entry[1])
        read += len(text or b"")
        if text is None or read > _MOST_BYTES:
            return frozenset()
        for name in [name for name in waiting if name in text and _is_said(name, text)]:
            del waiting[name]
        if not waiting:
            break
    return frozenset(waiting.values())


def _is_said(name: bytes, text: bytes) -> bool:
    return re.search(rb"(?<![\w$])" + re.escape(name) + rb"(?![\w$])", text) is not None
