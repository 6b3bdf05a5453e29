"""`policyd record` flake, quarantine and freeze: rows come, are renewed and go, by commands."""

from __future__ import annotations

import json
import shlex
import sys

import pytest
from clones import Kept, day
from sites import Site

from policyd import cli

NODE = "tests/test_app.py::test_total_does_not_depend_on_the_order"
LEDGER, QUARANTINE = "tests/ledger/flake_ledger.json", "oracle/quarantine.yaml"
FREEZES = "fixtures/freezes.json"
FLAKE = ("flake", "add", NODE, "--reason", "the rate server is slow", "--max-runs", "2")


@pytest.fixture
def clone(site: Site, monkeypatch: pytest.MonkeyPatch) -> Kept:
    kept = Kept(site)
    monkeypatch.chdir(site.work)
    monkeypatch.setattr(sys, "stdin", open("/dev/null"))  # noqa: SIM115
    return kept


def entries(clone: Kept) -> list[dict[str, object]]:
    return json.loads(clone.text(LEDGER))["entries"]


def test_a_flake_is_added_and_the_printed_commit_is_taken_by_the_server(clone):
    before = clone.text(LEDGER)
    assert clone.record(*FLAKE, "--days", "10") == 0, clone.out
    assert clone.text(LEDGER).startswith(before[:before.index("\n    }\n")])
    assert entries(clone)[1] == {
        "id": "app.total-does-not-depend-on-the-order", "nodeid": NODE,
        "reason": "the rate server is slow", "first_seen": str(day(0)),
        "expires_on": str(day(10)), "owner": "alice", "max_runs": 2}
    message = clone.commits()
    assert message.endswith("\n\nthe rate server is slow")
    assert max(map(len, message.splitlines())) <= 72
    assert clone.site.git("show", "--format=", "--name-only") == LEDGER
    clone.pushes()


def test_the_printed_commit_works_in_a_folder_below_and_takes_nothing_else(clone, monkeypatch):
    clone.write("src/app.py", "def total(prices): return 0\n")
    clone.site.git("add", "src/app.py")
    monkeypatch.chdir(clone.work / "src")
    assert clone.record(*FLAKE, "--days", "10") == 0
    clone.commits(clone.work / "src")
    assert clone.site.git("show", "--format=", "--name-only") == LEDGER


@pytest.mark.parametrize(("more", "sentence"), [
    (["--days", "31"], f"{day(31)} is too far; a flake row ends on {day(30)} at the latest, 30 "
                       "days from today"),
    (["--until", str(day(-1))], f"{day(-1)} is over already; today is {day(0)}"),
    (["--until", "2027-1-2"], "'2027-1-2' is no date; write YYYY-MM-DD"),
    (["--until", "20270102"], "'20270102' is no date; write YYYY-MM-DD"),
    (["--until", str(day(1)), "--days", "1"], "say --until DATE or --days N, not both"),
    (["--days", "9" * 12], f"9999-12-31 is too far; a flake row ends on {day(30)} at the latest, "
                           "30 days from today"),
    ([], "say the last day: --until DATE, or --days N"),
    (["--days", "3", "--id", "app.rates"],
     "there is a flake row app.rates already; say another --id"),
    (["--days", "3", "--owner", "nobody"], "nobody is no group of the policy and in none; say "
                                           "--owner NAME, or `git config policyd.owner NAME` once"),
    (["--days", "3", "--id", " "],
     f"nothing was written: {LEDGER}: ' ' says nothing"),
    (["--days", "3", "--first-seen", str(day(9))],
     f"nothing was written: {LEDGER}: expires_on {day(3)} is before first_seen {day(9)}"),
])
def test_a_flake_that_cannot_be_is_refused_in_a_sentence(clone, more, sentence):
    assert clone.refused(*FLAKE, *more) == sentence


def test_one_test_has_one_row_however_its_id_is_spelt(clone):
    assert clone.refused(
        "flake", "add", "tests/./test_rates.py::test_rates", "--reason", "slow", "--days", "3",
        "--max-runs", "2") == (f"nothing was written: {LEDGER}: nodeid "
                               "'tests/test_rates.py::test_rates' again; the row in line 4 has it")
    assert clone.refused("flake", "add", "tests/test_rates.py", "--reason", "slow", "--days", "3",
                         "--max-runs", "2").startswith(
        f"nothing was written: {LEDGER}: 'tests/test_rates.py' is no node id")


