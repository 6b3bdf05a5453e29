"""What a file is by its name, and which zones follow from it."""

from __future__ import annotations

import pytest

from policyd.core.globs import zone_pattern
from policyd.core.policy import Zone
from policyd.core.survey import Kind, guarded, kind_of, layout, shared
from policyd.core.zones import ZoneMap

NAMES = [
    ("src/app.py", Kind.SOURCE), ("app/main.rs", Kind.SOURCE), ("web/view.tsx", Kind.SOURCE),
    ("tests/test_app.py", Kind.TESTS), ("tests/data/a.csv", Kind.TESTS),
    ("app/tests/test_app.py", Kind.TESTS), ("app/app_test.go", Kind.TESTS),
    ("web/view.test.tsx", Kind.TESTS), ("web/__tests__/view.js", Kind.TESTS),
    ("src/latest.py", Kind.SOURCE), ("src/contest/run.py", Kind.SOURCE),
    ("tests/__snapshots__/a.snap", Kind.SNAPSHOT), ("tests/a.ambr", Kind.SNAPSHOT),
    ("tests/cassettes/a.yaml", Kind.CASSETTE), ("tests/golden/a.json", Kind.GOLDEN),
    ("app/testdata/a.golden", Kind.GOLDEN), ("tests/a.approved.txt", Kind.GOLDEN),
    ("tests/golden/test_golden.py", Kind.TESTS), ("golden/mine.py", Kind.SOURCE),
    (".github/workflows/ci.yml", Kind.CI), (".gitlab-ci.yml", Kind.CI), ("Jenkinsfile", Kind.CI),
    ("docs/Jenkinsfile", Kind.OTHER), ("pyproject.toml", Kind.SETTINGS),
    ("app/conftest.py", Kind.SETTINGS), ("app/setup.cfg", Kind.OTHER), ("README.md", Kind.OTHER),
]


@pytest.mark.parametrize(("path", "kind"), NAMES)
def test_a_file_is_what_its_name_says(path, kind):
    assert kind_of(path) is kind


def test_sources_below_src_are_that_and_others_all_but_the_rest():
    assert layout(["src/a.py", "src/b.py", "setup.py"]).source == ("src/**",)
    flat = layout(["src/a.py", "a/b.py", "a/c.py", "testing/test_a.py"])
    assert flat.source[:3] == ("**", "!tests/**", "!testing/**")
    assert flat.tests == ("testing/**",)
    assert not flat.is_src


def test_what_a_project_is_set_up_by_is_no_source():
    source = layout(["a/b.py", "tests/test_a.py", "pyproject.toml"]).source
    zones = ZoneMap((Zone("source", tuple(map(zone_pattern, source))),))
    for path in ("pyproject.toml", "packages/a/package.json", "vitest.config.e2e.ts", "uv.lock",
                 "playground/app/main.js"):
        assert zones.inside(path) == (), path
    assert zones.inside("a/lock.py") == ("source",)


def test_what_several_share_has_the_tests_of_all():
    one = shared([layout(["a/b.py", "test/t.py"]), layout(["c.py", "d/e_test.go"])])
    assert one.tests == ("test/**", "**/*_test.go")
    assert {"!test/**", "!**/*_test.go"} <= set(one.source)


@pytest.mark.parametrize(("head", "branches", "tags", "expected"), [
    ("main", ["main", "topic"], [], ("main",)),
    ("main", ["release/1", "3.x"], ["v1.0"], ("main", "release/*", "*.x", "tags/v*")),
    ("trunk", ["release-1"], ["1.0"], ("trunk", "release-*", "tags/*.*")),
    ("!odd", [], [], ("refs/heads/!odd",)),
    ("", [], [], ()),
])
def test_what_is_guarded_is_there(head, branches, tags, expected):
    assert guarded(head, branches, tags) == expected
