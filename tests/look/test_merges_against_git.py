"""What is seen of merges: against merges that git makes, and against flat dictionaries.

Repositories are random with fixed seeds and small. Both ways of looking are held to the same
answer: comparing trees in this process, and handing long lists to git.
"""

from __future__ import annotations

import random
import subprocess

import pytest
from flatmerge import clashes, differing
from history import AGENT, ENVIRONMENT, MAINTAINER, History, Odd

from policyd.core.zones import ZoneMap

PATHS = ["src/a", "src/b", "src/b/c", "src/d/e", "src/d/f", "oracle/r", "oracle/s/t", "oracle",
         "fixtures/data/x", "docs/free"]


@pytest.fixture(params=["here", "by git"])
def way(request, monkeypatch):
    """How many commits are compared in this process."""
    monkeypatch.setattr("policyd.adapters.touched.FEW", 64 if request.param == "here" else 0)


@pytest.fixture
def zones():
    """Path to the zones that it lies in, by the shipped policy."""
    return lambda told: ZoneMap(told.policy.zones).of


class Wild:
    """A random history: any merge of anything, honest, evil or with the files of one side."""

    def __init__(self, folder, seed):
        self.chance = random.Random(seed)
        self.told = History(folder)
        self.commits = [self.told.start({"src/a": "1", "oracle/r": "1", "docs/free": "1"})]

    def grow(self, size, *, wrong_clocks):
        for _ in range(size):
            at = None
            if wrong_clocks and self.chance.random() < 0.2:
                at = self.told.now - self.chance.randrange(400)
            parents = self.parents()
            files = self.content(parents)
            self.commits.append(self.told.commit_whole(files, *parents, at=at))

    def parents(self):
        count = self.chance.choice([0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 4])
        recent = self.commits[-7:]
        if self.chance.random() < 0.05:
            return [self.chance.choice(recent)] * 2
        return self.chance.sample(recent, min(count, len(recent)))

    def content(self, parents):
        """What a commit of these parents may hold: their merge, one side, edits on either."""
        family = self.told.family
        files = {p: e for p, e in family.merged(parents).items() if isinstance(e, tuple)}
        if parents and self.chance.random() < 0.2:
            files = self.told.files(self.chance.choice(parents))
        for _ in range(self.chance.choice([0, 1, 1, 2]) if len(parents) > 1 else 2):
            path = self.chance.choice(PATHS)
            files[path] = self.chance.choice(["1", "2", "3", Odd("100755", "1"), None])
        return alone({p: e for p, e in files.items() if e is not None})


def alone(files):
    """Without files that stand where a folder of another file is."""
    folders = {path[:cut] for path in files for cut, c in enumerate(path) if c == "/"}
    return {path: entry for path, entry in files.items() if path not in folders}


def decided(family, parents, files, *, settled):
    """The paths that differ from the parents' merge; a settled conflict is no decision."""
    expected = family.merged(parents)
    return differing(expected, files) - (clashes(expected) if settled else set())


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("who", [AGENT, MAINTAINER])
@pytest.mark.parametrize("seed", range(16))
def test_random_histories_touch_what_flat_dictionaries_say(seed, who, tmp_path, zones):
    """A maintainer settles the conflicts of merges whose parents are all accepted."""
    wild = Wild(tmp_path / "r.git", seed)
    wild.grow(24, wrong_clocks=False)
    told, family, mine = wild.told, wild.told.family, who == MAINTAINER
    zone = zones(told)
    told.accept("release/1", wild.commits[8])
    told.accept("main", wild.commits[4])
    for tip in wild.commits[-4:]:
        update, = told.judge({"x": tip}, who).updates
        judged = family.behind([tip], told.branches.values())
        assert update.judged == len(judged)
        seen = {commit.oid: {t.path for t in commit.touches} for commit in update.commits}
        want = {}
        for commit in judged:
            parents = family[commit].parents
            settled = mine and len(parents) > 1 and not judged & set(parents)
            paths = decided(family, parents, family[commit].files, settled=settled)
            if zoned := set(filter(zone, paths)):
                want[commit] = zoned
        assert seen == want
        boundary = sorted(family.independent(
            p for c in judged for p in family[c].parents if p not in judged))
        assert sorted(update.boundary) == boundary
        net = decided(family, boundary, family[tip].files, settled=mine) if judged else set()
        assert {t.path for t in update.net} == set(filter(zone, net))


