"""The suite of gamed pushes is whole: enough of them, each one fits its project and can be read."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from gaming.case import final_tree
from gaming.projects import ALL

CASES = [(project, case) for project in ALL for case in project.cases]
GAMED = [(project, case) for project, case in CASES if not case.honest]


def test_there_are_enough_of_them():
    assert len(ALL) >= 12
    assert len(GAMED) >= 120
    assert len({case.family for _, case in GAMED}) >= 15


def test_no_id_is_given_twice():
    ids = Counter(project.id_of(case) for project, case in CASES)
    assert [one for one, times in ids.items() if times > 1] == []


def test_each_family_has_an_honest_twin():
    twins = {case.family for _, case in CASES if case.honest}
    assert {case.family for _, case in CASES} == twins


def test_each_project_has_sources_tests_and_records():
    for project in ALL:
        roots = Counter(path.split("/")[0] for path in project.sources)
        assert 2 <= roots["src"] <= 4
        assert roots["tests"] >= 1
        assert project.records


def test_every_push_changes_something_that_can_be_read():
    for project, case in CASES:
        base = {**project.sources, **project.records}
        files = final_tree(base, case)
        named = project.id_of(case)
        assert files != base, named
        for path, entry in files.items():
            if path.endswith(".py") and isinstance(entry, str) and base.get(path) != entry:
                compile(entry, f"{named}:{path}", "exec", dont_inherit=True)
