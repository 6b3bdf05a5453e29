"""What a push does to refs changes nothing about how its commits are judged.

Families of public reports: a zero old id empties or breaks the range (progit2#1043, ECC#1004,
puppet-git-hooks#49 and #60, pre-commit#3664), tags that are not peeled (repoSpanner#52,
oppia#1454), commits parked on another ref first (pre-commit#3296), a hook that gets no input
(gitea#1957, scm-manager#339), namespaces that nobody thought of (gitea#31955).

Not covered yet: nothing of this category waits for other rules.
"""

from __future__ import annotations

import fcntl
import subprocess
import sys
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from pushing import ZERO, accepted, by_hand, last, made, reason, refused, rules, unjudged
from sites import MAIN, Site

from policyd.adapters import activepolicy, hookfiles, moment, repoindex
from policyd.core.index import Bootstrap
from policyd.rules import OPTIONS

APART = {"separate-authorship"}
ORACLE = "oracle/rates.json"
MIXED = {"src/app.py": "x = 1\n", ORACLE: "{}\n"}
SOURCE = {"src/app.py": "x = 1\n"}
DOCS = {"docs/notes.md": "words\n"}


def mixed(site: Site) -> str:
    return site.commit(MIXED)


# --- A ref that is new ----------------------------------------------------------------------

NEW_REFS = ["refs/heads/feat", "refs/heads/deep/er/feat", "refs/heads/HEAD", "refs/heads/tags/v1",
            "refs/heads/größe", "refs/tags/light", "refs/pull/9/head"]


@pytest.mark.parametrize("ref", NEW_REFS)
def test_a_new_ref_is_judged_back_to_what_was_accepted(site, ref):
    """C001"""
    mixed(site)
    refused(site, f"HEAD:{ref}", by=APART)


@pytest.mark.parametrize("place", [0, 1])
def test_a_violation_anywhere_below_a_new_ref_is_found(site, place):
    """C001"""
    for number in range(3):
        site.commit(MIXED if number == place else {"docs/notes.md": f"{number}\n"})
    refused(site, "HEAD:refs/heads/feat", by=APART)


def test_history_that_shares_nothing_with_main_is_judged_whole(site):
    """C001"""
    tip = made(site, {"src/app.py": b"", "oracle/x.json": b""})
    refused(site, f"{tip}:refs/heads/unrelated", by=APART)


@pytest.fixture
def old_sin(site: Site) -> Site:
    """A site whose main held a mixed commit when it was enrolled."""
    assert site.policyd("unenroll", str(site.server)) == 0, site.out
    mixed(site)
    site.git("push", "--quiet", "origin", f"HEAD:{MAIN}")
    site.base_tip = site.commit({"src/app.py": "x = 2\n"}, "Go on")
    site.git("push", "--quiet", "origin", f"HEAD:{MAIN}")
    site.enroll()
    return site


def test_long_accepted_history_is_not_judged_again(old_sin):
    """C002: on top of the sin, at it, and below it."""
    for start, change in (("HEAD", {"src/app.py": "x = 3\n"}), ("HEAD~1", {ORACLE: "[]\n"}),
                          ("HEAD~2", {"src/app.py": "x = 4\n"})):
        old_sin.git("switch", "--quiet", "--detach", f"{old_sin.base_tip}{start[4:]}")
        old_sin.commit(change)
        accepted(old_sin, f"HEAD:refs/heads/feat{start[5:]}")


def test_what_is_new_on_long_accepted_history_is_judged(old_sin):
    """C002"""
    old_sin.commit({"src/app.py": "x = 3\n", ORACLE: "[3]\n"})
    refused(old_sin, "HEAD:refs/heads/feat", by=APART)


FIRST = [
    # files of each commit, who, ref, refused by
    ([SOURCE], "alice", MAIN, set()),
    ([SOURCE, DOCS], "alice", MAIN, set()),
    ([MIXED], "alice", MAIN, APART),
    ([SOURCE, {ORACLE: "{}\n"}], "alice", MAIN, APART),
    ([{ORACLE: "{}\n"}, SOURCE], "alice", "refs/heads/feat", APART),
    ([SOURCE], "agent-7", "refs/heads/feat", set()),
    ([SOURCE], "agent-7", MAIN, {"ordinary-refs"}),
    ([MIXED], "agent-7", "refs/heads/feat", APART | {"protected-writers"}),
    ([DOCS], None, MAIN, {"ordinary-refs"}),
]