@pytest.mark.parametrize("seed", range(6))
def test_arrivals_are_the_difference_of_old_and_new_tip(seed, tmp_path, zones):
    wild = Wild(tmp_path / "r.git", 1000 + seed)
    wild.grow(16, wrong_clocks=False)
    told, family = wild.told, wild.told.family
    for old, new in (wild.chance.sample(wild.commits, 2) for _ in range(6)):
        told.accept("main", old)
        update, = told.judge({"main": new}, MAINTAINER).updates
        want = set(filter(zones(told), differing(family[old].files, family[new].files)))
        assert {t.path for t in update.arrivals} == want
        assert (update.op.value == "update") == family.reaches(new, old)


@pytest.mark.parametrize("seed", range(12))
def test_forward_is_forward_whatever_the_clocks_say(seed, tmp_path):
    wild = Wild(tmp_path / "r.git", 2000 + seed)
    wild.grow(24, wrong_clocks=True)
    for old, new in (wild.chance.sample(wild.commits, 2) for _ in range(20)):
        wild.told.accept("main", old)
        update, = wild.told.judge({"main": new}, MAINTAINER).updates
        assert (update.op.value == "update") == wild.told.family.reaches(new, old)


# Git's own merges.


def git(told, *command, cwd=None, **environment):
    """Run git on the repository of a history; with a working copy where `cwd` is given."""
    place = {"GIT_DIR": told.folder} | ({"GIT_WORK_TREE": str(cwd)} if cwd else {})
    return subprocess.run(["git", *command], env=ENVIRONMENT | place | environment, cwd=cwd,
                          capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("seed", range(8))
def test_a_merge_that_git_makes_without_conflict_touches_nothing(seed, tmp_path):
    """And the same merge with any other content is seen. Renames are off in git, as here."""
    wild = Wild(tmp_path / "r.git", 3000 + seed)
    wild.grow(20, wrong_clocks=False)
    told, clean = wild.told, 0
    for _ in range(16):
        parents = wild.chance.sample(wild.commits[-12:], 2)
        if any(told.family.reaches(*pair) for pair in (parents, parents[::-1])):
            continue
        made = git(told, "-c", "merge.renames=false", "merge-tree", "--write-tree",
                   "--allow-unrelated-histories", *parents)
        if made.returncode:
            continue
        clean += 1
        told.branches = {"refs/heads/main": parents[0], "refs/heads/release/1": parents[1]}
        honest = told.commit_tree(made.stdout.strip(), *parents)
        assert told.refused({"x": honest}, AGENT) == set()
        files = {p: e for p, e in told.family.merged(parents).items() if isinstance(e, tuple)}
        evil = told.commit_whole({**files, "oracle/new": "1"}, *parents)
        assert "protected-writers" in told.refused({"x": evil}, AGENT)
    assert clean > 0


class WorkingCopy:
    """A working copy in which git itself commits and merges."""

    def __init__(self, folder):
        self.place = folder / "work"
        self.place.mkdir()
        self.told = History(folder / "r.git")
        self.clock = 1_700_000_000
        self("symbolic-ref", "HEAD", "refs/heads/main")
        self.told.accept("main", self.commit({"src/a": "a\n", "oracle/r": "r\n", "lib/l": "l\n"}))

    def __call__(self, *command):
        self.clock += 100
        date = f"{self.clock} +0000"
        done = git(self.told, *command, cwd=self.place, GIT_AUTHOR_DATE=date,
                   GIT_COMMITTER_DATE=date)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout.strip()

    def commit(self, files, *, amend=False):
        for path, text in files.items():
            place = self.place / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        self("add", "-A")
        self("commit", "-q", "-m", "c", *(["--amend"] if amend else []))
        return self("rev-parse", "HEAD")

    def branch(self, name, start="main"):
        self("checkout", "-q", "-b", name, start)

    def merge(self, *names):
        """Merge into the branch that is checked out; options may stand among the names."""
        self("merge", "-q", "--no-ff", "-m", "m", *names)
        return self("rev-parse", "HEAD")

    def accept_main(self):
        self.told.accept("main", self("rev-parse", "main"))


@pytest.fixture
def copy(tmp_path):
    return WorkingCopy(tmp_path)


def forked(copy):
    """A feature with code, and main whose oracle moved meanwhile."""
    copy.branch("feature")
    copy.commit({"src/b": "b\n"})
    copy("checkout", "-q", "main")
    copy.commit({"oracle/r": "r 2\n"})
    copy.accept_main()
    copy("checkout", "-q", "feature")


BOTH = {"separate-authorship", "protected-writers"}


def judged(copy, commit):
    return copy.told.refused({"proposed": commit}, AGENT)


@pytest.mark.usefixtures("way")
def test_a_plain_merge(copy):
    forked(copy)
    assert judged(copy, copy.merge("main")) == set()


@pytest.mark.usefixtures("way")
def test_an_edit_amended_into_a_merge(copy):
    forked(copy)
    copy.merge("main")
    assert judged(copy, copy.commit({"oracle/r": "r evil\n"}, amend=True)) == BOTH


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("content", ["r\n", "", "r 2\nr 3\n"])
def test_what_a_merge_makes_of_the_oracle(copy, content):
    """Taken back to the feature's side, emptied, or more than main has."""
    forked(copy)
    copy.merge("main")
    assert judged(copy, copy.commit({"oracle/r": content}, amend=True)) == BOTH


@pytest.mark.usefixtures("way")
def test_the_ours_strategy(copy):
    forked(copy)
    assert judged(copy, copy.merge("-s", "ours", "main")) == BOTH


@pytest.mark.usefixtures("way")
def test_the_theirs_option_where_the_oracle_moved_on_both_sides(copy):
    """The feature has no right to an answer of its own; main's in the end mends nothing."""
    forked(copy)
    copy.commit({"oracle/r": "r mine\n"})
    assert judged(copy, copy.merge("-X", "theirs", "main")) == BOTH


@pytest.mark.usefixtures("way")
def test_a_subtree_merge_into_the_oracle(copy):
    """`git merge -s subtree`: files of a library land where the oracle is."""
    forked(copy)
    copy("checkout", "-q", "--orphan", "library")
    copy("rm", "-rfq", ".")
    copy.commit({"r": "library\n"})
    copy("checkout", "-q", "feature")
    merge = copy.merge("-s", "ours", "--allow-unrelated-histories", "library")
    assert judged(copy, merge) == set()
    copy("read-tree", "--prefix=oracle/lib", "-u", "library")
    assert judged(copy, copy.commit({}, amend=True)) == BOTH
    copy("reset", "-q", "--hard", "feature~1")
    copy.merge("-X", "subtree=oracle", "-X", "theirs", "--allow-unrelated-histories", "library")
    assert judged(copy, copy("rev-parse", "HEAD")) == BOTH


@pytest.mark.usefixtures("way")
def test_an_octopus(copy):
    forked(copy)
    for name in ("one", "two"):
        copy.branch(name)
        copy.commit({f"src/{name}": "1\n"})
    copy("checkout", "-q", "feature")
    assert judged(copy, copy.merge("main", "one", "two")) == set()
    assert judged(copy, copy.commit({"oracle/r": "r\n"}, amend=True)) == BOTH


@pytest.mark.usefixtures("way")
def test_an_octopus_of_ours(copy):
    forked(copy)
    copy.branch("one")
    copy.commit({"src/one": "1\n"})
    copy("checkout", "-q", "feature")
    assert judged(copy, copy.merge("-s", "ours", "main", "one")) == BOTH


@pytest.mark.usefixtures("way")
def test_a_criss_cross(copy):
    forked(copy)
    copy("tag", "before", "feature")
    copy.merge("main")
    copy("checkout", "-q", "main")
    copy.merge("before")
    copy.commit({"oracle/r": "r 3\n"})
    copy.accept_main()
    copy("checkout", "-q", "feature")
    assert len(copy("merge-base", "--all", "feature", "main").split()) == 2
    assert judged(copy, copy.merge("main")) == set()
    back = copy.commit({"oracle/r": "r 2\n"}, amend=True)
    assert judged(copy, back) == {"protected-writers"}, "main has the code already"


@pytest.mark.usefixtures("way")
def test_unrelated_roots(copy):
    copy("checkout", "-q", "--orphan", "other")
    copy("rm", "-rfq", ".")
    copy.commit({"src/other": "1\n"})
    copy("checkout", "-q", "main")
    merge = copy.merge("--allow-unrelated-histories", "other")
    assert judged(copy, merge) == set()
    dropped = copy.merge("--allow-unrelated-histories", "-s", "ours", "other")
    assert judged(copy, dropped) == set(), "nothing to drop any more"
    copy("checkout", "-q", "other")
    assert judged(copy, copy.merge("--allow-unrelated-histories", "-s", "ours", "main~1")) == BOTH


@pytest.mark.usefixtures("way")
def test_a_rename_is_a_deletion_and_an_addition(copy):
    """Git follows the rename into the merge; path by path, main's edit was dropped."""
    copy.branch("feature")
    copy("mv", "oracle/r", "src/r")
    assert judged(copy, copy.commit({})) == BOTH


@pytest.mark.usefixtures("way")
def test_a_file_that_turned_into_a_folder(copy):
    forked(copy)
    copy("rm", "-q", "src/a")
    copy.commit({"src/a/x": "1\n"})
    assert judged(copy, copy.merge("main")) == set()
