"""Enrolment and the way out, with real pushes through the hook that was put in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from sites import FRAME, MAIN, Site, listing

from policyd.adapters import hookfiles, repoindex
from policyd.adapters.nexthook import CHAINED
from policyd.core.index import Index

MIXED = {"src/app.py": "x = 1\n", "oracle/rates.json": "{}\n"}
SOURCE = {"src/app.py": "x = 1\n"}
NOBODY = 65534


@pytest.fixture
def fresh(site: Site) -> Site:
    """A site whose repository holds BASE and is not enrolled."""
    assert site.policyd("unenroll", str(site.server)) == 0, site.out
    return site


def old_hook(site: Site, text: str) -> None:
    hook = site.server / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n" + text)
    hook.chmod(0o755)


def index(site: Site) -> Index:
    return repoindex.load(site.state, repoindex.key_of(site.server))


def lines(site: Site, repository: Path | None = None) -> list[str]:
    """What was said of the repository, line by line."""
    prefix = f"{repository or site.server}: "
    return [line.removeprefix(prefix) for line in site.out.splitlines() if line.startswith(prefix)]


def failure(site: Site, repository: Path | None = None) -> str:
    """The sentence with which enrolling one repository fails."""
    target = repository or site.server
    assert site.policyd("enroll", str(target)) == 1
    assert not os.path.lexists(target / repoindex.KEY_FILE)
    assert not os.path.lexists(target / "hooks/pre-receive")
    return lines(site, target)[-1].removeprefix("failed: ")


def test_an_honest_push_is_accepted_in_silence(site):
    tip = site.commit(SOURCE)
    assert site.push(f"HEAD:{MAIN}", as_="agent-7") == 0
    assert (site.told, site.refs()[MAIN]) == ([], tip)


def test_a_push_that_a_rule_forbids_is_refused(site):
    site.commit(MIXED)
    assert site.push(f"HEAD:{MAIN}") == 1
    assert site.told[0].startswith("policyd: separate-authorship: ")
    assert site.refs()[MAIN] == site.base_tip


def test_base_can_be_pushed_through_the_hook(empty_site):
    assert index(empty_site).empty
    tip = empty_site.base()
    assert empty_site.refs() == {MAIN: tip}


def test_enrolment_says_each_step_and_logs_one_entry(fresh):
    before = len(fresh.log())
    assert fresh.policyd("enroll", str(fresh.server)) == 0
    assert lines(fresh) == [
        "is r to default", "hook put in", "receive.advertisePushOptions set to true",
        f"recorded {MAIN} at {fresh.base_tip[:12]}"]
    [entry] = fresh.log()[before:]
    assert {name: entry[name] for name in ("verdict", "repository", "git_dir", "tips")} == {
        "verdict": "enrolled", "repository": "r", "git_dir": str(fresh.server),
        "tips": {MAIN: fresh.base_tip}}
    assert entry["operator"]
    assert entry["key"] == repoindex.key_of(fresh.server)


def test_only_guarded_branches_are_recorded(fresh):
    for ref in ("heads/topic", "heads/release/1", "heads/release/1.x/y", "tags/v1"):
        fresh.git("push", "-q", "origin", f"HEAD:refs/{ref}")
    fresh.enroll()
    assert set(index(fresh).branches) == {MAIN, "refs/heads/release/1"}
    assert not index(fresh).empty


def test_enrolling_again_changes_no_file_and_keeps_the_record(site):
    site.commit(SOURCE)
    assert site.push(f"HEAD:{MAIN}") == 0
    files, record = listing(site.server), index(site)
    assert site.policyd("enroll", str(site.server)) == 0
    assert lines(site) == ["is r to default", "hook is in place", "its record goes on"]
    assert listing(site.server) == files
    assert index(site).branches == {MAIN: site.tip()}
    assert (index(site).key, index(site).enrolled) == (record.key, record.enrolled)
    assert site.policyd("log", "verify") == 0


def test_another_home_takes_the_hook_over(site, tmp_path):
    other = Site.made(tmp_path / "other")
    settings = other.home / "policyd.yaml"
    settings.write_text(settings.read_text().replace(str(other.folder / "srv"),
                                                     str(site.folder / "srv")))
    assert other.policyd("policy", "apply") == 0
    assert other.policyd("enroll", str(site.server)) == 0
    assert "hook renewed" in other.out
    assert not (site.server / "hooks" / CHAINED).exists()
    site.commit(SOURCE)
    assert site.push(f"HEAD:{MAIN}") == 0
    assert other.log()[-1]["verdict"] == "accepted"


def test_an_index_that_is_missing_is_recorded_anew(site):
    path = Path(repoindex.path_of(site.state, repoindex.key_of(site.server)))
    path.unlink()
    site.commit(SOURCE)
    assert site.push(f"HEAD:{MAIN}") == 1
    assert "is missing" in " ".join(site.told)
    site.enroll()
    assert lines(site)[-1] == f"recorded {MAIN} at {site.base_tip[:12]}"
    assert site.push(f"HEAD:{MAIN}") == 0


@pytest.mark.parametrize("spoil", ["index", "log"])
def test_what_cannot_be_trusted_any_more_is_recorded_anew_and_said(site, spoil):
    site.commit(SOURCE)
    assert site.push(f"HEAD:{MAIN}") == 0
    if spoil == "index":
        Path(repoindex.path_of(site.state, repoindex.key_of(site.server))).write_text("{")
    else:
        log = site.state / "decisions.jsonl"
        log.write_bytes(log.read_bytes().splitlines(keepends=True)[0])
    site.commit({"src/more.py": "y = 1\n"})
    assert site.push(f"HEAD:{MAIN}") == 1
    site.enroll()
    assert "recorded anew: " in site.out
    assert site.push(f"HEAD:{MAIN}") == 0


def test_a_branch_that_moved_past_the_hook_is_told_and_not_believed(site):
    tip = site.commit(SOURCE)
    site.git("fetch", "-q", str(site.work), f"+HEAD:{MAIN}", cwd=site.server)
    site.enroll()
    assert lines(site)[-1] == (f"note: {MAIN} moved past policyd: {site.base_tip[:12]} is "
                               f"recorded, {tip[:12]} is there")
    assert index(site).branches == {MAIN: site.base_tip}


def test_an_old_hook_runs_last_with_the_same_input_and_environment(fresh):
    old_hook(fresh, 'echo "old: $(cat) as $REMOTE_USER in $PWD, $GIT_QUARANTINE_PATH" >&2\n')
    fresh.enroll()
    tip = fresh.commit(SOURCE)
    assert fresh.push(f"HEAD:{MAIN}", as_="carol") == 0
    [line] = fresh.told
    assert line.startswith(f"old: {fresh.base_tip} {tip} {MAIN} as carol in {fresh.server}, ")
    assert "/objects/" in line


def test_an_old_hook_can_still_refuse(fresh):
    old_hook(fresh, "echo not on a friday\nexit 3\n")
    fresh.enroll()
    fresh.commit(SOURCE)
    assert fresh.push(f"HEAD:{MAIN}") == 1
    assert fresh.told == ["not on a friday"]
    assert fresh.refs()[MAIN] == fresh.base_tip
    old = fresh.server / "hooks" / CHAINED
    old.write_text("#!/bin/sh\nexit 0\n")
    assert fresh.push(f"HEAD:{MAIN}") == 0


def test_an_old_hook_does_not_run_when_policyd_refuses(fresh):
    old_hook(fresh, "echo the old hook ran; touch ran\n")
    fresh.enroll()
    fresh.commit(MIXED)
    assert fresh.push(f"HEAD:{MAIN}") == 1
    assert fresh.told[0].startswith("policyd: ")
    assert not (fresh.server / "ran").exists()


def test_an_old_hook_that_is_not_executable_does_not_run(fresh):
    old_hook(fresh, "echo the old hook ran\n")
    (fresh.server / "hooks/pre-receive").chmod(0o644)
    fresh.enroll()
    fresh.commit(SOURCE)
    assert fresh.push(f"HEAD:{MAIN}") == 0
    assert fresh.told == []


def test_a_missing_program_refuses_every_push(site):
    hookfiles.install(site.server, hookfiles.text(Path("/nowhere/bin/python"), site.home))
    site.commit(SOURCE)
    assert site.push(f"HEAD:{MAIN}") == 1
    assert site.told == ["policyd: could not be judged: the program /nowhere/bin/python is "
                         "missing; the operator runs policyd enroll"]
    site.enroll()
    assert site.push(f"HEAD:{MAIN}") == 0


def test_the_environment_of_a_push_chooses_neither_program_nor_home(site, tmp_path):
    fake = tmp_path / "policyd"
    fake.mkdir()
    (fake / "__init__.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "sitecustomize.py").write_text("import os; os._exit(0)\n")
    site.commit(MIXED)
    assert site.push(f"HEAD:{MAIN}", env={
        "PYTHONPATH": str(tmp_path), "PYTHONHOME": "/nowhere", "PYTHONSTARTUP": str(fake),
        "PYTHONUSERBASE": str(tmp_path), "HOME": str(tmp_path), "ENV": "/nowhere"}) == 1
    assert site.told[0].startswith("policyd: separate-authorship: ")


SETTINGS = {
    "as git makes it": (),
    "push options decided": (("receive.advertisePushOptions", "false"),),
    "a section with other values": (("receive.denyDeletes", "true"), ("a.b", "c")),
}
HOOKS = {
    "no hook": lambda _: None,
    "a hook": lambda site: old_hook(site, "exit 0\n"),
    "samples": lambda site: (old_hook(site, ""), (site.server / "hooks/pre-receive").rename(
        site.server / "hooks/pre-receive.sample")),
}


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("hook", HOOKS)
def test_unenrolment_leaves_every_file_as_it_was(fresh, settings, hook):
    for name, value in SETTINGS[settings]:
        fresh.git("config", name, value, cwd=fresh.server)
    HOOKS[hook](fresh)
    before = listing(fresh.server)
    fresh.enroll()
    fresh.enroll()
    assert listing(fresh.server) != before
    assert fresh.policyd("unenroll", str(fresh.server)) == 0, fresh.out
    assert listing(fresh.server) == before


def test_unenrolment_logs_and_forgets(site):
    key = repoindex.key_of(site.server)
    assert site.policyd("unenroll", str(site.server)) == 0
    assert lines(site) == ["hook taken out", "receive.advertisePushOptions unset",
                           "policyd-key removed", "its record is forgotten"]
    entry = site.log()[-1]
    assert (entry["verdict"], entry["repository"], entry["key"]) == ("unenrolled", "r", key)
    assert entry["tips"] == {MAIN: site.base_tip}
    assert repoindex.keys(site.state) == ()
    assert site.policyd("log", "verify") == 0
    site.commit(MIXED)
    assert site.push(f"HEAD:{MAIN}") == 0
    assert site.policyd("unenroll", str(site.server)) == 1
    assert lines(site) == ["failed: it is not enrolled"]


def test_push_options_that_the_operator_set_stay(fresh):
    fresh.git("config", "receive.advertisePushOptions", "true", cwd=fresh.server)
    fresh.enroll()
    assert fresh.policyd("unenroll", str(fresh.server)) == 0
    assert fresh.git("config", "receive.advertisePushOptions", cwd=fresh.server) == "true"


def test_push_options_reach_the_server(site):
    site.commit(SOURCE)
    assert site.push("-o", "policyd.json", f"HEAD:{MAIN}") == 0


@pytest.mark.parametrize("what", ["home", "state"])
def test_there_is_a_way_out_without_home_or_state(site, what):
    shutil.rmtree({"home": site.home, "state": site.state}[what])
    site.commit(MIXED)
    assert site.push(f"HEAD:{MAIN}") == 1
    assert site.policyd("unenroll", str(site.server)) == 0
    assert lines(site)[0].startswith("note: not logged: ")
    assert site.push(f"HEAD:{MAIN}") == 0


def test_a_failure_to_record_leaves_the_repository_as_it_was(fresh):
    old_hook(fresh, "exit 0\n")
    before = listing(fresh.server)
    (fresh.state / "decisions.jsonl").unlink()
    (fresh.state / "decisions.jsonl").mkdir()
    assert fresh.policyd("enroll", str(fresh.server)) == 1
    assert "decision log" in lines(fresh)[-1]
    assert listing(fresh.server) == before


def test_one_repository_that_fails_does_not_stop_the_others(fresh):
    other = fresh.folder / "srv/deep/er/s.git"
    fresh.git("init", "-q", "--bare", str(other))
    code = fresh.policyd("enroll", str(fresh.folder / "srv/none.git"), str(other),
                         str(fresh.server))
    assert code == 1
    assert lines(fresh, fresh.folder / "srv/none.git") == [
        "failed: it is not a bare repository; name the folder that holds its HEAD and objects"]
    assert lines(fresh, other)[0] == "is deep/er/s to default"
    assert lines(fresh, other)[-1] == (
        "empty; every push is judged whole until a guarded branch exists")
    assert lines(fresh)[-1].startswith("recorded ")


def test_a_work_tree_is_named_by_its_git_folder(fresh):
    tree = fresh.folder / "srv/tree"
    fresh.git("clone", "-q", str(fresh.server), str(tree), cwd=fresh.folder)
    assert "not a bare repository" in failure(fresh, tree)
    fresh.policyd("enroll", str(tree / ".git"))
    assert lines(fresh, tree / ".git")[0] == "is tree to default"


def test_no_policy_in_force_names_apply(tmp_path, site):
    assert site.policyd("init", str(tmp_path / "home")) == 0
    site.home = tmp_path / "home"
    assert site.policyd("enroll", str(site.server)) == 2
    assert "policyd policy apply" in site.out


def test_a_repository_that_no_policy_takes_in_is_refused(fresh):
    fresh.edit_policy('repositories: ["**"]', 'repositories: ["**", "!r"]')
    assert failure(fresh).startswith("no policy holds for the repository r; ")


def test_a_repository_outside_of_the_roots_is_refused(fresh, tmp_path):
    outside = tmp_path / "outside.git"
    fresh.git("init", "-q", "--bare", "--template=", str(outside))
    assert failure(fresh, outside).startswith(
        f"{outside} lies below none of the roots ({fresh.folder / 'srv'}); ")


def test_a_repository_without_a_guarded_branch_is_refused(fresh):
    fresh.git("branch", "-m", "main", "master", cwd=fresh.server)
    assert failure(fresh) == (
        "no branch of it is guarded: nothing matches main, release/* in `guarded`, and it has "
        "master; name its main branch there and run `policyd policy apply`")


def shallow(site: Site, path: Path) -> None:
    site.git("init", "-q", "--bare", "--template=", str(path))
    (path / "shallow").write_text(site.base_tip + "\n")


def grafted(site: Site, path: Path) -> None:
    site.git("init", "-q", "--bare", "--template=", str(path))
    (path / "info").mkdir(exist_ok=True)
    (path / "info/grafts").write_text(site.base_tip + "\n")


@pytest.mark.parametrize(("make", "said"), [
    (lambda site, path: site.git("init", "-q", "--bare", "--template=", "--object-format=sha256",
                                 str(path)), "cannot be opened by libgit2"),
    (shallow, "shallow alters the history"),
    (grafted, "info/grafts alters the history"),
])
def test_a_repository_that_cannot_be_judged_is_refused(fresh, make, said):
    path = fresh.folder / "srv/odd.git"
    make(fresh, path)
    assert said in failure(fresh, path)


def test_a_repository_whose_hooks_are_elsewhere_is_refused(fresh):
    fresh.git("config", "core.hooksPath", "/srv/hooks", cwd=fresh.server)
    assert fresh.policyd("enroll", str(fresh.server)) == 1
    assert "core.hooksPath sends the hooks" in lines(fresh)[-1]
    assert not (fresh.server / repoindex.KEY_FILE).exists()


def test_there_is_a_way_out_when_git_looks_for_hooks_elsewhere_by_now(site):
    site.git("config", "core.hooksPath", "/srv/hooks", cwd=site.server)
    assert site.policyd("unenroll", str(site.server)) == 0
    assert not (site.server / "hooks").exists()


def test_push_options_that_the_operator_forbade_later_stay_forbidden(site):
    site.git("config", "receive.advertisePushOptions", "false", cwd=site.server)
    site.enroll()
    assert site.policyd("unenroll", str(site.server)) == 0
    assert site.git("config", "receive.advertisePushOptions", cwd=site.server) == "false"


@pytest.mark.parametrize("spoil", [
    lambda key: key.write_text("nonsense\n"),
    lambda key: (key.unlink(), key.symlink_to("/etc/passwd"))])
def test_a_key_that_is_none_is_written_anew_as_the_refusal_says(site, spoil):
    spoil(site.server / repoindex.KEY_FILE)
    site.commit(SOURCE)
    assert site.push(f"HEAD:{MAIN}") == 1
    assert f"`policyd enroll {site.server}`" in "".join(site.told).replace("  ", "")
    site.enroll()
    assert site.push(f"HEAD:{MAIN}") == 0


# As root, for a repository of another user.


@pytest.fixture
def theirs(open_folder: Path, open_python: Path, tmp_path: Path) -> Theirs:
    folder = open_folder / tmp_path.name
    folder.mkdir()
    return Theirs(Site.made(folder), open_python)


class Theirs:
    """A site of root's whose repository and clone belong to nobody; nothing is enrolled."""

    def __init__(self, site: Site, python: Path) -> None:
        self.site, self.python = site, python
        site.base()
        for top in (site.server, site.work):
            for path in (top, *top.rglob("*")):
                os.lchown(path, NOBODY, NOBODY)

    def policyd(self, *arguments: str, as_root: bool = True) -> tuple[int, str]:
        done = self._run([self.python, "-I", "-m", "policyd", "--home", self.site.home,
                          *arguments], as_root=as_root, environment={"PATH": os.environ["PATH"]})
        return done.returncode, done.stdout + done.stderr

    def push(self, *, as_root: bool = False) -> tuple[int, str]:
        trusting = self.site.folder / "gitconfig"
        trusting.write_text("[safe]\n\tdirectory = *\n")
        environment = self.site.environment(REMOTE_USER="alice", GIT_CONFIG_GLOBAL=str(trusting))
        done = self._run(["git", "push", "origin", f"HEAD:{MAIN}"], as_root=as_root,
                         environment=environment, cwd=self.site.work)
        return done.returncode, done.stderr

    def commit(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (self.site.work / name).write_text(text)
        for arguments in (["add", "-A"], ["commit", "-q", "-m", "Change"]):
            self._run(["git", *arguments], as_root=False, cwd=self.site.work,
                      environment={**FRAME, "PATH": os.environ["PATH"]}).check_returncode()

    @staticmethod
    def _run(command: list[str | Path], *, as_root: bool, environment: Mapping[str, str],
             cwd: Path = Path("/")) -> subprocess.CompletedProcess[str]:
        user = {} if as_root else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True,
                              check=False, **user)