def test_the_policy_says_where_rows_stand_and_how_long_they_last(clone):
    clone.site.edit_policy("days: {flake: 30,", "days: {flake: 5,")
    clone.site.edit_policy("  flakes: tests/ledger/flake_ledger.json", "  flakes: ledger/f.json")
    assert clone.refused(*FLAKE, "--days", "6").endswith(" at the latest, 5 days from today")
    assert clone.record(*FLAKE, "--days", "5") == 0, clone.out
    assert json.loads(clone.text("ledger/f.json"))["entries"][0]["nodeid"] == NODE


def test_without_a_policy_the_usual_places_and_bounds_hold(clone, tmp_path, capfd):
    code = cli.run(["--home", str(tmp_path / "nowhere"), "record", *FLAKE, "--days", "31",
                    "--owner", "somebody"])
    assert (code, capfd.readouterr().err.endswith("30 days from today\n")) == (2, True)
    assert cli.run(["--home", str(tmp_path / "nowhere"), "record", *FLAKE, "--days", "30",
                    "--owner", "somebody"]) == 0
    assert entries(clone)[1]["owner"] == "somebody"


def test_a_bundle_says_it_too(clone, tmp_path):
    clone.site.edit_policy("days: {flake: 30,", "days: {flake: 5,")
    bundle = str(tmp_path / "bundle")
    assert clone.site.policyd("policy", "export", bundle) == 0
    assert clone.refused(*FLAKE, "--days", "6", "--policy", bundle, "--repository", "r").endswith(
        "5 days from today")


def test_a_file_with_a_fault_is_left_alone(clone):
    clone.write(LEDGER, clone.text(LEDGER).replace('"max_runs": 3', '"max_runs": 0'))
    before = clone.files()
    assert clone.record(*FLAKE, "--days", "3") == 1
    assert clone.out == f"{LEDGER}:11:19: 0 is less than 1\n"
    assert clone.files() == before


def test_a_link_is_no_record(clone):
    (clone.work / LEDGER).rename(clone.work / "elsewhere.json")
    (clone.work / LEDGER).symlink_to(clone.work / "elsewhere.json")
    assert clone.refused(*FLAKE, "--days", "3") == \
        f"{LEDGER}: it is a symbolic link; a record is a plain file"


def test_a_flake_is_renewed_for_another_reason(clone):
    same = "Clock  skew of the rate server"
    assert clone.refused("flake", "renew", "app.rates", "--days", "20", "--reason", same) == (
        "say another reason than the row has; the same one again is no reason to wait longer")
    assert clone.refused("flake", "renew", "app.none", "--days", "9", "--reason", "x").startswith(
        "there is no flake row app.none; there are: app.rates")
    assert clone.record("flake", "renew", "app.rates", "--days", "20", "--reason", "still") == 0
    assert (entries(clone)[0]["expires_on"], entries(clone)[0]["reason"]) == (str(day(20)), "still")
    assert clone.commits() == f"Renew flake app.rates until {day(20)}\n\nstill"
    clone.pushes()


def test_a_flake_goes_after_its_test_passed_as_often_as_it_may_run(clone):
    clone.record(*FLAKE, "--days", "3", "--id", "order")
    clone.commits()
    clone.write("pytest.ini", "[pytest]\npythonpath = src\n")
    clone.site.commit({})
    assert clone.record("flake", "remove", "order", "--python", sys.executable) == 0, clone.out
    assert [row["id"] for row in entries(clone)] == ["app.rates"]
    message = clone.commits()
    assert f"Rerun at {clone.site.tip('HEAD~')[:12]}: {NODE} passed 2 of 2 runs" in message


