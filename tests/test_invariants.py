"""The invariants of the design, each with a test that fails when it is broken.

What stands elsewhere is only named here:

| n | invariant | tests |
|---|---|---|
| 0 | protected paths of an existing guarded branch change by listed writers only | here; push/test_invariant_zero.py; look/test_named_histories.py |
| 1 | nothing unread, unreached or unfinished is accepted | here; push/test_hook_env.py (quarantine); push/test_push_ref.py (input, SHA-256) |
| 2 | nothing pushed changes how it is judged | here; push/test_hook_env.py and adapters/test_hookfiles.py (environment); push/test_hostile.py (terminal) |
| 3 | the same push gets the same findings in the same order | here; push/test_push_ref.py (lines); push/test_invariant_zero.py (each push twice) |
| 4 | the hook writes no ref and no object | push/test_hook_env.py; push/test_invariant_zero.py |
| 5 | accepted means logged first; other moves of guarded refs are movements | here; core/test_index.py; adapters/test_decisionlog.py (crashes, full disks) |
| 6 | no secret is logged or printed | here; adapters/test_incidents.py (tracebacks) |
| 7 | printed commands work and lead to an accepted push | push/test_repairs.py; push/test_gate_repairs.py |
"""  # noqa: E501 - rows of a table

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
from rawserver import LINK, Sent, Server, Store
from sites import MAIN

from policyd.adapters import decisionlog, repoindex
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.touched import FEW
from policyd.core import index as indexes

AGENT = "agent-7"
ANSWER, CODE = ("oracle", "rates.json"), ("src", "new.txt")
FEATURE, ALIAS, RELEASE = "refs/heads/f", "refs/heads/alias", "refs/heads/release/1"


class Court:
    """A server with BASE on main, and the making of commits by path."""

    def __init__(self, site):
        self.site, self.store = site, Store()
        self.store.load(site.server)
        self.server = Server(site, self.store)
        self.base = site.base_tip

    def commit(self, files, *parents):
        """Texts by path (a tuple of names; None takes it out), on top of the first parent."""
        parents = parents or (self.base,)
        tree = self.store.tree_of(parents[0])
        for path, text in files.items():
            entry = text if isinstance(text, tuple) else text and self.store.file(text)
            tree = self.store.tree_with(tree, path, entry or None)
        return self.store.commit(tree, *parents)

    def push(self, who, environment=None, **refs):
        """Push commits to refs given as f=..., main=..."""
        sent = [Sent(f"refs/heads/{ref}", oid) for ref, oid in refs.items()]
        return self.server.push(sent, who, environment=environment)

    def held(self, ref=MAIN):
        return self.server.refs().get(ref)


@pytest.fixture
def court(site):
    return Court(site)


# 0: protected paths change by listed writers only.


def as_it_is(court):
    return [Sent(MAIN, court.commit({ANSWER: "mine"}))]


def back_through_an_alias(court):
    """Nothing new is pushed, so that only the move itself can be refused."""
    court.server.git("symbolic-ref", ALIAS, MAIN)
    return [Sent(ALIAS, court.store.family[court.base].parents[0])]


def by_a_merge(court):
    side = court.commit({CODE: "1"})
    return [Sent(MAIN, court.commit({ANSWER: "mine"}, side, court.base))]


def parked_behind_the_hook(court):
    parked = court.commit({ANSWER: "mine"})
    court.server.put(FEATURE, parked)
    return [Sent(MAIN, parked)]


def beside_an_innocent_ref(court):
    return [Sent(FEATURE, court.commit({CODE: "1"})),
            Sent(MAIN, court.commit({ANSWER: "mine"}))]


def by_deleting_the_branch(court):
    """Another guarded branch holds all of it, so that a creator could."""
    assert court.server.push([Sent(RELEASE, court.base)], "alice").code == 0
    return [Sent(MAIN, None)]


def by_a_rewind(court):
    first = court.store.family[court.base].parents[0]
    return [Sent(MAIN, first)]


def accepted_elsewhere(court):
    """What a maintainer changed on a release branch is no agent's to bring to main."""
    assert court.server.push([Sent(RELEASE, court.base)], "alice").code == 0
    answer = court.commit({ANSWER: "for the release"})
    assert court.server.push([Sent(RELEASE, answer)], "alice").code == 0
    return [Sent(MAIN, answer)]


