"""Random work that breaks no rule is never refused; one violation hidden in it always is.

Maintainers push the oracle only, to main and a release branch, and merge the release branch up.
Agents push features that touch src only, merge main or each other's features into them, merge
them into guarded branches that moved meanwhile, backport by cherry-pick, rewind and rebase what
is their own. `HONEST_HISTORIES=3000 POLICYD_LONG=1` in the environment tries that many.
"""

from __future__ import annotations

import os
import random

import pytest
from history import AGENT, MAINTAINER, History, PathsClash
from records_made import LEDGER, ledger

SEEDS, CHUNK = int(os.environ.get("HONEST_HISTORIES") or 20), 2
STEPS = 30
START = {"src/app.py": "1", "src/b.py": "1", "tests/test_app.py": "1", "oracle/r.json": "1",
         "oracle/s.json": "1", LEDGER: ledger(), "fixtures/data/d.csv": "1",
         "README": "1"}
OFF_MAIN = 0.7


class Office:
    """People at work on one repository. Every push is judged; none may be refused."""

    def __init__(self, folder, seed, *, wrong_clocks=0.0):
        self.wrong_clocks = wrong_clocks
        self.chance = random.Random(seed)
        self.history = History(folder)
        self.history.accept("release/1", self.history.start(START))
        self.bases = {}
        """Open features, each with the guarded branch that it is meant for."""
        self.done = 0

    def work(self, steps=STEPS):
        doings = [self.oracle, self.oracle, self.start_feature, self.start_feature, self.go_on,
                  self.go_on, self.update_feature, self.update_feature, self.mix_features,
                  self.land, self.land, self.backport, self.merge_up, self.octopus,
                  self.rewind_own, self.rebase, self.tag, self.release]
        while self.done < steps:
            try:
                self.chance.choice(doings)()
            except PathsClash:
                continue  # somebody settles it another day

    def push(self, who, **updates):
        self.done += 1
        assert self.history.push(updates, who) == set(), (self.done, who, updates)

    def commit(self, changes, *parents):
        late = self.chance.random() < self.wrong_clocks
        at = self.history.now - self.chance.randrange(100_000) if late else None
        return self.history.commit(changes, *parents, at=at)

    def tip(self, ref):
        return self.history.tip(ref)

    def guarded(self):
        return "main" if self.chance.random() < OFF_MAIN else "release/1"

    def feature(self, base=None):
        """An open feature, perhaps one for a certain branch."""
        open_ones = [f for f, b in self.bases.items() if base in (None, b)]
        return self.chance.choice(open_ones) if open_ones else None

    def edit(self, feature):
        """A change in src: a file of the feature's own, sometimes a shared or a new one."""
        path = self.chance.choice([f"src/{feature}.py"] * 3 + ["src/app.py", f"src/{feature}/x.py"])
        gone = path != "src/app.py" and self.chance.random() < 0.1
        return {path: None if gone else f"# {feature} {self.done}"}

    # What maintainers do.

    def oracle(self):
        branch = self.guarded()
        path = f"oracle/{branch[0]}{self.chance.randrange(3)}.json"
        self.push(MAINTAINER, **{branch: self.commit({path: str(self.done)}, self.tip(branch))})

    def merge_up(self):
        main, release = self.tip("main"), self.tip("release/1")
        if not self.history.family.reaches(main, release):
            self.push(MAINTAINER, main=self.commit({}, main, release))

    def release(self):
        if "refs/heads/release/2" not in self.history.refs:
            self.push(MAINTAINER, **{"release/2": self.tip("main")})

    # What agents do.

    def start_feature(self):
        base, feature = self.guarded(), f"f{self.done}"
        tip = self.tip(base)
        for _ in range(self.chance.choice([1, 1, 2])):
            tip = self.commit(self.edit(feature), tip)
        self.push(AGENT, **{feature: tip})
        self.bases[feature] = base

    def go_on(self):
        if feature := self.feature():
            self.push(AGENT, **{feature: self.commit(self.edit(feature), self.tip(feature))})

    def update_feature(self):
        if feature := self.feature():
            tip, base = self.tip(feature), self.tip(self.bases[feature])
            if not self.history.family.reaches(tip, base):
                self.push(AGENT, **{feature: self.commit({}, tip, base)})

    def mix_features(self):
        base = self.guarded()
        one, other = self.feature(base), self.feature(base)
        if one != other and not self.history.family.reaches(self.tip(one), self.tip(other)):
            self.push(AGENT, **{one: self.commit({}, self.tip(one), self.tip(other))})

    def land(self):
        """Merge a feature as it is, or as it was when it was reviewed, a commit ago."""
        if feature := self.feature():
            family, base, tip = self.history.family, self.bases[feature], self.tip(feature)
            if self.chance.random() < 0.3:
                tip = family[tip].parents[0]
            if family.reaches(self.tip(base), tip):
                return
            self.push(AGENT, **{base: self.commit({}, self.tip(base), tip)})
            if tip == self.tip(feature) and self.chance.random() < 0.6:
                del self.bases[feature]

    def backport(self):
        """Cherry-pick a commit of main that touches src onto the release branch."""
        family, release = self.history.family, self.tip("release/1")
        picks = [c for c in sorted(family.behind([self.tip("main")], [release]))
                 if len(family[c].parents) == 1 and any(
                     path.startswith("src/") for path in family.touched(c))]
        if picks:
            pick = self.chance.choice(picks)
            changes = {p: family[pick].files.get(p) for p in family.touched(pick)}
            self.push(AGENT, **{"release/1": self.commit(changes, release)})

    def octopus(self):
        features = [f for f, base in self.bases.items() if base == "main"][:3]
        tips = self.history.family.independent(
            [self.tip("main"), *(self.tip(f) for f in features)])
        if len(tips) > 2:
            self.push(AGENT, main=self.commit({}, *tips))

    def rewind_own(self):
        """A feature is taken back by a commit or starts over, by force."""
        if feature := self.feature():
            parents = self.history.family[self.tip(feature)].parents
            self.push(AGENT, **{feature: self.commit(self.edit(feature), parents[0])})

    def rebase(self):
        if feature := self.feature():
            family, base = self.history.family, self.tip(self.bases[feature])
            changes = {p: family[self.tip(feature)].files.get(p)
                       for p in family.touched(self.tip(feature)) if p.startswith("src/")}
            self.push(AGENT, **{feature: self.commit(changes, base)})

    def tag(self):
        if feature := self.feature():
            self.push(AGENT, **{f"tags/{feature}-{self.done}": self.tip(feature)})


