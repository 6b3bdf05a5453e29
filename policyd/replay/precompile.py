"""Compiles a written tree once, in a sandbox: each execution would do it again.

A parser can crash on hostile source, so it is not the judge's that is used. What comes back is
opaque bytes, which lie beside the source and are loaded by candidates alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from policyd.replay import wire
from policyd.replay.execute import Call, Executor, Limits, Mode
from policyd.replay.interpreter import Interpreter
from policyd.replay.outcome import Outcome, Value
from policyd.replay.sandbox import HARNESS

_LARGEST = 32 << 20
_TAG = re.compile(r"[a-z]+-[0-9a-z]+\Z")


def precompile(tree: Path, *, roots: Sequence[str], python: Interpreter | None = None,
               mode: Mode = Mode.WARM, limits: Limits | None = None) -> int:
    """Write compiled files into a tree that policyd.replay.tree wrote; how many there are.

    A file that cannot be compiled has none, and fails when it is imported. One that crashes the
    parser leaves those after it without. Raises CannotJudge where no sandbox starts.
    """
    bare = mode is Mode.NONE
    harness = str(HARNESS[0].parent) if bare else "/replay"
    sources = list(dict.fromkeys(_sources(tree, roots)))
    inside = tree.absolute() if bare else Path("/tree")
    calls = [Call("compiler:compiled", wire.encode([str(inside / source)])) for source in sources]
    patient = replace(limits or Limits(), output_bytes=_LARGEST)
    with Executor(tree, roots=[harness], python=python, mode=Mode.NONE if bare else Mode.STRICT,
                  limits=patient, jobs=1) as executor:
        outcomes = executor.run_sequence(calls)
    return sum(_kept(tree / source, outcome)
               for source, outcome in zip(sources, outcomes, strict=True))


def _sources(tree: Path, roots: Sequence[str]) -> Iterator[Path]:
    """Source files below the roots, relative to the tree."""
    for root in roots:
        for file in sorted((tree / root).rglob("*.py")):
            if file.is_file() and not file.is_symlink():
                yield Path(os.path.relpath(file, tree))


def _kept(source: Path, outcome: Outcome) -> bool:
    if not isinstance(outcome, Value):
        return False
    match wire.decode(outcome.data, _LARGEST):
        case [str(tag), bytes(data)] if _TAG.match(tag):
            folder = source.parent / "__pycache__"
            if not folder.is_dir():
                folder.mkdir()
                folder.chmod(0o755)
            target = folder / f"{source.stem}.{tag}.pyc"
            target.write_bytes(data)
            target.chmod(0o644)
            return True
    return False
