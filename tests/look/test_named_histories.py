"""Histories that once were decided wrongly somewhere, each told as a story with its verdict.

Every push is judged twice: by an agent and by a maintainer. Where the two differ, the story says
why. `BOTH` stands for the two rules that an agent breaks who changes code and oracle together.
"""

from __future__ import annotations

from datetime import date

import pytest
from history import AGENT, MAINTAINER, History, Odd
from records_made import CORPUS, LEASE, LEDGER, lease, ledger

OK = set()
APART, WRITERS = "separate-authorship", "protected-writers"
BOTH = {APART, WRITERS}
REFS, TREE, KEPT = "ordinary-refs", "ordinary-tree", "kept-rows"

START = {"src/app.py": "app = 1", "src/b.py": "b = 1", "tests/test_app.py": "tests = 1",
         "oracle/r.json": "r 1", "oracle/s.json": "s 1", LEDGER: ledger(), CORPUS: "1",
         LEASE: lease("1", ends=date(2026, 5, 1)), "README": "readme"}
CODE = {"src/b.py": "b = 2"}
ANSWER = {"oracle/r.json": "r 2"}


@pytest.fixture
def told(tmp_path):
    """A repository whose main is accepted with START."""
    return History(tmp_path / "r.git")


def verdicts(history, **updates):
    """What refuses the push by an agent, and by a maintainer."""
    return history.refused(updates, AGENT), history.refused(updates, MAINTAINER)


# Main moves on while features are worked on.


def test_a_feature_is_merged_after_the_oracle_moved_on_main(told):
    base = told.start(START)
    feature = told.commit(CODE, base)
    oracle = told.commit(ANSWER, base)
    told.accept("main", oracle)
    assert verdicts(told, main=told.commit({}, oracle, feature)) == (OK, OK)


def test_a_feature_merges_main_whose_oracle_moved(told):
    base = told.start(START)
    feature = told.commit(CODE, base)
    oracle = told.commit(ANSWER, base)
    told.accept("main", oracle)
    assert verdicts(told, feature=told.commit({}, feature, oracle)) == (OK, OK)


def test_merging_with_ours_drops_what_the_oracle_gained(told):
    """`git merge -s ours main` on the feature, then main is moved forward to it."""
    base = told.start(START)
    feature = told.commit(CODE, base)
    oracle = told.commit(ANSWER, base)
    told.accept("main", oracle)
    ours = told.commit_whole(told.files(feature), feature, oracle)
    assert verdicts(told, main=ours) == (BOTH, {APART})
    assert verdicts(told, feature=ours) == (BOTH, {APART})


def test_merging_with_ours_drops_a_fix_of_the_code(told):
    """Bad work, but code is an agent's to write: the path rules let it pass."""
    base = told.start(START)
    feature = told.commit(CODE, base)
    fix = told.commit({"src/app.py": "app = 0"}, base)
    told.accept("main", fix)
    ours = told.commit_whole(told.files(feature), feature, fix)
    assert verdicts(told, main=ours) == (OK, OK)


def test_an_edit_is_hidden_in_a_merge(told):
    base = told.start(START)
    feature = told.commit(CODE, base)
    moved = told.commit({"README": "readme 2"}, base)
    told.accept("main", moved)
    merge = told.commit(ANSWER, moved, feature)
    assert verdicts(told, main=merge) == (BOTH, {APART})


def test_a_plain_revert_of_the_oracle(told):
    """Giving back an answer decides it as much as writing it."""
    base = told.start(START)
    told.accept("main", told.commit(ANSWER, base))
    back = told.commit({"oracle/r.json": "r 1"}, told.tip("main"))
    assert verdicts(told, main=back) == ({WRITERS}, OK)


def test_three_features_land_in_one_octopus(told):
    """One of them forked before the oracle moved."""
    base = told.start(START)
    first = told.commit({"src/1.py": "1"}, base)
    oracle = told.commit(ANSWER, base)
    told.accept("main", oracle)
    others = [told.commit({f"src/{n}.py": n}, oracle) for n in "23"]
    assert verdicts(told, main=told.commit({}, oracle, first, *others)) == (OK, OK)
    evil = told.commit({"oracle/r.json": "r 1"}, oracle, first, *others)
    assert verdicts(told, main=evil) == (BOTH, {APART})