@pytest.mark.parametrize(("commits", "who", "ref", "by"), FIRST)
def test_the_first_push_into_an_empty_repository(empty_site, commits, who, ref, by):
    """C003: judged whole, as any other push."""
    for files in commits:
        empty_site.commit(files)
    if by:
        refused(empty_site, f"HEAD:{ref}", by=by, as_=who)
    else:
        accepted(empty_site, f"HEAD:{ref}", as_=who)


def test_of_two_first_pushes_at_once_one_is_taken_unjudged(empty_site):
    """C003: both find themselves admitted, and wait for the lock; the switch is used up once."""
    site = empty_site
    index = repoindex.load(site.state, repoindex.key_of(site.server))
    repoindex.store(site.state, replace(
        index, bootstrap=Bootstrap(date(2099, 1, 1), "maintainers")))
    mixed(site)
    environment = site.environment(REMOTE_USER="alice")
    moment.of(activepolicy.load(site.home, OPTIONS).settings)  # kept, so that nobody waits for it
    with open(site.state / "lock", "rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        pushes = [subprocess.Popen(["git", "push", "origin", f"HEAD:{ref}"], cwd=site.work,
                                   env=environment, stderr=subprocess.PIPE, text=True)
                  for ref in (MAIN, "refs/heads/feat")]
        time.sleep(3)
    said = [push.communicate(timeout=60)[1] for push in pushes]
    assert sorted(push.returncode for push in pushes) == [0, 1], said
    assert len(site.refs()) == 1


@pytest.mark.parametrize(("ref", "who", "by"), [
    ("refs/heads/release-1", "agent-7", set()),
    ("refs/heads/release-1", None, set()),
    ("refs/heads/release/1", "alice", set()),
    ("refs/heads/release/1", "agent-7", {"ordinary-refs"}),
])
def test_a_new_ref_on_an_accepted_commit_brings_nothing_to_judge(site, ref, who, by):
    """C014"""
    commit = "HEAD~1" if who == "alice" else "HEAD"
    if by:
        refused(site, f"{commit}:{ref}", by=by, as_=who)
    else:
        accepted(site, f"{commit}:{ref}", as_=who)
        assert site.refs()[ref] == site.tip(commit)


# --- Several refs, and refs that go ------------------------------------------------------------

@pytest.fixture
def with_old_feat(site: Site) -> Site:
    accepted(site, "HEAD:refs/heads/old-feat", "HEAD:refs/heads/feat", as_="agent-7")
    return site


@pytest.mark.parametrize("specs", [(":old-feat", "HEAD:feat"), ("HEAD:feat", ":old-feat")])
def test_a_deletion_beside_a_violation_switches_nothing_off(with_old_feat, specs):
    """C006"""
    mixed(with_old_feat)
    refused(with_old_feat, *specs, by=APART)
    assert "refs/heads/old-feat" in with_old_feat.refs()


@pytest.mark.parametrize("turned", [False, True])
def test_the_order_of_the_lines_does_not_matter(with_old_feat, turned):
    """C006: git sorts a push's lines by itself; by hand both orders are tried."""
    site = with_old_feat
    lines = [f"{site.base_tip} {ZERO} refs/heads/old-feat\n",
             f"{site.base_tip} {mixed(site)} refs/heads/feat\n"]
    ran = by_hand(site, "".join(reversed(lines) if turned else lines).encode())
    assert (ran.returncode, rules(ran.stderr.decode().splitlines())) == (1, APART)


def test_a_deletion_alone_passes_and_says_nothing(with_old_feat):
    """C006: git sets no quarantine for it."""
    accepted(with_old_feat, ":old-feat", as_="agent-7")
    assert "refs/heads/old-feat" not in with_old_feat.refs()


def test_sixty_branches_in_one_push_then_one_bad_one_among_them(site):
    """C016"""
    tips = {f"refs/heads/b{n:02}": made(site, {f"src/m{n}.py": b"x = 1\n"}, on=site.base_tip)
            for n in range(60)}
    accepted(site, *(f"{tip}:{ref}" for ref, tip in tips.items()), as_="agent-7")
    assert tips.items() <= site.refs().items()
    again = {ref: made(site, {"docs/notes.md": ref.encode()}, on=tip) for ref, tip in tips.items()}
    again["refs/heads/b37"] = made(
        site, {"src/app.py": b"", ORACLE: b"{}\n"}, on=tips["refs/heads/b37"])
    refused(site, *(f"{tip}:{ref}" for ref, tip in again.items()), by=APART)
    assert site.told[1].startswith("  alice to refs/heads/b37")


