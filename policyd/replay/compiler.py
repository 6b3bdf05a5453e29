"""Compiles one file inside the sandbox, so that executions need not. Runs nothing of it.

A script's module of its own beside runner.py, called by it like a candidate.
"""

from __future__ import annotations

import sys
from importlib.util import source_hash

_importing = sys.modules["_frozen_importlib_external"]


def compiled(path: str) -> list[str | bytes]:
    """The tag of this Python's compiled files, and one for a source file."""
    with open(path, "rb") as file:
        source = file.read()
    code = compile(source, path, "exec", dont_inherit=True)
    data = _importing._code_to_hash_pyc(code, source_hash(source), False)  # False: never checked
    return [sys.implementation.cache_tag or "", bytes(data)]
