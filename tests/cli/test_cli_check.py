"""`policyd check`: in a clone, what the server would say; and then it does say that."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sites import MAIN, Site

SOURCE = {"src/app.py": "def total(prices):\n    return sum(prices) + 0\n"}
ORACLE = {"oracle/rates.json": "{}\n"}
MIXED = {**SOURCE, **ORACLE}


@pytest.fixture(autouse=True)
def _in_the_clone(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site.work)


def asked(site: Site, *arguments: str) -> dict[str, Any]:
    """The answer for programs."""
    assert site.policyd("check", "--format", "json", *arguments) in (0, 1), site.out
    answer: dict[str, Any] = json.loads(site.out)
    return answer


def run(site: Site, commands: list[str], *, as_: str) -> None:
    """Commands as printed, by somebody whom the server knows."""
    done = subprocess.run(["sh", "-ec", "\n".join(commands)], cwd=site.work, capture_output=True,
                          env=site.environment(REMOTE_USER=as_), text=True, check=False)
    assert done.returncode == 0, done.stderr


def failure(site: Site, *arguments: str) -> str:
    assert site.policyd("check", *arguments) == 2
    assert site.out.count("\n") == 1
    return site.out.removeprefix("policyd: ")


def test_what_the_server_would_take_is_taken(site):
    tip = site.commit(SOURCE)
    assert site.policyd("check", "--as", "agent-7") == 0
    first, *_, last = site.out.splitlines()
    assert first == "policyd: check: main would take this"
    assert json.loads(last.removeprefix("policyd "))["id"] == tip[:6]
    assert site.push(f"HEAD:{MAIN}", as_="agent-7") == 0


@pytest.mark.parametrize(("files", "who", "rules"), [
    (MIXED, "alice", {"separate-authorship"}),
    (MIXED, "agent-7", {"separate-authorship", "protected-writers"}),
    (ORACLE, "agent-7", {"protected-writers"}),
    (ORACLE, None, {"protected-writers"}),
    (ORACLE, "alice", set()),
    ({"src/a.py": "A = 'EUR 19.26'\n", "tests/test_a.py": "assert A == 'EUR 19.26'\n"}, "alice",
     {"literal-overlap"}),
])
def test_the_answer_is_the_one_of_the_server(site, files, who, rules):
    site.commit(files)
    answer = asked(site, *(("--as", who) if who else ()))
    assert {found["rule"] for found in answer["findings"]} == rules
    assert answer["verdict"] == ("refused" if rules else "accepted")
    assert site.push(f"HEAD:{MAIN}", as_=who) == (1 if rules else 0)
    for rule in rules:
        assert f"policyd: {rule}: " in site.err


def test_a_credential_and_a_signature_count_as_on_the_server(site):
    site.edit_policy("maintainers: [alice, bob]", 'maintainers: ["alice#web", bob]')
    site.commit(ORACLE)
    for who, verdict in (("alice#web", "accepted"), ("alice#ssh", "refused"), ("bob", "accepted")):
        assert asked(site, "--as", who)["verdict"] == verdict
    site.edit_policy("  protected-writers:\n", "  protected-writers:\n    signed: [oracle]\n")
    assert asked(site, "--as", "bob")["verdict"] == "refused"
    assert asked(site, "--as", "bob", "--signed")["verdict"] == "accepted"
    assert "'alice#' is no pusher" in failure(site, "--as", "alice#")


def test_a_refusal_reads_as_on_the_server(site):
    site.commit(MIXED)
    assert site.policyd("check", "--as", "alice") == 1
    assert site.push(f"HEAD:{MAIN}", as_="alice") == 1
    first, *said = site.out.splitlines()
    assert first == "policyd: check: main would refuse this"
    facts = [line for line in said if not line.startswith(("    ", "policyd {"))]
    assert facts[0].startswith("policyd: separate-authorship: ")
    assert facts == [line for line in site.told if not line.startswith(("    ", "policyd {"))]


@pytest.mark.parametrize(("files", "who"), [(MIXED, "alice"), (MIXED, "agent-7")])
def test_the_commands_work_as_printed(site, files, who):
    site.commit(files)
    answer = asked(site, "--as", who)
    run(site, answer["findings"][0]["do"][1:], as_=who)
    held = site.git("show", f"{MAIN}:src/app.py", cwd=site.server) + "\n"
    assert held == files["src/app.py"]


def test_nothing_moves(site):
    site.commit(MIXED)
    before = {path: path.stat().st_mtime_ns for path in (site.work / ".git").rglob("*")}
    refs = site.refs()
    site.policyd("check", "--as", "alice")
    assert {path: path.stat().st_mtime_ns for path in (site.work / ".git").rglob("*")} == before
    assert (site.refs(), len(site.log())) == (refs, len(site.log()))


def test_base_and_head_are_any_revisions(site):
    site.commit(SOURCE)
    site.git("tag", "code")
    site.commit(ORACLE)
    assert asked(site, "--as", "alice")["verdict"] == "refused"
    assert asked(site, "--as", "alice", "--head", "code")["verdict"] == "accepted"
    assert asked(site, "--as", "alice", "--base", "code")["verdict"] == "accepted"
    assert asked(site, "--as", "alice", "--base", "code", "--head", "HEAD~1")[
        "verdict"] == "accepted"


def test_another_branch_may_be_meant(site):
    site.commit({"src/a.py": "A = 'EUR 19.26'\n", "tests/test_a.py": "assert A == 'EUR 19.26'\n"})
    assert site.policyd("check", "--branch", "topic", "--as", "agent-7") == 0
    assert site.out.startswith("policyd: check: topic would take this\n")
    assert "literal-overlap" in site.out
    assert asked(site, "--branch", "release/1", "--as", "alice")["findings"][0][
        "rule"] == "ordinary-refs"


def test_what_other_guarded_branches_hold_is_accepted_too(site):
    assert site.push("HEAD:refs/heads/release/1") == 0, site.err
    site.git("switch", "-q", "-c", "release")
    site.commit(ORACLE)
    assert site.push("HEAD:refs/heads/release/1") == 0, site.err
    site.git("switch", "-q", "main")
    site.commit(SOURCE)
    site.git("merge", "-q", "release")
    assert asked(site, "--as", "alice")["verdict"] == "accepted"
    site.git("update-ref", "-d", "refs/remotes/origin/release/1")
    assert asked(site, "--as", "alice")["verdict"] == "refused"
    assert site.push(f"HEAD:{MAIN}", as_="alice") == 0, site.err


def test_a_rewrite_is_told(site):
    site.commit(SOURCE)
    site.git("switch", "-q", "--orphan", "other")
    site.commit({"docs/x.md": ""})
    found = asked(site, "--as", "alice")["findings"]
    assert "ordinary-refs" in {one["rule"] for one in found}


def test_a_bundle_judges_without_a_home(site, tmp_path):
    assert site.policyd("policy", "export", str(tmp_path / "policy.json")) == 0, site.out
    site.commit(MIXED)
    elsewhere = Site(tmp_path)
    arguments = ("check", "--policy", str(tmp_path / "policy.json"), "--as", "alice")
    assert elsewhere.policyd(*arguments) == 1
    assert "separate-authorship" in elsewhere.out
    assert elsewhere.policyd(*arguments[:1], *arguments[3:]) == 2
    assert "has no policy in force; name a bundle with --policy" in elsewhere.out
    bundle = tmp_path / "policy.json"
    bundle.write_bytes(bundle.read_bytes().replace(b"alice", b"mallo"))
    assert "is no bundle of this policyd" in failure(site, *arguments[1:])


@pytest.mark.parametrize("option", ["--base", "--head"])
@pytest.mark.parametrize("revision", ["nothing", "HEAD:src", "--all", ""])
def test_what_is_no_commit_is_a_sentence(site, option, revision):
    assert failure(site, f"{option}={revision}") == f"{revision!r} names no commit here\n"


def test_a_shallow_clone_is_a_sentence(site, tmp_path, monkeypatch):
    site.git("clone", "-q", "--depth", "1", f"file://{site.server}", str(tmp_path / "shallow"))
    monkeypatch.chdir(tmp_path / "shallow")
    assert "git fetch --unshallow origin" in failure(site)
    site.git("fetch", "-q", "--unshallow", "origin", cwd=tmp_path / "shallow")
    assert site.policyd("check") == 0


def test_a_clone_without_all_objects_is_a_sentence(site, tmp_path, monkeypatch):
    site.git("config", "uploadpack.allowFilter", "true", cwd=site.server)
    site.git("clone", "-q", "--no-checkout", "--filter=tree:0", f"file://{site.server}",
             str(tmp_path / "partial"))
    monkeypatch.chdir(tmp_path / "partial")
    assert "this clone is partial" in failure(site, "--base", "HEAD~1")
    site.git("fetch", "-q", "--refetch", "--no-filter", "origin", cwd=tmp_path / "partial")
    assert site.policyd("check", "--base", "HEAD~1", "--as", "alice") == 0, site.out


def test_a_clone_that_never_fetched_is_a_sentence(site):
    site.git("update-ref", "-d", "refs/remotes/origin/main")
    assert "no guarded branch of origin is known here; `git fetch origin`" in failure(site)
    assert site.policyd("check", "--base", site.base_tip) == 0


def test_a_clone_without_origin_is_a_sentence_and_can_still_be_checked(site):
    site.git("remote", "remove", "origin")
    assert "git fetch origin" in failure(site)
    assert "say --repository NAME" in failure(site, "--base", site.base_tip)
    site.commit(MIXED)
    assert asked(site, "--base", site.base_tip, "--repository", "r", "--as", "alice")[
        "verdict"] == "refused"


def test_no_clone_at_all_is_a_sentence(site, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert "not a git repository" in failure(site)


def test_a_linked_work_tree_and_a_subfolder_are_places_of_the_clone(site, tmp_path, monkeypatch):
    site.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")
    (tmp_path / "linked/src/app.py").write_text("x = 1\n")
    site.git("commit", "-qam", "Change", cwd=tmp_path / "linked")
    monkeypatch.chdir(tmp_path / "linked/src")
    assert asked(site, "--as", "agent-7")["id"] == site.tip("linked")[:6]
    (site.work / ".git/info").mkdir(exist_ok=True)
    (site.work / ".git/info/grafts").write_text(f"{site.tip()}\n")
    assert "alters the history that would be judged" in failure(site)


@pytest.mark.parametrize(("url", "taken"), [
    ("https://user@host:8443/team/r.git", True), ("git@host:team/r.git", True),
    ("ssh://git@host/srv/git/team/r", True), ("/srv/git/team/r.git/", True),
    ("host:other/r.git", False), ("https://host/other/r", False), ("team", False)])
def test_the_name_on_the_server_is_read_from_origin(site, url, taken):
    site.edit_policy('["**"]', '["team/*"]')
    site.git("config", "remote.origin.url", url)
    if taken:
        assert site.policyd("check") == 0, site.out
    else:
        assert "say --repository NAME" in failure(site)
    assert site.policyd("check", "--repository", "team/x") == 0
    assert "no policy holds for the repository x" in failure(site, "--repository", "x")


def test_the_users_own_git_settings_change_no_answer(site, monkeypatch, tmp_path):
    site.commit(MIXED)
    expected = asked(site, "--as", "alice")
    config = tmp_path / "gitconfig"
    config.write_text("[diff]\n\texternal = false\n\tnoprefix = true\n[core]\n\tquotePath = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    assert asked(site, "--as", "alice") == expected


def test_export_writes_what_is_in_force_and_not_what_is_edited(site, tmp_path):
    policy = site.home / "policies/default.yaml"
    policy.write_text(policy.read_text().replace("[alice, bob]", "[carol]"))
    assert site.policyd("policy", "export", str(tmp_path / "b")) == 0
    data = (tmp_path / "b").read_bytes()
    assert b'"alice","bob"' in data
    assert str(site.folder).encode() not in data
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o644


def test_export_needs_a_policy_in_force_and_a_folder(site, tmp_path):
    assert site.policyd("policy", "export", str(tmp_path / "absent/b")) == 2
    assert "cannot be written" in site.out
    (site.home / "active/current").unlink()
    assert site.policyd("policy", "export", str(tmp_path / "b")) == 2
    assert not Path(tmp_path / "b").exists()
