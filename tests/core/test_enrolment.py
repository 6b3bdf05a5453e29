"""Which tips are accepted history at enrolment."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from policyd.core.authored import compile_policy
from policyd.core.documents import parse
from policyd.core.enrolment import guarded_tips
from policyd.core.errors import CannotJudge
from policyd.core.policy import Policy

A, B, C = "a" * 40, "b" * 40, "c" * 40


def policy(guarded: str) -> Policy:
    text = (f"version: 1\nrepositories: ['**']\nguarded: {guarded}\n"
            "zones: {source: ['src/**']}\ngroups: {maintainers: [alice]}\nrules: {}\n")
    return compile_policy(parse(text.encode(), "p.yaml"), "p", {})


def tips(guarded: Sequence[str], refs: Sequence[str]) -> set[str]:
    return set(guarded_tips([policy(text) for text in guarded], dict.fromkeys(refs, A)))


@pytest.mark.parametrize(("guarded", "refs", "recorded"), [
    # what the policies guard, the refs that exist, those that are recorded
    (["[main]"], [], []),
    (["[main]"], ["heads/main", "heads/topic"], ["heads/main"]),
    (["[main, 'release/*']"], ["heads/main", "heads/release/1", "heads/release/1/x"],
     ["heads/main", "heads/release/1"]),
    (["[main]", "[develop]"], ["heads/main", "heads/develop", "heads/topic"],
     ["heads/main", "heads/develop"]),
    (["[main, 'tags/v*']"], ["heads/main", "tags/v1"], ["heads/main"]),
    (["['*', '!topic']"], ["heads/main", "heads/topic"], ["heads/main"]),
])
def test_the_guarded_branches_are_recorded(guarded, refs, recorded):
    assert tips(guarded, [f"refs/{ref}" for ref in refs]) == {f"refs/{ref}" for ref in recorded}


def test_the_tips_are_kept_by_ref():
    found = guarded_tips([policy("['*']")], {"refs/heads/b": B, "refs/heads/a": A})
    assert found == {"refs/heads/a": A, "refs/heads/b": B}


@pytest.mark.parametrize(("refs", "said"), [
    (["refs/heads/master", "refs/heads/dev"], "it has dev, master;"),
    (["refs/tags/v1"], "it has no branch;"),
    ([f"refs/heads/b{n}" for n in range(10)], "b7, 2 more;"),
    (["refs/heads/\x1b[2J"], r"it has \x1b[2J;"),
])
def test_refs_without_a_guarded_branch_are_refused(refs, said):
    with pytest.raises(CannotJudge) as caught:
        tips(["[main, 'release/*', 'tags/v*']"], refs)
    assert "nothing matches main, release/* in `guarded`" in str(caught.value)
    assert said in str(caught.value)
