"""How often a row was renewed, told by real histories: lines, merges, removed and odd files."""

from __future__ import annotations

import json
import math
import time
from datetime import date
from pathlib import Path

import pytest
from history import History, Odd

from policyd import records
from policyd.adapters import pastrows
from policyd.adapters.corpora import Corpora
from policyd.adapters.gitchild import GitChild
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.adapters.parsedcache import ParsedCache
from policyd.adapters.recordfiles import RecordFiles
from policyd.core.errors import CannotJudge
from policyd.core.facts import Past
from policyd.core.policy import Places
from policyd.core.rows import Kind
from policyd.core.trees import Trees

FREEZES, WHO = "fixtures/freezes.json", (Kind.FREEZE, "R1")


@pytest.fixture
def repo(tmp_path: Path) -> History:
    return History(tmp_path / "r.git")


def row(day: int | None, reason: str = "") -> dict[str, str | None]:
    """The record with a row that ends on a day of September; without it where that is None."""
    rows = [] if day is None else [{
        "relation_id": "R1", "since": "2026-08-20", "expires": str(date(2026, 9, day)),
        "reruns": 5, "pass_needed": 5, "reason": reason or f"reason {day}", "owner": "mei"}]
    return {FREEZES: json.dumps(rows)}


def past(repo: History, tip: str, who=WHO, *, deadline: float = math.inf,
         state: Path | None = None) -> Past:
    pushed = PushedRepo(repo.folder)
    trees = Trees(pushed.tree)
    files = RecordFiles(pushed, trees, records.load, ParsedCache(state, "ab" * 16),
                        Corpora(None, pushed, GitChild(repo.folder, {}, 0.0), 0))
    return pastrows.past(files, pushed, trees, bytes.fromhex(tip), Places(), [who],
                         deadline)[who]


def line(repo: History, *days: int | None, on: str | None = None) -> str:
    tip = on
    for day in days:
        tip = repo.commit(row(day), *([tip] if tip else []))
        tip = repo.commit({"src/a.py": f"x = {repo.now}\n"}, tip)
    assert tip is not None
    return tip


def test_a_line_is_read_from_its_oldest_version(repo):
    tip = line(repo, 10, 12, 14)
    assert past(repo, tip) == Past(2, frozenset({"reason 10", "reason 12", "reason 14"}))
    assert past(repo, tip, (Kind.FREEZE, "R2")) == Past(0)
    assert past(repo, tip, (Kind.FLAKE, "R1")) == Past(0)


def test_a_row_that_was_removed_with_its_file_and_came_back_was_renewed(repo):
    gone = repo.commit({FREEZES: None}, line(repo, 10))
    assert past(repo, gone).times == 0
    assert past(repo, line(repo, 10, on=gone)).times == 1
    assert past(repo, line(repo, None, 9, on=gone)).times == 1


@pytest.mark.parametrize("odd", [
    "{", Odd("120000", "elsewhere.json"), Odd("160000", "1" * 40)])
def test_a_version_that_nobody_can_read_held_no_row(repo, odd):
    """So that breaking the file and mending it is a renewal, as removing it is."""
    broken = repo.commit({FREEZES: odd}, line(repo, 10))
    assert past(repo, line(repo, 10, on=broken)).times == 1


def test_a_folder_at_the_place_held_no_row(repo):
    broken = repo.commit({FREEZES: None, f"{FREEZES}/x": "[]"}, line(repo, 10))
    back = repo.commit({f"{FREEZES}/x": None, **row(10)}, broken)
    assert past(repo, back).times == 1


def test_a_merge_of_a_topic_does_not_count_what_the_branch_had_before(repo):
    base = line(repo, 10)
    topic = repo.commit({"src/b.py": "y = 1\n"}, base)
    main = line(repo, 12, on=base)
    merge = repo.commit({}, main, topic)
    assert past(repo, merge).times == 1
    assert past(repo, line(repo, 14, on=merge)).times == 2


def test_a_pull_does_not_hide_what_the_branch_had(repo):
    """The branch's own line is the second parent of what `git pull` makes."""
    base = line(repo, 10)
    main = line(repo, 12, None, 14, on=base)
    pulled = repo.commit({}, repo.commit({"src/b.py": "y = 1\n"}, base), main)
    assert past(repo, pulled) == past(repo, main) == Past(
        2, frozenset({"reason 10", "reason 12", "reason 14"}))
    octopus = repo.commit({}, repo.commit({"src/c.py": "y = 1\n"}, base),
                          repo.commit({"src/d.py": "y = 1\n"}, base), main)
    assert past(repo, octopus).times == 2


def test_a_row_that_a_topic_renewed_counts_with_its_merge(repo):
    base = line(repo, 10)
    topic = line(repo, 12, on=base)
    main = repo.commit({"src/b.py": "y = 1\n"}, base)
    assert past(repo, repo.commit({}, main, topic)).times == 1


def test_where_no_parent_holds_what_the_merge_does_the_first_one_goes_on(repo):
    base = line(repo, 10)
    merge = repo.commit_whole({**repo.files(base), **row(13)}, line(repo, 11, on=base),
                              line(repo, 12, on=base))
    assert past(repo, merge) == Past(2, frozenset({"reason 10", "reason 11", "reason 13"}))


def test_there_is_an_end_to_what_is_looked_at(repo, monkeypatch):
    monkeypatch.setattr(pastrows, "STEPS", 4)
    assert past(repo, line(repo, 10, 12, 14)).times == 1


def test_what_cannot_be_looked_at_is_no_past(repo):
    tip = line(repo, 10, 12)
    with pytest.raises(CannotJudge, match="within the policy's bound"):
        past(repo, tip, deadline=time.monotonic() - 1)
    lost = repo.commit_tree(repo.tree_of(tip), "1" * 40)
    with pytest.raises(Missing):
        past(repo, lost)


def test_versions_that_were_read_are_kept(repo, tmp_path):
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    past(repo, line(repo, 10, 12), state=state)
    kept = json.loads(next((state / "parsed").iterdir()).read_bytes())
    assert len(kept["files"]) == 2


def test_the_versions_of_a_folder_are_those_of_its_files(repo):
    def lease(day: int) -> str:
        return (f"id: rates\npath: fixtures/data/r.csv\nsha256: {'0' * 64}\n"
                f"expires: 2026-09-{day}\nowner: mei\nallowed_relations: [R1]\n")

    tip = repo.commit({"fixtures/leases/a.yaml": lease(10)})
    tip = repo.commit({"fixtures/leases/a.yaml": None, "fixtures/leases/b/c.yml": lease(12)}, tip)
    assert past(repo, tip, (Kind.LEASE, "fixtures/data/r.csv")).times == 1
