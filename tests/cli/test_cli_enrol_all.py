"""Enrolling many at once, and what the daemon finds to enrol."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from sites import MAIN, Site, listing

from policyd.adapters import activepolicy, repoindex
from policyd.adapters.hosts import below
from policyd.cli import enrolling
from policyd.core.policy import Active
from policyd.rules import OPTIONS

MIXED = {"src/app.py": "x = 1\n", "oracle/rates.json": "{}\n"}


def bare(site: Site, name: str, *words: str) -> Path:
    path = site.folder / "srv" / name
    site.git("init", "-q", "--bare", "--template=", *words, str(path))
    return path


def active(site: Site) -> Active:
    return activepolicy.load(site.home, OPTIONS)


def newcomers(site: Site) -> list[str]:
    return [str(path.relative_to(site.folder / "srv"))
            for path in enrolling.newcomers(active(site), settled=0)]


def set_up(site: Site, text: str) -> None:
    settings = site.home / "policyd.yaml"
    settings.write_text(settings.read_text() + text)
    assert site.policyd("policy", "apply") == 0, site.out


def test_repositories_are_found_once_each_and_never_through_a_link(site, tmp_path):
    deep = bare(site, "team/a/b/deep.git")
    bare(site, "r.git/not/inside.git")
    tree = site.folder / "srv/tree"
    site.git("clone", "-q", str(site.server), str(tree), cwd=site.folder)
    outside = tmp_path / "outside.git"
    site.git("init", "-q", "--bare", str(outside))
    (site.folder / "srv/link.git").symlink_to(outside)
    (site.folder / "srv/round").symlink_to(site.folder)
    assert list(below.bare(site.folder / "srv")) == [site.server, deep]
    assert list(below.bare(site.folder / "srv", deepest=3)) == [site.server]
    assert list(below.bare(tmp_path / "nowhere")) == []


def test_all_are_enrolled_but_those_that_are_and_one_that_fails_stops_nothing(site):
    first, last = bare(site, "a.git"), bare(site, "team/z.git")
    odd = bare(site, "odd.git", "--object-format=sha256")
    kept = listing(site.server)
    assert site.policyd("enroll", "--all", "--dry-run") == 1
    assert site.out.splitlines()[-1] == "4 found: 2 would be enrolled, 1 left, 1 failed"
    assert not (first / "policyd-key").exists()
    assert site.policyd("enroll", "--all") == 1
    assert site.out.splitlines()[-1] == "4 found: 2 enrolled, 1 left, 1 failed"
    assert f"{odd}: failed: " in site.out
    assert all((one / "hooks/pre-receive").exists() for one in (first, last))
    assert listing(site.server) == kept
    shutil.rmtree(odd)
    assert site.policyd("enroll", "--all", str(site.folder / "srv/team"), str(site.server)) == 0
    assert site.out == "2 found: 0 enrolled, 2 left, 0 failed\n"


def test_what_no_policy_wants_and_gitolite_s_own_repository_are_left(site):
    bare(site, "gitolite-admin.git")
    site.edit_policy('repositories: ["**"]', 'repositories: ["**", "!sandbox/**"]')
    bare(site, "sandbox/x.git")
    assert site.policyd("enroll", "--all", "--server", "gitolite") == 0, site.out
    assert "left: it is enrolled only when it is named" in site.out
    assert "left: no policy holds" in site.out
    assert site.out.splitlines()[-1] == "3 found: 0 enrolled, 3 left, 0 failed"


@pytest.mark.parametrize("lost", ["key", "record"])
def test_what_lost_its_key_or_its_record_is_for_somebody_to_look_at(site, lost):
    """Else what a server put in place of it would become accepted history by itself."""
    key = site.server / "policyd-key"
    if lost == "key":
        key.unlink()
    else:
        Path(repoindex.path_of(site.state, repoindex.key_of(site.server))).unlink()
    assert newcomers(site) == []
    assert site.policyd("enroll", "--all") == 0
    assert f"`policyd enroll {site.server}` records it anew" in site.out
    assert site.policyd("enroll", str(site.server)) == 0


def test_newcomers_are_still_are_the_owner_s_and_are_nothing_else(site):
    assert newcomers(site) == []
    new = bare(site, "new.git")
    theirs = bare(site, "theirs.git")
    assert newcomers(site) == ["new.git", "theirs.git"]
    assert enrolling.newcomers(active(site)) == []
    for name in (".", "HEAD", "objects", "refs", "config"):
        os.utime(new / name, (0, 0))
    assert enrolling.newcomers(active(site)) == [new]
    os.chown(theirs, 65534, 65534)
    assert newcomers(site) == ["new.git"]


def test_a_newcomer_is_enrolled_as_policyd_yaml_says(site):
    folder = site.folder / "all"
    folder.mkdir()
    set_up(site, f"enroll: {{new: true, hooks_path: {folder}}}\n")
    new = bare(site, "new.git")
    site.git("config", "core.hooksPath", str(folder), cwd=new)
    assert active(site).settings.enroll.new
    for path in enrolling.newcomers(active(site), settled=0):
        case = enrolling.case_of(site.home, active(site), path)
        assert list(enrolling.enrol(case, command="policyd enroll"))
    assert newcomers(site) == []
    assert not (new / "hooks").exists()
    site.git("remote", "set-url", "origin", str(new))
    site.commit(MIXED)
    assert site.push(f"HEAD:{MAIN}") == 1
    assert site.told[0].startswith("policyd: ")


def test_without_roots_nothing_is_found(site):
    settings = site.home / "policyd.yaml"
    settings.write_text("\n".join(
        "roots: []" if line.startswith("roots:") else line
        for line in settings.read_text().splitlines()))
    assert site.policyd("policy", "apply") == 0, site.out
    assert site.policyd("enroll", "--all") == 2
    assert "no roots" in site.out
    assert enrolling.newcomers(active(site)) == []
    assert site.policyd("enroll") == 2
    assert site.policyd("unenroll") == 2