def a_link_in_place_of_a_folder(court):
    return [Sent(MAIN, court.commit({(".ci",): court.store.file("docs", LINK)}))]


WAYS = [as_it_is, back_through_an_alias, by_a_merge, parked_behind_the_hook, beside_an_innocent_ref,
        by_deleting_the_branch, by_a_rewind, accepted_elsewhere, a_link_in_place_of_a_folder]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("who", [AGENT, None])
def test_0_no_way_leads_a_stranger_to_a_protected_path(court, way, who):
    sent = way(court)
    answer = court.server.push(sent, who)
    assert (answer.code, answer.moved, court.held()) == (1, {}, court.base)


@pytest.mark.parametrize("who", ["alice", "bob"])
def test_0_a_listed_writer_changes_it(court, who):
    answer = court.commit({ANSWER: "ours"})
    assert court.push(who, main=answer).code == 0
    assert court.held() == answer


# 1: what cannot be read, reached or finished is not accepted.


def no_policy(court):
    (court.site.home / "active/current").unlink()


def a_damaged_policy(court):
    file = court.site.home / "active/current"
    file.write_bytes(file.read_bytes()[:-40])


def a_policy_for_other_repositories(court):
    court.site.edit_policy('repositories: ["**"]', 'repositories: ["elsewhere/**"]')


def no_index(court):
    shutil.rmtree(court.site.state / "repos")


def a_damaged_index(court):
    file, = (court.site.state / "repos").iterdir()
    file.write_text("{}")


def no_key(court):
    (court.site.server / "policyd-key").unlink()


def the_key_of_another_repository(court):
    (court.site.server / "policyd-key").write_text("0" * 32 + "\n")


def no_state(court):
    shutil.rmtree(court.site.state)


def a_log_that_lost_entries(court):
    """Only what its index has seen counts."""
    assert court.push(AGENT, f=court.commit({CODE: "0"})).code == 0
    log = court.site.state / "decisions.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))


def a_log_that_is_a_link(court):
    """What it leads to would be written by whoever pushes."""
    log = court.site.state / "decisions.jsonl"
    log.rename(log.with_suffix(".old"))
    log.symlink_to(log.with_suffix(".old"))


def no_time(court):
    court.site.edit_policy("seconds: 5", "seconds: 0.000001")


def too_many_commits(court):
    court.site.edit_policy("max_commits: 50000", "max_commits: 1")


def grafts(court):
    (court.site.server / "info").mkdir(exist_ok=True)
    (court.site.server / "info/grafts").write_text(f"{court.base}\n")


FAILURES = [no_policy, a_damaged_policy, a_policy_for_other_repositories, no_index,
            a_damaged_index, no_key, the_key_of_another_repository, no_state,
            a_log_that_lost_entries, a_log_that_is_a_link, no_time, too_many_commits, grafts]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.__name__)
def test_1_an_honest_push_is_not_accepted_when_something_fails(court, failure):
    failure(court)
    first = court.commit({CODE: "1"})
    answer = court.push(AGENT, main=court.commit({CODE: "2"}, first))
    assert (answer.code, answer.moved) == (2, {})
    assert "could not be judged" in answer.told


@pytest.mark.parametrize("kind", ["commit", "tree"])
def test_1_a_push_with_an_object_missing_is_not_accepted(court, kind):
    """Git looks for them first; a server that hands its hook less must not get more."""
    first = court.commit({CODE: "1"})
    lost = {"commit": first, "tree": court.store.at(court.store.tree_of(first), ("src",))[1]}[kind]
    court.server.lose(lost)
    answer = court.push(AGENT, main=court.commit({CODE: "2"}, first))
    assert (answer.code in (1, 2), answer.moved) == (True, {})


def test_1_a_refusal_on_a_ref_that_holds_a_tag_is_a_refusal(court):
    """It is not accepted, but neither is it an incident."""
    side = court.commit({CODE: "1"})
    assert court.push(AGENT, f=side).code == 0
    court.server.put("refs/tags/t", court.store.tag(side))
    answer = court.server.push([Sent("refs/tags/t", court.commit({ANSWER: "mine"}, side))], AGENT)
    assert (answer.code, rules_of(answer)) == (1, {"protected-writers", "separate-authorship"})


# 2: nothing pushed changes how it is judged.

