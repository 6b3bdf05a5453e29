"""Source text in; sheets out. One language, one file. Pure."""

from __future__ import annotations

_SUFFIXES = {
    "python": (".py", ".pyi", ".pyw"),
    "javascript": (".js", ".jsx", ".mjs", ".cjs"),
    "typescript": (".ts", ".mts", ".cts"),
    "tsx": (".tsx",),
    "data": (".json",),
}
_NAMES = {
    "toml": ("pyproject.toml", "pytest.toml", ".pytest.toml", "tox.toml"),
    "ini": ("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", ".coveragerc"),
    "json": ("package.json",),
    "jest": ("jest.config.json",),
    "mocha": (".mocharc.json", ".mocharc.jsonc"),
}
_BY_NAME = {name: language for language, names in _NAMES.items() for name in names}

SETTINGS = frozenset(_NAMES)
"""The languages in which nothing but settings is written."""
DATA = "data"
"""What tests may hold a result against; no program."""


def language_of(path: str) -> str | None:
    """The reader for a file, by its name; None where no reader knows it."""
    name = path.rpartition("/")[2]
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next((language for language, ends in _SUFFIXES.items() if name.endswith(ends)), None)
