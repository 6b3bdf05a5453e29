"""Enrolment by server: where the hook goes, what runs it, and what the doctor sees of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from emulators import hooks_servers as servers
from emulators.hooks_servers import Gitolite, script
from sites import MAIN, Site, listing

from policyd.adapters import hookfiles, repoconfig, repoindex
from policyd.adapters.hosts.seat import Kind, Seat

MIXED = {"src/app.py": "x = 1\n", "oracle/rates.json": "{}\n"}
SOURCE = {"src/app.py": "x = 1\n"}
APART = "policyd: separate-authorship: "


@pytest.fixture
def fresh(site: Site) -> Site:
    """A site whose repository holds BASE and is not enrolled."""
    assert site.policyd("unenroll", str(site.server)) == 0, site.out
    return site


def enrol(site: Site, *words: str) -> list[str]:
    assert site.policyd("enroll", *words, str(site.server)) == 0, site.out
    return [line.partition(": ")[2] for line in site.out.splitlines()]


def fails(site: Site, *words: str) -> str:
    """The sentence with which enrolling fails; it leaves every file as it was."""
    before = listing(site.folder)
    assert site.policyd("enroll", *words, str(site.server)) == 1, site.out
    after = listing(site.folder)
    assert {name for name in before.keys() | after.keys()
            if before.get(name) != after.get(name)} <= {"home/state/lock"}
    return site.out.splitlines()[-1].partition(": failed: ")[2]


def unenrol(site: Site, *words: str) -> None:
    assert site.policyd("unenroll", *words) == 0, site.out


def is_judged(site: Site, *options: str, env: dict[str, str] | None = None) -> bool:
    """Whether a push that mixes is refused by policyd, with the first line that it says."""
    site.commit({"src/app.py": f"x = {len(site.told)}\n", "oracle/rates.json": "{}\n"})
    code = site.push(*options, "HEAD:refs/heads/topic", "--force", env=env)
    refused = any(APART in line for line in site.told)
    assert refused is (code == 1), site.err
    return refused


def faults(site: Site, *words: str) -> dict[str, str]:
    """What the doctor finds; with the canary unless it is told not to push."""
    site.policyd("doctor", *words, "--format", "json", str(site.server))
    return {one["check"]: one["says"] for one in json.loads(site.out) if one["weight"] == "fault"}


# Gitea and Forgejo.


def test_gitea_keeps_its_delegate_and_runs_us_beside_its_own(fresh):
    servers.gitea(fresh)
    before = listing(fresh.server)
    enrol(fresh, "--server", "gitea")
    assert {path for path in listing(fresh.server).keys() - before.keys()} == {
        "hooks/pre-receive.d/policyd", "policyd-key"}
    assert is_judged(fresh)
    assert "forge" in fresh.told
    assert faults(fresh) == {}
    files = listing(fresh.server)
    assert enrol(fresh)[1:] == ["hook is in place", "its record goes on"]
    assert listing(fresh.server) == files
    servers.gitea(fresh)  # gitea admin regenerate hooks
    assert is_judged(fresh)
    unenrol(fresh, str(fresh.server))
    assert not is_judged(fresh)
    fresh.git("update-ref", "-d", "refs/heads/topic", cwd=fresh.server)
    after = listing(fresh.server)
    assert {p: f for p, f in after.items() if not p.startswith("objects")} == {
        p: f for p, f in before.items() if not p.startswith("objects")}


def test_a_folder_that_was_made_for_us_goes_with_us(fresh):
    delegate = servers.gitea(fresh)
    shutil.rmtree(delegate.parent / "pre-receive.d")
    before = listing(fresh.server)
    enrol(fresh, "--server", "gitea")
    unenrol(fresh, str(fresh.server))
    assert listing(fresh.server) == before


@pytest.mark.parametrize(("spoil", "says"), [
    (lambda hook: hook.chmod(0o644), "is not executable"),
    (lambda hook: hook.unlink(), "is absent"),
    (lambda hook: script(hook, "exit 0\n"), "is not the server's"),
])
def test_a_delegate_that_runs_nothing_is_found_with_our_file_in_order(fresh, spoil, says):
    """C033"""
    hook = servers.gitea(fresh)
    enrol(fresh, "--server", "gitea")
    spoil(hook)
    assert os.access(fresh.server / "hooks/pre-receive.d/policyd", os.X_OK)
    found = faults(fresh)
    assert says in found["hook"]
    assert "was taken" in found["canary"]
    assert not is_judged(fresh)
    unenrol(fresh, str(fresh.server))
    assert says in fails(fresh, "--server", "gitea")
    servers.gitea(fresh)
    enrol(fresh, "--server", "gitea")
    assert faults(fresh) == {}


def test_a_repository_moves_from_plain_to_gitea_and_is_never_without_a_hook(fresh):
    servers.gitea(fresh)
    before = listing(fresh.server)
    enrol(fresh)
    key = repoindex.key_of(fresh.server)
    servers.gitea(fresh)  # takes a plain hook away: this is why
    assert "not policyd's" in faults(fresh, "--no-canary")["hook"]
    enrol(fresh, "--server", "gitea")
    enrol(fresh, "--server", "plain")
    lines = enrol(fresh, "--server", "gitea")
    assert f"{fresh.server}/hooks/pre-receive: hook taken out; the one that was there before " \
        "is back" in lines
    assert is_judged(fresh)
    assert repoindex.key_of(fresh.server) == key
    unenrol(fresh, str(fresh.server))
    assert listing(fresh.server / "hooks") == {
        path.removeprefix("hooks/"): found for path, found in before.items()
        if path.startswith("hooks/")}


def test_forgejo_runs_what_stands_beside_the_hook_that_git_runs(fresh):
    delegate = servers.forgejo(fresh)
    ours = delegate.parent / "pre-receive.d/policyd"
    shared = listing(delegate.parent)
    lines = enrol(fresh, "--server", "gitea")
    assert any("all repositories of this server run" in line for line in lines)
    assert ours.exists()
    assert not (fresh.server / "hooks").exists()
    assert is_judged(fresh)
    assert "forge" in fresh.told
    assert faults(fresh) == {}
    unenrol(fresh, str(fresh.server))
    assert not is_judged(fresh)
    hookfiles.take_out(Seat("gitea", Kind.COMMON_PART, ours.parent, "policyd"))
    assert listing(delegate.parent) == shared


def test_gitea_that_sends_hooks_elsewhere_later_is_found(fresh):
    """C034"""
    servers.gitea(fresh)
    enrol(fresh, "--server", "gitea")
    servers.forgejo(fresh)
    found = faults(fresh)
    assert "core.hooksPath" in found["hook"]
    assert "was taken" in found["canary"]
    enrol(fresh)
    assert not (fresh.server / "hooks/pre-receive.d/policyd").exists()
    assert is_judged(fresh)


# GitLab.


def test_gitlab_runs_us_from_the_custom_hooks_of_the_repository(fresh):
    push = servers.gitaly(fresh)
    before = listing(fresh.server)
    enrol(fresh, "--server", "gitlab")
    assert (fresh.server / "custom_hooks/pre-receive.d/policyd").exists()
    as_alice = {"GL_USERNAME": "alice", "GL_PROTOCOL": "ssh"}
    assert is_judged(fresh, *push, env=as_alice)
    fresh.git("reset", "-q", "--hard", fresh.base_tip)
    fresh.commit(SOURCE)
    assert fresh.push(*push, f"HEAD:{MAIN}", env=as_alice) == 0
    assert fresh.log()[-1]["verdict"] == "accepted"
    assert faults(fresh, "--no-canary") == {}
    unenrol(fresh, str(fresh.server))
    assert listing(fresh.server).keys() - before.keys() == {
        path for path in listing(fresh.server) if path.startswith("objects")} - before.keys()


def test_a_server_hook_in_front_of_ours_ends_it_and_one_behind_comes_last(fresh):
    push = servers.gitaly(fresh)
    enrol(fresh, "--server", "gitlab")
    first = script(fresh.server / "custom_hooks/pre-receive", "echo first >&2\nexit 1\n")
    script(first.with_suffix(".d") / "zlast", "echo last >&2\n")
    fresh.commit(SOURCE)
    assert fresh.push(*push, f"HEAD:{MAIN}") == 1
    assert fresh.told == ["first"]
    first.unlink()
    assert fresh.push(*push, f"HEAD:{MAIN}") == 0
    assert fresh.told == ["last"]


def test_gitlabs_pages_show_every_line_of_a_rejection_but_the_one_for_programs(fresh):
    push = servers.gitaly(fresh)
    enrol(fresh, "--server", "gitlab")
    web = {"GL_USERNAME": "alice", "GL_PROTOCOL": "web"}
    fresh.commit(MIXED)
    assert fresh.push(*push, f"HEAD:{MAIN}", env=web) == 1
    assert fresh.told[0].startswith(f"GL-HOOK-ERR: {APART}")
    assert all(line.startswith("GL-HOOK-ERR: ") for line in fresh.told[:-1])
    assert json.loads(fresh.told[-1].removeprefix("policyd "))["rule"] == "separate-authorship"
    (fresh.server / "policyd-key").unlink()
    assert fresh.push(*push, f"HEAD:{MAIN}", env=web) == 1
    assert fresh.told[0].startswith("GL-HOOK-ERR: policyd: could not be judged: ")


def test_gitlabs_folder_for_all_judges_those_that_are_enrolled(fresh):
    push, folder = servers.gitaly(fresh), fresh.folder / "custom"
    folder.mkdir()
    env = {"GL_USERNAME": "alice", "GITALY_CUSTOM_HOOKS_DIR": str(folder)}
    lines = enrol(fresh, "--server", "gitlab", "--hooks-path", str(folder))
    assert f"'{folder}'" in lines[-1]
    assert not (fresh.server / "custom_hooks").exists()
    assert is_judged(fresh, *push, env=env)
    assert faults(fresh, "--no-canary") == {}
    unenrol(fresh, str(fresh.server))
    assert not is_judged(fresh, *push, env=env)
    unenrol(fresh, "--hooks-path", str(folder))
    assert list(folder.iterdir()) == []


# gitolite.


def test_gitolites_common_hook_runs_once_gitolite_linked_it(fresh):
    host = Gitolite(fresh)
    old = script(host.common / "pre-receive", "echo old >&2\n")
    code = listing(host.code)
    lines = enrol(fresh, "--server", "gitolite", "--hooks-path", str(host.common))
    assert "gitolite setup --hooks-only" in lines[-1]
    assert "no link" in faults(fresh, "--no-canary")["hook"]
    host.setup()
    assert {path.name for path in host.hooks.iterdir()} == {"pre-receive"}
    assert is_judged(fresh)
    fresh.git("reset", "-q", "--hard", fresh.base_tip)
    fresh.commit(SOURCE)
    assert fresh.push(f"HEAD:{MAIN}") == 0
    assert fresh.told == ["old"]
    assert faults(fresh) == {}
    unenrol(fresh, str(fresh.server), "--hooks-path", str(host.common))
    assert listing(host.code) == code
    assert old.read_text() == "#!/bin/sh\necho old >&2\n"


def test_gitolites_repo_specific_hook_does_not_look_at_its_name(fresh):
    host = Gitolite(fresh)
    script(host.specific / "other", "echo other >&2\n")
    lines = enrol(fresh, "--server", "gitolite", "--hooks-path", str(host.specific))
    assert "option hook.pre-receive = policyd" in lines[-1]
    assert "multi-hook-driver" in faults(fresh, "--no-canary")["hook"]
    host.compile("policyd", "other")
    assert is_judged(fresh)
    fresh.git("reset", "-q", "--hard", fresh.base_tip)
    fresh.commit(SOURCE)
    assert fresh.push(f"HEAD:{MAIN}") == 0
    assert fresh.told == ["other"]
    assert faults(fresh) == {}
    host.compile("other")
    assert "leads to" in faults(fresh, "--no-canary")["hook"]


def test_both_kinds_of_gitolites_hooks_at_once_are_refused_and_found(fresh):
    host = Gitolite(fresh)
    common, specific = (["--server", "gitolite", "--hooks-path", str(folder)]
                        for folder in (host.common, host.specific))
    script(host.specific / "other", "exit 0\n")
    host.compile("other")
    assert "gitolite runs whichever it linked last" in fails(fresh, *common)
    enrol(fresh, *specific)
    script(host.common / "pre-receive", "exit 0\n")
    assert "gitolite runs whichever it linked last" in faults(fresh, "--no-canary")["hook"]
    assert "gitolite runs whichever it linked last" in fails(fresh, *specific)
    host.setup()
    host.compile("other", "policyd")
    (host.common / "pre-receive").unlink()
    assert faults(fresh) == {}


def test_gitolite_admin_passes_a_broken_common_hook_unless_it_was_enrolled_by_name(fresh):
    host = Gitolite(fresh)
    enrol(fresh, "--server", "gitolite", "--hooks-path", str(host.common))
    admin = fresh.folder / "srv/gitolite-admin.git"
    shutil.copytree(fresh.server, admin, symlinks=True)
    (admin / "policyd-key").unlink()
    ours = host.common / "pre-receive"
    (admin / "hooks/pre-receive").symlink_to(ours)
    ours.write_text(ours.read_text().replace(sys.executable, "/nowhere/python"))
    script(host.common / ".pre-receive.before-policyd", "echo old >&2\n")
    fresh.git("remote", "add", "admin", str(admin))
    fresh.commit(MIXED)
    assert "old" in push_to(fresh, "admin")
    (admin / "policyd-key").write_text("x\n")
    fresh.commit({"src/b.py": "y = 1\n"})
    assert "the program /nowhere/python is missing" in push_to(fresh, "admin")


def push_to(site: Site, remote: str) -> str:
    done = subprocess.run(["git", "push", remote, f"HEAD:{MAIN}"], cwd=site.work, text=True,
                          env=site.environment(REMOTE_USER="alice"), capture_output=True)
    return done.stderr


def test_gitolite_without_local_code_says_what_to_name(fresh, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if shutil.which("gitolite") is None:
        assert "LOCAL_CODE" in fails(fresh, "--server", "gitolite")
    assert "neither LOCAL_CODE" in fails(
        fresh, "--server", "gitolite", "--hooks-path", str(fresh.folder))


# Plain git, with core.hooksPath.


def elsewhere(site: Site, folder: Path, git_dir: Path | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    site.git("config", "core.hooksPath", str(folder), cwd=git_dir or site.server)
    return folder


@pytest.mark.parametrize("where", ["srv/r.git/own-hooks", "hooks-of-r"])
def test_a_hooks_folder_of_its_own_is_used_and_what_was_there_comes_back(fresh, where):
    folder = elsewhere(fresh, fresh.folder / where)
    old = script(folder / "pre-receive", "echo old >&2\n")
    before = listing(fresh.folder / "srv"), listing(folder)
    enrol(fresh)
    enrol(fresh)
    assert is_judged(fresh)
    fresh.git("reset", "-q", "--hard", fresh.base_tip)
    fresh.commit(SOURCE)
    assert fresh.push(f"HEAD:{MAIN}") == 0
    assert fresh.told == ["old"]
    assert faults(fresh) == {}
    fresh.git("config", "--unset", "core.hooksPath", cwd=fresh.server)
    assert "git looks for hooks in" in faults(fresh, "--no-canary")["hook"]
    fresh.git("config", "core.hooksPath", str(folder), cwd=fresh.server)
    unenrol(fresh, str(fresh.server))
    assert old.read_text() == "#!/bin/sh\necho old >&2\n"
    assert listing(folder) == before[1]
    assert (fresh.server / "config").read_bytes() == before[0]["r.git/config"][3]


def test_a_relative_hooks_path_is_git_s_own_business(fresh):
    (fresh.server / "more").mkdir()
    fresh.git("config", "core.hooksPath", "more", cwd=fresh.server)
    enrol(fresh)
    assert (fresh.server / "more/pre-receive").exists()
    assert is_judged(fresh)
    moved = fresh.server.with_name("moved.git")
    fresh.server.rename(moved)
    fresh.git("remote", "set-url", "origin", str(moved))
    fresh.server = moved
    assert is_judged(fresh)
    assert faults(fresh) == {}
    unenrol(fresh, str(moved))
    assert not is_judged(fresh)


def test_a_folder_that_others_use_or_may_write_is_refused(fresh):
    folder = elsewhere(fresh, fresh.folder / "shared")
    other = fresh.folder / "srv/team/other.git"
    fresh.git("init", "-q", "--bare", "--template=", str(other))
    elsewhere(fresh, folder, other)
    assert f"which {other} uses too" in (sentence := fails(fresh))
    assert f"policyd enroll --hooks-path {folder}" in sentence
    fresh.git("config", "--unset", "core.hooksPath", cwd=other)
    other.joinpath("hooks").symlink_to(folder)
    assert f"which {other} uses too" in fails(fresh)
    other.joinpath("hooks").unlink()
    folder.chmod(0o777)
    assert "chmod go-w" in fails(fresh)
    folder.chmod(0o755)
    enrol(fresh)


def test_a_hooks_path_of_the_whole_server_is_not_one_repository_s(fresh):
    folder = fresh.folder / "system"
    folder.mkdir()
    (fresh.folder / ".gitconfig").write_text(f"[core]\n\thooksPath = {folder}\n")
    assert "by a configuration that is not its own" in fails(fresh)


def test_one_hook_for_all_judges_the_enrolled_and_lets_the_others_be(fresh):
    folder = elsewhere(fresh, fresh.folder / "all")
    script(folder / "pre-receive", "echo old >&2\n")
    other = fresh.folder / "srv/other.git"
    shutil.copytree(fresh.server, other)
    before = listing(fresh.folder / "srv"), listing(folder)
    enrol(fresh, "--hooks-path", str(folder))
    assert not (fresh.server / "hooks").exists()
    assert is_judged(fresh)
    assert faults(fresh) == {}
    fresh.git("remote", "add", "other", str(other))
    assert "old" in (told := push_to(fresh, "other"))
    assert "policyd" not in told
    assert fresh.policyd("unenroll", "--hooks-path", str(folder)) == 1
    assert f"it serves {fresh.server}" in fresh.out
    unenrol(fresh, str(fresh.server))
    assert not is_judged(fresh)
    unenrol(fresh, "--hooks-path", str(folder))
    assert listing(folder) == before[1]
    assert (fresh.server / "config").read_bytes() == before[0]["r.git/config"][3]


@pytest.mark.parametrize("server", ["env", "gitolite"])
def test_under_one_hook_for_all_a_lost_key_opens_nothing(fresh, server):
    """Also where the server leaves out what the repository is called."""
    folder = elsewhere(fresh, fresh.folder / "all")
    enrol(fresh, "--hooks-path", str(folder))
    settings = fresh.home / "policyd.yaml"
    settings.write_text(settings.read_text().replace(
        "{from: env, name: REMOTE_USER}", f"{{from: {server}}}"))
    assert fresh.policyd("policy", "apply") == 0, fresh.out
    (fresh.server / "policyd-key").unlink()
    fresh.commit(MIXED)
    assert fresh.push(f"HEAD:{MAIN}") == 1
    said = "is not enrolled" if server == "env" else "could not be judged"
    assert said in " ".join(fresh.told)
    assert "is not enrolled" in faults(fresh, "--no-canary")["enrolment"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give the state folder away")
def test_under_one_hook_for_all_what_no_policy_wants_passes_whoever_s_it_is(fresh):
    folder = elsewhere(fresh, fresh.folder / "all")
    enrol(fresh, "--hooks-path", str(folder))
    outside = fresh.folder / "outside.git"
    fresh.git("init", "-q", "--bare", "--template=", str(outside))
    elsewhere(fresh, folder, outside)
    fresh.git("remote", "add", "outside", str(outside))
    os.chown(fresh.state, 65534, 65534)
    fresh.commit(MIXED)
    assert "policyd" not in push_to(fresh, "outside")
    assert "could not be judged: pushes must arrive as nobody" in push_to(fresh, "origin")


def test_a_folder_that_is_not_where_git_looks_is_refused(fresh):
    folder = fresh.folder / "all"
    folder.mkdir()
    assert f"core.hooksPath {folder}" in fails(fresh, "--hooks-path", str(folder))


# All servers.


def test_the_server_of_policyd_yaml_holds_where_nothing_else_is_said(fresh):
    settings = fresh.home / "policyd.yaml"
    settings.write_text(settings.read_text() + "server: gitea\n")
    assert fresh.policyd("policy", "apply") == 0, fresh.out
    assert "delegate" not in fails(fresh)
    servers.gitea(fresh)
    enrol(fresh)
    assert repoconfig.remembered(fresh.server) == ("gitea part hooks/pre-receive.d/policyd",)
    assert fresh.policyd("enroll", "--hooks-path", "/x", str(fresh.server)) == 2


def test_nothing_is_guessed_but_a_folder_that_servers_run_is_told(fresh):
    servers.gitea(fresh)
    assert any("see `--server`" in line for line in enrol(fresh))
    assert repoconfig.remembered(fresh.server) == ()


def test_a_file_of_somebody_else_s_with_our_name_stays(fresh):
    hook = servers.gitea(fresh).with_suffix(".d") / "policyd"
    script(hook, "exit 0\n")
    assert "is not policyd's; remove it" in fails(fresh, "--server", "gitea")


def test_a_copy_does_not_take_the_record_of_its_original(site):
    copy = site.server.with_name("copy.git")
    shutil.copytree(site.server, copy, symlinks=True)
    assert site.policyd("enroll", str(copy)) == 1
    assert f"it is a copy of it; `rm {copy}/policyd-key`" in site.out
    (copy / "policyd-key").unlink()
    assert site.policyd("enroll", str(copy)) == 0, site.out


def test_a_dry_run_says_what_would_be_and_changes_nothing(fresh):
    servers.gitea(fresh)
    before = listing(fresh.folder)
    lines = enrol(fresh, "--server", "gitea", "--dry-run")
    assert lines == ["would be r to default",
                     f"its hook would be {fresh.server}/hooks/pre-receive.d/policyd"]
    assert listing(fresh.folder) == before
    assert fresh.policyd("enroll", "--dry-run", str(fresh.folder)) == 1


def test_a_branch_that_moves_without_any_hook_closes_its_gate(fresh):
    """C036"""
    servers.gitea(fresh)
    enrol(fresh, "--server", "gitea")
    tip = fresh.commit(MIXED)
    fresh.git("fetch", "-q", str(fresh.work), f"+HEAD:{MAIN}", cwd=fresh.server)
    assert fresh.policyd("serve", "--once") == 0, fresh.out
    assert fresh.policyd("status", "--format", "json") in (0, 1)
    assert "moved" in fresh.out
    fresh.commit({"src/more.py": "y = 1\n"})
    assert fresh.push(f"HEAD:{MAIN}") == 1
    assert "moved" in " ".join(fresh.told)
    assert fresh.refs()[MAIN] == tip


def test_a_hook_that_is_a_link_to_nothing_is_found_behind_a_delegate(fresh):
    """C035"""
    servers.gitea(fresh)
    enrol(fresh, "--server", "gitea")
    ours = fresh.server / "hooks/pre-receive.d/policyd"
    ours.unlink()
    ours.symlink_to("/bin/true")
    found = faults(fresh)
    assert "is not policyd's" in found["hook"]
    assert "was taken" in found["canary"]