OWN_RULES = {
    "a policy": {("policies", "default.yaml"): "version: 1\nmode: off\n"},
    "a home": {("policyd.yaml",): "version: 1\n", ("active", "current"): "{}"},
    "a configuration of git": {("config",): "[core]\n\tignoreCase = true\n"},
    "a list of literals": {("oracle", "allow-literals.txt"): "EUR 19.25\n"},
    "modules of ours": {("policyd", "__init__.py"): "raise SystemExit(0)\n"},
}


@pytest.mark.parametrize("brought", OWN_RULES.values(), ids=OWN_RULES)
def test_2_a_push_does_not_bring_its_own_rules(court, brought):
    plain = court.commit({ANSWER: "mine"})
    alone = court.push(AGENT, main=plain)
    with_rules = court.push(AGENT, main=court.commit({ANSWER: "mine"}, court.commit(brought)))
    assert (alone.code, with_rules.code) == (1, 1)
    assert rules_of(alone) <= rules_of(with_rules)


def test_2_a_list_of_literals_counts_from_the_next_push(court):
    """The target's list is read: a maintainer's push does not widen it for itself."""
    listed = court.commit({("oracle", "allow-literals.txt"): "EUR 77.25\n"})
    pasted = court.commit({
        ("src", "app.py"): "def total():\n    return 'EUR 77.25'\n",
        ("tests", "test_new.py"): "def test_it():\n    assert total() == 'EUR 77.25'\n"}, listed)
    assert "literal-overlap" in rules_of(court.push("alice", main=pasted))
    assert court.push("alice", main=listed).code == 0
    assert court.push("alice", main=pasted).code == 0


@pytest.mark.parametrize("option", ["policyd.mode=observe", "policyd.json", "skip", "ci.skip",
                                    "policyd.pusher=alice"])
def test_2_no_push_option_talks_a_rule_out_of_it(court, option):
    commit = court.commit({ANSWER: "mine"})
    given = {"GIT_PUSH_OPTION_COUNT": "1", "GIT_PUSH_OPTION_0": option}
    plain, asked = court.push(AGENT, main=commit), court.push(AGENT, given, main=commit)
    assert asked.code == plain.code == 1
    assert asked.entry["findings"] == plain.entry["findings"]


@pytest.mark.parametrize("author", ["alice", "Alice <alice@example.org>"])
def test_2_who_wrote_a_commit_says_nothing_about_who_pushes_it(court, author):
    commit = court.commit({ANSWER: "mine"})
    kind, data = court.store.objects[commit]
    forged = court.store.put(kind, data.replace(b"author a <a@example.org>",
                                                f"author {author} <a@example.org>".encode()))
    assert court.push(AGENT, main=forged).code == 1


# 3: the same push, the same findings, in the same order.


def test_3_findings_do_not_depend_on_the_process_that_finds_them(court):
    """Sets of text have another order in every process, unless their seed is given."""
    files = {("oracle", f"{n}.json"): "1" for n in range(9)}
    files |= {("src", f"{n}.txt"): "1" for n in range(9)} | {("docs", f"{n}"): court.store.file(
        "../oracle", LINK) for n in range(5)} | {("fixtures", "data", f"{n}"): "1" for n in "ab"}
    tips = {ref: court.commit(files | {(ref,): "1"}) for ref in ("main", "f", "g")}
    first = court.push(AGENT, **tips)
    assert len(first.entry["findings"]) > 9
    lines = "".join(f"{update['old'] or '0' * 40} {update['new']} {update['ref']}\n"
                    for update in first.entry["updates"])
    told = {first.told.replace(push_id(first), "ID")}
    for seed in "123":
        done = subprocess.run(
            [sys.executable, "-m", "policyd", "--home", str(court.site.home), "hook"],
            input=lines, text=True, capture_output=True, check=False, cwd=court.site.server,
            env={**court.server.given(AGENT), "PYTHONHASHSEED": seed})
        assert done.returncode == 1
        entry = court.server.last_entry()
        assert entry["findings"] == first.entry["findings"]
        told.add(done.stderr.replace(push_id_of(done.stderr), "ID"))
    assert len(told) == 1


# 5: accepted means logged first, and what moves otherwise is a movement.


