"""`policyd record receipt`: inputs from a known, clean commit, and what must hold of them."""

from __future__ import annotations

import json

import pytest
from clones import Kept, day
from sites import MAIN, Site

from policyd.replay.sandbox import missing

FOLDER = "oracle/receipts"
PRICES = ("--input", '{"prices": [4, 9]}')
INT = ("--constraint", "type=int")
RECORD = ("receipt", "record", "app:total", *PRICES, *INT, "--sandbox", "none")
CODE = '''\
def parts(amount, n):
    if n == 0:
        raise ValueError("nobody")
    return [amount - n + 1] + [1] * (n - 1)
'''


@pytest.fixture
def clone(site: Site, monkeypatch: pytest.MonkeyPatch) -> Kept:
    kept = Kept(site)
    monkeypatch.chdir(site.work)
    return kept


@pytest.fixture
def parted(clone: Kept) -> Kept:
    """With a function that gives more than a number, past the hook: relations are for others."""
    clone.site.commit({"src/parted.py": CODE})
    clone.site.git("update-ref", "refs/remotes/origin/main", "HEAD")
    return clone


def recorded(clone: Kept, *arguments: str) -> str:
    return clone.refused("receipt", "record", *arguments, "--sandbox", "none")


def test_a_receipt_is_recorded_from_head_and_taken_by_the_server(clone):
    assert clone.record(*RECORD, "--constraint", "currency=EUR", "--name", "four",
                        "--owner", "alice") == 0, clone.out
    assert json.loads(clone.text(f"{FOLDER}/four.json")) == {
        "baseline": clone.site.tip(), "recorded": str(day(0)), "owner": "alice",
        "entry_point": "app:total", "input": {"prices": [4, 9]},
        "constraints": {"type": "int", "currency": "EUR"}}
    assert "note: currency: not checked here" in clone.out
    assert clone.commits().startswith("Record a receipt of app:total\n\nFrom ")
    clone.pushes()


@pytest.mark.skipif(missing() is not None, reason="there is no bubblewrap here")
def test_the_entry_point_is_called_in_the_sandbox(clone):
    assert clone.record(*RECORD[:-2], "--name", "four") == 0, clone.out
    assert clone.record("receipt", "check", f"{FOLDER}/four.json") == 0, clone.out


def test_another_input_is_another_file_and_may_follow_without_a_commit(clone):
    for value in ("[[1]]", "[[1, 2]]"):
        assert clone.record("receipt", "record", "app:total", "--input", value, *INT,
                            "--sandbox", "none") == 0, clone.out
    assert len(list((clone.work / FOLDER).glob("app-total-*.json"))) == 2
    assert recorded(clone, "app:total", "--input", "[[1, 2]]", *INT).endswith(
        "is there already; say another --name")


def test_a_dirty_clone_records_nothing(clone):
    clone.write("notes.txt", "x")
    assert clone.refused(*RECORD) == (
        "notes.txt: not committed; a receipt is recorded from a clean commit (what lies below "
        "oracle/receipts and is not committed does not count)")
    clone.write("src/app.py", "def total(prices): return 0\n")
    assert clone.refused(*RECORD).startswith("src/app.py and 1 more: not committed")


def test_a_commit_that_the_branch_does_not_have_is_no_baseline(clone):
    clone.site.commit({"notes.txt": "x"})
    assert clone.refused(*RECORD) == (
        f"HEAD ({clone.site.tip()[:12]}) is on no guarded branch of origin that is known here; "
        "record from one of its commits (origin/main)")
    clone.site.git("update-ref", "refs/remotes/origin/topic", "HEAD")
    assert "is on no guarded branch" in clone.refused(*RECORD)
    clone.site.git("update-ref", "refs/remotes/origin/release/1", "HEAD")
    assert clone.record(*RECORD) == 0, clone.out


