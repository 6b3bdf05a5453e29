"""Every `do:` block works as printed: run by `sh`, it ends in a push that is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest
from mending import Row, mended
from pushes import (
    CODE,
    MIXED,
    ODD,
    ORACLE,
    PRICES,
    after_main_gained,
    apart_on_two_refs,
    both_refs_mixed,
    brought_from_a_release,
    commits,
    conftests,
    diverged_meanwhile,
    file_for_folder,
    folder_for_file,
    leased,
    linked,
    linked_alone,
    main_and_release,
    merging_upstream,
    moved_meanwhile,
    on_feature,
    on_release,
    overlap,
    push_id,
    renamed,
    rewind,
    rewind_with_a_mix,
    run,
    script,
    shallow,
    submodule,
    tag_of_a_mix,
    tagged,
)
from records_made import CORPUS, LEASE, LEDGER, ledger
from sites import TEST

ROWS = {
    "agent mixes in one commit on main": Row(commits(MIXED)),
    "agent mixes in two commits": Row(commits({ORACLE: "{}\n"}, {"src/app.py": CODE})),
    "nobody known mixes": Row(commits(MIXED), who=None),
    "agent mixes on a new feature branch": Row(commits(MIXED, to="feature"), branch="feature"),
    "agent mixes on a branch with earlier code": Row(
        on_feature({"src/one.py": "a = 1\n"}, then=commits(MIXED, to="feature")),
        branch="feature", kept=("src/app.py", "src/one.py")),
    "agent adds code to a branch that holds a maintainer's oracle": Row(
        on_feature({ORACLE: "{}\n"}, then=commits({"src/app.py": CODE}, to="feature")),
        branch="feature-ID"),
    "agent mixes on a branch that merged main": Row(
        after_main_gained(on_feature(
            {"src/one.py": "a = 1\n"}, then=merging_upstream(commits(MIXED, to="feature")))),
        branch="feature-ID", kept=("src/app.py", "src/one.py", "src/other.py"),
        back=(ORACLE, LEASE)),
    "agent mixes on a new branch that merged main": Row(
        after_main_gained(merging_upstream(commits(MIXED, to="feature"))),
        branch="feature", kept=("src/app.py", "src/other.py"), back=(ORACLE, LEASE)),
    "agent mixes on a branch behind main": Row(
        after_main_gained(commits(MIXED, to="feature")), branch="feature", back=()),
    "agent mixes on a release branch": Row(
        on_release(commits(MIXED, to="release/1")), branch="release/1"),
    "agent starts a release with a mix": Row(commits(MIXED, to="release/2"),
                                             branch="release-2-ID"),
    "agent starts a release with code": Row(
        commits({"src/app.py": CODE}, to="release/2"), branch="release-2-ID", next="edit"),
    "agent tags a mix": Row(tag_of_a_mix, branch="mixed-ID"),
    "agent mixes on two refs": Row(both_refs_mixed, branch="one"),
    "agent rewinds main": Row(rewind, branch="main-ID", next="rebase", back=()),
    "agent rewinds main to a mix": Row(rewind_with_a_mix, branch="main-ID", back=()),
    "agent rewrites a feature branch to a mix": Row(
        on_feature({"src/one.py": "a = 1\n"}, then=lambda site: (
            site.git("switch", "-q", "--detach", site.base_tip),
            commits(MIXED, to="feature", force=True)(site))[1]), branch="feature-ID"),
    "agent pushes to a namespace that is not taken": Row(
        commits({"src/app.py": CODE}, to="refs/meta/config"), branch="meta/config-ID",
        next="edit"),
    "agent adds an oracle file": Row(commits(
        {"oracle/new.json": "{}\n", "src/app.py": CODE}), back=("oracle/new.json",)),
    "agent deletes an oracle file": Row(commits({ORACLE: None, "src/app.py": CODE})),
    "agent renames in and out": Row(
        renamed, kept=("src/app.py", "src/expected.json", "src/new.py"),
        back=(ORACLE, "oracle/app.py")),
    "agent writes a case variant": Row(commits(
        {"Oracle/x.json": "{}\n", "oracle./y": "y\n", "src/app.py": CODE}),
        back=("Oracle/x.json", "oracle./y", ORACLE)),
    "agent touches four zones": Row(commits(
        MIXED, {LEASE: leased("x"), "pytest.ini": "[pytest]\n",
                LEDGER: ledger(), "conftest.py": "x = 1\n"}),
        back=(ORACLE, LEASE, "pytest.ini", "conftest.py", LEDGER)),
    "agent writes wiring and code": Row(
        commits({"pytest.ini": "[pytest]\n", "src/app.py": CODE}), back=("pytest.ini",)),
    "agent writes wiring in folders with odd names": Row(
        commits(conftests(*ODD), {"src/app.py": CODE, "star/keep.py": "k = 1\n"}),
        kept=("src/app.py", "star/keep.py"), back=tuple(conftests(*ODD))),
    "agent writes wiring in more folders with odd names": Row(
        commits(conftests(":(top)", 'q"q', "!x", "[ab]", ":", "q`q"), {"a/keep.py": "k = 1\n"}),
        kept=("a/keep.py",), back=tuple(conftests(":(top)", 'q"q', "!x", "[ab]", ":", "q`q"))),
    "agent writes wiring in many folders": Row(
        commits(conftests(*(f"p/{n}/{m}" for n in range(4) for m in range(5))),
                {"p/3/keep.py": "k = 1\n", "src/app.py": CODE}),
        kept=("p/3/keep.py", "src/app.py"),
        back=tuple(conftests(*(f"p/{n}/{m}" for n in range(4) for m in range(5))))),
    "agent touches and reverts": Row(
        commits(MIXED, {ORACLE: '{"x": 1}\n'}, {ORACLE: "{}\n"}, {"src/more.py": "b = 1\n"}),
        kept=("src/app.py", "src/more.py")),
    "agent replaces the ledger's folder by a file": Row(
        file_for_folder, back=(LEDGER, "tests/ledger")),
    "agent makes a folder of a file": Row(folder_for_file, kept=("src/app.py/inner.py",)),
    "agent puts a link where the oracle was": Row(linked),
    "agent puts a submodule into the oracle": Row(submodule, back=("oracle/sub", ORACLE)),
    "agent links into the oracle": Row(
        commits({"docs/x": Path("../oracle/receipts"), "src/app.py": CODE}), back=("docs/x",),
        next="edit"),
    "maintainer links into the oracle and changes it": Row(
        commits({"docs/x": Path("../oracle/receipts"), ORACLE: "{}\n"}), who="alice",
        kept=(ORACLE,), back=("docs/x",), next="edit"),
    "maintainer moves the oracle behind a link": Row(
        linked_alone, who="alice", kept=("docs/receipts/expected.json",), next="edit"),
    "agent changes nothing but the oracle": Row(
        commits({ORACLE: "{}\n"}), kept=(), next="propose"),
    "agent changes nothing but the oracle on a branch": Row(
        commits({ORACLE: "{}\n", LEASE: None}, to="feature"), branch="feature", kept=(),
        back=(ORACLE, LEASE), next="propose"),
    "agent changes nothing but wiring with odd names": Row(
        commits(conftests(*ODD)), kept=(), back=tuple(conftests(*ODD)), next="propose"),
    "maintainer mixes on main": Row(commits(MIXED), who="alice", kept=("src/app.py", ORACLE),
                                    back=()),
    "maintainer mixes deletions, modes and links on main": Row(
        commits({ORACLE: None, "oracle/l": Path("receipts"), "src/app.py": None,
                 "src/b.py": "b = 1\n"}),
        who="alice", kept=(ORACLE, "src/app.py", "src/b.py", "oracle/l"), back=()),
    "maintainer mixes two zones on a release": Row(
        on_release(commits(MIXED, {LEASE: leased("y")}, to="release/1")), who="alice",
        branch="release/1", kept=("src/app.py", ORACLE, LEASE), back=()),
    "maintainer mixes on a new branch": Row(
        commits(MIXED, to="feature"), who="alice", branch="feature"),
    "maintainer adds an oracle to a branch of code": Row(
        on_feature({"src/one.py": "a = 1\n"}, then=commits({ORACLE: "{}\n"}, to="feature")),
        who="alice", branch="feature-ID", kept=("src/one.py",)),
    "maintainer mixes on a branch that merged main": Row(
        after_main_gained(merging_upstream(commits(MIXED, to="feature"))), who="alice",
        branch="feature", kept=("src/app.py", "src/other.py"), back=(ORACLE, LEASE)),
    "maintainer pushes code and oracle to two refs": Row(
        apart_on_two_refs, who="alice", branch="code"),
    "maintainer pushes a commit and its tag": Row(tagged, who="alice", back=()),
    "maintainer pushes main and a release": Row(
        main_and_release, who="alice", branch="release/1", back=()),
    "maintainer starts a release off main": Row(
        commits({"src/app.py": CODE}, to="release/1"), who="alice", branch="release-1-ID",
        back=(), next="edit"),
    "agent weakens a test beside code": Row(
        commits({"src/app.py": CODE, "tests/test_app.py": "", "tests/test_b.py": "b = 1\n"}),
        kept=("src/app.py", "tests/test_b.py"), back=("tests/test_app.py",), next="edit"),
    "agent moves a test and weakens it": Row(
        commits({"src/app.py": CODE, "tests/test_app.py": None, "tests/test_b.py": TEST.replace(
            " == total([3, 2, 1])", "")}),
        back=("tests/test_app.py", "tests/test_b.py"), next="edit"),
    "agent removes a test and nothing else": Row(
        commits({"tests/test_app.py": None}), kept=(), back=("tests/test_app.py",),
        next="propose"),
    "agent weakens a test and writes the oracle": Row(
        commits({**MIXED, "tests/test_app.py": ""}), back=("tests/test_app.py", ORACLE)),
    "maintainer weakens a test beside code": Row(
        commits({"src/app.py": CODE, "tests/test_app.py": ""}), who="alice",
        kept=("src/app.py", "tests/test_app.py"), back=()),
    "agent brings a maintainer's oracle from a release": Row(
        brought_from_a_release, runs_as="alice", kept=("src/app.py", ORACLE), back=(),
        next="stop"),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_block_as_printed_ends_in_an_accepted_push(site, row):
    mended(site, row)


SET = ("  ordinary-refs:", "  write-set: {mode: enforce, of: agents, may_touch: [source, "
       "proposals, \"docs/**\"], may_add: [\"tests/properties/**\"]}\n\n  ordinary-refs:")
NO_PROPOSALS = ("may_touch: [source, proposals, ", "may_touch: [source, ")


@pytest.mark.parametrize("row", [
    pytest.param(Row(commits({"src/app.py": CODE, "tests/test_app.py": "pass\n", "Makefile": "x"}),
                     back=("tests/test_app.py", "Makefile")), id="tests and code"),
    pytest.param(Row(commits({**MIXED, "tests/test_app.py": "pass\n", "a b/$x": "1\n"}),
                     back=("tests/test_app.py", "a b/$x", ORACLE)), id="tests, code and oracle"),
    pytest.param(Row(commits({f"lib/{n % 7}/{n}.py": "" for n in range(60)}, MIXED),
                     back=("lib/1/1.py", "lib/6/6.py", ORACLE)), id="sixty paths"),
    pytest.param(Row(on_feature({"tests/properties/test_p.py": "p = 1\n"}, then=commits(
        {"tests/properties/test_p.py": "p = 2\n", "Makefile": "x"}, to="feature")),
        branch="feature", kept=("tests/properties/test_p.py",), back=("Makefile",)),
        id="a property on a branch"),
    pytest.param(Row(commits({"tests/test_app.py": "pass\n"}), kept=(), next="propose",
                     back=("tests/test_app.py",)), id="tests alone"),
])
def test_the_block_of_a_write_set_works(site, row):
    site.edit_policy(*SET)
    mended(site, row)


def test_no_proposal_is_advised_to_who_may_write_none(site):
    site.edit_policy(*SET)
    site.edit_policy(*NO_PROPOSALS)
    site.commit({"tests/test_app.py": "pass\n"})
    assert site.push("HEAD:refs/heads/main", as_="agent-7") == 1
    assert "do:  nothing else is in this push; alice or bob can make it" in site.told
    assert script(site.told) == []


EVERYTHING = {"src/app.py": CODE, ORACLE: "{}\n", "conftest.py": "c = 1\n", LEASE: leased("z"),
              CORPUS: PRICES}


@pytest.mark.parametrize("row", [
    pytest.param(Row(commits(EVERYTHING), branch="main-ID", back=(ORACLE, "conftest.py")),
                 id="agent starts main"),
    pytest.param(Row(commits(EVERYTHING, to="topic"), branch="topic", back=(ORACLE, LEASE)),
                 id="agent starts a branch"),
    pytest.param(Row(commits({"src/app.py": CODE}), branch="main-ID", back=(), next="edit"),
                 id="agent starts main with code"),
    pytest.param(Row(commits(EVERYTHING), who="alice", back=(), kept=tuple(EVERYTHING)),
                 id="maintainer starts main"),
    pytest.param(Row(commits(EVERYTHING, to="topic"), who="alice", branch="topic",
                     back=(ORACLE, LEASE)), id="maintainer starts a branch"),
    pytest.param(Row(tagged, who="alice", back=()), id="maintainer starts main with a tag"),
])
def test_the_first_push_of_all_is_mended(empty_site, row):
    mended(empty_site, row)


@pytest.mark.parametrize(("build", "who"), [
    pytest.param(commits({"caf\u00e9/conftest.py": "c = 1\n", "src/app.py": CODE}), "agent-7",
                 id="wiring below a name that no terminal types"),
    pytest.param(commits({"or\u200bacle/x.json": "{}\n", "src/app.py": CODE}), "agent-7",
                 id="an oracle with an invisible character"),
])
def test_names_that_cannot_be_typed_get_words_and_no_commands(site, build, who):
    assert site.push(*build(site), as_=who) == 1
    assert script(site.told) == []
    assert "do:  no command can show these names; do it by hand: one commit on" in site.told


def test_a_branch_name_that_cannot_be_typed_gets_a_plain_one(site):
    mended(site, Row(commits({"src/app.py": CODE, ORACLE: "{}\n"}, to="th\u00e9"),
                     branch="policyd-ID"))


def test_what_was_touched_and_put_back_leaves_nothing_to_push(site):
    site.commit({ORACLE: "{}\n"})
    site.git("revert", "--no-edit", "HEAD")
    assert site.push("HEAD:refs/heads/main", as_="agent-7") == 1
    assert "do:  nothing is left of this push once that is put back; keep it local" in site.told
    assert script(site.told) == []


def test_a_file_to_edit_leaves_the_push_as_a_remark(site):
    """The oracle goes back by command, the literal by hand; then the remark is the push."""
    before = site.refs()
    assert site.push(*overlap(site), as_="agent-7") == 1
    commands = script(site.told)
    assert commands[-1].startswith("# mend what follows on top of it, then git push origin ")
    run(site, commands, "agent-7")
    assert site.refs() == before
    site.commit({"tests/test_new.py": "def test_it():\n    assert total(1) == total(1)\n"})
    run(site, [commands[-1].partition(", then ")[2]], "agent-7")
    assert site.refs()["refs/heads/main"] == site.tip()


def test_what_is_not_committed_stays(site):
    """A changed file, a staged one and an untracked one, none of them in the push."""
    site.commit({"src/old.py": "o = 1\n", "README": "read\n"})
    assert site.push("HEAD:refs/heads/main") == 0, site.err
    for who, branch in (("agent-7", "main"), ("alice", "main"), ("alice", "topic")):
        site.commit({"src/app.py": f"{CODE}# {who} {branch}\n", ORACLE: f'"{who} {branch}"\n'})
        (site.work / "src/old.py").write_text("o = 2\n")
        (site.work / "notes.txt").write_text("mine\n")
        assert site.push(f"HEAD:refs/heads/{branch}", as_=who) == 1
        run(site, script(site.told), who)
        assert (site.work / "src/old.py").read_text() == "o = 2\n"
        assert (site.work / "notes.txt").read_text() == "mine\n"
        assert site.git("show", "HEAD:src/old.py") == "o = 1"
        site.git("checkout", "-q", "src/old.py")
        (site.work / "notes.txt").unlink()


def test_a_push_that_somebody_overtook_is_made_again(site):
    pushed = moved_meanwhile(site)
    assert site.push(*pushed, as_="agent-7") == 1
    run(site, script(site.told), "agent-7")
    assert site.refs()["refs/heads/feature"] == site.tip()


def test_a_push_that_somebody_crossed_goes_to_a_branch_of_its_own(site):
    pushed = diverged_meanwhile(site)
    assert site.push(*pushed, as_="agent-7") == 1
    run(site, script(site.told), "agent-7")
    assert site.refs()[f"refs/heads/feature-{push_id(site)}"] == site.tip()


def test_a_shallow_push_is_made_whole(site):
    pushed = shallow(site)
    assert site.push(*pushed, as_="agent-7") == 1
    run(site, script(site.told), "agent-7")
    assert site.refs()["refs/heads/feature"] == site.tip()
