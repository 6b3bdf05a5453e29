"""The part of the tour in which the server runs the pushed code itself: relations, no answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tour import Stage

SPLITTER = Path(__file__).parents[1] / "examples/splitter"
FUNCTIONS = "oracle/relations/splitting.py"
TABLE = """\
version: 1
relations:
  - id: MR01
    relation: as many parts as weights, none below zero, and together they are the amount
    entry: splitter:allocate
    generator: splits
    arity: 1
    compare: holds
    holds: conserved
    status: blocking
    draws: 16
  - id: MR02
    relation: other order of the weights, same order of the parts, but for equal fractions
    entry: splitter:allocate
    generator: splits
    transform: permuted
    map: extras
    merge: extras_of_permuted
    compare: exact
    status: blocking
    draws: 16
"""
ASK = "from policyd.replay import sandbox; print(sandbox.available() or '')"


def show(stage: Stage, say: Callable[..., None], chapter: Callable[[str], None]) -> None:
    chapter("The witness: the server runs the pushed code, and compares two runs")
    missing = stage.run(sys.executable, "-I", "-c", ASK, cwd=stage.folder).stdout.strip()
    if missing:
        say(f"left out here: {missing}")
        return
    stage.start_over()
    stage.commit("Split amounts", {"src/splitter.py": text("repo/src/splitter.py")})
    stage.push("agent-7", "HEAD:main", accepted=True)
    stage.start_over()
    stage.commit("Say what must hold of a split", {
        "oracle/relations/splitter.yaml": TABLE, FUNCTIONS: text(f"repo/{FUNCTIONS}")})
    stage.push("alice", "HEAD:main", accepted=True)
    chapter("A split that answers the example everybody saw, and shares the rest anyhow: refused")
    stage.start_over()
    stage.commit("Split faster", {"src/splitter.py": text(
        "patches/gamed-hard-coded/src/splitter.py")})
    stage.push("agent-7", "HEAD:main", accepted=False)
    chapter("An honest rewrite by another algorithm: accepted")
    stage.start_over()
    stage.commit("Split with a heap", {"src/splitter.py": text(
        "patches/honest-heap/src/splitter.py")})
    stage.push("agent-7", "HEAD:main", accepted=True)


def text(name: str) -> str:
    return (SPLITTER / name).read_text(encoding="utf-8")
