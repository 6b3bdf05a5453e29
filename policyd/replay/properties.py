"""The property job: the base's tests/properties against the candidate, on the base's receipts.

It needs a site that holds pytest and policyd. A property that fails refuses. That all pass is no
evidence, since the candidate runs in the same process, and the report says so.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from policyd.adapters.gitrepo import PushedRepo
from policyd.core.errors import CannotJudge
from policyd.core.policy import Places
from policyd.core.values import dataclass
from policyd.core.witness import Job
from policyd.replay import tree, wire
from policyd.replay.execute import Call, Executor, Limits, Mode
from policyd.replay.interpreter import Interpreter
from policyd.replay.oracle import described
from policyd.replay.outcome import Outcome, Value

FOLDER = "tests/properties"
DRIVER = Path(__file__).with_name("proving.py")
_PLACE = "_policyd"
_NEEDED = ("pytest", "policyd", "msgspec", "yaml")
"""What the site holds for it: pytest with the plugin, and what the plugin reads records with."""
_LIMITS = replace(Limits(), wall_seconds=60.0, cpu_seconds=50)
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Proof:
    """What the property job works on."""

    tree: Path
    """The candidate's source with the base's properties and receipts over it."""
    roots: tuple[str, ...]
    site: Path
    receipts: int
    today: str
    """The day that counts for rows, YYYY-MM-DD."""


def paths(places: Places) -> tuple[str, ...]:
    """What of the base lies beside the candidate."""
    return (FOLDER, "tests/conftest.py", places.receipts, places.flakes, places.quarantine)


def laid(repo: PushedRepo, base: bytes, candidate: Path, roots: Sequence[str], places: Places,
         site: Path, today: str, into: Path) -> Proof | None:
    """Write its tree; None where the base has neither property nor receipt. Raises CannotJudge."""
    beside = into.with_name(f"{into.name}.base")
    refused = tree.oracle(repo, base, paths(places), beside)
    if refused:
        raise CannotJudge(f"{refused[0].path} {refused[0].why}; such properties are not run")
    receipts = len(list((beside / places.receipts).glob("**/*.json")))
    if not receipts and not (beside / FOLDER).is_dir():
        return None
    missing = [name for name in _NEEDED if not (site / name).exists()]
    if missing:
        raise CannotJudge(f"the site {site} holds no {missing[0]}, and properties need it; the "
                          f"operator installs it: `pip install --target {site} {missing[0]}`")
    shutil.copytree(candidate, into)
    shutil.copytree(beside, into, dirs_exist_ok=True)
    (into / _PLACE).mkdir()
    (into / _PLACE).chmod(0o755)
    shutil.copyfile(DRIVER, into / _PLACE / DRIVER.name)
    (into / _PLACE / DRIVER.name).chmod(0o644)
    return Proof(into, tuple(roots), site, receipts, today)


def run(proof: Proof, *, python: Interpreter | None = None, mode: Mode = Mode.STRICT) -> Job:
    """Run them in a sandbox of their own. Raises CannotJudge where there is none."""
    bare = mode is Mode.NONE
    root = str(proof.tree.absolute()) if bare else "/tree"
    with Executor(proof.tree, roots=[_PLACE, *proof.roots], python=python, limits=_LIMITS,
                  mode=mode if bare else Mode.STRICT, site=proof.site, jobs=1) as executor:
        outcome = executor.run(Call("proving:run", wire.encode(
            [root, FOLDER, ["--policyd-today", proof.today]])))
    return _job(outcome, proof)


def _job(outcome: Outcome, proof: Proof) -> Job:
    if not isinstance(outcome, Value):
        return Job(wrong=f"pytest came to no end: {described(outcome)}")
    match wire.decode(outcome.data):
        case {"passed": int(passed), "failed": list(failed), "ended": int(ended)}:
            return _counted(passed, failed, ended, proof)
    return Job(wrong="what pytest says cannot be read")


def _counted(passed: int, failed: Sequence[object], ended: int, proof: Proof) -> Job:
    told = tuple(f"{one[0]}: {one[1]}" for one in failed[:_SHOWN]
                 if isinstance(one, list) and len(one) == 2)
    if told or failed:
        return Job(passed, told or ("a property",))
    if not passed and proof.receipts:
        return Job(wrong=f"no property was run, and there are {proof.receipts} receipts")
    if ended not in (0, 5):
        return Job(passed, wrong=f"pytest ended with {ended}")
    return Job(passed)
