"""Whatever people who are no listed writers push, in any order: protected paths stay as they are.

A state machine pushes to a real repository: commits with odd trees on odd refs, merges of all
kinds, old commits, detours that a later commit hides; between them maintainers work honestly,
hooks behind ours refuse, and refs move behind our back. After each step the trees of guarded
branches are read by a plain reader of this file and compared with what listed writers left.

    INVARIANT_ZERO=2000 pytest tests/push/test_invariant_zero.py --hypothesis-seed=7

runs 2,000 random histories (the default is 4 times 30, always the same) and tells the shortest
one that breaks something; a twentieth as many go through `git push`. About 0.4 s a history.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import unicodedata
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from rawserver import FILE, FOLDER, LINK, PROGRAM, SUBMODULE, RealServer, Sent, Server, Store
from sites import MAIN

from policyd.adapters import decisionlog, logcheck, repoindex
from policyd.adapters.gitrepo import PushedRepo
from policyd.core import index as indexes

LONG = int(os.environ.get("INVARIANT_ZERO") or 0)
EXAMPLES = LONG or 8
SEEDS = [None] if LONG else [1, 2]
STEPS = 40

RELEASES = [f"refs/heads/release/{n}" for n in (1, 2, 3)]
BRANCHES = [MAIN, *RELEASES]
PARKING = ["refs/heads/f", "refs/heads/g", "refs/tags/t", "refs/pull/1/head"]
PLACES = ["refs/heads/release/x/y", "refs/heads/Main", "refs/heads/main2", "refs/heads/release/4",
          "refs/tags/v1", "refs/tags/V1", "refs/heads/alias", "refs/heads/to-release",
          "refs/tags/alias", "refs/heads/dangling", "refs/heads/refs/heads/main", "refs/notes/x",
          "refs/replace/x", "refs/check/main", "refs/remotes/origin/main"]
ALIASES = {"refs/heads/alias": MAIN, "refs/heads/to-release": RELEASES[0],
           "refs/tags/alias": MAIN, "refs/heads/dangling": RELEASES[2], "refs/notes/x": MAIN}
TAKEN = (0, None)
"""Accepted, or not even sent: of two refs that end alike git cannot tell which is meant."""

STRANGERS = st.sampled_from(["agent-7", None, "bot-1", "mallory"])
MAINTAINERS = st.sampled_from(["alice", "bob"])

# What protected paths are, said again in plain Python and by other means than the product's.

FOLDERS = [("oracle",), ("fixtures", "leases"), ("fixtures", "data"), (".ci",), (".github",)]
FILES = [("tests", "ledger", "flake_ledger.json"), ("fixtures", "freezes.json"), (".gitmodules",),
         (".lfsconfig",), ("pytest.ini",), (".gitlab-ci.yml",)]
ANYWHERE = {".gitattributes", "conftest.py"}
UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\ufeff"))


def plain(name):
    """A name as the most careless file system takes it."""
    name = unicodedata.normalize("NFD", name.translate(UNSEEN))
    return unicodedata.normalize("NFD", name.casefold()).rstrip(". ")


def is_protected(path):
    """Whether what stands at a path, and is no folder, decides what a protected path holds."""
    names = tuple(map(plain, path.split("/")))
    if ANYWHERE & set(names):
        return True
    return any(names[:len(place)] == place or place[:len(names)] == names
               for place in FOLDERS + FILES)


def placed(files):
    """What a checkout of flat files puts at protected places, or in the way to them."""
    return {path: entries for path, entries in files.items() if is_protected(path)}


# What people make.

INNOCENT = ["src/app.txt", "src/new.txt", "docs/ci/x", "docs/x", "README", "lib", "vendor/lib"]
IN_THE_WAY = ["oracle", "ORACLE", "tests", "tests/ledger", "fixtures", "fixtures/data",
              "fixtures/leases", ".ci", ".github", ".Ci", "docs", "src"]
PROTECTED = ["oracle/r.json", "oracle/new.json", "oracle/receipts/expected.json", "Oracle/r.json",
             "oracle./x", "oracle /x", "or\u200bacle/x", "oracle/quarantine.yaml",
             "tests/ledger/flake_ledger.json", "tests/ledger/\ufb02ake_ledger.json",
             "te\u017fts/ledger/flake_ledger.json", "tests/unit/conftest.py", "tests/Conftest.PY",
             "fixtures/data/prices.csv", "\ufb01xtures/data/x", "fixtures/freezes.json", ".ci/run",
             ".CI/run", ".gitmodules", ".gitattributes", "docs/.gitattributes", "pytest.ini",
             "pytest.ini/x"]
EXISTING = ["oracle/receipts/expected.json", "oracle/r.json", "fixtures/data/prices.csv",
            "tests/ledger/flake_ledger.json", "oracle/quarantine.yaml"]
ODD = [("oracle/t",), ("docs", "../oracle/t"), (".", "oracle", "x"), (".git", "config"),
       ("fixtures/data", "x")]
CONTENTS = ["1", "2", "3"]
TARGETS = ["oracle", "oracle/receipts/expected.json", "docs/ci", "../docs", ".", "src", "/etc"]
MODES = [FILE, FILE, PROGRAM, b"100666", b"120777", b"170000", b"0100644"]

ANY = st.integers(0, 12)
"""A commit, counted from the newest."""
WHERE = st.one_of(ANY, st.sampled_from(BRANCHES))
"""A commit, or the tip of a branch."""
PATH = st.one_of(*(st.sampled_from([tuple(path.split("/")) for path in paths])
                   for paths in (INNOCENT, INNOCENT, IN_THE_WAY, PROTECTED, EXISTING)),
                 st.sampled_from(ODD))
TEXT = st.tuples(st.just("file"), st.sampled_from(CONTENTS), st.just(FILE))
ENTRY = st.one_of(
    TEXT, TEXT, st.tuples(st.just("file"), st.sampled_from(CONTENTS), st.sampled_from(MODES)),
    st.tuples(st.just("link"), st.sampled_from(TARGETS)), st.tuples(st.just("gone")),
    st.tuples(st.just("submodule"), ANY),
    st.tuples(st.just("folder"), st.sampled_from(CONTENTS), st.sampled_from([FOLDER, b"40755"])),
    st.tuples(st.just("copy"), WHERE, PATH))
HOW = st.sampled_from([{}, {}, {}, {"beside": True}, {"out_of_order": True},
                       *[{"beside": True, "first": True}] * 2])
BRANCH = st.integers(0, 3)
"""A guarded branch, counted by name among those that exist."""
CHANGES = st.lists(st.tuples(PATH, ENTRY, HOW), min_size=1, max_size=2)
TWICE = st.lists(st.tuples(st.sampled_from([tuple(path.split("/")) for path in EXISTING]), TEXT,
                           st.just({"beside": True, "first": True})), min_size=1, max_size=1)
"""A second entry before one that is protected."""
QUIET = st.lists(st.tuples(st.sampled_from([tuple(path.split("/")) for path in INNOCENT]), TEXT,
                           st.just({})), min_size=1, max_size=2)
"""Changes that nobody has anything against."""
REF = st.one_of(st.sampled_from(BRANCHES), st.sampled_from(PARKING), st.sampled_from(PLACES))
WHAT = st.one_of(
    *[st.tuples(st.just("commit"), WHERE)] * 6, st.tuples(st.just("delete")),
    st.tuples(st.just("tag"), WHERE), st.tuples(st.just("tag of tag"), WHERE),
    st.tuples(st.just("tree"), WHERE), st.tuples(st.just("blob")))
SENT = st.lists(st.tuples(REF, WHAT), min_size=1, max_size=3, unique_by=lambda sent: sent[0])
TO = st.one_of(st.none(), st.sampled_from(PARKING), st.sampled_from(BRANCHES))
"""Where a new commit is pushed at once, if anywhere."""


class Pushes(RuleBasedStateMachine):
    """See the module's docstring. `left` is what listed writers left on each guarded branch."""

    def __init__(self, server, store):
        super().__init__()
        self.server, self.first_store = server, store

    @initialize()
    def begin(self):
        self.store = self.server.store = deepcopy(self.first_store)
        self.server.reset()
        self.tips = {ref: oid for ref, oid in self.server.refs().items() if is_guarded(ref)}
        self.left = {ref: self.placed(tip) for ref, tip in self.tips.items()}
        self.accepted = self.store.family.behind(self.tips.values())
        self.files = self.around()
        assert self.push([Sent(RELEASES[0], self.tips[MAIN])], "alice").code == 0
        self.write_the_oracle(sorted(self.tips).index(RELEASES[0]), "r.json", "alice", effect=True)

    # People who are no listed writers.

    @rule(at=WHERE, changes=st.one_of(QUIET, CHANGES), to=TO, who=STRANGERS)
    def change(self, at, changes, to, who):
        parent = self.commit_at(at)
        self.make(self.changed(self.store.tree_of(parent), changes), [parent], to, who)

    @rule(at=WHERE, to=TO, who=STRANGERS)
    def undo(self, at, to, who):
        """A commit on top that takes back the last one."""
        commit = self.commit_at(at)
        parents = self.store.family[commit].parents
        if parents:
            self.make(self.store.tree_of(parents[0]), [commit], to, who)

    @rule(changes=st.one_of(QUIET, CHANGES), to=TO, who=STRANGERS)
    def root(self, changes, to, who):
        self.make(self.changed(self.store.empty, changes), [], to, who)

    @rule(at=st.lists(WHERE, min_size=2, max_size=3), how=st.sampled_from(
        ["honest", "honest", "honest", "first", "last", "all"]),
        changes=st.one_of(st.just([]), QUIET, CHANGES), to=TO, who=STRANGERS)
    def merge(self, at, how, changes, to, who):
        """A merge as it should be, of one side alone or of all paths of all; perhaps with more."""
        parents = [self.commit_at(one) for one in at]
        self.make(self.changed(self.merged(parents, how), changes), parents, to, who)

    @rule(pick=WHERE, onto=WHERE, to=TO, who=STRANGERS)
    def cherry_pick(self, pick, onto, to, who):
        family, pick, onto = self.store.family, self.commit_at(pick), self.commit_at(onto)
        tree = self.store.tree_of(onto)
        for path in sorted(family.touched(pick)):
            entries = family[pick].files.get(path)
            tree = self.store.tree_with(tree, path.split("/"), entries and entries[0])
        self.make(tree, [onto], to, who)

    @rule(sent=SENT, who=STRANGERS, effect=st.booleans(), again=st.booleans())
    def push_anything(self, sent, who, effect, again):
        self.push_as_stranger([Sent(ref, self.oid(what)) for ref, what in sent], who,
                              effect=effect, again=again)

    @rule(ref=REF, at=WHERE, claim=WHERE, who=STRANGERS)
    def push_with_a_wrong_claim(self, ref, at, claim, who):
        claim = self.commit_at(claim)
        if claim != self.server.refs().get(self.server.leads_to(ref)):
            answer = self.push_as_stranger([Sent(ref, self.commit_at(at), claim)], who)
            assert answer.code != 0 or isinstance(self.server, RealServer)

    @rule(ref=st.one_of(st.sampled_from(BRANCHES), st.sampled_from(sorted(ALIASES)), REF),
          number=st.integers(0, 40), tagged=st.booleans(), who=STRANGERS)
    def push_what_is_accepted(self, ref, number, tagged, who):
        """Anywhere, be it back, aside or forward, or through another name."""
        if ref in ALIASES:
            self.alias(ref)
        known = [c for c in reversed(self.store.commits) if c in self.accepted]
        commit = known[number % len(known)]
        self.push_as_stranger([Sent(ref, self.store.tag(commit) if tagged else commit)], who)

    @rule(ref=BRANCH, who=STRANGERS)
    def delete_a_branch(self, ref, who):
        """Others may hold all of it."""
        if ref := self.branch_at(ref):
            self.push_as_stranger([Sent(ref, None)], who)

    @rule(ref=BRANCH, ahead=ANY, who=STRANGERS)
    def move_forward(self, ref, ahead, who):
        """A branch to any commit that is ahead of it."""
        if ref := self.branch_at(ref):
            ahead_of_it = [c for c in reversed(self.store.commits) if c != self.tips[ref]
                           and self.store.family.reaches(c, self.tips[ref])]
            if ahead_of_it:
                self.push_as_stranger([Sent(ref, ahead_of_it[ahead % len(ahead_of_it)])], who)

    @rule(ref=BRANCH, changes=st.one_of(CHANGES, TWICE), merged=st.booleans(), who=STRANGERS)
    def make_a_detour(self, ref, changes, merged, who):
        if ref := self.branch_at(ref):
            tip = self.tips[ref]
            odd = self.changed(self.store.tree_of(tip), changes)
            self.push_and_take_back(ref, self.store.commit(odd, tip), who, merged=merged)

    @rule(ref=BRANCH, at=st.one_of(WHERE, st.sampled_from(BRANCHES)), turned=st.booleans(),
          how=st.sampled_from(["first", "last", "all"]), merged=st.booleans(), who=STRANGERS)
    def make_a_detour_by_a_merge(self, ref, at, turned, how, merged, who):
        if ref := self.branch_at(ref):
            parents = [self.commit_at(at), self.tips[ref]][::-1 if turned else 1]
            odd = self.store.commit(self.merged(parents, how), *parents)
            self.push_and_take_back(ref, odd, who, merged=merged)

    @rule(into=BRANCH, other=BRANCH, how=st.sampled_from(["forward", "honest", "first", "last"]),
          to=st.one_of(st.none(), st.sampled_from(PARKING)), who=STRANGERS)
    def bring_over(self, into, other, how, to, who):
        """What one guarded branch holds to another, or to a place to park."""
        into, other = self.branch_at(into), self.branch_at(other)
        if into != other:
            tip = self.tips[other]
            if how != "forward":
                parents = [self.tips[into], tip]
                tip = self.store.commit(self.merged(parents, how), *parents)
            self.push_as_stranger([Sent(to or into, tip)], who)

    @rule(ref=BRANCH, text=st.sampled_from(CONTENTS))
    def do_honest_work(self, ref, text):
        if ref := self.branch_at(ref):
            changes = [(("src", "work.txt"), ("file", text, FILE), {})]
            tip = self.changed(self.store.tree_of(self.tips[ref]), changes)
            sent = [Sent(ref, self.store.commit(tip, self.tips[ref]))]
            assert self.push_as_stranger(sent, "agent-7").code in TAKEN

    # Maintainers, and the server.

    @rule(ref=BRANCH, name=st.sampled_from(["r.json", "s.json"]), who=MAINTAINERS,
          effect=st.sampled_from([True, True, False]))
    def write_the_oracle(self, ref, name, who, effect):
        if ref := self.branch_at(ref):
            changes = [(("oracle", name), ("file", f"{len(self.store.commits)}", FILE), {})]
            tip = self.changed(self.store.tree_of(self.tips[ref]), changes)
            sent = [Sent(ref, self.store.commit(tip, self.tips[ref]))]
            assert self.push(sent, who, effect=effect).code in TAKEN

    @rule(ref=BRANCH, at=WHERE, who=MAINTAINERS)
    def bring_in(self, ref, at, who):
        """A maintainer merges anything into a branch, as git would."""
        ref = self.branch_at(ref)
        if ref and self.commit_at(at) not in self.accepted:
            parents = [self.tips[ref], self.commit_at(at)]
            merge = self.store.commit(self.merged(parents, "honest"), *parents)
            self.push([Sent(ref, merge)], who)

    @rule(sent=SENT, who=MAINTAINERS)
    def push_anything_as_a_maintainer(self, sent, who):
        self.push([Sent(ref, self.oid(what)) for ref, what in sent], who)

    @rule(ref=st.sampled_from(RELEASES), at=WHERE, who=MAINTAINERS)
    def release(self, ref, at, who):
        if ref not in self.tips:
            known = self.commit_at(at) in self.accepted
            answer = self.push([Sent(ref, self.commit_at(at))], who)
            assert answer.code in (TAKEN if known or not self.tips else (1, None))

    @rule(ref=BRANCH, who=MAINTAINERS)
    def retire(self, ref, who):
        if ref := self.branch_at(ref):
            self.push([Sent(ref, None)], who)

    @rule(ref=st.sampled_from(["refs/heads/f", "refs/heads/g", "refs/tags/t", "refs/tags/v2",
                               "refs/pull/1/head"]), at=WHERE)
    def park_behind_the_hook(self, ref, at):
        self.server.put(ref, self.commit_at(at))

    @rule(alias=st.sampled_from(sorted(ALIASES)))
    def alias(self, alias):
        if not (self.server.site.server / alias).exists():
            self.server.git("symbolic-ref", alias, ALIASES[alias])

    @rule()
    def pack_refs(self):
        self.server.git("pack-refs", "--all")

    # What must hold.

    @precondition(lambda self: hasattr(self, "left"))
    @invariant()
    def protected_paths_are_as_listed_writers_left_them(self):
        live = {ref: oid for ref, oid in self.server.refs().items() if is_guarded(ref)}
        assert {ref: self.placed(tip) for ref, tip in live.items()} == self.left

    @precondition(lambda self: hasattr(self, "left"))
    @invariant()
    def the_log_is_whole_and_explains_every_guarded_branch(self):
        site = self.server.site
        assert logcheck.verify(site.state / "decisions.jsonl").faults == ()
        repo = PushedRepo(str(site.server))
        index, movements = decisionlog.settled(
            site.state, repoindex.key_of(str(site.server)),
            lambda index: {ref: repo.resolve(ref)[1] for ref in indexes.watched(index)})
        assert movements == ()
        assert index.branches == self.tips

    @precondition(lambda self: hasattr(self, "left"))
    @invariant()
    def nothing_else_lies_in_the_repository(self):
        assert self.around() == self.files

    # Pushes.

    def push_as_stranger(self, sent, who, *, effect=True, again=False):
        """A push that must leave every protected path of every guarded branch alone."""
        if again:
            first = self.server.push(sent, who, effect=False)
        known = set(self.accepted)
        answer = self.push(sent, who, effect=effect, writes=False)
        if again:
            assert said(first) == said(answer)
        if answer.code == 0:
            self.no_protected_path_is_touched([s.new for s in sent if s.new], known)
        return answer

    def push_and_take_back(self, ref, commit, who, *, merged):
        """A commit, and behind it one with the tree that the branch has now; perhaps a merge."""
        tip = self.tips[ref]
        parents = [tip, commit] if merged else [commit]
        back = self.store.commit(self.store.tree_of(tip), *parents)
        self.push_as_stranger([Sent(ref, back)], who)

    def push(self, sent, who, *, effect=True, writes=True):
        answer = self.server.push(sent, who, effect=effect)
        assert self.server.site.incidents() == []
        assert answer.code != 2, answer.told
        assert answer.code == 0 or not answer.moved
        for ref, (_, tip) in answer.moved.items():
            assert ref in {self.server.leads_to(s.ref) for s in sent}
            if is_guarded(ref):
                self.moved(ref, tip, writes=writes)
        return answer

    def moved(self, ref, tip, *, writes):
        """A guarded branch is at another commit, or gone. `writes`: by a listed writer."""
        assert writes or (tip is not None and ref in self.tips), f"{ref} came or went"
        if tip is None:
            del self.tips[ref], self.left[ref]
            return
        assert self.store.family.reaches(tip, self.tips.get(ref, tip)), f"{ref} went back"
        self.tips[ref] = tip
        if writes:
            self.left[ref] = self.placed(tip)
        self.accepted |= self.store.family.behind([tip])

    def no_protected_path_is_touched(self, oids, known):
        """No commit behind these that is none of the known decides a protected path."""
        family = self.store.family
        for commit in family.behind(map(self.store.peeled, oids)) - known:
            assert not set(filter(is_protected, family.touched(commit)))

    # Words.

    def make(self, tree, parents, to, who):
        commit = self.store.commit(tree, *parents)
        if to is not None:
            self.push_as_stranger([Sent(to, commit)], who)

    def branch_at(self, number):
        """The name of a guarded branch; None where there is none."""
        names = sorted(self.tips)
        return names[number % len(names)] if names else None

    def commit_at(self, where):
        if where in self.tips:
            return self.tips[where]
        made = self.store.commits
        return made[-1 - (where if isinstance(where, int) else 0) % len(made)]

    def oid(self, what):
        kind, *where = what
        if kind == "delete":
            return None
        if kind == "blob":
            return self.store.file("blob")[1]
        commit = self.commit_at(*where)
        return {"commit": lambda: commit, "tag": lambda: self.store.tag(commit),
                "tag of tag": lambda: self.store.tag(self.store.tag(commit)),
                "tree": lambda: self.store.tree_of(commit)}[kind]()

    def changed(self, tree, changes):
        for path, what, how in changes:
            tree = self.store.tree_with(tree, path, self.entry(*what), **how)
        return tree

    def entry(self, kind, *of):
        if kind == "file":
            return self.store.file(*of)
        if kind == "link":
            return self.store.file(of[0], LINK)
        if kind == "submodule":
            return SUBMODULE, self.commit_at(of[0])
        if kind == "folder":
            return of[1], self.store.tree([(FILE, b"x", self.store.file(of[0])[1])])
        if kind == "copy":
            return self.store.at(self.store.tree_of(self.commit_at(of[0])), of[1])
        return None

    def merged(self, parents, how):
        """The tree of a merge; where git would ask, the first parent that has the path wins."""
        if how in ("first", "last"):
            return self.store.tree_of(parents[0 if how == "first" else -1])
        files = {}
        for parent in reversed(parents):
            files |= self.store.family[parent].files
        if how == "honest":
            left = self.store.family.merged(parents)
            files = {path: left[path] if isinstance(left[path], tuple) else files[path]
                     for path in files if path in left}
        return self.store.tree_from(files)

    def placed(self, commit):
        return placed(self.store.family[commit].files)

    def around(self):
        """What lies in the repository besides objects and refs."""
        top, found = self.server.site.server, {}
        for folder, folders, names in os.walk(top):
            if folder == str(top):
                folders[:] = set(folders) - {"objects", "refs"}
                names = set(names) - {"packed-refs"}
            found |= {file: Path(folder, file).read_bytes() for file in names}
        return found


