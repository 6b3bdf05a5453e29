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
_CHECKS = {
    "makefile": ("Makefile", "makefile", "GNUmakefile", "justfile"),
    "workflow": (".gitlab-ci.yml", "azure-pipelines.yml"),
    "commands": ("Jenkinsfile",),
}
_BY_PATH = {path: language for language, paths in _CHECKS.items() for path in paths}

SETTINGS = frozenset(_NAMES)
"""The languages in which nothing but settings is written."""
CHECKS = frozenset(_CHECKS)
"""The languages in which it is written what runs the tests."""
DATA = "data"
"""What tests may hold a result against; no program."""


def language_of(path: str) -> str | None:
    """The reader for a file, by its name; None where no reader knows it."""
    name = path.rpartition("/")[2]
    if name in _BY_NAME:
        return _BY_NAME[name]
    if path in _BY_PATH:
        return _BY_PATH[path]
    if path.startswith((".github/workflows/", ".circleci/")) and name.endswith((".yml", ".yaml")):
        return "workflow"
    if path.startswith(".ci/") and ("." not in name or name.endswith(".sh")):
        return "commands"
    return next((language for language, ends in _SUFFIXES.items() if name.endswith(ends)), None)
