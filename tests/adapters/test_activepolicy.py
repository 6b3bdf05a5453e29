"""The policy in force on a real file system: who may have written it, and how it is replaced."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policyd.adapters.activepolicy import load, store
from policyd.adapters.policyfiles import knows_timezone, sources
from policyd.core.errors import CannotJudge
from policyd.core.frozen import put_together, to_json
from policyd.core.policy import Settings

OTHER = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user")


def active(state: str = "/s", home_owner: str = "self"):
    return put_together(Settings(state, home_owner=home_owner), ())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir(mode=0o755)
    path.chmod(0o755)
    return path


def chown(path: Path, uid: int) -> None:
    for each in (path, *path.rglob("*")):
        os.chown(each, uid, uid, follow_symlinks=False)


def test_what_is_stored_is_loaded(home):
    store(home, to_json(active()))
    assert load(home, {}) == active()
    assert not (home / "active/previous").exists()


def test_the_one_before_is_kept_and_no_draft_is_left(home):
    for state in ("/1", "/2", "/3"):
        store(home, to_json(active(state)))
    assert (home / "active/previous").read_bytes() == to_json(active("/2"))
    assert load(home, {}) == active("/3")
    assert sorted(os.listdir(home / "active")) == ["current", "previous"]


@pytest.mark.parametrize(("mode", "file_mode"), [(0o755, 0o644), (0o700, 0o600), (0o750, 0o640)])
def test_files_are_readable_by_whom_the_home_is(home, mode, file_mode):
    home.chmod(mode)
    store(home, to_json(active()))
    assert (home / "active").stat().st_mode & 0o777 == mode
    assert (home / "active/current").stat().st_mode & 0o777 == file_mode


def test_a_store_that_fails_leaves_what_was_in_force(home):
    store(home, to_json(active("/1")))
    (home / "active/previous").mkdir()
    with pytest.raises(Exception, match="what was in force stays"):
        store(home, to_json(active("/2")))
    assert load(home, {}) == active("/1")
    assert ".draft" not in str(os.listdir(home / "active"))


def test_nothing_applied_yet_names_the_commands(home):
    with pytest.raises(CannotJudge, match=r"active is absent; .*policyd policy apply"):
        load(home, {})
    with pytest.raises(CannotJudge, match="is absent"):
        load(home / "nowhere", {})


@pytest.mark.parametrize("name", [".", "active", "active/current"])
@pytest.mark.parametrize("bit", [0o020, 0o002])
def test_what_others_can_write_is_not_read(home, name, bit):
    store(home, to_json(active()))
    (home / name).chmod((home / name).stat().st_mode | bit)
    with pytest.raises(CannotJudge, match=r"writable by others .* run `chmod go-w"):
        load(home, {})


@pytest.mark.parametrize("name", [".", "active", "active/current"])
def test_a_symbolic_link_is_not_followed(home, name, tmp_path):
    store(home, to_json(active()))
    path = Path(os.path.normpath(home / name))
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotJudge, match=r"symbolic link|not a folder"):
        load(home, {})


def test_a_pipe_in_the_place_of_the_file_does_not_block(home):
    store(home, to_json(active()))
    (home / "active/current").unlink()
    os.mkfifo(home / "active/current")
    with pytest.raises(CannotJudge, match="not a regular file"):
        load(home, {})


def test_damage_is_told_with_the_path_and_the_remedy(home):
    store(home, b"{}")
    with pytest.raises(CannotJudge, match=r"active/current: .*`policyd policy apply`"):
        load(home, {})


@as_root
@pytest.mark.parametrize("name", [".", "active", "active/current"])
def test_what_belongs_to_a_stranger_is_not_read(home, name):
    store(home, to_json(active()))
    os.chown(home / name, OTHER, OTHER)
    with pytest.raises(CannotJudge, match="belongs to uid 12345"):
        load(home, {}, reader=OTHER + 1)


@as_root
def test_a_home_of_the_hooks_own_user_must_say_so(home):
    store(home, to_json(active(home_owner="root")))
    chown(home, OTHER)
    with pytest.raises(CannotJudge, match="home_owner: self"):
        load(home, {}, reader=OTHER)
    store(home, to_json(active()))
    assert load(home, {}, reader=OTHER) == active()


@as_root
def test_a_file_of_the_hooks_user_in_a_home_of_root_is_not_read(home):
    store(home, to_json(active()))
    os.chown(home / "active/current", OTHER, OTHER)
    with pytest.raises(CannotJudge, match="must belong to uid 0"):
        load(home, {}, reader=OTHER)


@as_root
def test_root_gives_what_it_stores_to_the_owner_of_the_home(home):
    chown(home, OTHER)
    store(home, to_json(active()))
    assert {(p.stat().st_uid, p.stat().st_gid) for p in (home, *home.rglob("*"))} == {
        (OTHER, OTHER)}


def test_sources_are_the_settings_the_policies_their_cases_and_the_groups(home):
    (home / "policies").mkdir(mode=0o755)
    (home / "groups").mkdir(mode=0o755)
    for name in ("policyd.yaml", "policies/b.yaml", "policies/a.yaml", "policies/a.cases.yaml",
                 "policies/.a.yaml", "policies/notes.txt", "groups/bots.txt", "groups/x.yaml",
                 "groups/.bots.txt"):
        (home / name).write_text(name)
        (home / name).chmod(0o644)
    assert sources(home) == {name: name.encode() for name in (
        "policyd.yaml", "policies/a.cases.yaml", "policies/a.yaml", "policies/b.yaml",
        "groups/bots.txt")}


@pytest.mark.parametrize("name", ["groups", "groups/maintainers.txt"])
def test_a_group_that_others_can_write_is_not_read(home, name):
    (home / "groups").mkdir(mode=0o755)
    (home / "groups/maintainers.txt").write_text("alice\n")
    (home / "groups/maintainers.txt").chmod(0o644)
    (home / name).chmod(0o777)
    with pytest.raises(CannotJudge, match="writable by others"):
        sources(home)


def test_a_group_behind_a_link_is_not_read(home):
    (home / "groups").mkdir(mode=0o755)
    (home / "groups/maintainers.txt").symlink_to("/etc/passwd")
    with pytest.raises(CannotJudge, match="not a regular file"):
        sources(home)


def test_sources_that_others_can_write_are_not_read(home):
    (home / "policyd.yaml").write_text("state: /s")
    (home / "policyd.yaml").chmod(0o666)
    with pytest.raises(CannotJudge, match="writable by others"):
        sources(home)


def test_a_home_without_files_has_no_sources(home):
    assert sources(home) == {}


def test_time_zones_are_those_of_this_machine():
    assert knows_timezone("UTC")
    for name in ("Mars/Base", "", "..", "/etc/passwd"):
        assert not knows_timezone(name)
