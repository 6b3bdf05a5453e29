"""Source text in; sheets out. One language, one file. Pure."""

from __future__ import annotations

_SUFFIXES = {
    "python": (".py", ".pyi", ".pyw"),
}


def language_of(path: str) -> str | None:
    """The reader for a file, by its name; None where no reader knows it."""
    name = path.rpartition("/")[2]
    return next((language for language, ends in _SUFFIXES.items() if name.endswith(ends)), None)
