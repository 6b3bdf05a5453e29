"""No name, link, message or file in the push takes a protected path out of its zone.

Families of public reports: globs that miss direct children, dot files or other cases
(gitea#25423 and #33370, picomatch#127, stash-filehooks-plugin#12, odysseus#5096), a push that
loosens its own policy (TheRock#3118), links in place of folders (MailFathom#162, dulwich#2324),
submodules (go-git#401), LFS pointers (git-lfs#2824), phrases that exempt (git-hooks#24).

Not covered yet: a copy of an oracle file elsewhere (C041) waits for no-answer-key.
"""

from __future__ import annotations

import pytest
from pushing import Entry, Gitlink, Link, accepted, made, refused, rules
from records_made import LEDGER, ledger
from sites import MAIN, Site

APART, WRITERS, TREE = "separate-authorship", "protected-writers", "ordinary-tree"
KEPT, RECEIPTS, VALID = "kept-rows", "recorded-receipts", "valid-records"
ORACLE = "oracle/rates.json"
SOURCE: dict[str | bytes, Entry] = {"src/app.py": b"x = 1\n"}
POINTER = (b"version https://git-lfs.github.com/spec/v1\n"
           b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
           b"size 12345\n")


def push_of(site: Site, *commits: dict[str | bytes, Entry]) -> str:
    """The refspec of these commits on top of BASE, for main."""
    tip = site.base_tip
    for entries in commits:
        tip = made(site, entries, on=tip)
    return f"{tip}:{MAIN}"


# --- Which names a zone holds ----------------------------------------------------------------

PROTECTED = [
    "oracle/README", "oracle/a.json", "oracle/sub/b.json", "oracle/a/b/c/d/src/app.py",
    "oracle/.hidden.json", "oracle/.d/x.json", "oracle/sub/.d/.e/.f", "oracle/-x", "oracle/*",
    "fixtures/leases/.keep", LEDGER,
]


@pytest.mark.parametrize("path", PROTECTED)
def test_every_name_below_a_protected_folder_is_protected(site, path):
    """C047, C048"""
    content = ledger().encode() if path == LEDGER else b"changed\n"
    refused(site, push_of(site, SOURCE | {path: content}), by={APART})


VARIANTS = [
    "Oracle/expected.json", "ORACLE/receipts/expected.json", "oracle. . /x", "ora\u200bcle/x",
    "oracle\ufe0f/x", "\ufefforacle/x", "o\u00adracle/x", "ORACLE\u200d./x",
    "tests/LEDGER/Flake_Ledger.JSON ", "fixture\u017f/freezes.json",
]


@pytest.mark.parametrize("path", VARIANTS)
def test_a_name_that_some_work_tree_takes_for_a_protected_one_is_protected(site, path):
    """C050"""
    refused(site, push_of(site, SOURCE | {path: b"changed\n"}), by={APART, WRITERS},
            as_="agent-7")


@pytest.mark.parametrize("name", ["prüfung", "pru\u0308fung", "PRÜFUNG", "PRU\u0308FUNG"])
def test_a_zone_is_met_in_every_unicode_form(site, name):
    """C050: the policy writes one of them."""
    site.edit_policy('oracle: ["oracle/**"]', 'oracle: ["oracle/**", "prüfung/**"]')
    refused(site, push_of(site, SOURCE | {f"{name}/x": b"changed\n"}), by={APART})


HARMLESS = ["docs/oracle/notes.md", "src/my_oracle/x.py", "flake_ledgerXjson.txt", "oracles/x",
            "src/oracle/receipts/expected.json", "oraclе/x", "xoracle/x", "oracle.json",
            "fixtures/other/x", "tests/ledger/flake_ledger_json", "fixtures/freezes.json5"]


def test_names_that_only_look_alike_are_not_protected(site):
    """C049: one of them is spelled with a Cyrillic letter, which every file system keeps apart."""
    accepted(site, push_of(site, SOURCE | dict.fromkeys(HARMLESS, b"x\n")), as_="agent-7")


def test_a_protected_file_on_a_new_branch_is_protected(site):
    """C046"""
    tip = made(site, SOURCE | {ORACLE: b"{}\n"}, on=site.base_tip)
    refused(site, f"{tip}:refs/heads/new", by={APART})


