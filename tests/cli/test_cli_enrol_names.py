"""What policies call a repository of GitLab before its first push."""

from __future__ import annotations

from pathlib import Path

import pytest
from sites import Site

from policyd.adapters import activepolicy, repoindex
from policyd.cli import enrolling
from policyd.rules import OPTIONS


@pytest.fixture
def hashed(site: Site) -> Path:
    """A repository as GitLab keeps them, that no policy wants by its path."""
    settings = site.home / "policyd.yaml"
    settings.write_text(settings.read_text().replace("{from: env, name: REMOTE_USER}",
                                                     "{from: gitlab}"))
    site.edit_policy('repositories: ["**"]', 'repositories: ["acme/**"]')
    new = site.server.parent / "@hashed/aa/bb/aabb.git"
    site.git("clone", "-q", "--bare", str(site.server), str(new), cwd=site.folder)
    return new


def record(site: Site, git_dir: Path) -> str:
    return repoindex.load(site.state, repoindex.key_of(git_dir)).name


def test_it_is_what_the_configuration_says(site, hashed):
    active = activepolicy.load(site.home, OPTIONS)
    assert "no policy holds" in (enrolling.left(active, hashed, "gitlab") or "")
    assert site.policyd("enroll", str(hashed)) == 1
    site.git("config", "gitlab.fullpath", "acme/pay", cwd=hashed)
    assert enrolling.left(active, hashed, "gitlab") is None
    for _ in range(2):
        assert site.policyd("enroll", str(hashed)) == 0, site.out
        assert "is acme/pay to default" in site.out
        assert "note: its configuration" not in site.out
    assert record(site, hashed) == "acme/pay"
    site.policyd("doctor", "--no-canary", str(hashed))
    assert "no policy holds" not in site.out


@pytest.mark.parametrize("name", [None, "pay", "acme/../pay", "acme//pay"])
def test_what_is_not_said_or_is_no_name_is_left_to_the_first_push(site, hashed, name):
    if name is not None:
        site.git("config", "gitlab.fullpath", name, cwd=hashed)
    site.edit_policy('repositories: ["acme/**"]', 'repositories: ["**"]')
    assert site.policyd("enroll", str(hashed)) == 0, site.out
    assert "it is @hashed/aa/bb/aabb to policies until its first push" in site.out
    assert record(site, hashed) == ""


def test_what_a_push_was_told_stays_when_it_is_enrolled_again(site, hashed):
    site.git("config", "gitlab.fullpath", "acme/pay", cwd=hashed)
    assert site.policyd("enroll", str(hashed)) == 0, site.out
    site.git("config", "gitlab.fullpath", "acme/renamed", cwd=hashed)
    assert site.policyd("enroll", str(hashed)) == 0, site.out
    assert "is acme/pay to default" in site.out
