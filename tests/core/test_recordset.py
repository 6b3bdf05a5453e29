"""The records of a tree put together: what they say, and what is wrong between files."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import date

import pytest

from policyd.core.errors import Fault
from policyd.core.policy import Places
from policyd.core.recordset import together
from policyd.core.rows import (
    DatedRow,
    Drift,
    Kind,
    Lease,
    Parsed,
    Receipt,
    Record,
    Records,
    Relation,
)

HASH = "a" * 64
DAY = date(2026, 12, 1)
LEASE = Lease("prices", "leases/a.yaml", 1, "data/prices.csv", HASH, ("R1",))
LEASE_ROW = DatedRow(Kind.LEASE, "leases/a.yaml", 1, "prices", "data/prices.csv", "alice",
                     last=DAY)
RELATION = Relation("R1", "relations/t.yaml", 3, "blocking", functions=("prices", "shuffled"))
FREEZE = DatedRow(Kind.FREEZE, "freezes.json", 2, "R1", "R1", "alice", last=DAY)
FLAKE = DatedRow(Kind.FLAKE, "flakes.json", 3, "x", "tests/test_a.py::t", "alice", last=DAY)
KINDS = {"leases/a.yaml": Record.LEASES, "leases/b.yaml": Record.LEASES,
         "freezes.json": Record.FREEZES, "flakes.json": Record.FLAKES,
         "receipts/a.json": Record.RECEIPTS, "quarantine.yaml": Record.QUARANTINE}
TABLES = {"relations/t.yaml": Record.RELATIONS, "relations/u.yml": Record.RELATIONS,
          "relations/f.py": Record.RELATIONS}
BESIDE = Parsed(functions=("prices", "shuffled"))


def put(*parsed: Parsed, kinds=KINDS, hashes=None) -> Records:
    known = {"data/prices.csv": HASH} if hashes is None else hashes
    return together(parsed, kinds=kinds, seeds=(), hashes=known, places=Places())


def faults(*parsed: Parsed, tables: bool = True, hashes=None) -> list[str]:
    kinds = {**KINDS, **TABLES} if tables else KINDS
    return [str(fault) for fault in put(*parsed, kinds=kinds, hashes=hashes).faults]


def leased(**other) -> Parsed:
    return Parsed(leases=(replace(LEASE, **other),))


def related(**other) -> Parsed:
    return Parsed(relations=(replace(RELATION, **other),))


def test_records_are_put_together_in_the_order_of_files_and_lines():
    later = replace(FLAKE, line=9, subject="tests/test_b.py::t")
    receipt = Receipt("receipts/a.json", 1, "b" * 40, 2, "app:total")
    kinds = {**KINDS, **TABLES}
    whole = together(
        [Parsed(rows=(later, FLAKE)), Parsed(receipts=(receipt,)), BESIDE,
         Parsed(rows=(LEASE_ROW,), leases=(LEASE,)), Parsed(relations=(RELATION,))],
        kinds=kinds, seeds=("s/b", "s/a"), hashes={"data/prices.csv": HASH}, places=Places())
    assert whole == Records((FLAKE, later, LEASE_ROW), (LEASE,), (RELATION,), (receipt,),
                            ("s/a", "s/b"), kinds=kinds)


def test_nothing_is_fine():
    assert put(kinds={}) == Records()


def test_what_is_wrong_in_files_is_told_with_what_is_wrong_between_them():
    one, two = Fault("leases/b.yaml", 7, 2, "b"), Fault("flakes.json", 1, 1, "a")
    found = put(Parsed(faults=(one,)), Parsed(faults=(two, two)), leased(), hashes={}).faults
    assert [fault.source for fault in found] == ["flakes.json", "leases/a.yaml", "leases/b.yaml"]


def test_of_two_rows_about_one_thing_the_one_that_ends_first_is_kept():
    """C126: never the later date."""
    sooner, never = replace(FLAKE, line=9, last=date(2026, 11, 1)), replace(FLAKE, last=None)
    for rows in ((FLAKE, sooner), (sooner, FLAKE), (never, sooner)):
        assert put(Parsed(rows=rows)).rows == (sooner,)


@pytest.mark.parametrize(("other", "wrong"), [
    ({"id": "prices", "corpus": "data/x.csv"},
     "lease 'prices' again; it stands in leases/a.yaml:1 already"),
    ({"id": "x"}, "the corpus 'data/prices.csv' again; it stands in leases/a.yaml:1 already"),
])
def test_a_lease_and_a_corpus_stand_in_one_file(other, wrong):
    second = leased(path="leases/b.yaml", line=4, **other)
    hashes = {"data/prices.csv": HASH, "data/x.csv": HASH}
    for parsed in ((leased(), second), (second, leased())):
        assert faults(*parsed, tables=False, hashes=hashes) == [f"leases/b.yaml:4:1: {wrong}"]


def test_a_lease_that_stands_twice_in_one_file_is_for_its_loader_to_tell():
    assert faults(leased(), leased(line=9), tables=False) == []


def test_a_relation_stands_in_one_table():
    assert faults(related(), related(path="relations/u.yml", line=5), BESIDE) == [
        "relations/u.yml:5:1: relation 'R1' again; it stands in relations/t.yaml:3 already"]


@pytest.mark.parametrize("found", ["b" * 64, None])
def test_a_corpus_that_is_not_what_its_lease_says_drifted(found):
    records = put(leased(), hashes={"data/prices.csv": found})
    assert records.drifts == (Drift(LEASE, found),)
    assert records.faults == ()


def test_a_corpus_whose_hash_is_not_known_yet_is_a_fault():
    records = put(leased(), hashes={})
    assert records.drifts == ()
    assert [str(fault) for fault in records.faults] == [
        "leases/a.yaml:1:1: 'data/prices.csv': its hash is not known yet; `policyd lease warm "
        "REPO`"]


NO_FUNCTION = "relation 'R1': no Python file beside the table defines the function"


@pytest.mark.parametrize(("parsed", "found"), [
    ((leased(), related(leases=("prices",)), BESIDE), []),
    ((leased(relations=("R1", "R2")), related(), BESIDE),
     ["leases/a.yaml:1:1: lease 'prices' allows the relation 'R2', which no table has"]),
    ((related(leases=("prices", "x")), leased(), BESIDE),
     ["relations/t.yaml:3:1: relation 'R1' reads the lease 'x', which no file has"]),
    ((leased(relations=("R2",)), related(leases=("prices",)),
      related(id="R2", line=9), BESIDE),
     ["relations/t.yaml:3:1: relation 'R1' is not among the allowed_relations of the lease "
      "'prices'"]),
    ((leased(), related(leases=("prices",), rounds=True), BESIDE),
     ["leases/a.yaml:1:1: lease 'prices' has no quantum; the relation 'R1', which reads it, "
      "rounds"]),
    ((leased(quantum="0.01"), related(leases=("prices",), rounds=True), BESIDE), []),
    ((related(rounds=True), BESIDE), []),
    ((related(),), [f"relations/t.yaml:3:1: {NO_FUNCTION} 'prices'",
                    f"relations/t.yaml:3:1: {NO_FUNCTION} 'shuffled'"]),
    ((related(), Parsed(functions=("prices",)), Parsed(functions=("shuffled",))), []),
    ((related(), Parsed(functions=("price",)), Parsed(functions=("shuffled",))),
     [f"relations/t.yaml:3:1: {NO_FUNCTION} 'prices'"]),
    ((Parsed(rows=(FREEZE,)), related(freezable=True), BESIDE), []),
    ((Parsed(rows=(FREEZE,)), related(), BESIDE),
     ["freezes.json:2:1: the relation 'R1' is not freezable"]),
    ((Parsed(rows=(FREEZE,)), related(id="R2", freezable=True), BESIDE),
     ["freezes.json:2:1: no table has the relation 'R1'"]),
])
def test_leases_relations_functions_and_freezes_agree(parsed, found):
    assert faults(*parsed) == found


def test_without_a_table_leases_and_freezes_stand_alone():
    """BASE has a lease and a freeze for a relation, and no table; Python files are none."""
    parsed = (leased(), Parsed(rows=(FREEZE,)))
    assert faults(*parsed, tables=False) == []
    python = {**KINDS, "relations/f.py": Record.RELATIONS, "relations/G.PY": Record.RELATIONS}
    assert put(*parsed, kinds=python).faults == ()
    assert len(faults(*parsed)) == 2


@pytest.mark.parametrize(("broken", "found"), [
    ("relations/t.yaml", 0), ("relations/f.py", 0), ("flakes.json", 2), ("leases/b.yaml", 2)])
def test_what_hangs_on_a_table_that_cannot_be_read_is_not_told_as_well(broken, found):
    wrong = Parsed(faults=(Fault(broken, 1, 1, "x"),))
    assert len(faults(leased(), Parsed(rows=(FREEZE,)), wrong)) == 1 + found


def test_a_lease_that_cannot_be_read_is_not_told_as_missing_too():
    wrong = Parsed(faults=(Fault("leases/b.yaml", 1, 1, "x"),))
    assert faults(related(leases=("x",)), BESIDE, wrong) == ["leases/b.yaml:1:1: x"]


@pytest.mark.parametrize("kind", [Kind.FLAKE, Kind.QUARANTINE])
def test_no_relation_stands_in_flakes_or_quarantine_wherever_relations_are(kind):
    row = replace(FLAKE, kind=kind, subject="Checks/Pairs/x.py::MR00")
    places = Places(relations="checks/pairs")
    found = together([Parsed(rows=(row,))], kinds=KINDS, seeds=(), hashes={}, places=places)
    assert [str(fault) for fault in found.faults] == [
        "flakes.json:3:1: 'Checks/Pairs/x.py::MR00' is a relation; relations never stand here, "
        "only in the freezes"]
    assert put(Parsed(rows=(row,))).faults == ()


def test_of_two_rows_about_a_relation_both_are_told():
    rows = tuple(replace(FLAKE, line=line, subject="oracle/relations/x.py::t")
                 for line in (3, 9))
    assert [fault.line for fault in put(Parsed(rows=rows)).faults] == [3, 9]


def test_putting_together_loads_no_parser():
    show = "import policyd.core.recordset, sys; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-I", "-c", show], capture_output=True, text=True,
                         check=True)
    assert not {"yaml", "json", "msgspec", "policyd.records"} & set(run.stdout.split())
