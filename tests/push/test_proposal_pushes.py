"""Who asks, and who adopts: by real pushes.

alice and bob are maintainers, agent-7 is an agent. Whose push brought a proposal first is who
proposed it, on any branch, whatever the file is called since.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from closings import keep
from mending import Row, mended
from pushes import commits, run, script
from pushing import accepted, refused
from records_made import DAY, LEDGER, flake, ledger, today
from records_made import Row as Record
from sites import MAIN, Site

from policyd.adapters import repoindex

FILE, OTHER = "proposals/rates.yaml", "proposals/slow/new-name.yml"
ASKED = ("kind: flake\nnodeid: tests/test_slow.py::test_it\n"
         "reason: the rate server is slow\n")
OWN = {"fair-proposals"}


def row(name: str = "slow", owner: str = "bob") -> Record:
    """Far from its end: an accepted push is told nothing of it."""
    return flake(name, first=today(), ends=today() + 20 * DAY, owner=owner)


ADOPTED = {FILE: None, LEDGER: ledger(row())}


@pytest.fixture(scope="module")
def _asked(_based: Site, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """An agent's proposal stands on main, and none of BASE's rows is in the ledger."""
    site = _based.copied(tmp_path_factory.mktemp("asked"))
    keep(site, {LEDGER: ledger()})
    asks(site, "agent-7")
    return site


@pytest.fixture
def asked(_asked: Site, tmp_path: Path) -> Site:
    return _asked.copied(tmp_path)


def asks(site: Site, who: str | None, path: str = FILE, text: str = ASKED, to: str = MAIN) -> None:
    site.commit({path: text})
    accepted(site, f"HEAD:{to}", as_=who)


def brought(site: Site) -> list[tuple[str, tuple[str, ...]]]:
    """The proposals that the index remembers, and who brought them."""
    index = repoindex.load(str(site.state), repoindex.key_of(str(site.server)))
    return [(one.path, one.by) for one in index.proposed]


def test_an_agent_proposes_and_a_maintainer_adopts(asked):
    assert brought(asked) == [(FILE, ("agent-7",))]
    asked.commit(ADOPTED)
    accepted(asked, f"HEAD:{MAIN}", as_="bob")


def test_an_agent_does_not_adopt(asked):
    asked.commit(ADOPTED)
    refused(asked, f"HEAD:{MAIN}", by={"protected-writers", "fair-proposals"}, as_="agent-7")


def test_a_maintainer_does_not_adopt_what_they_proposed(site):
    asks(site, "alice")
    site.commit({FILE: None, LEDGER: ledger(row())})
    refused(site, f"HEAD:{MAIN}", by=OWN, as_="alice")
    accepted(site, f"HEAD:{MAIN}", as_="bob")


def test_recording_first_and_dropping_the_proposal_later_is_the_same(site):
    asks(site, "alice")
    site.commit({LEDGER: ledger(row())})
    refused(site, f"HEAD:{MAIN}", by=OWN, as_="alice")


def test_commits_apart_in_one_push_are_the_same(site):
    asks(site, "alice")
    site.commit({FILE: None})
    site.commit({LEDGER: ledger(row())})
    refused(site, f"HEAD:{MAIN}", by=OWN, as_="alice")


def test_a_moved_file_is_still_the_proposers(site):
    asks(site, "alice")
    site.commit({FILE: None, OTHER: ASKED})
    accepted(site, f"HEAD:{MAIN}", as_="bob")
    site.commit({OTHER: None, LEDGER: ledger(row())})
    refused(site, f"HEAD:{MAIN}", by=OWN, as_="alice")
    assert brought(site) == [(FILE, ("alice",))]


def test_who_changes_anothers_proposal_proposes_it_too(asked):
    asks(asked, "alice", text=ASKED.replace("slow\n", "slow at night\n"))
    assert brought(asked)[1:] == [(FILE, ("agent-7", "alice"))]
    asked.commit(ADOPTED)
    refused(asked, f"HEAD:{MAIN}", by=OWN, as_="alice")
    accepted(asked, f"HEAD:{MAIN}", as_="bob")


def test_who_merges_anothers_branch_did_not_propose(site):
    asks(site, "agent-7", to="refs/heads/agent/rates")
    site.git("switch", "-q", "--detach", site.base_tip)
    site.git("merge", "-q", "--squash", "HEAD@{1}")
    site.git("commit", "-qm", "Take the proposal")
    accepted(site, f"HEAD:{MAIN}", as_="alice")
    site.commit(ADOPTED)
    accepted(site, f"HEAD:{MAIN}", as_="alice")


def test_a_proposal_that_nobody_is_known_for_is_anybodys(site):
    asks(site, None)
    assert brought(site) == []
    site.commit(ADOPTED)
    accepted(site, f"HEAD:{MAIN}", as_="alice")


def test_a_proposal_that_goes_is_withdrawn_or_turned_down(site, asked):
    asks(site, "alice")
    site.commit({FILE: None})
    accepted(site, f"HEAD:{MAIN}", as_="alice")
    asked.commit({FILE: None})
    accepted(asked, f"HEAD:{MAIN}", as_="agent-7")


def test_another_row_beside_ones_own_proposal_passes(site):
    asks(site, "alice")
    site.commit({FILE: None, LEDGER: ledger(row("other", "alice"))})
    accepted(site, f"HEAD:{MAIN}", as_="alice")


@pytest.mark.parametrize(("asked_for", "files"), [
    ("kind: quarantine\nnodeid: tests/test_slow.py::test_it\nreason: upstream answers 429\n",
     {"oracle/quarantine.yaml": "version: 1\nrules:\n- {nodeid: 'tests/test_slow.py::test_it', "
                                "status: open, reason: upstream answers 429, owner: bob}\n"}),
    ("kind: literal\ntext: EUR 19.25\nreason: the name of a rate\n",
     {"oracle/allow-literals.txt": "EUR 19.25\n"}),
    ("kind: golden\npath: tests/snap/bill.json\nwhy: another currency\n",
     {"tests/snap/bill.json": "{}\n"}),
    ("kind: receipt\nentry_point: app:total\ninput: 3\nconstraints: {currency: EUR}\n"
     "reason: none is negative\n",
     {"oracle/receipts/new.json": json.dumps({
         "baseline": "BASE", "entry_point": "app:total", "input": -3,
         "constraints": {"currency": "EUR"}})}),
    ("kind: relation\nid: R7\ntransform: shuffled\ncompare: exact\nmust_not: sort the output\n",
     {"oracle/relations/r.yaml": json.dumps({"version": 1, "relations": [{
         "id": "R7", "relation": "the order changes nothing", "entry": "app:total",
         "generator": "prices", "transform": "shuffled", "compare": "exact", "status": "policy",
         "owner": "bob", "expires": str(today() + 100 * DAY)}]}),
      "oracle/relations/r.py": "def prices(draw): return []\n\n\n"
                               "def shuffled(draw, prices): return prices\n",
      "fixtures/freezes.json": "[]\n",
      "fixtures/leases/data.yaml": None}),
], ids=lambda text: text.split("\n")[0] if isinstance(text, str) else "")
def test_each_kind_is_adopted_by_another(site, asked_for, files):
    asks(site, "alice", text=asked_for)
    site.commit({FILE: None, **{path: text and text.replace("BASE", site.base_tip)
                                for path, text in files.items()}})
    refused(site, f"HEAD:{MAIN}", by=OWN, as_="alice")
    accepted(site, f"HEAD:{MAIN}", as_="bob")


def test_what_it_prints_keeps_the_commits_for_another(site):
    asks(site, "alice")
    mended(site, Row(commits({FILE: None, LEDGER: ledger(row())}), who="alice", branch="main-ID",
                     kept=(LEDGER,), back=(), next="propose"))
    there = next(ref for ref in site.refs() if ref.startswith("refs/heads/main-"))
    accepted(site, f"{site.refs()[there]}:{MAIN}", as_="bob")


def test_a_patch_of_a_rejection_is_not_adopted_by_whose_it_is(site):
    """The block of protected-writers makes the proposal, and its push is its proposer's."""
    site.commit({"oracle/rates.json": "{}\n"})
    refused(site, f"HEAD:{MAIN}", by={"protected-writers"}, as_="agent-7")
    run(site, script(site.told), "agent-7")
    (path, by), = brought(site)
    assert (path.endswith(".patch"), by) == (True, ("agent-7",))
    site.git("apply", "--index", path)
    site.git("rm", "-q", path)
    site.git("commit", "-qm", "Adopt it")
    refused(site, f"HEAD:{MAIN}", by={"protected-writers", "fair-proposals"}, as_="agent-7")
    accepted(site, f"HEAD:{MAIN}", as_="bob")