# --- Tags --------------------------------------------------------------------------------------

def tag(site: Site, name: str, form: str, target: str = "HEAD") -> None:
    """A light tag, an annotated one, or a tag of a tag."""
    site.git(*{"light": ("tag", name, target), "annotated": ("tag", "-am", "x", name, target),
               "nested": ("tag", "-am", "x", f"{name}-inner", target)}[form])
    if form == "nested":
        site.git("tag", "-am", "y", name, f"{name}-inner")


@pytest.mark.parametrize(("form", "name", "by"), [
    ("light", "t1", APART), ("annotated", "t1", APART), ("nested", "t1", APART),
    ("annotated", "v1", APART | {"ordinary-refs"})])
def test_a_tag_is_peeled_before_its_commits_are_judged(site, form, name, by):
    """C008"""
    mixed(site)
    tag(site, name, form)
    refused(site, f"refs/tags/{name}", by=by)


@pytest.mark.parametrize(("form", "name", "who"), [
    ("light", "t1", "agent-7"), ("annotated", "v1", "alice"), ("nested", "v1", "alice")])
def test_a_tag_of_an_accepted_commit_passes(site, form, name, who):
    """C009"""
    tag(site, name, form)
    accepted(site, f"refs/tags/{name}", as_=who)
    assert site.refs()[f"refs/tags/{name}"] == site.tip(f"refs/tags/{name}")


@pytest.mark.parametrize("name", ["v2", "t2"])
def test_a_tag_in_the_push_does_not_switch_off_the_branch(site, name):
    """C012"""
    tag(site, name, "annotated")
    mixed(site)
    refused(site, f"refs/tags/{name}", f"HEAD:{MAIN}", by=APART)


# --- A commit that the server holds already -----------------------------------------------------

PARKED = ["refs/heads/scratch", "refs/tags/t", "refs/x/park", "refs/pull/1/head", "refs/keep/1"]


@pytest.mark.parametrize("ref", PARKED)
def test_a_commit_that_another_ref_holds_is_judged_all_the_same(site, ref):
    """C013: put there behind the hook's back, so that the push of main brings no object."""
    tip = mixed(site)
    site.git("fetch", "--quiet", str(site.work), f"HEAD:{ref}", cwd=site.server)
    refused(site, f"HEAD:{MAIN}", by=APART)
    assert site.refs()[ref] == tip


def test_a_commit_from_before_enrolment_off_main_is_judged(site):
    """C013: a legacy branch; only guarded branches were recorded."""
    assert site.policyd("unenroll", str(site.server)) == 0
    mixed(site)
    site.git("push", "--quiet", "origin", "HEAD:refs/heads/legacy")
    site.enroll()
    refused(site, f"HEAD:{MAIN}", by=APART)
    site.commit(DOCS)
    refused(site, "HEAD:refs/heads/legacy", by=APART)


def test_a_ref_where_the_rule_does_not_hold_lends_no_acceptance(site):
    """C013: the rule is for guarded refs only, so that the first push passes."""
    site.edit_policy("    mode: enforce\n    keep_apart", "    on: guarded\n    keep_apart")
    mixed(site)
    assert site.push("HEAD:refs/heads/scratch") == 0
    refused(site, f"HEAD:{MAIN}", by=APART)
    refused(site, f"HEAD:{MAIN}", ":refs/heads/scratch", by=APART)


# --- Namespaces ---------------------------------------------------------------------------------

OTHERS = ["refs/for/main", "refs/notes/x", "refs/meta/config", "refs/changes/01/1/1", "refs/stash",
          "refs/remotes/origin/main", "refs/heads-of-mine/main"]


@pytest.mark.parametrize("ref", OTHERS)
def test_a_namespace_that_the_policy_does_not_name_is_refused(site, ref):
    """C019: whatever is pushed there."""
    site.commit(DOCS if "notes" in ref else MIXED)
    refused(site, f"HEAD:{ref}", by={"ordinary-refs"} | (set() if "notes" in ref else APART))


def test_a_namespace_that_the_policy_names_is_judged(site):
    """C019"""
    mixed(site)
    refused(site, "HEAD:refs/pull/9/head", by=APART)
    site.git("reset", "--quiet", "--hard", site.base_tip)
    site.commit(DOCS)
    accepted(site, "HEAD:refs/pull/9/head", as_="agent-7")