def test_parents_that_stand_twice_hide_nothing(told):
    """No git command makes such a commit, but git takes it."""
    base = told.start(START)
    oracle = told.commit(ANSWER, base)
    told.accept("main", oracle)
    feature = told.commit(CODE, base)
    for parents in ([oracle, oracle], [feature, feature, oracle], [oracle, feature, oracle]):
        honest = told.commit({}, *parents)
        evil = told.commit({"oracle/r.json": "r 1", "src/b.py": "b = 3"}, *parents)
        assert verdicts(told, main=honest) == (OK, OK)
        assert verdicts(told, main=evil) == (BOTH, {APART})


# A release branch beside main.


def two_branches(told):
    """Main and release/1 forked; the release has an oracle hotfix and one of the code."""
    base = told.start(START)
    answer = told.commit({"oracle/r.json": "r release"}, base)
    told.accept("release/1", told.commit({"src/b.py": "b = 4"}, answer))
    told.accept("main", told.commit({"src/app.py": "app = 2"}, base))
    return told.tip("main"), told.tip("release/1")


def test_merging_the_release_up_brings_its_hotfixes(told):
    """They are accepted, but main gets oracle files: that push is a listed writer's."""
    main, release = two_branches(told)
    assert verdicts(told, main=told.commit({}, main, release)) == ({WRITERS}, OK)


def test_merging_up_where_both_branches_changed_one_answer(told):
    """The maintainer settles the conflict; all parents are accepted, so this is no decision."""
    main, release = two_branches(told)
    main = told.commit({"oracle/r.json": "r main"}, main)
    told.accept("main", main)
    up = told.commit({"oracle/r.json": "r release, r main"}, main, release)
    assert verdicts(told, main=up) == ({WRITERS}, OK)


def test_merging_up_where_answers_and_code_conflict(told):
    """Settling both at once is the maintainer's; the agent decides both in one push."""
    main, release = two_branches(told)
    main = told.commit({"oracle/r.json": "r main", "src/b.py": "b = 6"}, main)
    told.accept("main", main)
    settled = {"oracle/r.json": "r release, r main", "src/b.py": "b = 10"}
    assert verdicts(told, main=told.commit(settled, main, release)) == (BOTH, OK)
    work = told.commit({"src/c.py": "c = 1"}, release)
    assert verdicts(told, main=told.commit(settled, main, work)) == (BOTH, {APART}), \
        "a side that is not accepted yet makes it an edit like any other"


def test_merging_up_is_no_occasion_for_another_edit(told):
    """A maintainer settles conflicts in a merge; what did not conflict stays."""
    main, release = two_branches(told)
    both = told.commit({"src/b.py": "b = 3", "oracle/s.json": "s 2"}, main, release)
    assert verdicts(told, main=both) == (BOTH, {APART})


def test_a_feature_of_the_release_branch(told):
    """Its base holds code and oracle hotfixes; they are accepted and not the feature's."""
    _, release = two_branches(told)
    feature = told.commit({"src/c.py": "c"}, release)
    assert verdicts(told, feature=feature) == (OK, OK)
    assert verdicts(told, **{"release/1": feature}) == (OK, OK)


def test_an_answer_is_backported_by_cherry_pick(told):
    base = told.start(START)
    told.accept("release/1", told.commit(CODE, base))
    told.accept("main", told.commit(ANSWER, base))
    pick = told.commit(ANSWER, told.tip("release/1"))
    assert verdicts(told, **{"release/1": pick}) == ({WRITERS}, OK)


def test_both_branches_hold_the_same_answer_and_a_feature_joins_them(told):
    """A feature of the release merges main after the backport: both sides changed alike."""
    base = told.start(START)
    told.accept("main", told.commit(ANSWER, base))
    told.accept("release/1", told.commit(ANSWER, told.commit(CODE, base)))
    work = told.commit({"src/c.py": "c"}, told.tip("release/1"))
    assert verdicts(told, feature=told.commit({}, work, told.tip("main"))) == (OK, OK)


def test_main_moves_forward_to_a_guarded_develop_branch(tmp_path):
    """Nothing is judged, but main gets oracle files: that push is a listed writer's."""
    told = History(tmp_path / "r.git", guarded=("main", "develop"))
    base = told.start(START)
    told.accept("develop", told.commit(CODE, told.commit(ANSWER, base)))
    assert verdicts(told, main=told.tip("develop")) == ({WRITERS}, OK)