# --- The zone moves away, or something else stands in its place -------------------------------

def moved(site: Site, old: str, new: str) -> str:
    site.git("mv", old, new)
    return site.commit({}, "Move it")


@pytest.mark.parametrize(("old", "new", "by"), [
    ("oracle", "oracle2", {WRITERS, KEPT}), (ORACLE, "docs/e.json", {WRITERS}),
    ("oracle", "src/oracle", {WRITERS, KEPT, APART, RECEIPTS}),
    ("tests/ledger", "ledger", {WRITERS, KEPT}), ("fixtures", "data", {WRITERS, KEPT})])
def test_an_agent_cannot_move_what_is_protected_out_of_its_zone(site, old, new, by):
    """C040: the second push, of what lies elsewhere by now, is never reached."""
    (site.work / "docs").mkdir()
    moved(site, old, new)
    refused(site, f"HEAD:{MAIN}", by=by, as_="agent-7")


def test_a_maintainer_may_move_the_oracle_away_but_not_with_source(site):
    """C040: who may write the zone may empty it; the case asks for an administrator."""
    moved(site, "oracle", "oracle2")
    tip = site.commit({"src/app.py": "x = 1\n"})
    refused(site, f"{tip}:{MAIN}", by={APART, RECEIPTS})
    accepted(site, f"{tip}~1:{MAIN}")


IN_PLACE: list[tuple[dict[str | bytes, Entry], set[str], str]] = [
    ({"oracle": Link(b"src/fixtures")}, {APART, RECEIPTS}, "oracle a link"),
    ({"oracle": b"a file\n"}, {APART, RECEIPTS}, "oracle a file"),
    ({"oracle": Gitlink("1" * 40)}, {APART, RECEIPTS}, "oracle a submodule"),
    ({"Oracle": Link(b"src")}, {APART}, "beside it, for who folds case"),
    ({"tests/ledger": Link(b"../src")}, {APART}, "above a protected file"),
    ({"fixtures": Link(b"src")}, {APART}, "above two protected folders"),
    ({"oracle/sub": Gitlink("1" * 40)}, {APART}, "a submodule inside"),
    ({"docs/x": Link(b"../oracle/receipts")}, set(), "a link into it"),
    ({"docs/x": Link(b"../docs/../ORACLE")}, set(), "a link into it, spelled otherwise"),
]


def test_a_submodule_where_the_receipts_belong_is_no_receipt_either(site):
    entries = {"oracle/receipts": Gitlink("1" * 40)}
    refused(site, push_of(site, entries), by={TREE, VALID})
    refused(site, push_of(site, entries, SOURCE), by={TREE, VALID, APART, RECEIPTS})


@pytest.mark.parametrize(("entries", "touched"), [row[:2] for row in IN_PLACE],
                         ids=[row[2] for row in IN_PLACE])
def test_nothing_else_stands_in_the_place_of_a_protected_folder(site, entries, touched):
    """C051: not even put there by who may write the zone; with source or without it."""
    refused(site, push_of(site, entries), by={TREE})
    refused(site, push_of(site, entries, SOURCE), by={TREE} | touched)


def test_a_link_stays_a_violation_when_it_was_parked_on_another_branch(site):
    """C051: what stands on a branch that nobody guards is no accepted state."""
    tip = made(site, {"oracle": None}, on=site.base_tip)
    tip = made(site, {"oracle": Link(b"src")}, on=tip)
    site.git("fetch", "--quiet", str(site.work), f"{tip}:refs/heads/parked", cwd=site.server)
    refused(site, f"{tip}:{MAIN}", by={TREE})


def test_submodules_outside_the_protected_zones_pass(site):
    """C053: put in, moved on, moved elsewhere and taken out, each with a change of source."""
    tip = site.base_tip
    for number, entries in enumerate([
            {"vendor/lib": Gitlink("1" * 40), "src/vendored": Gitlink("3" * 40)},
            {"vendor/lib": Gitlink("2" * 40)}, {"vendor/lib": None, "vendor/l2": Gitlink("2" * 40)},
            {"vendor/l2": None, "src/vendored": None}]):
        tip = made(site, {"src/app.py": b"x = %d\n" % number} | entries, on=tip)
        accepted(site, f"{tip}:{MAIN}", as_="agent-7")


