"""`policyd adopt`: what an agent proposed becomes a record by the commands that it prints.

Each is tried by real pushes: agent-7 proposes on main, bob adopts in the clone and pushes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from clones import FREEZABLE
from records_made import DAY, relation, table, today
from sites import MAIN, Site, listing

FILE = "proposals/slow.yaml"
FLAKE = ("kind: flake\nnodeid: tests/test_slow.py::test_it\n"
         "reason: the rate server is slow\n")
QUARANTINE = FLAKE.replace("flake", "quarantine")
DRAFT = ("kind: relation\nid: MR07\ntransform: shuffled prices\ncompare: canon-bag\n"
         "must_not: sort the output\nrelation: the order of the prices changes nothing\n"
         "entry: app:total\n")
RECEIPT = ("kind: receipt\nentry_point: app:total\ninput: {prices: [1, 2.5]}\n"
           "constraints: {currency: EUR, type: float}\nreason: none has a fraction\n")
LEASE = ("kind: lease\nid: rates\npath: fixtures/data/rates.csv\n"
         "allowed_relations: [R1_order]\nreason: made rates\n")
LITERAL = "kind: literal\ntext: EUR 19.25\nreason: the name of a rate\n"
GOLDEN = "kind: golden\npath: tests/snap/bill.json\nwhy: another currency\n"


class Adopting:
    """The clone of a site, as bob works in it."""

    def __init__(self, site: Site) -> None:
        self.site, self.work = site, site.work
        site.git("config", "policyd.owner", "bob")
        site.commit({**table(relation("R1_order"), FREEZABLE), "fixtures/data/rates.csv": "rate\n",
                     "fixtures/freezes.json": "[]\n"}, "Add relations")
        assert site.push(f"HEAD:{MAIN}", as_="alice") == 0, site.err

    def proposed(self, text: str, path: str = FILE, who: str = "agent-7") -> None:
        self.site.git("-c", "user.name=agent", "commit", "-q", "--allow-empty", "-m", "Start")
        self.site.commit({path: text}, "Propose")
        assert self.site.push(f"HEAD:{MAIN}", as_=who) == 0, self.site.err
        self.site.git("fetch", "--quiet", "origin")

    def adopt(self, *arguments: str, path: str = FILE) -> str:
        """Adopt, then run what is printed; all that it said."""
        assert self.site.policyd("adopt", path, *arguments) == 0, self.site.out
        said = self.site.out
        lines = [line for line in said.splitlines() if line.startswith("  git ")]
        done = subprocess.run(["sh", "-e"], input="\n".join(lines), cwd=Path.cwd(), text=True,
                              env=self.site.environment(), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert not (self.work / path).exists()
        assert self.site.git("status", "--porcelain") == ""
        return said

    def refused(self, *arguments: str, path: str = FILE) -> str:
        """What it says where it writes nothing."""
        before = listing(self.work)
        assert self.site.policyd("adopt", path, *arguments) in (1, 2), self.site.out
        assert {name: one for name, one in listing(self.work).items() if ".git" not in name} == {
            name: one for name, one in before.items() if ".git" not in name}
        return self.site.out

    def pushes(self, who: str = "bob") -> int:
        return self.site.push(f"HEAD:{MAIN}", as_=who)

    def text(self, path: str) -> str:
        return (self.work / path).read_text()


@pytest.fixture
def clone(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Adopting]:
    monkeypatch.chdir(site.work)
    with open("/dev/null") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        yield Adopting(site)


def test_a_flake_becomes_a_row(clone):
    clone.proposed(FLAKE + "max_runs: 2\nfirst_seen: 2026-02-01\n")
    said = clone.adopt("--days", "10")
    rows = json.loads(clone.text("tests/ledger/flake_ledger.json"))["entries"]
    assert rows[-1] == {
        "id": "slow.it", "nodeid": "tests/test_slow.py::test_it",
        "reason": "the rate server is slow", "first_seen": "2026-02-01",
        "expires_on": str(today() + 10 * DAY), "owner": "bob", "max_runs": 2}
    assert "note: it came by Dev; the push is for another maintainer" in said
    assert clone.pushes("agent-7") == 1
    assert clone.pushes() == 0, clone.site.err


def test_a_maintainer_who_proposed_is_refused_and_another_is_not(clone):
    clone.proposed(FLAKE, who="bob")
    clone.adopt("--until", str(today() + 20 * DAY), "--owner", "alice", "--reason", "it is slow")
    assert clone.pushes() == 1
    assert clone.site.told[0] == f"policyd: fair-proposals: {FILE} is your own"
    assert clone.pushes("alice") == 0, clone.site.err


@pytest.mark.parametrize(("more", "status"), [
    (("--days", "20"), "frozen"), (("--open",), "open")])
def test_a_quarantine_becomes_a_row(clone, more, status):
    clone.proposed(QUARANTINE)
    clone.adopt(*more)
    assert f"status: {status}" in clone.text("oracle/quarantine.yaml").partition("test_slow")[2]
    assert clone.pushes() == 0, clone.site.err


def test_a_receipt_is_recorded_from_head(clone):
    clone.proposed(RECEIPT)
    head = clone.site.tip()
    clone.adopt("--no-call")
    made = json.loads(clone.text("oracle/receipts/slow.json"))
    assert made == {"baseline": head, "recorded": str(today()), "entry_point": "app:total",
                    "input": {"prices": [1, 2.5]}, "notes": "none has a fraction",
                    "constraints": {"currency": "EUR", "type": "float"}}
    assert clone.pushes() == 0, clone.site.err


def test_a_lease_pins_what_the_file_is(clone):
    clone.proposed(LEASE)
    clone.adopt("--days", "100")
    assert "allowed_relations: [R1_order]" in clone.text("fixtures/leases/rates.yaml")
    assert clone.pushes() == 0, clone.site.err


def test_a_lease_of_another_file_than_was_seen_is_not_recorded(clone):
    clone.proposed(f"{LEASE}sha256: {'9' * 64}\n")
    assert "fixtures/data/rates.csv is not what was proposed" in clone.refused("--days", "100")


@pytest.mark.parametrize("before", [None, "# shared\nEUR 7.00", "EUR 7.00\n"])
def test_a_literal_is_a_line_of_the_list(clone, before):
    if before is not None:
        clone.site.commit({"oracle/allow-literals.txt": before})
        assert clone.pushes("alice") == 0
    clone.proposed(LITERAL)
    clone.adopt()
    start = "" if before is None else before.rstrip("\n") + "\n"
    assert clone.text("oracle/allow-literals.txt") == start + "EUR 19.25\n"
    assert clone.pushes() == 0, clone.site.err


@pytest.mark.parametrize(("compare", "keys"), [
    ("canon-bag", "compare: bag"), ("exact", "compare: exact"),
    ("tolerance", "within: mr07_within"), ("quota", "within: mr07_within"),
    ("map", "map: mr07_expected_of"), ("subset", "compare: subset")])
def test_a_draft_becomes_a_policy_row_with_functions_to_write(clone, compare, keys):
    clone.proposed(DRAFT.replace("canon-bag", compare))
    said = clone.adopt("--days", "100")
    rows, functions = (clone.text(f"oracle/relations/app.{end}") for end in ("yaml", "py"))
    assert keys in rows
    assert "status: policy" in rows
    assert "# MR07 as drafted: shuffled prices; it must not sort the output." in functions
    compile(functions, "app.py", "exec")
    assert "policyd replay admit HEAD MR07" in said
    assert clone.pushes() == 0, clone.site.err


def test_what_a_draft_leaves_out_is_asked_for(clone):
    clone.proposed("kind: relation\nid: MR07\ntransform: permute\ncompare: exact\n"
                   "must_not: sort the output\n")
    assert "say --entry MODULE:FUNCTION" in clone.refused()
    assert "say it with --relation TEXT" in clone.refused("--entry", "app:total")
    clone.adopt("--entry", "app:total", "--relation", "the order changes nothing")


def test_a_recording_is_left_to_the_maintainer(clone):
    clone.proposed(GOLDEN)
    assert clone.site.policyd("adopt", FILE) == 0
    assert clone.site.out.startswith("why: another currency; record it from a run of your own")
    assert (clone.work / FILE).exists()
    clone.site.commit({"tests/snap/bill.json": "{}\n"})
    clone.adopt()
    assert clone.pushes() == 0, clone.site.err


def test_a_patch_is_applied_by_the_maintainer(clone):
    before = clone.site.tip()
    clone.site.commit({"oracle/rates.json": '{"currency": "USD"}\n'})
    patch = clone.site.git("diff", "--binary", before, "HEAD") + "\n"
    clone.site.git("reset", "-q", "--hard", before)
    clone.proposed(patch, "proposals/4e1c07.patch")
    clone.adopt(path="proposals/4e1c07.patch")
    assert json.loads(clone.text("oracle/rates.json")) == {"currency": "USD"}
    assert clone.pushes() == 0, clone.site.err


def test_it_works_from_a_folder_below(clone, monkeypatch):
    clone.proposed(FLAKE)
    (clone.work / "docs").mkdir()
    monkeypatch.chdir(clone.work / "docs")
    assert clone.site.policyd("adopt", f"../{FILE}", "--days", "10") == 0
    lines = [line for line in clone.site.out.splitlines() if line.startswith("  git ")]
    subprocess.run(["sh", "-e"], input="\n".join(lines), text=True, check=True,
                   env=clone.site.environment(), capture_output=True)
    assert clone.pushes() == 0, clone.site.err


@pytest.mark.parametrize(("text", "more", "says"), [
    (FLAKE, (), "say the last day: --until DATE, or --days N"),
    (FLAKE, ("--days", "99"), "is too far"),
    (FLAKE, ("--days", "9", "--owner", "nobody-here"), "is no group of the policy"),
    (FLAKE + "owner: mei\n", ("--days", "9"), f"{FILE}:4:1: a proposal has no owner"),
])
def test_what_cannot_be_adopted_writes_nothing(clone, text, more, says):
    clone.site.edit_policy("fair-proposals: {mode: enforce}", "fair-proposals: {mode: warn}")
    clone.site.commit({FILE: text})
    assert clone.site.push(f"HEAD:{MAIN}", as_="agent-7") == 0
    assert says in clone.refused(*more)


def test_a_file_that_git_does_not_know_is_none(clone):
    (clone.work / "proposals").mkdir()
    (clone.work / FILE).write_text(FLAKE)
    assert "is no file that git knows" in clone.refused("--days", "9")
    assert "is no file that git knows" in clone.refused("--days", "9", path="proposals/none.yaml")
