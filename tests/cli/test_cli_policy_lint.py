"""`policyd policy lint --repo`: what a policy does not find in a repository."""

from __future__ import annotations

import os

DEFAULT = "policies/default.yaml"


def line_of(site, start: str) -> int:
    lines = (site.home / DEFAULT).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.lstrip().startswith(start))


def told(site) -> list[str]:
    assert site.policyd("policy", "lint", "--repo", str(site.server)) == 0, site.out
    return [line.removeprefix("policies/") for line in site.out.splitlines()
            if not line.endswith("so it is off")]


def test_patterns_are_compared_with_the_tips_of_guarded_branches(site):
    site.git("switch", "-q", "-c", "topic")
    site.commit({"docs/x.md": "", "proposals/p.yaml": ""})
    assert site.push("HEAD:refs/heads/topic") == 0
    lines = told(site)
    assert "default.yaml:16:17: warning: 'release/*' matches no branch" in lines
    assert "default.yaml:16:30: warning: 'tags/v*' matches no tag" in lines
    proposals = line_of(site, "proposals:")
    assert f"default.yaml:{proposals}:3: warning: zone proposals holds no file" in lines
    assert not any("zone source" in line or "in no zone" in line for line in lines)


def test_paths_on_any_guarded_branch_count(site):
    assert site.push("HEAD:refs/heads/release/1") == 0, site.err
    site.commit({"pytest.ini": ""})
    assert site.push("HEAD:refs/heads/main") == 0, site.err
    lines = told(site)
    assert not any("'release/*'" in line or "'pytest.ini'" in line for line in lines)


def test_what_lies_in_no_zone_is_a_share(site):
    site.commit({"docs/x.md": "", "docs/y.md": "", "README.md": ""})
    assert site.push("HEAD:refs/heads/main") == 0, site.err
    share, = [line for line in told(site) if "in no zone" in line]
    assert share.startswith(f"default.yaml:{line_of(site, 'zones:')}:1: warning: 3 of ")
    assert share.endswith(" lie in no zone, most of them 'docs/' (2), 'README.md'")


def test_a_repository_that_is_not_taken_in_is_told(site):
    policy = site.home / DEFAULT
    policy.write_text(policy.read_text().replace('["**"]', '["team/**"]'))
    assert "default.yaml:10:1: warning: 'r' is not taken in, so this policy does not hold " \
        "for it" in told(site)


def test_an_empty_repository_is_told_of_its_branches_alone(empty_site):
    lines = told(empty_site)
    assert "default.yaml:16:11: warning: 'main' matches no branch" in lines
    assert not any("file" in line for line in lines)


def test_what_is_no_repository_is_a_sentence(site, tmp_path):
    for path in (tmp_path / "absent", tmp_path, site.work):
        assert site.policyd("policy", "lint", "--repo", str(path)) == 2
        assert site.out.splitlines()[-1].startswith("policyd: it is not a bare repository")


def test_nothing_in_the_repository_changes(site):
    before = {path: path.stat().st_mtime_ns for path in site.server.rglob("*")}
    told(site)
    assert {path: path.stat().st_mtime_ns for path in site.server.rglob("*")} == before
    assert sorted(os.listdir(site.home / "policies")) == [
        "default.yaml", "policy.schema.json", "policyd.schema.json"]