CHUNKS = [range(start, start + CHUNK) for start in range(0, SEEDS, CHUNK)]


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")
def test_honest_work_passes_and_a_violation_hidden_in_it_does_not(seeds, tmp_path):
    for seed in seeds:
        office = Office(tmp_path / f"{seed}.git", seed)
        office.work()
        for violation in VIOLATIONS:
            violation(office)


@pytest.mark.parametrize("seed", [41, 45, 70, 73, *range(300, 308)])
def test_a_clock_that_ran_wrong_refuses_nobody(seed, tmp_path):
    """A walk by time can take accepted commits for new ones; in the first four it does."""
    Office(tmp_path / "r.git", seed, wrong_clocks=0.2).work()


def test_honest_work_is_varied(tmp_path):
    """The histories above would prove little if they were all alike."""
    families = []
    for seed in range(5):
        office = Office(tmp_path / f"{seed}.git", seed)
        office.work()
        families.append(office.history.family)
    parents = [len(family[c].parents) for family in families for c in family]
    assert parents.count(2) > 20
    assert any(count > 2 for count in parents)
    assert any(len(family.bases(one, [other])) > 1 for family in families for c in family
               if len(family[c].parents) == 2 for one, other in [family[c].parents])


# Violations. Each asks about a push at the end of honest work and leaves the office as it was.


def hidden_in_a_merge(office):
    """An agent brings main into a feature and edits the oracle in the merge itself."""
    history, main = office.history, office.tip("main")
    work = history.commit({"src/x.py": "x"}, history.family[main].parents[0])
    merge = history.commit({"oracle/r.json": "loose"}, work, main)
    both = {"separate-authorship", "protected-writers"}
    assert history.refused({"main": merge}, AGENT) == both
    assert history.refused({"x": merge}, AGENT) == both
    assert history.refused({"main": merge}, MAINTAINER) == {"separate-authorship"}


def parked_first(office):
    """The edit lies on the server already, on a branch or a tag that nobody guards."""
    history, main = office.history, office.tip("main")
    parked = history.commit({"oracle/r.json": "loose", "src/x.py": "x"}, main)
    on_top = history.commit({"src/x.py": "y"}, parked)
    ref = office.chance.choice(["parked", "tags/parked", "refs/pull/1/head"])
    history.put(ref, parked)
    for tip in (parked, on_top):
        assert "protected-writers" in history.refused({"main": tip}, AGENT), ref
    assert history.refused({"main": on_top}, MAINTAINER) == {"separate-authorship"}, ref
    history.put(ref, None)


def merged_with_ours(office):
    """A merge of main that keeps the feature's files, whatever main gained."""
    history = office.history
    moved = history.commit({"oracle/r.json": "stricter"}, office.tip("main"))
    old = history.commit({"src/x.py": "x"}, office.tip("main"))
    branches = history.branches
    history.branches = {**branches, "refs/heads/main": moved}
    history.put("main", moved)
    ours = history.commit_whole(history.files(old), old, moved)
    assert "protected-writers" in history.refused({"main": ours}, AGENT)
    assert "protected-writers" in history.refused({"x": ours}, AGENT)
    assert history.refused({"main": ours}, MAINTAINER) == {"separate-authorship"}
    history.branches = branches
    history.put("main", branches["refs/heads/main"])


def rewound(office):
    """Main is put back to where it was before, plainly or with work on top."""
    history = office.history
    before = history.family[office.tip("main")].parents[0]
    on_top = history.commit({"src/x.py": "x"}, before)
    for tip in (before, on_top):
        who = office.chance.choice([AGENT, MAINTAINER])
        assert "ordinary-refs" in history.refused({"main": tip}, who)


def split_in_two(office):
    """Two commits of one push: the edit and its way back, or the edit and the code."""
    history, main = office.history, office.tip("main")
    edit = history.commit({"oracle/r.json": "loose"}, main)
    code = history.commit({"src/x.py": "x"}, edit)
    back = history.commit({"oracle/r.json": history.files(main).get("oracle/r.json")}, code)
    other = history.commit({"src/x.py": "x"}, main)
    for updates in ({"main": code}, {"main": back}, {"x": code}, {"x": edit, "y": other}):
        if office.chance.random() < 0.5:
            assert "protected-writers" in history.refused(updates, AGENT)
        else:
            assert history.refused(updates, MAINTAINER) == {"separate-authorship"}


VIOLATIONS = (hidden_in_a_merge, parked_first, merged_with_ours, rewound, split_in_two)
