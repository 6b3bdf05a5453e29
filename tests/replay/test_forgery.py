"""Candidates that attack the judge: each comes to what it computes, or to a break."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import forgeries
import pytest

from policyd.replay import wire
from policyd.replay.execute import Call, Executor, Limits, Mode
from policyd.replay.sandbox import available

WHY_NOT = available()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=f"no sandbox: {WHY_NOT}")

LIMITS = Limits(wall_seconds=1.5, cpu_seconds=1, processes=8)
INPUT = wire.encode([3])


HARNESS = Path(wire.__file__).parent
"""Beside its files lies what other tests compile meanwhile."""


def fingerprint(folder: Path, files: str = "*") -> str:
    parts = [f"{p.relative_to(folder)} {p.stat().st_mode} {p.stat().st_mtime_ns} "
             f"{p.read_bytes() if p.is_file() else b''!r}" for p in sorted(folder.rglob(files))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def children() -> set[str]:
    """Everything that this process started and that still runs, however deep."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[stat.parent.name] = stat.read_text().rpartition(") ")[2].split()[1]
        except OSError:
            continue
    found, known = {str(os.getpid())}, set[str]()
    while found != known:
        known, found = found, found | {pid for pid, parent in parents.items() if parent in found}
    return found - {str(os.getpid())}


@pytest.fixture(scope="module", params=[Mode.STRICT, Mode.WARM], ids=lambda mode: mode.value)
def results(request, tmp_path_factory) -> Iterator[dict[str, list[str]]]:
    """What all of them come to, by name, in one mode; and nothing else has changed."""
    tree = tmp_path_factory.mktemp("forged")
    tree.chmod(0o755)
    outside = tree.parent / f"outside-{request.param.value}"
    outside.write_text("mine")
    (tree / "src").mkdir()
    for name, text in forgeries.files(str(outside)).items():
        (tree / "src" / name).write_text(text)
    calls = [(name, Call(f"{name.replace('-', '_')}:f", INPUT))
             for name, forgery in forgeries.ALL.items() for _ in range(forgery.calls)]
    before, harness = fingerprint(tree), fingerprint(HARNESS, "*.py")
    were_there = children()
    with Executor(tree, mode=request.param, limits=LIMITS) as executor:
        outcomes = executor.run_many(call for _, call in calls)
        assert forgeries.told(executor.run(Call("honest:f", INPUT))) == "value 7"
    by_name: dict[str, list[str]] = {}
    for (name, _), outcome in zip(calls, outcomes, strict=True):
        by_name.setdefault(name, []).append(forgeries.told(outcome))
    yield by_name
    assert children() <= were_there
    assert (fingerprint(tree), outside.read_text()) == (before, "mine")
    assert fingerprint(HARNESS, "*.py") == harness


@pytest.mark.parametrize("name", forgeries.ALL)
def test_a_forgery_is_taken_for_what_it_is(results, name):
    allowed = set(forgeries.ALL[name].allowed)
    assert len(results[name]) == forgeries.ALL[name].calls
    assert set(results[name]) <= allowed
