"""Proposals: one table of documents that are taken, and one of what is wrong in them."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import changed

from policyd.core.proposals import Asks, Proposal
from policyd.records.proposals import KINDS, MAX_BYTES, load, patch, shape

FLAKE = """\
kind: flake
nodeid: tests/test_api.py::test_rates
reason: upstream answers 429 without Retry-After
"""
QUARANTINE = FLAKE.replace("flake", "quarantine")
RECEIPT = """\
kind: receipt
entry_point: tax:total
input: {net: [1, 2.5, null]}
constraints: {currency: EUR 19.25}
reason: none has a net price
"""
LEASE = """\
kind: lease
id: prices
path: fixtures/data/prices.csv
allowed_relations: [R1_order]
reason: the order of rows matters nowhere
"""
LITERAL = """\
kind: literal
text: "application/json"
reason: the name of a format
"""
DRAFT = """\
kind: relation
id: MR02
relation: shuffled weights give the same parts, shuffled alike
entry: splitter:allocate
transform: permute
compare: canon-bag
must_not: skip the remainder, or assert one total
"""
GOLDEN = """\
kind: golden
path: tests/snap/bill.json
why: the currency is part of each line now
"""


def read(text: str | bytes) -> list[str]:
    """The faults as LINE:COLUMN: MESSAGE."""
    found = load("f", text.encode() if isinstance(text, str) else text)
    assert (found.proposal is None) == (found.said is None) == bool(found.faults)
    assert {fault.source for fault in found.faults} <= {"f"}
    return [str(fault).removeprefix("f:") for fault in found.faults]


@pytest.mark.parametrize(("text", "kind", "subject"), [
    (FLAKE, Asks.FLAKE, "tests/test_api.py::test_rates"),
    (FLAKE + "max_runs: 3\nfirst_seen: 2026-01-31\n", Asks.FLAKE, "tests/test_api.py::test_rates"),
    (changed(FLAKE, "tests/", "./tests/"), Asks.FLAKE, "tests/test_api.py::test_rates"),
    (QUARANTINE, Asks.QUARANTINE, "tests/test_api.py::test_rates"),
    (RECEIPT, Asks.RECEIPT, "tax:total"),
    (LEASE, Asks.LEASE, "fixtures/data/prices.csv"),
    (LEASE + "quantum: 0.01\nsha256: " + "9" * 64, Asks.LEASE, "fixtures/data/prices.csv"),
    (LITERAL, Asks.LITERAL, "application/json"),
    (DRAFT, Asks.RELATION, "MR02"),
    ("kind: relation\nid: R1\ntransform: permute rows\ncompare: bag\nmust_not: sort the output\n",
     Asks.RELATION, "R1"),
    (GOLDEN, Asks.GOLDEN, "tests/snap/bill.json"),
])
def test_what_is_taken(text, kind, subject):
    assert read(text) == []
    assert load("f", text.encode()).proposal == Proposal(kind, "f", (subject,))


DAY = "a proposal has no last day; the maintainer who adopts it says until when"
OWNER = "a proposal has no owner; the maintainer who adopts it says who answers for it"
ANSWER = "a proposal stores no expected value"
LOOSE = "a draft says what must hold, not when it may be skipped, rerun or frozen"
STATUS = "whether it blocks is for the maintainer who adopts it to say"
RECORDED = "who adopts it records it, from a commit of the branch"
BOUND = "a draft holds no number; who adopts it sets the bound"


@pytest.mark.parametrize(("text", "faults"), [
    ("", ["1:1: the file is empty"]),
    ("- kind: flake\n", ["1:1: one proposal a file, keys and values; a list of them is a file "
                         "each"]),
    ("flake\n", ["1:1: one proposal a file, keys and values; a list of them is a file each"]),
    ("nodeid: x\n", [f"1:1: missing key 'kind': one of {', '.join(KINDS)}"]),
    ("kind: freeze\n", [f"1:7: expected one of {', '.join(KINDS)}; found 'freeze'"]),
    ("kind: patch\n", [f"1:7: expected one of {', '.join(KINDS)}; found 'patch'"]),
    ("kind: [flake]\n", [f"1:7: expected one of {', '.join(KINDS)}; found a list"]),
    ("kind: flake\n", ["1:1: missing key 'nodeid'", "1:1: missing key 'reason'"]),
    (FLAKE + "expires_on: 2026-12-01\nowner: mei\n", [f"4:1: {DAY}", f"5:1: {OWNER}"]),
    (FLAKE + "until: tomorrow\n", [f"4:1: {DAY}"]),
    (FLAKE + "first_seen: 2026-1-1\n",
     ["4:13: expected a date written YYYY-MM-DD, found '2026-1-1'"]),
    (FLAKE + "first_seen: 2026-02-30\n",
     ["4:13: expected a date written YYYY-MM-DD, found '2026-02-30'"]),
    (FLAKE + "max_runs: 0\n", ["4:11: 0 is less than 1"]),
    (FLAKE + "id: x\n", ["4:1: unknown key 'id'; known: nodeid, reason, max_runs, first_seen"]),
    (FLAKE + "kind: lease\n", ["4:1: duplicate key 'kind'; it stands in line 1 already"]),
    (changed(FLAKE, "upstream answers 429 without Retry-After", '"..."'),
     ["3:9: '...' says nothing"]),
    (changed(FLAKE, "tests/test_api.py", "oracle/relations/t.py"),
     ["2:9: 'oracle/relations/t.py::test_rates' is a relation; relations never stand here, only "
      "in the freezes"]),
    (changed(QUARANTINE, "upstream answers 429 without Retry-After", "slow"),
     ["3:9: a reason has 12 characters and more; 'slow' has 4"]),
    (QUARANTINE + "status: frozen\n", ["4:1: unknown key 'status'; known: nodeid, reason"]),
    (RECEIPT + "baseline: HEAD\nexpected: 3\n", [f"6:1: {RECORDED}", f"7:1: {ANSWER}"]),
    (changed(RECEIPT, "{currency: EUR 19.25}", "{}"),
     ["4:14: constraints are a mapping that says what must hold"]),
    (changed(RECEIPT, "tax:total", "tax"),
     ["2:14: 'tax' is no entry point, such as package.module:function"]),
    (changed(LEASE, "[R1_order]", "[]"),
     ["4:20: a lease names the relations that may read its corpus"]),
    (changed(LEASE, "fixtures/data", ".."),
     ["3:7: '../prices.csv' is no path inside the repository; it begins at the root and has no . "
      "or .. in it"]),
    (LEASE + "sha256: abc\nexpires: 2027-01-01\n",
     ["6:9: 'abc' is no SHA-256: 64 hexadecimal digits", f"7:1: {DAY}"]),
    (changed(LITERAL, "application/json", "# all"),
     ["2:7: '# all' is no line of a list: something that can be seen, without white space around "
      "it and without # in front"]),
    (changed(LITERAL, '"application/json"', "19.25"),
     ["2:7: expected text, found 19.25; quote it"]),
    (GOLDEN + "content: '{}'\n", [f"4:1: {ANSWER}"]),
    (changed(GOLDEN, "why", "reason"), ["1:1: missing key 'why'",
                                        "3:1: unknown key 'reason'; known: path, why"]),
    ("a: &x 1\n", ["1:4: anchor '&x'; write it out where it is used",
                   f"1:1: missing key 'kind': one of {', '.join(KINDS)}"]),
    (b"kind: \xff\n", ["1:7: not valid UTF-8"]),
    ("kind: flake\n---\nkind: flake\n", None),
])
def test_a_fault_stands_where_it_is_mended(text, faults):
    found = read(text)
    assert found if faults is None else sorted(found) == sorted(faults)


@pytest.mark.parametrize(("old", "new", "fault"), [
    ("permute", "3", "5:12: a draft holds no number; say '3' in words, such as `twice`"),
    ("permute", "'3'", "5:12: a draft holds no number; say '3' in words, such as `twice`"),
    ("permute", "times 2", "5:12: a draft holds no number; say '2' in words, such as `twice`"),
    ("permute", "-.5e3", "5:12: a draft holds no number; say '5e3' in words, such as `twice`"),
    ("permute", "pytest.mark.skip on odd rows", f"5:12: {LOOSE}; take out 'pytest.'"),
    ("permute", "xfail where it breaks", f"5:12: {LOOSE}; take out 'xfail'"),
    ("permute", "permute, skip on error", f"5:12: {LOOSE}; take out 'skip'"),
    ("permute", "[a, b]", "5:12: expected text, found a list"),
    ("canon-bag", "0.01", None), ("canon-bag", "holds", None),
    ("assert one total", "assert total == 42", "7:11: a draft holds no number; say '42' in words, "
                                               "such as `twice`"),
    ("the same parts", "19.25", "3:11: a draft holds no number; say '19.25, shuffled alike' in "
                                "words, such as `twice`"),
    ("the same parts", "frozen parts", f"3:11: {LOOSE}; take out 'frozen'"),
    ("MR02", "", "2:4: expected text, found nothing"),
])
def test_a_draft_is_held_to_words(old, new, fault):
    found = read(changed(DRAFT, old, new))
    assert found == [fault] if fault else found[0].startswith("6:10: expected one of exact, bag")


@pytest.mark.parametrize(("line", "why"), [
    ("skip: true", LOOSE), ("xfail: R1", LOOSE), ("freeze: {}", LOOSE), ("reruns: 5", LOOSE),
    ("pass_needed: 3", LOOSE), ("reducer: sum", LOOSE), ("status: blocking", STATUS),
    ("status: policy", STATUS), ("safety: true", STATUS), ("expires: 2027-01-01", DAY),
    ("owner: mei", OWNER), ("expected: 42", ANSWER), ("expect: x", ANSWER), ("result: []", ANSWER),
    ("within: 0.01", BOUND), ("quantum: 0.01", BOUND), ("draws: 1", BOUND),
    ("min_applied: 1", BOUND)])
def test_a_draft_says_nothing_that_a_maintainer_decides(line, why):
    assert read(f"{DRAFT}{line}\n") == [f"8:1: {why}"]


@pytest.mark.parametrize("words", ["R1 and MR02 alike", "sha256 of the rows", "double each weight"])
def test_a_name_with_a_digit_is_no_number(words):
    assert read(changed(DRAFT, "permute", words)) == []


def test_too_large_a_proposal_is_not_read():
    assert read("#" * MAX_BYTES + "\n" + FLAKE) == [f"1:1: larger than {MAX_BYTES} bytes"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_kind_says_is_told_with_each_fault(kind):
    found = load("f", f"kind: {kind}\n".encode())
    assert found.faults
    assert found.shape == shape(kind)
    assert found.shape.startswith(f"kind: {kind}, ")


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_read_or_faulty(data):
    found = load("f", data)
    assert bool(found.faults) is (found.proposal is None)


def test_a_patch_is_about_the_paths_that_it_names():
    text = b"--- a/oracle/rates.json\n+++ b/oracle/rates.json\n@@\n--- /dev/null\n+++ b/oracle/n\n"
    assert patch("p.patch", text) == Proposal(Asks.PATCH, "p.patch",
                                              ("oracle/n", "oracle/rates.json"))


def test_the_proposals_on_the_page_for_pushers_are_taken():
    page = (Path(__file__).parents[2] / "docs/pushers.md").read_text()
    shown = re.findall(r"(?:^    \w+: .*\n)+", page, re.MULTILINE)
    found = [load("f", dedent(text).encode()) for text in shown]
    assert [(one.proposal.kind, one.faults) for one in found if one.proposal] == [
        (Asks.FLAKE, ()), (Asks.RELATION, ())]
    assert len(found) == 2


def test_the_page_for_pushers_tells_what_each_kind_says():
    page = (Path(__file__).parents[2] / "docs/pushers.md").read_text()
    for kind in KINDS:
        needed, _, free = shape(kind).removeprefix(f"kind: {kind}, ").partition("; if known ")
        row = next(line for line in page.splitlines() if line.startswith(f"| {kind} |"))
        said, may = row.removeprefix(f"| {kind} |").rstrip("| ").partition(" | ")[::2]
        assert all(re.search(rf"\b{key}\b", said) for key in needed.split(", "))
        assert all(re.search(rf"\b{key}\b", may) for key in free.split(", ") if key)
