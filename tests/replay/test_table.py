"""Tables as a job loads them: rows with their functions, files and freezes, or one sentence."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from hashlib import sha256

import pytest
import yaml
from history import History
from trials import FUNCTIONS, NUMBERS, TABLE, TODAY, row

from policyd.adapters.gitrepo import PushedRepo
from policyd.core.errors import CannotJudge
from policyd.core.policy import Places
from policyd.core.rows import MAX_RECORD_BYTES
from policyd.replay import table
from policyd.replay.table import File, Function, Table

CORPUS = b"a,b\n1,2\n"


def lease(path: str = "oracle/seeds/c.csv", data: bytes = CORPUS, rows: tuple[str, ...] = ("R",)
          ) -> str:
    return yaml.safe_dump({"version": 1, "leases": [{
        "id": "corpus-1", "path": path, "sha256": sha256(data).hexdigest(), "owner": "mei",
        "expires": date(2026, 12, 1), "allowed_relations": list(rows)}]})


def listed(*rows: dict[str, object]) -> str:
    return yaml.safe_dump({"version": 1, "relations": list(rows)})


@pytest.fixture(scope="module")
def history(tmp_path_factory) -> History:
    return History(tmp_path_factory.mktemp("table") / "r.git")


def load(history: History, files: dict[str, str], today: date = TODAY) -> Table | None:
    tree = bytes.fromhex(history.tree_of(history.commit(files)))
    return table.load(PushedRepo(history.folder), tree, Places(), today)


def with_row(**more: object) -> dict[str, str]:
    return {TABLE: listed(row("R", "pkg.m:f", **more)), FUNCTIONS: NUMBERS}


def test_a_row_is_loaded_with_its_functions(history):
    there = load(history, with_row(roots=["lib"]))
    assert there is not None
    [one] = there.rows
    assert one.generator == Function("oracle/relations", "t", "number")
    assert one.transform == Function("oracle/relations", "t", "one_more")
    assert (one.follow_up, one.status, one.draws, one.is_property) == (
        "pkg.m:f", "blocking", 8, False)
    assert (there.roots, there.entries, there.paths) == (
        ("lib",), ("pkg.m:f",), ("oracle/relations",))


def test_steps_hold_the_entry_and_a_bound_may_be_a_number(history):
    there = load(history, with_row(steps={"reset": "pkg.m:reset"}, compare="tolerance",
                                   within="0.01"))
    assert there is not None
    assert there.rows[0].steps == {"reset": "pkg.m:reset", "f": "pkg.m:f"}
    assert there.rows[0].within == Fraction(1, 100)
    assert there.entries == ("pkg.m:f", "pkg.m:reset")


def test_a_tree_without_a_table_has_nothing_to_replay(history):
    assert load(history, {"src/m.py": ""}) is None
    assert load(history, {FUNCTIONS: NUMBERS}) is None


def test_what_tables_and_functions_say_has_one_sum(history):
    one, two, three = (load(history, files) for files in (
        with_row(), with_row() | {"src/m.py": "1"}, with_row() | {FUNCTIONS: NUMBERS + "\n"}))
    assert one is not None
    assert two is not None
    assert three is not None
    assert one.sha == two.sha != three.sha


def test_the_function_in_the_namesake_of_a_table_is_meant(history):
    there = load(history, with_row() | {"oracle/relations/other.py": "def number(draw): pass\n"})
    assert there is not None
    assert there.rows[0].generator.module == "t"


def test_a_seed_may_be_a_file_or_a_folder(history):
    files = with_row(seeds=["oracle/seeds"]) | {"oracle/seeds/b.csv": "", "oracle/seeds/a/c": ""}
    there = load(history, files)
    assert there is not None
    assert there.rows[0].files == (File("", "oracle/seeds/a/c"), File("", "oracle/seeds/b.csv"))
    assert there.paths == ("oracle/relations", "oracle/seeds/a/c", "oracle/seeds/b.csv")


def test_a_lease_that_allows_the_row_gives_it_its_corpus(history):
    there = load(history, with_row(leases=["corpus-1"]) | {
        "fixtures/leases/l.yaml": lease(), "oracle/seeds/c.csv": CORPUS.decode()})
    assert there is not None
    assert there.rows[0].files == (File("corpus-1", "oracle/seeds/c.csv"),)


REFUSED = {
    "no rows": ({TABLE: "version: 1\nrelations: []\n"},
                "a table without rows proves nothing.*a maintainer repairs the base's records"),
    "no yaml": ({TABLE: "version: [1\n"}, "t.yaml.*a maintainer repairs the base's records"),
    "a policy row of nobody": (
        with_row(status="policy", expires=date(2026, 12, 1)), "a policy row has an owner"),
    "a policy row without a day": (with_row(status="policy", owner="mei"), "has a last day"),
    "both sides are the same call": (with_row(transform="identity"), "both sides are the same"),
    "an expected value": (with_row(expected=[1]), "a row stores no expected value"),
    "a missing function": (with_row(generator="nobody"),
                           "no Python file beside it defines nobody, which R names"),
    "two functions": ({TABLE: listed(row("R", "m:f")), "oracle/relations/a.py": NUMBERS,
                       "oracle/relations/b.py": NUMBERS},
                      "number of R is defined in oracle/relations/a.py, oracle/relations/b.py; a "
                      "maintainer renames one"),
    "two rows of one id": (with_row() | {"oracle/relations/u.yaml": listed(row("R", "m:f"))},
                           "two tables below oracle/relations have a relation R; a maintainer "
                           "renames one"),
    "no lease": (with_row(leases=["corpus-1"]), "R reads the lease corpus-1, which is not there"),
    "a lease for others": (
        with_row(leases=["corpus-1"]) | {"fixtures/leases/l.yaml": lease(rows=("S",)),
                                         "oracle/seeds/c.csv": CORPUS.decode()},
        r"whose allowed_relations \(fixtures/leases/l.yaml\) do not name it"),
    "a corpus that drifted": (
        with_row(leases=["corpus-1"]) | {"fixtures/leases/l.yaml": lease(),
                                         "oracle/seeds/c.csv": "other"},
        "the corpus oracle/seeds/c.csv is not what its lease corpus-1 pins; a maintainer renews"),
    "a corpus that is gone": (
        with_row(leases=["corpus-1"]) | {"fixtures/leases/l.yaml": lease()},
        "is not what its lease corpus-1 pins"),
    "no seeds": (with_row(seeds=["oracle/seeds"]),
                 "R uses the seeds oracle/seeds, and there is none; a maintainer adds them or"),
    "a huge table": (with_row() | {"oracle/relations/u.yaml": "#" * (MAX_RECORD_BYTES + 1)},
                     "oracle/relations/u.yaml is larger than"),
    "freezes that are none": (
        with_row(status="freezable", reducer="sum") | {"fixtures/freezes.json": json.dumps([1])},
        "fixtures/freezes.json.*a maintainer repairs the base's records"),
}


@pytest.mark.parametrize(("files", "says"), REFUSED.values(), ids=REFUSED)
def test_a_table_that_is_not_in_order_is_no_verdict(history, files, says):
    with pytest.raises(CannotJudge, match=f"(?s){says}") as caught:
        load(history, files)
    assert "maintainer" in str(caught.value)
