"""Each patch of the shipped examples, replayed: it lands, or the rows that it names refuse it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import yaml
from history import History
from sampling import LONG
from test_examples_load import EXAMPLES, PATCHES, lay

from policyd.adapters.gitrepo import PushedRepo
from policyd.core.policy import Places, Replaying
from policyd.core.trees import Trees
from policyd.replay import job, prepare
from policyd.replay.budget import Budget

FIRST = [next(case for case in PATCHES if case[0] == name and case[1].startswith("gamed"))
         for name in dict.fromkeys(name for name, _ in PATCHES)]
TRIED = PATCHES if LONG else FIRST
"""An ordinary run tries the first gamed patch of each example, POLICYD_LONG=1 all of them."""


def expected(name: str, patch: str) -> dict:
    return yaml.safe_load((EXAMPLES / name / "patches/expected.yaml").read_text())[patch]


@pytest.mark.parametrize(("name", "patch"), TRIED, ids="/".join)
def test_a_patch_comes_to_what_is_said_of_it(tmp_path, name, patch):
    says = expected(name, patch)
    found = replayed(tmp_path, name, patch, says.get("refused_by", ()))
    refusing = {row.id: row for row in found.refusing}
    if says.get("lands"):
        assert refusing == {}
        return
    assert set(says["refused_by"]) == set(refusing)
    how = {"flicker" if row.cause.value == "flickers" else row.bucket.value
           for row in refusing.values()}
    assert how == {says["bucket"]}


def replayed(folder, name, patch, only):
    """The replay of a patch; where rows are named, of these alone."""
    folder.chmod(0o755)
    history = History(folder / "r.git")
    base = {path: data.decode() for path, data in
            lay().base(name, today=datetime.now(UTC).date()).items()}
    first = history.commit(base)
    second = history.commit({path: data.decode() for path, data in
                             lay().patch(name, patch).items()}, first)
    repo = PushedRepo(history.folder)
    trees = Trees(repo.tree)
    sides = prepare.Sides(first, bytes.fromhex(history.tree_of(first)), second,
                          bytes.fromhex(history.tree_of(second)))
    there, trial = prepare.trial(repo, trees, sides, Replaying(seed=1), Places(),
                                 datetime.now(UTC).date(), lambda: b"")
    rows = tuple(row for row in there.rows if not only or row.id in only)
    there = type(there)(rows, there.roots, there.paths, there.sha)
    place = folder / "job"
    place.mkdir(mode=0o755)
    return job.run(prepare.written(repo, trees, there, trial, place, {}), Budget(300.0))