def test_root_enrols_for_the_owner_of_the_repository(theirs):
    site = theirs.site
    before = listing(site.server)
    code, told = theirs.policyd("enroll", str(site.server))
    assert code == 0, told
    assert f"state folder {site.state} made for nobody" in told
    assert {path for path, found in listing(site.folder / "srv").items()
            if found[2] != NOBODY} == set()
    assert (site.state.stat().st_uid, site.state.stat().st_mode & 0o777) == (NOBODY, 0o700)
    assert {found[2] for found in listing(site.state).values()} == {NOBODY}
    theirs.commit(MIXED)
    code, told = theirs.push()
    assert code == 1
    assert "policyd: separate-authorship: " in told
    theirs.commit({"oracle/rates.json": (site.work / "oracle/quarantine.yaml")
                   .read_text()})
    assert theirs.policyd("unenroll", str(site.server))[0] == 0
    assert listing(site.server) == before


def test_a_push_arrives_as_the_owner_of_the_state_folder(theirs):
    assert theirs.policyd("enroll", str(theirs.site.server))[0] == 0
    theirs.commit(SOURCE)
    code, told = theirs.push(as_root=True)
    assert code == 1
    assert "pushes must arrive as nobody" in told.replace("\nremote:  ", "")
    code, told = theirs.push()
    assert code == 0, told
    assert theirs.site.log()[-1]["verdict"] == "accepted"