def test_5_what_is_accepted_is_in_the_log_when_git_moves_the_ref(site):
    """A hook of git's runs at the very moment and keeps what the log says then."""
    hook, seen = site.server / "hooks/reference-transaction", site.folder / "seen"
    hook.write_text(f'#!/bin/sh\n[ "$1" = prepared ] && cat "{site.state}/decisions.jsonl" '
                    f'>"{seen}"\nexit 0\n')
    hook.chmod(0o755)
    tip = site.commit({"src/app.py": "x = 1\n"})
    assert site.push(f"HEAD:{MAIN}", as_=AGENT) == 0
    entry = json.loads(seen.read_bytes().splitlines()[-1])
    assert entry["verdict"] == "accepted"
    assert [(u["ref"], u["old"], u["new"]) for u in entry["updates"]] == [
        (MAIN, site.base_tip, tip)]


def test_5_what_is_refused_is_in_the_log_too(site):
    site.commit({"oracle/rates.json": "{}"})
    assert site.push(f"HEAD:{MAIN}", as_=AGENT) == 1
    assert site.log()[-1]["verdict"] == "refused"


@pytest.mark.parametrize("to", ["a new commit", "an old one", "nothing"])
def test_5_a_guarded_branch_that_moves_past_the_hook_is_a_movement(court, to):
    past = {"a new commit": court.commit({ANSWER: "mine"}), "nothing": None,
            "an old one": court.store.family[court.base].parents[0]}[to]
    if past is None:
        court.server.git("update-ref", "-d", MAIN)
    else:
        court.server.put(MAIN, past)
    key, repo = repoindex.key_of(str(court.site.server)), PushedRepo(str(court.site.server))
    index, movements = decisionlog.settled(
        court.site.state, key,
        lambda index: {ref: repo.resolve(ref)[1] for ref in indexes.watched(index)})
    assert movements == (indexes.Movement(MAIN, court.base, past),)
    assert index.branches == {MAIN: court.base}


def test_5_what_moved_past_the_hook_is_judged_with_the_next_push(court):
    past = court.commit({ANSWER: "mine"})
    court.server.put(MAIN, past)
    on_top = court.push(AGENT, main=court.commit({CODE: "1"}, past))
    assert on_top.code == 1
    assert "protected-writers" in rules_of(on_top)


# 6: no secret is logged or printed.

SECRET = "c2VjcmV0LXdvcmQ"
SECRETS = {"HTTP_AUTHORIZATION": f"Basic {SECRET}", "HTTP_COOKIE": f"session={SECRET}",
           "GIT_PUSH_CERT": SECRET, "GIT_PUSH_CERT_STATUS": "N", "GITLAB_TOKEN": SECRET,
           "SSH_PRIVATE_KEY": SECRET, "DB_PASSWORD": SECRET, "UNHEARD_OF": SECRET}


@pytest.mark.parametrize("outcome", ["accepted", "refused", "asked", "failed"])
def test_6_no_secret_of_the_environment_is_kept_or_told(court, outcome, capfd):
    files = {CODE: "1"} if outcome != "refused" else {ANSWER: "1"}
    ref = "refs/check/main" if outcome == "asked" else MAIN
    if outcome == "failed":
        no_key(court)
    answer = court.server.push([Sent(ref, court.commit(files))], AGENT, environment=SECRETS)
    assert answer.code == {"accepted": 0, "refused": 1, "asked": 1, "failed": 2}[outcome]
    assert SECRET not in answer.told + "".join(capfd.readouterr())
    kept = [path for folder in (court.site.state, court.site.server, court.site.home)
            for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in kept if SECRET.encode() in path.read_bytes()]


def test_6_no_git_child_is_given_a_secret(court, tmp_path, monkeypatch):
    """Others of the same user can read what a process was given."""
    spy = tmp_path / "bin/git"
    spy.parent.mkdir()
    spy.write_text(f'#!/bin/sh\nenv >>"{tmp_path}/env"\nexec "{shutil.which("git")}" "$@"\n')
    spy.chmod(0o755)
    tip = court.base
    for n in range(FEW + 1):
        tip = court.commit({CODE: str(n)}, tip)
    path = f"{spy.parent}:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    known = {name: text for name, text in SECRETS.items() if name != "UNHEARD_OF"}
    assert court.push(AGENT, {**known, "PATH": path}, main=tip).code == 0
    assert SECRET not in (tmp_path / "env").read_text()


def rules_of(answer):
    return {finding["rule"] for finding in answer.entry["findings"]}


def push_id(answer):
    return push_id_of(answer.told)


def push_id_of(told):
    """The entry's id, as the last line says it for programs."""
    return json.loads(told.splitlines()[-1].partition(" ")[2])["id"]
