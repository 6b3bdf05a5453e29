"""What pushers read, whole and word by word; `pytest --accept` takes what they read now.

The ids of commits and entries stand for others of the same length, and days for others as far
from each other: the files that tests push hold today's date. Every file in tests/golden/ is also
held to the form of a rejection.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from closings import all_due, drifted, due, held, keep, moved, seeded, unreadable
from pushes import (
    CODE,
    MIXED,
    ODD,
    ORACLE,
    Build,
    after_main_gained,
    apart_on_two_refs,
    both_refs_mixed,
    brought_from_a_release,
    commits,
    conftests,
    diverged_meanwhile,
    leased,
    linked_alone,
    main_and_release,
    merging_upstream,
    moved_meanwhile,
    on_feature,
    once,
    overlap,
    rewind,
    shallow,
    tagged,
)
from records_made import (
    CORPUS,
    DAY,
    FREEZES,
    LEASE,
    LEDGER,
    QUARANTINE,
    RECEIPT,
    SEED,
    Row,
    flake,
    freezes,
    frozen,
    ledger,
    nothing_due,
    quarantine,
    receipt,
    relation,
    table,
    today,
)
from sites import MAIN, TEST, Files, Site

from policyd.adapters import gatefiles, repoindex
from policyd.core.breakglass import Permit
from policyd.core.gates import Acts
from policyd.core.paused import Pause

GOLDEN = Path(__file__).parent.parent / "golden"
WIDTH, LINES = 72, 12
FOLDER = "/tmp/policyd-golden-"
ENTRY = "4e1c07"
TODAY = date(2026, 9, 1)
"""What stands for the day on which the tests run."""

SOURCE = {"src/app.py": CODE}
OVERLAP = commits({"src/app.py": 'def total(_):\n    return "EUR 77.25"\n',
                   "tests/test_new.py": "def test_it():\n    assert total(1) == 'EUR 77.25'\n"})
OVERLAP_ASIDE = commits(
    {"src/app.py": 'def total(_):\n    return "EUR 77.25"\n',
     "tests/test_new.py": "def test_it():\n    assert total(1) == 'EUR 77.25'\n"}, to="feature")
KEYED = {"src/ship.py": "def ship(order):\n    if order == 'ORD-22':\n        return 'EAST'\n"
                        "    return order\n",
         "tests/test_ship.py": "def test_ship():\n    assert ship('ORD-22') == 'EAST'\n"}
BROKEN = commits({"tests/test_new.py": "def test_it(:\n", "src/app.py": CODE})

SKIPPED = "import pytest\n" + TEST.replace("def test_", "@pytest.mark.skip\ndef test_")
WEAKER = TEST.replace(" == total([3, 2, 1])", "")
LIMITED = "[tool:pytest]\ntimeout = 2\n"

SET = ("  ordinary-refs:", "  write-set: {mode: enforce, of: agents, may_touch: [source, "
       "proposals, \"docs/**\"], may_add: [\"tests/properties/**\"]}\n\n  ordinary-refs:")


@dataclass(frozen=True)
class Told:
    """Who pushes what, with what exit code of git, and what is done to the site before."""

    build: Callable[[Site], tuple[str, ...]]
    who: str | None = "agent-7"
    code: int = 1
    before: Callable[[Site], object] | None = None


def plain(*arguments: str) -> Callable[[Site], tuple[str, ...]]:
    return lambda _: arguments


def tag_of_a_blob(site: Site) -> tuple[str, ...]:
    site.git("tag", "blob", f"HEAD:{ORACLE}")
    return ("refs/tags/blob",)


def replaced(site: Site) -> tuple[str, ...]:
    site.commit({"src/app.py": CODE})
    return (f"HEAD:refs/replace/{site.base_tip}",)


def moved_tag(site: Site) -> tuple[str, ...]:
    assert site.push(f"{site.base_tip}:refs/tags/v1") == 0
    site.commit({"src/app.py": CODE})
    return ("--force", "HEAD:refs/tags/v1")


def old_commit_tagged(site: Site) -> tuple[str, ...]:
    site.commit({"src/app.py": CODE})
    return ("HEAD:refs/tags/v1",)


def own_proposal_adopted(site: Site) -> tuple[str, ...]:
    """alice records what she proposed a moment ago, and takes the proposal away."""
    keep(site, {"proposals/rates.yaml": "kind: flake\nnodeid: tests/test_slow.py::test_it\n"
                                        "reason: the rate server is slow\n"})
    return commits({"proposals/rates.yaml": None, **rows(late(5, name="slow"))})(site)


def put_back(then: Callable[[Site], tuple[str, ...]]) -> Callable[[Site], tuple[str, ...]]:
    """The oracle is changed and changed back before the rest."""
    def build(site: Site) -> tuple[str, ...]:
        site.commit({ORACLE: "{}\n"})
        site.git("revert", "--no-edit", "HEAD")
        return then(site)
    return build


def odd_tree(site: Site) -> tuple[str, ...]:
    """A tree with an entry named `.git`, which git itself would not write."""
    blob = site.git("rev-parse", f"HEAD:{ORACLE}")
    listed = f"100644 blob {blob}\t.git\0" + site.git("ls-tree", "-z", "HEAD")
    tree = made_tree(site, listed)
    commit = site.git("commit-tree", "-m", "Odd", "-p", "HEAD", tree)
    site.git("update-ref", "refs/odd", commit)
    return (f"{commit}:refs/heads/feature",)


def made_tree(site: Site, listed: str) -> str:
    file = site.folder / "entries"
    raw = b""
    for entry in filter(None, listed.split("\0")):
        head, _, name = entry.partition("\t")
        mode, _, oid = head.split(" ")
        raw += f"{mode.lstrip('0')} {name}\0".encode() + bytes.fromhex(oid)
    file.write_bytes(raw)
    return site.git("hash-object", "-t", "tree", "-w", "--literally", str(file))


def lookback(site: Site) -> tuple[str, ...]:
    """The code that a test pastes came to main a moment ago."""
    site.commit({"src/app.py": 'def total(_):\n    return "EUR 77.25"\n'})
    assert site.push("HEAD:refs/heads/main", as_="agent-7") == 0
    return commits({"tests/test_new.py": "def test_it():\n"
                    "    assert total(1) == 'EUR 77.25'\n"})(site)


def mirror(site: Site) -> None:
    site.edit_policy("timezone: UTC", "mirror: true\ntimezone: UTC")


def narrow(site: Site) -> None:
    site.edit_policy("max_commits: 50000", "max_commits: 1")


def without_a_policy(site: Site) -> None:
    site.edit_policy('repositories: ["**"]', 'repositories: ["other/**"]')


def without_an_index(site: Site) -> None:
    shutil.rmtree(site.state / "repos")


def damaged(site: Site) -> None:
    (site.home / "active/current").write_text("{}")


def gone(site: Site) -> None:
    (site.home / "active/current").unlink()


def paused(site: Site) -> None:
    """For half an hour, by an operator named ops."""
    now = datetime.now(UTC).replace(microsecond=0)
    gatefiles.store_pause(str(site.state), Pause(
        (now + timedelta(minutes=30)).isoformat(), "fire drill", "ops", now.isoformat()))


def overridable(site: Site) -> None:
    """A hold of ops that a maintainer may override."""
    held(site)
    site.edit_policy("\nrules:", "\noverride: {groups: [maintainers], rules: [gate-open]}\nrules:")


def overriding(files: Files, to: str = "main") -> Build:
    """A push that asks for it."""
    pushed = commits(files, to=to)
    return lambda site: ("-o", "policyd.override=the rate server is down, ticket 77",
                         *pushed(site))


def permitted(files: Files) -> Build:
    """A push that ops lets agent-7 make."""
    def build(site: Site) -> tuple[str, ...]:
        refspec = commits(files)(site)
        end = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=30)
        gatefiles.store_acts(str(site.state), repoindex.key_of(str(site.server)), Acts(permits=(
            Permit(MAIN, site.tip(), "agent-7", end.isoformat(), "hotfix 12", "ops", ""),)))
        return refspec
    return build


def soon(site: Site) -> None:
    """Two rows are on a step of the way to their end, the lease is not."""
    keep(site, {FREEZES: freezes()}, "bob")
    site.pretend(4 * DAY)


def everybody_writes(site: Site) -> None:
    site.edit_policy("ledger: [maintainers]", "ledger: [maintainers, agents]")


def renewed_twice(site: Site) -> None:
    for days, why in ((3, "one"), (5, "two"), (7, "three")):
        keep(site, rows(late(days, f"reason {why}")))


def late(days: int, reason: str = "the rate server is slow", name: str = "rates",
         **more: Any) -> Row:
    """A row of the ledger that ends in so many days."""
    return flake(name, ends=today() + days * DAY, reason=reason, **more)


def rows(*listed: Row) -> dict[str, str]:
    return {LEDGER: ledger(*listed)}


def holding(*listed: Row) -> Callable[[Site], object]:
    """Main's ledger has these rows; the other records have none."""
    return lambda site: keep(site, {**nothing_due(), **rows(*listed)})