@pytest.mark.parametrize(("body", "why"), [
    ("assert False", "run 1 of 3 failed (FAILED tests/test_rates.py::test_rates - assert False)"),
    ("import pytest; pytest.skip('no')", "run 1 of 3 skipped the test"),
    (None, "run 1 of 3 found no test (ERROR: "),
    ("import os; n = os.path.exists('n'); open('n', 'w'); assert not n",
     "run 2 of 3 failed (FAILED tests/test_rates.py::test_rates - "),
])
def test_a_flake_stays_when_a_run_does_not_pass(clone, body, why):
    if body is not None:
        clone.write("tests/test_rates.py", f"def test_rates():\n    {body}\n")
    before = clone.text(LEDGER)
    assert clone.record("flake", "remove", "app.rates", "--python", sys.executable) == 2
    assert f"policyd: the row stays: {why}" in clone.out
    assert clone.text(LEDGER) == before


def test_a_flake_whose_test_is_gone_goes_with_a_reason(clone):
    assert clone.refused("flake", "remove", "app.rates", "--no-rerun") == (
        "say with --reason why the row goes although its test was not run")
    assert clone.record("flake", "remove", "app.rates", "--no-rerun", "--reason", "test is gone") \
        == 0
    assert entries(clone) == []
    assert clone.commits() == "Remove flake app.rates\n\nNot rerun: test is gone"
    clone.pushes()


def test_what_a_closed_gate_tells_a_maintainer_to_run_opens_it(clone):
    """A row of each kind that a command removes; its lines are what the refusal prints."""
    over = {f'"{day(7)}"': f'"{day(-1)}"', str(day(0)): str(day(-9))}
    for path in (LEDGER, QUARANTINE):
        text = clone.text(path)
        for old, new in over.items():
            text = text.replace(old, new)
        clone.write(path, text)
    clone.site.commit({"tests/test_rates.py": "def test_rates():\n    pass\n"})
    clone.pushes()
    clone.site.commit({"src/new.py": "NEW = 1\n"})
    for _ in range(2):
        assert clone.site.push("HEAD:refs/heads/main", as_="alice") == 1
        [line] = [line for line in clone.site.told if "policyd record" in line]
        words = shlex.split(line.partition("policyd ")[2])
        clone.site.git("checkout", "--quiet", "-B", "settle", "origin/main")
        assert clone.site.policyd(*words) == 0, clone.out
        clone.commits()
        clone.pushes()
        clone.site.git("fetch", "--quiet", "origin")
        clone.site.git("checkout", "--quiet", "main")
        clone.site.git("rebase", "--quiet", "origin/main")
    clone.site.push("HEAD:refs/heads/main", as_="alice")
    assert clone.site.told
    assert not any("gate-open" in line for line in clone.site.told)


def test_of_rows_on_one_line_the_one_that_is_meant_goes(clone):
    clone.record(*FLAKE, "--days", "3", "--id", "order")
    both = json.dumps(json.loads(clone.text(LEDGER)))
    for name, other in (("order", "app.rates"), ("app.rates", "order")):
        clone.write(LEDGER, both)
        assert clone.record("flake", "renew", name, "--days", "9", "--reason", "other") == 0
        assert {row["id"]: row["reason"] == "other" for row in entries(clone)} == {
            name: True, other: False}
        assert clone.record("flake", "remove", name, "--no-rerun", "--reason", "x") == 0
        assert [row["id"] for row in entries(clone)] == [other]


def test_rows_are_listed(clone):
    assert clone.record("flake", "list", "--format", "json") == 0
    [row] = json.loads(clone.out)
    assert (row["id"], row["days_left"], row["path"], row["line"]) == ("app.rates", 7, LEDGER, 4)
    assert clone.record("quarantine", "list") == 0
    assert "tests/test_rates.py::test_endpoint" in clone.out
    assert clone.record("freeze", "list") == 0
    assert clone.out == "there is no freeze row\n"
    clone.write(LEDGER, clone.text(LEDGER).replace(str(day(7)), str(day(-1))).replace(
        f'"first_seen": "{day(0)}"', f'"first_seen": "{day(-9)}"'))
    assert clone.record("flake", "list") == 1
    assert " over  app.rates" in clone.out