def is_guarded(ref):
    return re.fullmatch("refs/heads/(main|release/[^/]*)", ref) is not None


def said(answer):
    """An answer without its id and times."""
    entry = {name: answer.entry.get(name) for name in ("verdict", "updates", "findings")}
    return answer.code, re.sub(r"\b[0-9a-f]{6,12}\b", "", answer.told), entry


@pytest.fixture
def court(_based, tmp_path):
    """A site for many histories, in memory where there is such a folder.

    It is patient, since machines are busy, and main may be deleted.
    """
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="policyd-", dir=memory if memory.is_dir() else tmp_path))
    site = _based.copied(folder / "site")
    site.edit_policy("seconds: 5", "seconds: 60")
    site.git("config", "receive.denyDeleteCurrent", "ignore", cwd=site.server)
    yield site
    shutil.rmtree(folder)


KINDS = {"in-process": (Server, [Phase.generate, Phase.shrink], 1),
         "git-push": (RealServer, [Phase.generate], 20)}


@pytest.mark.parametrize("seeded", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_protected_paths_change_only_in_a_push_by_a_listed_writer(court, kind, seeded):
    """Several short runs: within one, what is tried varies less from history to history."""
    server_of, phases, share = KINDS[kind]
    store = Store()
    store.load(court.server)
    server = server_of(court, store)

    def pushes():
        return Pushes(server, store)

    if seeded is not None:
        seed(seeded)(pushes)
    run_state_machine_as_test(pushes, settings=settings(
        max_examples=max(EXAMPLES // share, 1), stateful_step_count=STEPS, deadline=None,
        database=None, phases=phases, suppress_health_check=list(HealthCheck)))
