"""Who wants source through a closed gate, and what goes wrong at 3 a.m.: real pushes that fail."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from pushing import Link, accepted, by_hand, made, refused, rules
from sites import MAIN, Site
from test_gate_pushes import (
    DAY,
    EMPTY,
    LEDGER,
    closed,
    keep,
    ledger,
    refused_ledger,
    row,
    source,
)


def due(site: Site) -> str:
    """Main with a row that is over, behind a commit of an empty ledger, which is given back."""
    keep(site, EMPTY)
    before = site.tip()
    keep(site, ledger(row("due", ends=1)))
    site.pretend(2 * DAY)
    return before


def test_a_pull_gives_no_renewal_back(site):
    """An ordinary merge of somebody who pulled: main's own line is its second parent."""
    keep(site, {**EMPTY, **ledger(row("a", ends=2))})
    before = site.tip()
    keep(site, ledger(row("a", ends=5, reason="a second reason for it")))
    keep(site, ledger(row("a", ends=8, reason="a third reason for it")))
    site.git("checkout", "-q", "--detach", before)
    site.commit({"src/app.py": "x = 1\n"})
    site.git("merge", "-q", "--no-edit", site.refs()[MAIN])
    accepted(site, f"HEAD:{MAIN}", as_="agent-7")
    refused_ledger(site, row("a", ends=9, reason="a fourth reason"), "bounded-renewals")


def test_a_release_is_made_of_an_older_commit_whatever_main_says_now(site):
    """Its commit was accepted, and is the base of its records: nothing is renewed by it."""
    keep(site, {**EMPTY, **ledger(row("a", ends=8))})
    older = site.tip()
    keep(site, ledger(row("a", ends=5)))
    accepted(site, f"{older}:refs/heads/release/1")


def test_a_receipt_of_what_main_does_not_hold_is_refused_in_words(site):
    site.commit({"docs/a.md": "not pushed\n"})
    for named in ("HEAD:src/app.py", "HEAD^{tree}", "HEAD"):
        site.commit({"oracle/receipts/odd.json": json.dumps({
            "baseline": site.tip(named), "entry_point": "app:total", "input": {},
            "constraints": {"currency": "EUR"}})})
        refused(site, f"HEAD:{MAIN}", by={"recorded-receipts"})


def test_no_push_of_several_refs_brings_an_older_ledger_back(site):
    """As a fast-forward of main, as either parent of a merge, and by force."""
    older = due(site)
    assert site.push(f"{older}:refs/heads/release/1") == 0, site.err
    site.git("checkout", "-q", "--detach", older)
    site.commit({"src/app.py": "x = 9\n"})
    fix, main = site.tip(), site.refs()[MAIN]
    tree = site.tip(f"{fix}^{{tree}}")
    merges = [site.git("commit-tree", tree, "-p", one, "-p", other, "-m", "Merge them")
              for one, other in ((main, fix), (fix, main))]
    for tip in (*merges, f"+{fix}"):
        before = site.refs()
        assert site.push(f"{tip}:{MAIN}" if tip in merges else f"+{fix}:{MAIN}",
                         f"{fix}:refs/heads/release/1", as_="carol") == 1
        assert site.refs() == before
    assert site.push(f"{fix}:refs/heads/release/1", as_="carol") == 0, site.err
    for tip in merges:
        assert site.push(f"{tip}:{MAIN}", as_="carol") == 1
        assert "protected-writers" in rules(site.told)
    for who in ("carol", "alice"):
        assert site.push(f":{MAIN}", as_=who) == 1
    assert closed(site)


def test_nothing_in_the_place_of_the_ledger_opens_the_gate_for_source(site):
    due(site)
    for there in ({LEDGER: None}, {LEDGER: Link(b"empty.json")},
                  {LEDGER: None, f"{LEDGER}/x": b"{}"},
                  {LEDGER: None, "tests/ledger/Flake_Ledger.json": EMPTY[LEDGER].encode()},
                  {LEDGER: None, "tests/ledger": Link(b"../docs")}):
        tip = made(site, {**there, "src/app.py": b"x = 3\n"}, on=site.refs()[MAIN])
        assert site.push(f"{tip}:{MAIN}", as_="alice") == 1
        assert "separate-authorship" in rules(site.told)
    assert closed(site)