def test_a_feature_of_a_develop_branch_that_nobody_guards(told):
    """What develop holds was never accepted, so it is judged with the feature."""
    base = told.start(START)
    develop = told.commit(CODE, told.commit(ANSWER, base))
    told.put("develop", develop)
    feature = told.commit({"src/z.py": "z"}, develop)
    assert verdicts(told, feature=feature) == (BOTH, {APART})


def criss_cross(told):
    """Main and develop merged each other at the same time; then main's oracle moved."""
    base = told.start(START)
    develop = told.commit({"src/b.py": "b = 5"}, base)
    main = told.commit(ANSWER, base)
    crossed = told.commit({}, develop, main)
    told.accept("main", told.commit({"oracle/s.json": "s 2"}, told.commit({}, main, develop)))
    told.accept("develop", crossed)
    return told.commit({"src/n.py": "n"}, crossed)


@pytest.mark.parametrize("guarded", [("main", "develop"), ("main",)])
def test_a_feature_joins_branches_that_merged_each_other(tmp_path, guarded):
    told = History(tmp_path / "r.git", guarded=guarded)
    work = criss_cross(told)
    assert verdicts(told, feature=told.commit({}, work, told.tip("main"))) == (OK, OK)
    back = told.commit({"oracle/r.json": "r 1"}, work, told.tip("main"))
    assert verdicts(told, feature=back) == (BOTH, {APART})


def test_an_answer_that_a_release_loosened_for_a_while(told):
    """It is in accepted history, taken back there since. An agent merges it with code.

    On a feature nothing is decided: the loosened answer is what the merge gives. On main an
    oracle file arrives. A maintainer's push of it is a listed writer's, and the code is the
    only thing that it decides.
    """
    base = told.start(START)
    loose = told.commit({"oracle/r.json": "{}"}, base)
    told.accept("release/1", told.commit({"oracle/r.json": "r 1"}, loose))
    evil = told.commit({"src/b.py": "evil = 1"}, told.commit({}, base, loose))
    assert verdicts(told, main=evil) == ({WRITERS}, OK)
    assert verdicts(told, feature=evil) == (OK, OK)


# Other repositories come in.


def library(told):
    root = told.commit({"lib.py": "# l 1", "src/inner.py": "i"})
    return told.commit({"lib.py": "# l 2"}, root)


def test_a_library_is_added_as_a_subtree(told):
    """`git subtree add`, with its history and squashed: its root is a commit without parents."""
    base = told.start(START)
    lib = library(told)
    squashed = told.commit_whole(told.files(lib))
    moved = {f"src/vendor/{path}": entry for path, entry in told.files(lib).items()}
    for brought in (lib, squashed):
        added = told.commit_whole(told.files(base) | moved, base, brought)
        assert verdicts(told, main=added) == (OK, OK)


def test_a_library_that_has_an_oracle_of_its_own(told):
    """A root commit decides all that it holds, wherever the merge puts it."""
    base = told.start(START)
    lib = told.commit({"src/lib.py": "l", "oracle/lib.json": "1"})
    moved = {f"src/vendor/{path}": entry for path, entry in told.files(lib).items()}
    added = told.commit_whole(told.files(base) | moved, base, lib)
    assert verdicts(told, main=added) == (BOTH, {APART})


def test_an_unrelated_root_replaces_main(told):
    base = told.start(START)
    root = told.commit_whole({"src/app.py": "evil = 1"})
    merge = told.commit_whole(told.files(root), base, root)
    assert verdicts(told, main=merge) == ({*BOTH, KEPT}, {APART})


# Refs.


def test_main_is_rewound_behind_a_test(told):
    base = told.start(START)
    told.accept("main", told.commit(CODE, told.commit({"tests/test_new.py": "new = 1"}, base)))
    instead = told.commit({"src/b.py": "b = 3"}, base)
    assert verdicts(told, main=instead) == ({REFS}, {REFS})


def test_main_is_rewound_behind_an_answer(told):
    """The rewind also changes a protected path of main, together with code."""
    base = told.start(START)
    told.accept("main", told.commit(ANSWER, base))
    instead = told.commit(CODE, base)
    assert verdicts(told, main=instead) == ({REFS, *BOTH}, {REFS, APART})


