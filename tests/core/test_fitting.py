"""Whether a policy fits a repository: each pattern that takes in nothing, at its place."""

from __future__ import annotations

import pytest

from policyd.core.authored import compile_policy
from policyd.core.documents import parse
from policyd.core.fitting import Repository, misfits
from policyd.rules import BY_ID

POLICY = """\
version: 1
repositories: ["team/*"]
guarded: [main, "release/*", "!release/x", "tags/v*", refs/meta/config]
zones:
  source: ["src/**", "lib/**", "!src/gen/**"]
  oracle: ["Oracle/**"]
  empty: ["none/**", "never"]
groups: {maintainers: [alice], agents: [bot]}
rules:
  write-set: {of: agents, may_touch: [source, "nowhere/**"]}
"""
REFS = ("refs/heads/main", "refs/heads/topic")
PATHS = ("src/a.py", "src/b.py", "oracle/r.json", "docs/a.md", "docs/b.md", "README.md",
         "odd\x1b/x")


def told(policy: str = POLICY, name: str = "team/r", refs=REFS, paths=PATHS) -> list[str]:
    node = parse(policy.encode(), "p.yaml")
    compiled = compile_policy(node, "p", BY_ID)
    return [str(fault).removeprefix("p.yaml:")
            for fault in misfits(node, compiled, Repository(name, refs, paths))]


def test_every_pattern_that_takes_in_nothing_is_told_at_its_place():
    assert told() == [
        "3:17: 'release/*' matches no branch",
        "3:30: '!release/x' takes out no branch",
        "3:44: 'tags/v*' matches no tag",
        "3:55: 'refs/meta/config' matches no ref",
        "5:22: 'lib/**' matches no file",
        "5:32: '!src/gen/**' takes out no file",
        "7:3: zone empty holds no file",
        "4:1: 4 of 7 files (57 %) lie in no zone, most of them 'docs/' (2), 'README.md', "
        "'odd\\x1b/' (1)"]


def test_a_policy_that_fits_is_told_nothing_about():
    policy = POLICY.replace(', "release/*", "!release/x", "tags/v*", refs/meta/config', "").replace(
        ', "lib/**", "!src/gen/**"', "").replace('  empty: ["none/**", "never"]\n', "")
    assert told(policy, paths=("src/a.py", "oracle/r.json")) == []


def test_a_repository_that_is_not_taken_in_is_compared_with_nothing_else():
    assert told(name="other/r") == [
        "2:1: 'other/r' is not taken in, so this policy does not hold for it"]


def test_without_a_guarded_branch_there_are_no_paths_to_compare():
    assert all("no " in line and "file" not in line for line in told(refs=(), paths=()))


@pytest.mark.parametrize("path", ["ORACLE/x", "oracle./x"])
def test_paths_are_compared_as_the_hook_does(path):
    assert not any("oracle" in line.lower() for line in told(paths=(path,)))