def test_a_release_waits_for_main_whatever_the_same_push_does_to_it(site):
    site.edit_policy("records_from: {}", 'records_from: {"release/*": main}')
    older = due(site)
    accepted(site, f"{older}:refs/heads/release/1")
    site.git("checkout", "-q", "--detach", older)
    site.commit({"src/app.py": "x = 9\n"})
    fix = f"{site.tip()}:refs/heads/release/1"
    before = site.refs()
    for main in (f"+{older}:{MAIN}", f":{MAIN}"):
        for who in ("carol", "alice"):
            assert site.push(fix, main, as_=who) == 1
            assert "ordinary-refs" in rules(site.told)
    assert site.refs() == before


def test_a_branch_by_another_name_and_a_queue_wait_as_well(site):
    site.edit_policy("rewriters: []", "rewriters: []\nqueues: [agents]")
    due(site)
    site.git("symbolic-ref", "refs/heads/alias", MAIN, cwd=site.server)
    for ref, who in (("refs/heads/alias", "carol"), (MAIN, "agent-7")):
        assert source(site, ref=ref, as_=who) == 1
        assert rules(site.told) == {"gate-open"}


def test_a_hold_waits_for_its_branch(site):
    assert site.policyd("gate", "hold", str(site.server), "release/7", "--reason", "drill") == 0
    accepted(site, f"{site.base_tip}:refs/heads/release/7")
    assert source(site, ref="refs/heads/release/7") == 1
    assert "closed by a hold of" in site.told[0]
    assert not closed(site)


def test_a_waiver_ends_with_the_day_that_it_was_for(site):
    due(site)
    until = str((datetime.now(UTC) + 5 * DAY).date())
    assert site.policyd("gate", "waive", str(site.server), "main", "due", "--until", until,
                        "--reason", "ill") == 0, site.out
    assert not closed(site)
    site.git("checkout", "-q", "--detach", site.refs()[MAIN])
    keep(site, ledger(row("due", ends=3, reason="another reason than before")))
    site.pretend(4 * DAY)
    assert closed(site)


def test_a_movement_is_accepted_while_a_push_is_under_way(site):
    """The hook took the push, and git has not moved main yet."""
    site.git("update-ref", "refs/heads/release/9", site.base_tip, cwd=site.server)
    tip = site.commit({"docs/a.md": "1\n"})
    assert by_hand(site, f"{site.base_tip} {tip} {MAIN}\n".encode()).returncode == 0
    assert site.policyd("movement", "accept", str(site.server), "--all", "--reason", "x") == 0
    site.git("fetch", "-q", str(site.work), tip, cwd=site.server)
    site.git("update-ref", MAIN, tip, site.base_tip, cwd=site.server)
    assert not closed(site)


def test_a_home_that_allows_no_pretended_clock_has_none(site):
    settings = site.home / "policyd.yaml"
    settings.write_text(settings.read_text().replace("pretended_clock: true\n", ""))
    assert site.policyd("policy", "apply") == 0, site.out
    site.pretend(8 * DAY)
    assert not closed(site)


def test_records_without_number_are_given_up_in_time(site):
    """19,000 leases took two minutes, and the policy's bound did not hold for them."""
    site.edit_policy("seconds: 5}", "seconds: 0.1}")
    tip = made(site, {f"fixtures/leases/{n}.yaml": (
        f"id: l{n}\npath: fixtures/data/{n}.csv\nowner: alice\nnotes: no lease yet\n"
        ).encode() for n in range(1_500)},
        on=site.base_tip)
    assert site.push(f"{tip}:{MAIN}", as_="carol") == 1
    assert "seconds`" in " ".join(map(str.strip, site.told))