# --- Object ids of another length ---------------------------------------------------------------

def test_a_repository_of_sha256_is_not_enrolled(site):
    """C007"""
    bare = site.folder / "srv/s.git"
    site.git("init", "--quiet", "--bare", "--object-format=sha256", str(bare))
    assert site.policyd("enroll", str(bare)) != 0
    assert not (bare / "hooks/pre-receive").exists()


def test_pushes_into_a_repository_of_sha256_are_refused_in_one_sentence(site):
    """C007: the hook was put in by hand. A creation, an update and a deletion."""
    bare, clone = site.folder / "srv/s.git", site.folder / "clone"
    site.git("init", "--quiet", "--bare", "--object-format=sha256", "-b", "main", str(bare))
    site.git("init", "--quiet", "--object-format=sha256", "-b", "main", str(clone))
    site.git("commit", "--quiet", "--allow-empty", "--message", "One", cwd=clone)
    site.git("push", "--quiet", str(bare), "HEAD:refs/heads/old", cwd=clone)
    hookfiles.install(bare, hookfiles.text(Path(sys.executable), site.home))
    (clone / "src").mkdir()
    (clone / "src/app.py").write_text("")
    site.git("add", "src", cwd=clone)
    site.git("commit", "--quiet", "--message", "Two", cwd=clone)
    before = site.git("for-each-ref", cwd=bare)
    for spec in ("HEAD:refs/heads/new", "HEAD:refs/heads/old", ":refs/heads/old"):
        done = subprocess.run(["git", "push", str(bare), spec], cwd=clone, text=True,
                              env=site.environment(REMOTE_USER="alice"), capture_output=True)
        told = [line.removeprefix("remote: ").rstrip() for line in done.stderr.splitlines()
                if line.startswith("remote:")]
        assert (done.returncode, "SHA-256" in reason(told)) == (1, True), done.stderr
    assert site.git("for-each-ref", cwd=bare) == before


# --- A hook that gets no input, or another's -----------------------------------------------------

def wrapped(site: Site, script: str) -> None:
    """What a host runs in place of the hook, which moves to hooks/gate."""
    hook = site.server / "hooks/pre-receive"
    hook.rename(hook.with_name("gate"))
    hook.write_text(f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)


WRAPPERS = {
    "closes stdin": 'exec "$(dirname "$0")/gate" <&-',
    "gives an empty stdin": 'exec "$(dirname "$0")/gate" </dev/null',
    "eats stdin": 'cat >/dev/null; "$(dirname "$0")/gate"',
    "gives lines as arguments": 'read -r o n r; exec "$(dirname "$0")/gate" "$o" "$n" "$r"',
    "gives a blank line": 'echo | "$(dirname "$0")/gate"',
}


@pytest.mark.parametrize("what", WRAPPERS)
def test_a_wrapper_that_hands_no_lines_on_is_named(site, what):
    """C020"""
    wrapped(site, WRAPPERS[what])
    site.commit(SOURCE)
    unjudged(site, f"HEAD:{MAIN}", because="no ref lines received")


GARBLED = {
    "names only": 'read -r o n r; echo "$r" | "$(dirname "$0")/gate"',
    "line ends of another system": 'sed "s/$/\\r/" | "$(dirname "$0")/gate"',
    "short ids": 'sed "s/\\([0-9a-f]\\{12\\}\\)[0-9a-f]*/\\1/g" | "$(dirname "$0")/gate"',
    "capital ids": 'tr a-f A-F | "$(dirname "$0")/gate"',
    "no ids at the end": '{ cat; echo; echo; } | "$(dirname "$0")/gate"',
}


@pytest.mark.parametrize("what", GARBLED)
def test_a_wrapper_that_garbles_lines_is_refused(site, what):
    """C020"""
    wrapped(site, GARBLED[what])
    site.commit(SOURCE)
    unjudged(site, f"HEAD:{MAIN}", because="a line of the hook's input is not `old new ref`")


def test_a_wrapper_that_hands_everything_on_changes_nothing(site):
    """C020"""
    wrapped(site, 'exec "$(dirname "$0")/gate" "$@"')
    mixed(site)
    refused(site, f"HEAD:{MAIN}", by=APART)
    assert last(site.told)["rule"] == "separate-authorship"


