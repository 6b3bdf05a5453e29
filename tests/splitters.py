"""Sites whose main holds something to replay, with few draws, so that a replay takes a second.

    site = splitting(folder)          # the splitter of examples/; relations-hold enforces, seed 7
    rewritten(site, "gamed-last-takes-rest")                    # that patch, on top of main
    site = doubling(folder)           # src/double.py: `twice(n)`, whose steps are all of size 2
    changed(site, twice("n * 2"))                               # a rewrite of it
    site.push(f"HEAD:{MAIN}", as_="agent-7")
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sites import MAIN, Site

from policyd.adapters import repoindex

EXAMPLES = Path(__file__).parent.parent / "examples"
_spec = importlib.util.spec_from_file_location("lay", EXAMPLES / "lay.py")
assert _spec is not None
assert _spec.loader is not None
lay = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(lay)

TABLE, SOURCE = "oracle/relations/splitter.yaml", "src/splitter.py"
ROWS = """\
version: 1
relations:
  - id: MR01
    relation: as many parts as weights, none below zero, and together they are the amount
    entry: splitter:allocate
    arity: 1
    class: property
    status: blocking
    generator: splits
    compare: holds
    holds: conserved
    draws: 4
    min_applied: 2
  - id: MR02
    relation: weights in another order, parts in the same other order
    class: commuting
    entry: splitter:allocate
    status: blocking
    generator: splits
    transform: permuted
    map: extras
    merge: extras_of_permuted
    compare: exact
    draws: 6
    min_applied: 2
"""

DOUBLE = "src/double.py"
HONEST, GAMED, OTHER = "n * 2", "n * 2 + n % 2", "n + n % 2"
"""Results of `twice(n)`, for which it was `n + n`: one holds, of two none does."""
STEPS = """\
version: 1
relations:
  - id: D1
    relation: one more, two more
    class: commuting
    entry: double:twice
    status: blocking
    generator: some
    transform: next_one
    map: two_less
    compare: exact
    draws: 4
    min_applied: 2
"""
FUNCTIONS = """\
def some(draw):
    return [draw.integer(0, 5)]


def next_one(draw, n):
    return draw.runs([n + 1])


def two_less(draw, out):
    return out + 2
"""


def twice(result: str = HONEST, *, above: str = "", inside: str = "") -> dict[str, str]:
    """A rewrite of src/double.py; `inside` are lines of the function before its last."""
    return {DOUBLE: f"{above}def twice(n):\n{inside}    return {result}\n"}


def doubling(folder: Path, replay: str = "{seed: 7}", **more: bytes) -> Site:
    """A site of its own, enrolled."""
    return _enrolled(folder, replay, {
        **twice("n + n"), "oracle/relations/double.yaml": STEPS,
        "oracle/relations/doubling.py": FUNCTIONS, **more})


def splitting(folder: Path, replay: str = "{seed: 7}", **more: bytes) -> Site:
    """A site of its own; `more` are files of the base."""
    return _enrolled(folder, replay, {**lay.base(
        "splitter", today=datetime.now(UTC).date()), TABLE: ROWS.encode(), **more})


def _enrolled(folder: Path, replay: str, files: Mapping[str, Any]) -> Site:
    site = Site.made(folder)
    site.commit(files, "Start")
    site.git("push", "--quiet", "origin", f"HEAD:{MAIN}")
    site.base_tip = site.tip()
    site.enroll()
    site.edit_policy("\nrules:\n", f"\nreplay: {replay}\n\nrules:\n")
    return site


def rewritten(site: Site, patch: str) -> str:
    """A patch of the examples, committed on top of main."""
    return changed(site, {path: data.decode() for path, data in lay.patch(
        "splitter", patch).items()})


def changed(site: Site, files: Mapping[str, Any], *, on: str = "origin/main") -> str:
    """A change on top of main as the clone knows it."""
    site.git("fetch", "-q", "origin")
    site.git("checkout", "-q", "--detach", on)
    return site.commit(files, "Rewrite the splitter")


def key(site: Site) -> str:
    return repoindex.key_of(site.server)


def verdicts(site: Site) -> list[dict[str, Any]]:
    """What is kept of replays, the oldest first."""
    found = (site.state / "replays" / key(site)).glob("*.json")
    return [json.loads(path.read_text()) for path in sorted(
        (path for path in found if path.name != "breaks.json"), key=lambda p: p.stat().st_mtime)]


def logs(site: Site) -> list[list[dict[str, Any]]]:
    """The logs of jobs, the oldest first."""
    found = (site.state / "replays" / key(site)).glob("*.jsonl")
    return [[json.loads(line) for line in path.read_text().splitlines()] for path in sorted(
        found, key=lambda p: p.stat().st_mtime)]


def queued(site: Site) -> list[str]:
    return sorted(path.parent.name for path in (site.state / "jobs").glob("[!.]*/job.json"))


def replays(site: Site) -> dict[str, Any]:
    """What the last entry of the decision log says of main's replay."""
    found: dict[str, Any] = site.log()[-1]["replays"][MAIN]
    return found