def test_an_older_commit_of_the_branch_is_one(clone):
    clone.site.git("checkout", "--quiet", "HEAD~1")
    assert clone.record(*RECORD) == 0, clone.out


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["app", *PRICES, *INT], "is no entry point, such as package.module:function"),
    (["app:none", *PRICES, *INT], "cannot be called: AttributeError: module 'app' has no "
                                  "attribute 'none'"),
    (["none:total", *PRICES, *INT],
     "cannot be called: ModuleNotFoundError: No module named 'none'"),
    (["app:total", "--input", '{"price": 1}', *INT],
     "it takes other arguments: missing a required argument: 'prices'"),
    (["app:total", "--input", "{'a': 1}", *INT], "the input is no JSON: line 1, column 2"),
    (["app:total", "--input", '{"a": 1, "a": 2}', *INT],
     "duplicate key 'a'; it stands in line 1 already"),
    (["app:total", "--input", "@none.json", *INT], "none.json: No such file or directory"),
    (["app:total", *PRICES, "--constraint", "type"], "'type' is no constraint; write KEY=VALUE"),
    (["app:total", *PRICES, *INT, *INT], "the constraint type is said twice"),
    (["app:total", *PRICES, "--constraint", "type=list"],
     "nothing was written: type: list is wanted, it is int"),
    (["app:total", *PRICES, "--constraint", "length=2"],
     "nothing was written: length: int has none"),
    (["app:total", *PRICES, *INT, "--name", "../x"], "is no name for a receipt"),
    (["app:total", *PRICES, *INT, "--owner", "nobody"], "is no group of the policy and in none"),
])
def test_a_receipt_that_cannot_be_is_refused_in_a_sentence(clone, arguments, sentence):
    assert sentence in recorded(clone, *arguments)


@pytest.mark.parametrize(("given", "constraints", "problem"), [
    ('{"amount": 9, "n": 3}', ["type=list", "length=3", "sum-equals-input=amount"], None),
    ("[9, 3]", ["length=3"], None),
    ('{"amount": 9, "n": 3}', ["sum-equals-input=n"], "do not add up to n"),
    ("[9, 3]", ["sum-equals-input=amount"], "the input has no number under 'amount'"),
    ('{"amount": 9, "n": 3}', ["length=4"], "length: 4 is wanted, it is 3"),
    ("[9, 0]", ["type=list"], "it raises ValueError: nobody; where it has to, say --constraint "
                              "raises=ValueError"),
    ("[9, 0]", ["raises=ValueError"], None),
    ("[9, 0]", ["raises=KeyError"], "raises: KeyError is wanted, it raised ValueError"),
    ("[9, 3]", ["raises=ValueError"], "raises: ValueError is wanted, it returned"),
])
def test_what_can_be_checked_is(parted, given, constraints, problem):
    words = [word for one in constraints for word in ("--constraint", one)]
    if problem is None:
        assert parted.record("receipt", "record", "parted:parts", "--input", given, *words,
                             "--sandbox", "none") == 0, parted.out
    else:
        assert problem in recorded(parted, "parted:parts", "--input", given, *words)


def test_an_input_may_come_from_a_file_and_nothing_need_be_called(clone, tmp_path):
    (tmp_path / "in.json").write_text('{"prices": ["☂"]}')
    assert clone.record("receipt", "record", "app:total", "--input", f"@{tmp_path / 'in.json'}",
                        *INT, "--no-call", "--name", "odd") == 0, clone.out
    assert "☂" in clone.text(f"{FOLDER}/odd.json")


def test_receipts_are_looked_at_again(clone):
    assert clone.record(*RECORD, "--name", "four") == 0
    check = ("receipt", "check", "--sandbox", "none")
    assert clone.record(*check, f"{FOLDER}/four.json") == 0
    assert clone.out == f"{FOLDER}/four.json: holds\n"
    four = clone.text(f"{FOLDER}/four.json")
    clone.write(f"{FOLDER}/four.json", four.replace('"int"', '"str"'))
    assert clone.record(*check) == 1
    assert f"{FOLDER}/four.json:1: type: str is wanted, it is int\n" in clone.out
    clone.write(f"{FOLDER}/four.json", four.replace(clone.site.tip(), "1" * 40))
    assert clone.record(*check, "--no-call") == 1
    assert f"{FOLDER}/four.json:2:1: the baseline 111111111111 is on no guarded branch" in clone.out
    clone.write(f"{FOLDER}/four.json", four.replace("app:total", "app"))
    assert clone.record(*check, "--no-call") == 1
    assert "is no entry point" in clone.out
    assert clone.refused("receipt", "check", "README") == \
        "README is no receipt; they are below oracle/receipts"


def test_a_change_of_source_that_breaks_a_constraint_is_seen(clone):
    assert clone.record(*RECORD, "--name", "four") == 0
    clone.commits()
    clone.site.commit({"src/app.py": "def total(prices):\n    return str(sum(prices))\n"})
    assert clone.record("receipt", "check", f"{FOLDER}/four.json", "--sandbox", "none") == 1
    assert "type: int is wanted, it is str" in clone.out


def test_without_origin_there_is_no_known_commit(clone):
    clone.site.git("update-ref", "-d", f"refs/remotes/origin/{MAIN.rpartition('/')[2]}")
    assert clone.refused(*RECORD).endswith("; `git fetch origin` first")