def test_a_release_branch_is_created_at_an_unrelated_root(told):
    """A guarded branch starts at an accepted commit, whoever creates it."""
    told.start(START)
    root = told.commit_whole({"src/app.py": "evil = 1"})
    assert verdicts(told, **{"release/x": root}) == ({REFS, KEPT}, {REFS})


def test_a_release_branch_is_created_at_main(told):
    base = told.start(START)
    assert verdicts(told, **{"release/x": base}) == ({REFS}, OK)


def test_an_old_tag_with_mixed_commits_comes_in(told):
    """Its branch is gone. Never accepted, it is judged; recorded at enrolment, it passes."""
    base = told.start(START)
    old = told.commit(CODE | ANSWER, base)
    told.accept("main", told.commit({"src/b.py": "b = 3"}, base))
    assert verdicts(told, **{"tags/old": old}) == (BOTH, {APART})
    told.extra.add(old)
    assert verdicts(told, **{"tags/old": old}) == (OK, OK)


def test_a_branch_in_flight_at_enrolment_gets_one_more_commit(told):
    """Its mixed commit was pushed before anybody judged; `--accept-existing` lets it be."""
    base = told.start(START)
    mixed = told.commit(CODE | ANSWER, base)
    told.put("old", mixed)
    more = told.commit({"src/b.py": "b = 3"}, mixed)
    assert verdicts(told, old=more) == (BOTH, {APART})
    told.extra.add(mixed)
    assert verdicts(told, old=more) == (OK, OK)


def test_a_parked_commit_is_judged_wherever_it_lies(told):
    base = told.start(START)
    parked = told.commit(CODE | ANSWER, base)
    for ref in ("parked", "tags/parked", "refs/pull/7/head", "refs/stash"):
        told.put(ref, parked)
    assert verdicts(told, main=parked) == (BOTH, {APART})
    assert verdicts(told, other=parked) == (BOTH, {APART})


def test_a_release_is_tagged(told):
    """A guarded tag names accepted history, whoever sets it, and stays where it is."""
    base = told.start(START)
    tag, work = told.tag(base), told.commit(CODE, base)
    for target in (base, tag, told.tag(tag, kind="tag")):
        assert verdicts(told, **{"tags/v1": target}) == ({REFS}, OK)
    for target in (work, told.tag(work)):
        assert verdicts(told, **{"tags/v1": target}) == ({REFS}, {REFS})
    assert verdicts(told, **{"tags/v1": work, "main": work}) == ({REFS}, {REFS})
    told.accept("main", work)
    told.put("tags/v1", tag)
    assert verdicts(told, **{"tags/v1": work}) == ({REFS}, {REFS})
    assert verdicts(told, **{"tags/v1": None}) == ({REFS}, OK)


def test_a_guarded_branch_goes(told):
    """Creators delete it, where another guarded branch that stays holds what it held."""
    base = told.start(START)
    told.accept("release/1", base)
    assert verdicts(told, **{"release/1": None}) == ({REFS}, OK)
    told.accept("release/1", told.commit(CODE, base))
    assert verdicts(told, **{"release/1": None}) == ({REFS}, {REFS})
    told.put("copy", told.tip("release/1"))
    assert verdicts(told, **{"release/1": None}) == ({REFS}, {REFS}), "nobody guards the copy"
    both = {"release/1": None, "main": told.tip("release/1")}
    assert verdicts(told, **both) == ({REFS}, {REFS}), "main is not there yet"
    assert verdicts(told, main=None) == ({REFS}, OK), "the release branch holds main's commits"


def test_features_come_and_go_and_start_over(told):
    base = told.start(START)
    told.put("feature", told.commit(CODE, base))
    assert verdicts(told, feature=None) == (OK, OK)
    assert verdicts(told, feature=told.commit({"src/c.py": "c = 1"}, base)) == (OK, OK)
    assert verdicts(told, feature=base) == (OK, OK)