# --- Contents and words that might exempt -----------------------------------------------------

def test_a_pointer_to_large_content_is_a_change_like_any_other(site):
    """C055"""
    refused(site, push_of(site, SOURCE | {"oracle/big.bin": POINTER}), by={APART})
    refused(site, push_of(site, {".gitattributes": b"oracle/* filter=lfs\n",
                                 "oracle/big.bin": POINTER}), by={WRITERS}, as_="agent-7")


@pytest.mark.parametrize("path", ["tests/test_big.py", "src/big.py"])
def test_a_pointer_where_a_test_or_its_source_belongs_cannot_be_cleared(site, path):
    """C055: the file that is compared is not in the repository."""
    files = SOURCE | {"tests/test_new.py": b"assert 1\n", path: POINTER}
    other = "unmarked-tests" if path.startswith("tests/") else "no-answer-key"
    refused(site, push_of(site, files), by={"literal-overlap", other})
    assert site.told[0].startswith(f"policyd: literal-overlap: {path}:")
    assert site.told[0].endswith(" cannot be read")


MESSAGES = [b"This reverts commit 0123456789012345678901234567890123456789.", b"[skip ci]",
            b"Merge branch 'main'\n\nskip-checks: true\nPolicyd: off\n"]


@pytest.mark.parametrize("message", MESSAGES)
def test_no_words_of_a_commit_exempt_it(site, message):
    """C056"""
    tip = made(site, SOURCE | {ORACLE: b"{}\n"}, on=site.base_tip, message=message)
    refused(site, f"{tip}:{MAIN}", by={APART})


@pytest.mark.parametrize("options", [
    ["skip-gate", "ci.skip", "policyd=off", "mode=observe"], ["policyd.json"],
    ["", "x" * 5000, "REMOTE_USER=alice", *(f"o{n}" for n in range(200))]],
    ids=lambda options: str(options[0]) or "empty")
def test_no_push_option_exempts(site, options):
    """C056"""
    told = [word for option in options for word in ("-o", option)]
    refused(site, *told, push_of(site, SOURCE | {ORACLE: b"{}\n"}), by={APART, WRITERS},
            as_="agent-7")


# --- A push that brings its own policy ---------------------------------------------------------

POLICIES = dict.fromkeys(
    ["policies/default.yaml", "policyd.yaml", ".policyd.yaml", ".policyd/policies/default.yaml",
     "active/current", "home/active/current", "policyd-key"],
    b"version: 1\nrepositories: ['**']\nmode: off\nguarded: [x]\nzones: {}\nrules: {}\n")


def test_a_policy_in_the_push_is_a_file_like_any_other(site):
    """C042: the policy is the server's; nothing of it lies in the repository."""
    refused(site, push_of(site, SOURCE | {ORACLE: b"{}\n"} | POLICIES), by={APART})
    assert site.policyd("policy", "apply") == 0


def test_a_policy_in_the_repository_changes_no_later_push(site):
    """C043: the case asks to refuse the first push; with no policy there, it means nothing."""
    first = made(site, POLICIES, on=site.base_tip)
    accepted(site, f"{first}:{MAIN}", as_="agent-7")
    second = made(site, SOURCE | {ORACLE: b"{}\n"}, on=first)
    refused(site, f"{second}:{MAIN}", by={APART})


ALLOWED = "oracle/allow-literals.txt"
PASTED: dict[str | bytes, Entry] = {"src/app.py": b'def f(): return "EUR 17.25"\n',
                                    "tests/test_f.py": b'assert f() == "EUR 17.25"\n'}


def test_the_list_of_shared_literals_is_read_from_the_base(site):
    """C042, C043: in the same push it allows nothing; put there by who may, alone, it does."""
    listed: dict[str | bytes, Entry] = {ALLOWED: b"EUR 17.25\n"}
    refused(site, push_of(site, PASTED, listed), by={APART, "literal-overlap"})
    refused(site, push_of(site, listed), by={WRITERS}, as_="agent-7")
    first = made(site, listed, on=site.base_tip)
    accepted(site, f"{first}:{MAIN}")
    accepted(site, f"{made(site, PASTED, on=first)}:{MAIN}", as_="agent-7")
    assert rules(site.told) == set()
