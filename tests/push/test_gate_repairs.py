"""What a rejection about gates and records prints works: run by `sh`, or done as it says.

A gate's block keeps the work on a branch; what stands beside it are remarks, which no shell reads.
Faults in records are mended by hand: `DONE` does what each rejection says, and the push passes.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from closings import SETTLED, all_due, drifted, due, held, keep, moved, seeded, unreadable
from mending import Row, mended
from pushes import CODE, MIXED, ORACLE, PRICES, Build, Pushed, commits, once, push_id, run, script
from pushing import refused, rules
from records_made import (
    CORPUS,
    DAY,
    FREEZES,
    LEASE,
    LEDGER,
    QUARANTINE,
    RECEIPT,
    SEED,
    flake,
    freeze,
    freezes,
    frozen,
    lease,
    ledger,
    nothing_due,
    quarantine,
    receipt,
    today,
)
from sites import MAIN, TEST, Site

SOURCE = {"src/app.py": CODE}
PASTE = {"src/app.py": 'def total(_):\n    return "EUR 77.25"\n',
         "tests/test_new.py": "def test_it():\n    assert total(1) == 'EUR 77.25'\n"}
Files = Mapping[str, str | None]


def after(what: Callable[[Site], object], then: Build) -> Build:
    """The push, to a site to which something was done before."""
    def build(site: Site) -> Pushed:
        what(site)
        return then(site)
    return build


def recorded(more: Files) -> Build:
    """A receipt of what BASE holds, and more in the same commit."""
    return lambda site: commits({RECEIPT: receipt(site.base_tip, value=5), **more})(site)


WAITING = {
    "a row is over, a stranger": Row(after(due, commits(SOURCE)), who="carol"),
    "a row is over, a maintainer": Row(after(due, commits(SOURCE)), who="alice"),
    "a row is over, nobody known": Row(after(due, commits(SOURCE)), who=None),
    "two rows are over": Row(after(all_due, commits(SOURCE))),
    "an operator holds it": Row(after(held, commits(SOURCE))),
    "an operator holds it, a maintainer": Row(after(held, commits(SOURCE)), who="alice"),
    "it moved past the hook": Row(after(moved, commits(SOURCE))),
    "a corpus is another one": Row(after(drifted, commits(SOURCE))),
    "a record cannot be read": Row(after(unreadable, commits(SOURCE))),
}


@pytest.mark.parametrize("row", WAITING.values(), ids=WAITING)
def test_the_work_is_kept_on_a_branch_of_its_own(site, row):
    mended(site, Row(row.build, row.who, "main-ID", back=(), next="wait"))


def test_a_push_that_somebody_crossed_is_kept_too(site):
    """To push it again would lead to the same closed gate."""
    all_due(site)
    aside = site.commit({"docs/a.md": "a\n"})
    site.git("push", "-q", "origin", "HEAD:refs/heads/other")
    site.git("switch", "-q", "--detach", site.base_tip)
    work = site.commit(SOURCE)
    once(site, f"git update-ref {MAIN} {aside}")
    assert site.push(f"HEAD:{MAIN}", as_="carol") == 1
    assert rules(site.told) == {"ordinary-refs", "gate-open"}
    assert site.told[-1].endswith('"next":"wait"}')
    run(site, script(site.told), "carol")
    assert site.refs()[f"refs/heads/main-{push_id(site)}"] == work


MIXES = {
    "agent mixes while main is closed": Row(after(all_due, commits(MIXED)), branch="main-ID"),
    "agent mixes the settling and code": Row(
        after(all_due, commits({**SETTLED, **SOURCE})), branch="main-ID", back=tuple(SETTLED)),
    "agent breaks a record beside code": Row(
        commits({**SOURCE, LEDGER: "{}\n", CORPUS: "price\n8\n"}), back=(LEDGER, CORPUS)),
    "agent records a receipt beside code": Row(recorded(SOURCE), back=(RECEIPT,)),
    "agent breaks a receipt beside code": Row(commits({**SOURCE, RECEIPT: "{}\n"}),
                                              back=(RECEIPT,)),
    "maintainer records a receipt beside code": Row(
        recorded(SOURCE), who="alice", kept=("src/app.py", RECEIPT), back=()),
    "maintainer removes a receipt beside code": Row(
        commits({**SOURCE, RECEIPT: None}), who="alice", kept=("src/app.py", RECEIPT), back=()),
    "maintainer settles the rows beside code": Row(
        after(all_due, commits({**SETTLED, **SOURCE})), who="alice",
        kept=("src/app.py", *SETTLED), back=()),
    "maintainer mixes while main is closed": Row(
        after(all_due, commits(MIXED)), who="alice", branch="main-ID"),
    "maintainer writes answers beside seeds": Row(
        commits({SEED: "1\n", "oracle/seeds/prices.expected": "2\n"}), who="alice", kept=(SEED,),
        back=("oracle/seeds/prices.expected",), next="edit"),
    "maintainer takes the last seed out": Row(
        after(seeded, commits({SEED: None, "docs/a.md": "a\n"})), who="alice",
        kept=("docs/a.md",), back=(SEED,), next="edit"),
    "paste while main is closed": Row(
        after(all_due, commits(PASTE)), branch="main-ID", kept=tuple(PASTE), back=(), next="edit"),
}


@pytest.mark.parametrize("row", MIXES.values(), ids=MIXES)
def test_the_block_as_printed_ends_in_an_accepted_push(site, row):
    mended(site, row)


def test_settling_and_code_are_two_pushes_of_which_the_first_opens_the_gate(site):
    all_due(site)
    site.commit({**SETTLED, **SOURCE})
    refused(site, f"HEAD:{MAIN}", by={"separate-authorship"})
    run(site, script(site.told), "alice")
    first, second = site.log()[-2:]
    assert [first["verdict"], second["verdict"]] == ["accepted", "accepted"]
    assert len(first["rows"][MAIN]["left"]) == 2
    assert "rows" not in second


WRITTEN_BY_AGENTS = ("ledger: [maintainers]", "ledger: [maintainers, agents]")


def test_rows_that_only_maintainers_take_out_are_given_back(site):
    site.edit_policy(*WRITTEN_BY_AGENTS)
    mended(site, Row(commits({LEDGER: ledger(), **SOURCE, "docs/a.md": "a\n"}),
                     kept=("src/app.py", "docs/a.md"), back=(LEDGER,)))


def test_rows_that_a_release_took_out_arrive_by_a_maintainers_hand(site):
    site.edit_policy(*WRITTEN_BY_AGENTS)

    def merged(site: Site) -> Pushed:
        assert site.push("HEAD:refs/heads/release/1") == 0, site.err
        site.commit({LEDGER: ledger()})
        assert site.push("HEAD:refs/heads/release/1") == 0, site.err
        return (f"HEAD:{MAIN}",)

    mended(site, Row(merged, runs_as="alice", kept=(LEDGER,), back=(), next="stop"))


def test_the_first_push_of_all_keeps_receipts_for_later(empty_site):
    """What they were recorded from is not what the first commit that is left of them holds."""
    first = empty_site.commit(SOURCE)
    empty_site.commit({RECEIPT: receipt(first), ORACLE: "{}\n"})
    mended(empty_site, Row(lambda _: (f"HEAD:{MAIN}",), who="alice", back=()))
    assert set(empty_site.git("ls-tree", "-r", "--name-only", MAIN, cwd=empty_site.server)
               .splitlines()) == {"src/app.py"}
    keep(empty_site, {RECEIPT: receipt(empty_site.tip()), ORACLE: "{}\n"})


def test_what_was_kept_is_taken_once_the_row_is_settled(site):
    due(site)
    work = site.commit(SOURCE)
    assert site.push(f"HEAD:{MAIN}", as_="carol") == 1
    run(site, script(site.told), "carol")
    site.git("switch", "-q", "--detach", site.refs()[MAIN])
    keep(site, {LEDGER: ledger()})
    site.git("merge", "-q", "--no-ff", "-m", "Merge what waited", work)
    assert site.push(f"HEAD:{MAIN}", as_="carol") == 0, site.err


HOSTILE = ('"; touch pwned; " $(touch pwned) `touch pwned` \'; touch pwned #\\ & touch pwned | !! '
           "${IFS} > pwned")


@pytest.mark.parametrize("who", ["carol", "alice"])
@pytest.mark.parametrize("name", [f"rates {HOSTILE}", f"caf\u00e9 {HOSTILE}"])
def test_no_shell_reads_the_remarks_whatever_a_row_is_called(site, who, name):
    """What a row says was pushed; here the whole block is pasted, its remarks with it."""
    keep(site, {**nothing_due(), LEDGER: ledger(
        {**flake("a", ends=today() + DAY), "id": name, "nodeid": f"tests/t.py::test[{name}]"})})
    site.pretend(2 * DAY)
    site.commit(SOURCE)
    assert site.push(f"HEAD:{MAIN}", as_=who) == 1
    told = [line for line in site.told if line.startswith("  ")]
    block = told[next(n for n, line in enumerate(told) if line.startswith("  git push")):]
    assert all(line.startswith(("  git push ", "  # ")) for line in block), block
    done = subprocess.run(["sh", "-e"], input="\n".join(block), cwd=site.work, text=True,
                          env=site.environment(REMOTE_USER="carol"), capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert not (site.work / "pwned").exists()
    assert len(site.refs()) == 2


# What is mended by hand.

@dataclass(frozen=True)
class Done:
    """What main holds, what refuses a push, and the commit on top that does what it says."""

    rule: str
    pushed: Callable[[Site], Files]
    mended: Callable[[Site], Files]
    held: Callable[[Site], Files] = lambda _: {}
    next: str = "edit"


def in_days(days: int, name: str = "a", **more: object) -> dict[str, object]:
    """A row of the ledger that ends in so many days."""
    return dict(flake(name, ends=today() + days * DAY, **more))  # type: ignore[arg-type]


def rows(*listed: Mapping[str, object]) -> Callable[[Site], Files]:
    return lambda _: {LEDGER: ledger(*listed)}


SKIPPED = "import pytest\n" + TEST.replace("def test_", "@pytest.mark.skip\ndef test_")
THREE = [in_days(5, name, reason=f"{name} is slow") for name in "abc"]
RENEWED = [in_days(9, name, reason=f"{name} is still slow") for name in "abc"]

DONE = {
    "a record with faults": Done(
        "valid-records", lambda _: {LEDGER: "{}\n"}, rows()),
    "a record with faults, put back": Done(
        "valid-records", lambda _: {LEDGER: "{}\n"}, rows(in_days(3)), rows(in_days(3))),
    "a corpus without its lease": Done(
        "valid-records", lambda _: {CORPUS: "9\n"},
        lambda _: {LEASE: lease("9\n", ends=today() + 100 * DAY)}),
    "a corpus without its lease, put back": Done(
        "valid-records", lambda _: {CORPUS: "9\n", "docs/a.md": "a\n"}, lambda _: {CORPUS: PRICES}),
    "a day too far": Done("bounded-renewals", rows(in_days(31)), rows(in_days(30))),
    "a quarantine too long": Done(
        "bounded-renewals",
        lambda _: {QUARANTINE: quarantine(frozen("q", ends=today() + 31 * DAY))},
        lambda _: {QUARANTINE: quarantine(frozen("q", ends=today() + 30 * DAY))}),
    "a freeze too long": Done(
        "bounded-renewals", lambda _: {FREEZES: freezes(freeze("R1", ends=today() + 15 * DAY))},
        lambda _: {FREEZES: freezes(freeze("R1", ends=today() + 14 * DAY))}),
    "the same reason": Done(
        "bounded-renewals", rows(in_days(9)), rows(in_days(9, reason="it is slower still")),
        rows(in_days(5))),
    "a younger row": Done(
        "bounded-renewals", rows({**in_days(5), "first_seen": str(today())}), rows(in_days(5)),
        rows(in_days(5))),
    "three rows at once": Done(
        "bounded-renewals", rows(*RENEWED), rows(RENEWED[0], *THREE[1:]), rows(*THREE),
        next="split"),
    "a baseline from elsewhere": Done(
        "recorded-receipts", lambda _: {RECEIPT: receipt("1" * 40)},
        lambda site: {RECEIPT: receipt(site.base_tip)}),
    "a receipt of somebody unknown": Done(
        "recorded-receipts", lambda site: {RECEIPT: receipt(site.base_tip, owner="nobody-here")},
        lambda site: {RECEIPT: receipt(site.base_tip, owner="maintainers")}),
    "a skip that hides a flake": Done(
        "unmarked-tests", lambda _: {"tests/test_app.py": SKIPPED, **SOURCE},
        lambda _: {"tests/test_app.py": TEST, "proposals/flake-app.yaml":
                   "kind: flake\nnodeid: tests/test_app.py::test_it\nreason: it is slow\n"}),
    "a longer limit": Done(
        "unmarked-tests", lambda _: {"setup.cfg": "[tool:pytest]\ntimeout = 9\n"},
        lambda _: {"setup.cfg": "[tool:pytest]\ntimeout = 3\n"},
        lambda _: {"setup.cfg": "[tool:pytest]\ntimeout = 3\n"}),
    "a row of somebody unknown": Done(
        "owned-rows", rows(in_days(5, owner="nobody-here")), rows(in_days(5, owner="bob"))),
}


@pytest.mark.parametrize("done", DONE.values(), ids=DONE)
def test_doing_what_it_says_in_a_commit_on_top_is_enough(site, done):
    held = done.held(site)
    keep(site, {FREEZES: freezes(), **held})
    site.commit(done.pushed(site))
    refused(site, f"HEAD:{MAIN}", by={done.rule})
    assert f'"next":"{done.next}"' in site.told[-1]
    assert script(site.told) == []
    keep(site, done.mended(site))


def test_a_row_that_was_renewed_too_often_gets_its_day_back_and_can_be_removed(site):
    for days, why in ((3, "one"), (5, "two"), (7, "three")):
        keep(site, {LEDGER: ledger(in_days(days, reason=f"reason {why}"))})
    site.commit({LEDGER: ledger(in_days(9, reason="reason four"))})
    refused(site, f"HEAD:{MAIN}", by={"bounded-renewals"})
    keep(site, {LEDGER: ledger(in_days(7, reason="reason three"))})
    keep(site, {LEDGER: ledger()})


def test_a_broken_record_beside_code_is_mended_first_and_made_apart_then(site):
    """The block for the mix would push the record as it is, and that would be refused."""
    site.commit({**SOURCE, LEDGER: "{}\n"})
    refused(site, f"HEAD:{MAIN}", by={"separate-authorship", "valid-records", "gate-open"})
    assert "do:  first mend what follows, in a commit on top, and push again" in site.told
    assert script(site.told) == []
    assert '"next":"edit"' in site.told[-1]
    site.commit({LEDGER: ledger(in_days(5))})
    mended(site, Row(lambda _: (f"HEAD:{MAIN}",), who="alice", kept=("src/app.py", LEDGER),
                     back=()))


def test_a_receipt_of_its_own_code_is_recorded_again_first_and_made_apart_then(site):
    """Recorded from a commit of the same push, which main never holds like that."""
    baseline = site.commit(SOURCE)
    site.commit({RECEIPT: receipt(baseline)})
    refused(site, f"HEAD:{MAIN}", by={"separate-authorship", "recorded-receipts"})
    assert script(site.told) == []
    site.commit({RECEIPT: receipt(site.base_tip)})
    mended(site, Row(lambda _: (f"HEAD:{MAIN}",), who="alice", kept=("src/app.py", RECEIPT),
                     back=()))


def test_a_gate_is_not_the_only_thing_that_refuses_a_paste(site):
    all_due(site)
    site.commit(PASTE)
    assert site.push(f"HEAD:{MAIN}", as_="carol") == 1
    assert rules(site.told) == {"literal-overlap", "gate-open"}
    assert "do:  keep the work; nothing you push opens the gate:" in site.told
    assert "nothing in your push is wrong" not in "\n".join(site.told)