def test_an_alias_of_main_is_main(told):
    """A symbolic ref on the server: what is pushed there is judged as a push to main."""
    base = told.start(START)
    told.accept("main", told.commit(CODE, base))
    told.repo.references.create("refs/heads/alias", "refs/heads/main")
    told.refs["refs/heads/alias"] = told.tip("main")
    assert verdicts(told, alias=base) == ({REFS}, {REFS})
    work = told.commit({"src/c.py": "c = 1"}, told.tip("main"))
    assert verdicts(told, alias=work) == (OK, OK)
    assert verdicts(told, alias=work, main=work) == ({REFS}, {REFS}), "main would move twice"


@pytest.mark.parametrize("ref", ["refs/replace/" + "1" * 40, "refs/meta/config", "refs/notes/x",
                                 "refs/stash", "refs/for/main", "refs/mainx", "refs/remotes/x/y"])
def test_namespaces_that_are_not_taken(told, ref):
    base = told.start(START)
    assert verdicts(told, **{ref: told.commit(CODE, base)}) == ({REFS}, {REFS})


def test_a_pull_request_is_judged(told):
    base = told.start(START)
    assert verdicts(told, **{"refs/pull/1/head": told.commit(CODE, base)}) == (OK, OK)
    assert verdicts(told, **{"refs/pull/1/head": told.commit(ANSWER, base)}) == ({WRITERS}, OK)


def test_tags_of_what_is_no_commit(told):
    base = told.start(START)
    tree, blob = told.tree_of(base), told.blob("secret")
    for kind, oid in (("tree", tree), ("blob", blob)):
        tag = told.tag(oid, kind=kind)
        for target in (oid, tag, told.tag(tag, kind="tag")):
            assert verdicts(told, **{"tags/x": target}) == ({REFS}, {REFS})


def test_a_push_that_leaves_history_out(told):
    """A shallow clone pushes a commit whose parent the server never saw."""
    base = told.start(START)
    tree = told.tree_of(base)
    shallow = told.commit_tree(tree, "5" * 40)
    for tip in (shallow, told.commit_tree(tree, base, shallow)):
        assert verdicts(told, feature=tip) == ({REFS}, {REFS})
        assert verdicts(told, main=tip) == ({REFS}, {REFS})


def test_an_honest_ref_beside_one_that_leaves_history_out(told):
    """The whole part of a push is judged all the same."""
    base = told.start(START)
    shallow = told.commit_tree(told.tree_of(base), "5" * 40)
    answer = told.commit(ANSWER, base)
    assert verdicts(told, other=shallow, feature=answer) == ({REFS, WRITERS}, {REFS})


def test_the_ref_moved_meanwhile(told):
    """The pusher's old id is another than the server's: retry."""
    base = told.start(START)
    told.accept("main", told.commit(CODE, base))
    told.refs["refs/heads/main"] = base
    work = told.commit({"src/c.py": "c = 1"}, told.branches["refs/heads/main"])
    assert verdicts(told, main=work) == ({REFS}, {REFS})


def test_main_moved_behind_the_hook(told):
    """Accepted is what was recorded: the commits that slipped in are judged with the next push."""
    base = told.start(START)
    slipped = told.commit(CODE | ANSWER, base)
    told.put("main", slipped)
    work = told.commit({"src/c.py": "c = 1"}, slipped)
    assert verdicts(told, feature=work) == (BOTH, {APART})
    assert verdicts(told, main=work) == (BOTH, {APART})


# Several changes that come together.


def test_a_feature_stands_on_an_answer_that_main_squashed(told):
    """The answer's own commit was never accepted, only one like it: it is still judged.

    The way out is a rebase onto main.
    """
    base = told.start(START)
    answer = told.commit(ANSWER, base)
    work = told.commit(CODE, answer)
    told.accept("main", told.commit(ANSWER, base))
    joined = told.commit({}, work, told.tip("main"))
    assert verdicts(told, feature=joined) == (BOTH, {APART})
    assert verdicts(told, feature=told.commit(CODE, told.tip("main"))) == (OK, OK)


def test_a_merge_queue_lands_two_requests_in_one_push(told):
    """The unit is the push, so both requests count together."""
    base = told.start(START)
    answer, code = told.commit(ANSWER, base), told.commit(CODE, base)
    landed = told.commit({}, told.commit({}, base, answer), code)
    assert verdicts(told, main=landed) == (BOTH, {APART})