def test_what_a_rejection_tells_to_propose_is_taken(site):
    """Of each rejection that names keys, with the words of its own line."""
    texts = {
        "flake-rates": "kind: flake\nnodeid: tests/test_app.py::test_total\nreason: it is slow\n",
        "bill": "kind: golden\npath: tests/snap/bill.json\nwhy: the currency changed\n",
        "tax": "kind: receipt\nentry_point: app:total\ninput: 3\nconstraints: {a: b}\n"
               "reason: none is there\n",
        "allow": "kind: literal\ntext: application/json\nreason: a name\n"}
    site.commit({f"proposals/{name}.yaml": text for name, text in texts.items()})
    accepted(site, f"HEAD:{MAIN}", as_="agent-7")


def test_a_broken_one_is_mended_on_top(site):
    site.commit({FILE: ASKED + "expires_on: 2027-01-01\n"})
    refused(site, f"HEAD:{MAIN}", by=OWN, as_="agent-7")
    site.commit({FILE: ASKED})
    accepted(site, f"HEAD:{MAIN}", as_="agent-7")


def test_a_link_is_no_proposal(site):
    site.commit({FILE: Path("../src/app.py")})
    refused(site, f"HEAD:{MAIN}", by=OWN, as_="agent-7")


def test_without_the_rule_nobody_is_remembered(site):
    site.edit_policy("fair-proposals: {mode: enforce}", "fair-proposals: {mode: \"off\"}")
    site.commit({FILE: "kind: nothing\n"})
    accepted(site, f"HEAD:{MAIN}", as_="agent-7")
    assert brought(site) == []