def test_anybody_else_gets_the_line_to_use(theirs):
    site = theirs.site
    for path in (site.server, *site.server.rglob("*")):
        os.lchown(path, 1, 1)
    for command in ("enroll", "unenroll"):
        code, told = theirs.policyd(command, str(site.server), as_root=False)
        assert code == 1
        assert told == (f"{site.server}: failed: nobody may not do this for daemon; run `sudo -u "
                        f"daemon policyd --home {site.home} {command} {site.server}`\n")


def test_a_user_without_a_name_will_do(theirs):
    site, uid = theirs.site, 54321
    for path in (site.server, *site.server.rglob("*")):
        os.lchown(path, uid, uid)
    code, told = theirs.policyd("enroll", str(site.server))
    assert code == 0, told
    assert f"made for #{uid}" in told
    assert site.state.stat().st_uid == uid


def test_a_program_that_the_owner_cannot_run_is_refused(theirs, tmp_path, monkeypatch):
    site, hidden = theirs.site, tmp_path / "python"
    hidden.symlink_to(theirs.python)
    tmp_path.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(hidden))
    assert site.policyd("enroll", str(site.server)) == 1
    assert (f"the program {hidden} does not run as nobody (permission denied); install policyd "
            "where that user may read it") in site.out
    assert not (site.server / repoindex.KEY_FILE).exists()


def test_the_log_is_whole_after_all_this(site):
    site.enroll()
    assert site.policyd("unenroll", str(site.server)) == 0
    site.enroll()
    site.commit(SOURCE)
    assert site.push(f"HEAD:{MAIN}") == 0
    assert site.policyd("log", "verify", "--format", "json") == 0
    assert json.loads(site.out)["entries"] == len(site.log())