def test_a_quarantine_with_comments_keeps_them(clone):
    text = "# ours\n" + clone.text(QUARANTINE).replace("    status", "    # at night\n    status") \
        + "# the end"
    clone.write(QUARANTINE, text)
    assert clone.record("quarantine", "add", NODE, "--days", "9", "--reason",
                        "upstream answers 429") == 0, clone.out
    assert clone.text(QUARANTINE) == text.removesuffix("# the end") + f"""\
  - nodeid: {NODE}
    status: frozen
    reason: upstream answers 429
    owner: alice
    since: {day(0)}
    expires_on: {day(9)}
# the end"""
    clone.commits()
    clone.pushes()
    assert clone.record("quarantine", "remove", NODE, "--reason", "it answers") == 0
    assert clone.text(QUARANTINE) == text
    assert clone.refused("quarantine", "add", NODE, "--days", "9", "--reason", "short").endswith(
        "a reason has 12 characters and more; 'short' has 5")


def test_an_open_row_has_no_last_day(clone):
    add = ("quarantine", "add", NODE, "--reason", "looks slow at night", "--open")
    assert "has no last day" in clone.refused(*add, "--days", "3")
    assert clone.record(*add) == 0, clone.out
    assert "status: open" in clone.text(QUARANTINE)
    assert clone.refused("quarantine", "renew", NODE, "--days", "3", "--reason", "x" * 12) == \
        f"{NODE} has no last day; only a dated row is renewed"


def test_a_row_about_no_file_is_taken_with_a_note(clone):
    add = ("quarantine", "add", "tests/test_typo.py::test_it", "--days", "3", "--reason", "x" * 12)
    assert clone.record(*add) == 0
    assert clone.out.splitlines()[-1] == \
        "note: there is no file tests/test_typo.py here; the row is about no test"
    clone.record(*FLAKE, "--days", "3")
    assert "note:" not in clone.out


def test_a_relation_is_never_quarantined(clone):
    assert clone.refused("quarantine", "add", "oracle/relations/order.py::R1_order", "--days", "3",
                         "--reason", "breaks at night").endswith(
        "is a relation; relations never stand here, only in the freezes")


def test_only_what_is_freezable_is_frozen(clone):
    add = ("--days", "3", "--reason", "the sum runs in parallel")
    assert clone.refused("freeze", "add", "R1_order", *add) == (
        "R1_order is not freezable (oracle/relations/order.yaml:4); freezable are: R2")
    assert clone.refused("freeze", "add", "R9", *add) == (
        "no table has the relation R9; freezable are: R2")
    assert clone.refused("freeze", "add", "R2", "--days", "15", "--reason", "x").endswith(
        "14 days from today")
    assert clone.refused("freeze", "add", "R2", *add, "--pass-needed", "6").endswith(
        "6 passes of 5 runs cannot be had")
    assert clone.record("freeze", "add", "R2", *add) == 0, clone.out
    assert json.loads(clone.text(FREEZES)) == [{
        "relation_id": "R2", "since": str(day(0)), "expires": str(day(3)), "reruns": 5,
        "pass_needed": 5, "reason": "the sum runs in parallel", "owner": "alice"}]
    clone.commits()
    clone.pushes()
    assert clone.record("freeze", "renew", "R2", "--days", "9", "--reason", "still does") == 0
    clone.commits()
    clone.pushes()
    assert clone.record("freeze", "remove", "R2", "--reason", "sums are exact now") == 0
    assert clone.text(FREEZES) == "[]\n"
    clone.commits()
    clone.pushes()


def test_a_file_that_another_process_changes_meanwhile_is_not_overwritten(clone, monkeypatch):
    from policyd.adapters.worktree import WorkTree

    write = WorkTree.write

    def late(tree, files, before):
        clone.write(LEDGER, clone.text(LEDGER) + "\n")
        write(tree, files, before)

    monkeypatch.setattr(WorkTree, "write", late)
    assert clone.record(*FLAKE, "--days", "3") == 2
    assert clone.out == \
        f"policyd: {LEDGER} was changed by somebody else meanwhile; try again\n"


def test_outside_of_a_clone_there_is_nothing_to_keep(site, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", "/")
    assert site.policyd("record", "flake", "list") == 2
    assert site.out.startswith("policyd: not a git repository")