def test_two_branches_are_pushed_at_once(told):
    """One brings code, the other an answer: the unit is the push over all its refs."""
    base = told.start(START)
    answer, code = told.commit(ANSWER, base), told.commit(CODE, base)
    assert verdicts(told, answer=answer, code=code) == (BOTH, {APART})
    assert verdicts(told, answer=answer) == ({WRITERS}, OK)
    assert verdicts(told, code=code) == (OK, OK)


def test_split_over_two_commits_of_one_push(told):
    base = told.start(START)
    assert verdicts(told, main=told.commit(CODE, told.commit(ANSWER, base))) == (BOTH, {APART})


def test_an_answer_changed_and_changed_back(told):
    """The net change shows nothing of it, its commits do."""
    base = told.start(START)
    code = told.commit(CODE, told.commit(ANSWER, base))
    back = told.commit({"oracle/r.json": "r 1"}, code)
    assert verdicts(told, main=back) == (BOTH, {APART})


# Policies that guard something else.


def test_a_policy_guards_release_branches_only(tmp_path):
    """What main gained since is not accepted under this policy, so a feature brings it all."""
    told = History(tmp_path / "r.git", guarded=("release/*",))
    told.accept("release/1", told.start(START))
    told.put("main", told.commit(CODE, told.commit(ANSWER, told.tip("release/1"))))
    feature = told.commit({"src/c.py": "c"}, told.tip("main"))
    assert verdicts(told, feature=feature) == (BOTH, {APART})


def test_a_policy_that_guards_nothing_that_exists(tmp_path):
    """`guarded: [mian]`: nothing is accepted, so every push is judged whole."""
    told = History(tmp_path / "r.git", guarded=("mian",))
    told.put("main", told.commit(START))
    feature = told.commit({"src/c.py": "c"}, told.tip("main"))
    assert verdicts(told, feature=feature) == (BOTH, {APART})


def test_the_first_push_into_an_empty_repository_is_judged_whole(told):
    assert verdicts(told, main=told.commit(START)) == ({REFS, *BOTH}, {APART})
    assert verdicts(told, main=told.commit({"src/app.py": "1"})) == ({REFS}, OK)


# Links.


def test_a_link_takes_the_place_of_a_folder_that_is_not_there_yet(told):
    """`fixtures -> src/fx` would make every later lease a file of the code."""
    base = told.start({p: e for p, e in START.items() if not p.startswith("fixtures/")})
    link = told.commit({"fixtures": Odd("120000", "src/fx"), "src/fx/leases/x.yaml": "mine"}, base)
    assert verdicts(told, main=link) == ({TREE, *BOTH}, {TREE, APART})


@pytest.mark.parametrize(("path", "entry"), [
    ("fixtures", Odd("120000", "src/fx")), (".ci", Odd("120000", "docs/ci")),
    (".ci", "no folder"), ("tests/ledger", Odd("160000", "1" * 40))])
def test_a_link_in_the_way_is_not_hidden_by_the_next_commit(told, path, entry):
    """Both would be accepted history, and a branch that lags behind could move to the first."""
    bare = {p: e for p, e in START.items() if not p.startswith(f"{path}/")}
    base = told.start(bare)
    told.accept("release/1", base)
    link = told.commit({path: entry}, base)
    assert verdicts(told, main=told.commit({path: None}, link)) == ({WRITERS}, OK)
    told.accept("main", told.commit({path: None}, link))
    assert verdicts(told, **{"release/1": link})[0] == {WRITERS}


def test_a_folder_that_stands_twice_is_not_hidden_by_the_next_commit(told):
    """Which of the two a checkout shows depends on who checks it out."""
    base = told.start(START)
    told.accept("release/1", base)
    entries = [(f"{e.filemode:o}", e.name, str(e.id)) for e in told.repo[base].tree]
    ci = [("40000", ".ci", told.tree(("100644", "run", told.blob(text)))) for text in "12"]
    twice = told.commit_tree(told.tree(*ci, *entries), base)
    tidy = told.commit_tree(told.tree_of(base), twice)
    assert told.refused({"main": tidy}, AGENT) == {WRITERS}
    told.accept("main", tidy)
    assert told.refused({"release/1": twice}, AGENT) == {WRITERS}


def test_a_link_leads_into_the_oracle(told):
    base = told.start(START)
    link = told.commit({"docs/r.json": Odd("120000", "../oracle/r.json")}, base)
    assert verdicts(told, main=link) == ({TREE}, {TREE})