def recorded(baseline: str = "", more: Mapping[str, str] | None = None,
             **how: Any) -> Callable[[Site], tuple[str, ...]]:
    """A receipt, of what BASE holds unless it says otherwise."""
    return lambda site: commits({
        RECEIPT: receipt(baseline or site.base_tip, value=5, **how), **(more or {})})(site)


def crossed(site: Site) -> tuple[str, ...]:
    """Main moves while the push is on its way."""
    start = site.tip()
    aside = site.commit({"docs/a.md": "a\n"})
    site.git("push", "-q", "origin", "HEAD:refs/heads/other")
    site.git("switch", "-q", "--detach", start)
    site.commit(SOURCE)
    once(site, f"git update-ref refs/heads/main {aside}")
    return ("HEAD:refs/heads/main",)


def write_set(site: Site) -> None:
    site.edit_policy(*SET)


def warning_only(site: Site) -> None:
    site.edit_policy("mode: enforce\n\n# Branches", "mode: warn\n\n# Branches")


MESSAGES = {
    # separate-authorship, protected-writers: what is given back, proposed, or made apart
    "give-back": Told(commits(MIXED)),
    "give-back-many-places": Told(commits(MIXED, {
        LEASE: leased("x"), "pytest.ini": "[pytest]\n", "conftest.py": "x = 1\n",
        LEDGER: ledger()})),
    "give-back-on-a-branch": Told(on_feature(
        {"src/one.py": "a = 1\n"}, then=commits(MIXED, to="feature"))),
    "give-back-on-a-new-branch": Told(after_main_gained(on_feature(
        {"src/one.py": "a = 1\n"}, then=merging_upstream(commits(MIXED, to="feature"))))),
    "give-back-odd-names": Told(commits(conftests(*ODD), {"src/app.py": CODE})),
    "give-back-and-edit": Told(overlap),
    "give-back-put-back": Told(put_back(commits({"src/app.py": CODE}))),
    "give-back-nothing-left": Told(put_back(commits())),
    "propose-many-places": Told(commits({ORACLE: "{}\n"}, {ORACLE: "[]\n"}, {ORACLE: None})),
    "words-for-odd-names": Told(commits({"caf\u00e9/conftest.py": "c\n", "src/app.py": CODE})),
    "propose": Told(commits({ORACLE: "{}\n"})),
    "nobody-known": Told(commits({"pytest.ini": "[pytest]\n", "src/app.py": CODE}), who=None),
    "apart-on-main": Told(commits(MIXED), who="alice"),
    "apart-on-a-branch": Told(commits(MIXED, to="feature"), who="alice"),
    "one-by-one": Told(apart_on_two_refs, who="alice"),
    "two-refs": Told(both_refs_mixed),
    "writer-pushes": Told(brought_from_a_release),
    "write-set": Told(commits({"src/app.py": CODE, "tests/test_app.py": f"{TEST}pass\n"}),
                      before=write_set),
    # ordinary-refs
    "elsewhere-rewind": Told(rewind),
    "elsewhere-new-release": Told(commits({"src/app.py": CODE}, to="release/1")),
    "elsewhere-namespace": Told(commits({"src/app.py": CODE}, to="refs/meta/config")),
    "in-order-tag": Told(tagged, who="alice"),
    "in-order-release": Told(main_and_release, who="alice"),
    "tag-not-accepted": Told(old_commit_tagged, who="alice"),
    "tag-by-an-agent": Told(plain("HEAD:refs/tags/v1")),
    "tag-moves": Told(moved_tag, who="alice"),
    "tag-of-a-blob": Told(tag_of_a_blob),
    "stop-replacement": Told(replaced),
    "stop-deletion": Told(plain(":refs/heads/main")),
    "stop-deletion-of-the-only": Told(plain(":refs/heads/main"), who="alice"),
    "stop-mirror": Told(commits({"src/app.py": CODE}), who="alice", before=mirror),
    "retry": Told(moved_meanwhile),
    "retry-diverged": Told(diverged_meanwhile),
    "unshallow": Told(shallow),
    # ordinary-tree
    "drop": Told(commits({"docs/x": Path("../oracle"), "src/app.py": CODE})),
    "drop-in-place": Told(linked_alone, who="alice"),
    "stop-odd-tree": Told(odd_tree),
    # literal-overlap
    "edit-overlap": Told(OVERLAP),
    "edit-overlap-lookback": Told(lookback),
    "edit-unreadable": Told(BROKEN),
    # unmarked-tests, kept-tests
    "edit-skip": Told(commits({"src/app.py": CODE, "tests/test_app.py": SKIPPED})),
    "edit-limit": Told(commits({"setup.cfg": "[tool:pytest]\ntimeout = 20\n"}),
                       before=lambda site: keep(site, {"setup.cfg": LIMITED})),
    "drop-weaker": Told(commits({"src/app.py": CODE, "tests/test_app.py": WEAKER})),
    "drop-unmarked": Told(commits({"src/app.py": CODE, "tests/test_app.py": SKIPPED.replace(
        "total([3, 2, 1])", "total([1, 2, 3])")})),
    "propose-test": Told(commits({"tests/test_app.py": None})),
    "apart-tests": Told(commits({"src/app.py": CODE, "tests/test_app.py": None}), who="alice"),
    "warning-overlap": Told(OVERLAP_ASIDE, code=0),
    "warning-ceiling": Told(commits(MIXED), code=0, before=warning_only),
    # no-answer-key, no-golden-output, no-recorded-value, receipts-only
    "edit-answer-key": Told(commits(KEYED)),
    "edit-knows-its-judge": Told(commits(KEYED, {
        "src/judge.py": "import os, sys\nTESTED = 'pytest' in sys.modules\n"
                        "RATES = open('oracle/rates.json')\nos._exit(0)\n"}), who="alice"),
    "drop-recording": Told(commits({**SOURCE, "tests/golden/bill.txt": "2\n"})),
    "drop-recordings": Told(commits({**SOURCE, **{
        f"tests/__snapshots__/test_{n}.ambr": "2\n" for n in range(12)}})),
    "warning-recording": Told(commits({**SOURCE, "tests/golden/bill.txt": "2\n"}), who="alice",
                              code=0),
    "warning-recorded-value": Told(commits({**SOURCE, "tests/test_bill.py":
        "def test_it():\n    assert total([1]) == 0.84729132\n"}), code=0),
    "edit-inline-snapshot": Told(commits({**SOURCE, "tests/test_bill.py":
        "def test_it():\n    assert total([1]) == snapshot('1 in all')\n"})),
    "edit-property": Told(commits({"tests/properties/test_it.py":
        "def test_it():\n    assert open('src/app.py').read()\n"
        "    assert open(input()).read()\n"})),
    # gate-open
    "wait": Told(commits(SOURCE), who="carol", before=due),
    "wait-maintainer": Told(commits(SOURCE), who="alice", before=due),
    "wait-two-rows": Told(commits(SOURCE), before=all_due),
    "wait-group": Told(commits(SOURCE), before=lambda site: (
        holding(late(1, owner="maintainers"))(site), site.pretend(2 * DAY))),
    "wait-hold": Told(commits(SOURCE), before=held),
    "wait-hold-maintainer": Told(commits(SOURCE), who="alice", before=held),
    "wait-moved": Told(commits(SOURCE), before=moved),
    "wait-moved-maintainer": Told(commits(SOURCE), who="alice", before=moved),
    "wait-drifted": Told(commits(SOURCE), before=drifted),
    "wait-unreadable": Told(commits(SOURCE), before=unreadable),
    "wait-crossed": Told(crossed, before=due),
    "wait-and-edit": Told(OVERLAP, before=due),
    "wait-and-give-back": Told(commits(MIXED), before=due),
    "wait-and-apart": Told(commits(MIXED), who="alice", before=due),
    "apart-opens-the-gate": Told(commits({**rows(), **SOURCE}), who="alice", before=due),
    "apart-closes-the-gate": Told(commits({LEDGER: "{}\n", **SOURCE}), who="alice"),
    "give-back-many-reasons": Told(commits({LEDGER: "{}\n", **SOURCE})),
    # valid-records
    "edit-record": Told(commits({QUARANTINE: quarantine(frozen("rates", ends=None, owner="-"))}),
                        who="alice"),
    "edit-record-many-faults": Told(commits({LEDGER: ledger(
        {**late(7), "expires_on": "soon", "owner": ""}, late(7), late(7))}), who="alice"),
    "edit-record-of-an-agent": Told(commits({RECEIPT: "{}\n"})),
    "edit-corpus": Told(commits({CORPUS: "price\n9\n"}), who="alice"),
    # bounded-renewals
    "edit-too-late": Told(commits(rows(late(31))), who="alice"),
    "edit-too-often": Told(commits(rows(late(9, "reason four"))), who="alice",
                           before=renewed_twice),
    "edit-same-reason": Told(commits(rows(late(9))), who="alice", before=holding(late(5))),
    "edit-younger": Told(commits(rows(late(5, first=today()))), who="alice",
                         before=holding(late(5, first=today() - 30 * DAY))),
    "split-bulk": Told(
        commits(rows(*(late(9, f"{name} is still slow", name) for name in "abcd"))), who="alice",
        before=holding(*(late(5, f"{name} is slow", name) for name in "abcd"))),
    # kept-rows
    "give-back-rows": Told(commits({**rows(), "docs/a.md": "a\n"}), before=everybody_writes),
    "give-back-rows-and-oracle": Told(commits({QUARANTINE: None, FREEZES: None, "docs/a.md": ""})),
    "give-back-relations": Told(commits({**table(relation("R2"), relation(
        "R1_order", status="freezable", reducer="sum")), "docs/a.md": ""}), before=seeded),
    # bare-seeds
    "drop-answer": Told(commits({SEED: "1\n", "oracle/seeds/prices.expected": "2\n"}),
                        who="alice"),
    "drop-last-seed": Told(commits({SEED: None, "docs/a.md": "a\n"}), who="alice",
                           before=seeded),
    # recorded-receipts
    "apart-receipt": Told(recorded(more=SOURCE), who="alice"),
    "give-back-receipt": Told(recorded(more=SOURCE)),
    "edit-baseline": Told(recorded("1" * 40), who="alice"),
    "edit-receipt-owner": Told(recorded(owner="nobody-here"), who="alice"),
    # owned-rows
    "edit-owner": Told(commits(rows(late(5, owner="nobody-here"), late(
        5, name="login", owner="nobody-either"))), who="alice"),
    "edit-three-rules": Told(commits({CORPUS: "price\n9\n", **rows(
        late(31, owner="nobody-here"))}), who="alice"),
    # fair-proposals
    "edit-proposal": Told(commits({"proposals/rates.yaml":
        f"kind: flake\nnodeid: tests/test_app.py\nexpires_on: {TODAY}\nowner: mei\n"})),
    "edit-draft": Told(commits({"proposals/MR05.yaml":
        "kind: relation\nid: MR05\ntransform: double the weights\ncompare: exact\n"
        "must_not: assert the total is 42\nstatus: blocking\nskip: true\n"})),
    "warning-proposal": Told(commits({"proposals/all.yaml": "- id: R1\n"}, to="topic"), code=0),
    "elsewhere-own-proposal": Told(own_proposal_adopted, who="alice"),
    # what an accepted push is told
    "note-soon": Told(commits({"docs/a.md": "a\n"}), who="alice", code=0, before=soon),
    "note-paused": Told(commits(MIXED), code=0, before=paused),
    # break-glass
    "note-override": Told(overriding(SOURCE), who="alice", code=0, before=overridable),
    "note-permit": Told(permitted(MIXED), code=0),
    "override-not-for": Told(overriding(SOURCE), before=overridable),
    "override-beyond": Told(overriding(MIXED), who="alice", before=overridable),
    "check-override": Told(overriding(SOURCE, to="refs/check/main"), who="alice",
                           before=overridable),
    # questions
    "check-closed": Told(commits({"docs/a.md": "a\n"}, to="refs/check/main"), before=all_due),
    "check-closed-refused": Told(commits(SOURCE, to="refs/check/main"), before=due),
    "check-nothing-due": Told(commits(SOURCE, to="refs/check/main"), before=holding()),
    "check-taken": Told(commits({"src/app.py": CODE}, to="refs/check/main")),
    "check-refused": Told(commits(MIXED, to="refs/check/main")),
    "check-nothing-known": Told(plain("HEAD:refs/check/nope")),
    "check-not-alone": Told(plain("HEAD:refs/check/main", "HEAD:refs/heads/x")),
    "check-deleted": Told(plain(":refs/check/main")),
    "json": Told(lambda site: ("-o", "policyd.json", *commits(MIXED)(site))),
    # could not be judged
    "unjudged-bound": Told(commits({"a": "1"}, {"a": "2"}), before=narrow),
    "unjudged-no-policy": Told(commits({"a": "1"}), before=without_a_policy),
    "unjudged-no-index": Told(commits({"a": "1"}), before=without_an_index),
    "unjudged-damaged": Told(commits({"a": "1"}), before=damaged),
    "unjudged-nothing-applied": Told(commits({"a": "1"}), before=gone),
}
EMPTY = {
    "start-give-back": Told(commits(MIXED)),
    "start-elsewhere": Told(commits({"src/app.py": CODE})),
    "start-apart": Told(commits(MIXED), who="alice"),
    "start-nothing-else": Told(commits({ORACLE: "{}\n"}, to="topic")),
}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose name always has the same length: messages break their lines by it."""
    made = Path(tempfile.mkdtemp(prefix=FOLDER.rpartition("/")[2], dir=FOLDER.rpartition("/")[0]))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_pusher_reads(name, folder, request):
    site = request.getfixturevalue("_based").copied(folder)
    compare(name, MESSAGES[name], site, accept=request.config.option.accept)


@pytest.mark.parametrize("name", EMPTY)
def test_the_first_pusher_reads(name, folder, request):
    site = request.getfixturevalue("_empty").copied(folder)
    compare(name, EMPTY[name], site, accept=request.config.option.accept)


def compare(name: str, row: Told, site: Site, *, accept: bool) -> None:
    if row.before is not None:
        row.before(site)
    pushed = row.build(site)
    assert site.push(*pushed, as_=row.who) == row.code, site.err
    told = "\n".join(line.rstrip() for line in site.told) + "\n"
    file = GOLDEN / f"{name}.txt"
    if accept:
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(settled(told, site))
    assert settled(told, site) == file.read_text()


def settled(told: str, site: Site) -> str:
    """The text with ids and folders that are the same in every run."""
    if told.count('{"id":"'):
        entry = told.rpartition('"id":"')[2].partition('"')[0]
        told = told.replace(entry, ENTRY[:len(entry)].ljust(len(entry), "0"))
    known = site.git("log", "--all", "--reflog", "--reverse", "--topo-order", "--format=%H")
    tags = site.git("for-each-ref", "--format=%(objectname)", "refs/tags")
    for number, oid in enumerate(dict.fromkeys(f"{known}\n{tags}".split()), 0xa1):
        for length in (40, 12, 7):
            told = re.sub(rf"\b{oid[:length]}\b", f"{number:02x}".ljust(length, "0"), told)
        told = told.replace(f"...{oid[-6:]}", "...000000")
    told = re.sub(r"\b[0-9a-f]{32}\b", "0" * 32, told)
    told = re.sub(r"\b\d{4}-\d\d-\d\dT[0-9:]{8}", f"{TODAY}T12:00:00", told)
    told = re.sub(r"\b\d{4}-\d\d-\d\d(?!T)\b", lambda day: str(
        TODAY + (date.fromisoformat(day[0]) - today())), told)
    told = re.sub(r"Python 3\.\d+", "Python 3.11", told)
    return told.replace(str(site.folder), FOLDER + "0" * (len(str(site.folder)) - len(FOLDER)))


# The form of all of them.

FILES = sorted({*(f"{name}.txt" for name in (*MESSAGES, *EMPTY)),
                *(os.listdir(GOLDEN) if GOLDEN.is_dir() else ())})
START = re.compile(r"policyd: (?!check: \S+ would |check: |could not be judged|override: )")


@pytest.mark.parametrize("file", FILES)
def test_a_message_has_its_form(file):
    text = (GOLDEN / file).read_text()
    assert file.removesuffix(".txt") in {*MESSAGES, *EMPTY}, "nothing writes this file any more"
    assert re.fullmatch(r"[ -~\n]+", text)
    *lines, last = text.splitlines()
    long = [line for line in lines if len(line) > WIDTH and not line.startswith("  ")]
    assert long == []
    if file.startswith("note"):
        assert all(line.startswith(("policyd: note: ", "policyd: paused ", "policyd: override: ",
                                    "policyd: permit, by ", "  "))
                   for line in (*lines, last))
        return
    if file.startswith("warning"):
        assert last == "accepted; on a ref where these rules enforce it would be refused"
        return
    told = json.loads(last.removeprefix("policyd "))
    assert told["next"] in ("split", "edit", "propose", "wait", "rebase", "retry", "stop", "push")
    assert len(last) <= WIDTH or file == "json.txt"
    for rule in rules_of(lines):
        assert len(rule) <= LINES, rule
        assert len([line for line in rule if line.startswith("why: ")]) == 1, rule
        assert len([line for line in rule if line.startswith("do:  ")]) == 1, rule
        assert [line for line in rule if not line.startswith((" ", "why: ", "do:  "))][1:] == []
        assert not any(line.endswith(("...", ":")) for line in rule[-1:]), "a block ends in a do"


def rules_of(lines: list[str]) -> Iterator[list[str]]:
    """The lines of each rule."""
    starts = [n for n, line in enumerate(lines) if START.match(line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        yield lines[start:end]
