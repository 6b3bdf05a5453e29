"""What operators do to gates, from the command line to the next real push."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from sites import MAIN, Site

DAY = timedelta(days=1)


def source(site: Site, *, as_: str = "carol") -> int:
    """Push a change of the app to main; git's exit code."""
    site.git("checkout", "-q", "--detach", site.refs()[MAIN])
    site.commit({"src/app.py": f"x = {len(site.log())}\n"})
    return site.push(f"HEAD:{MAIN}", as_=as_)


def told(site: Site) -> str:
    return " ".join(map(str.strip, site.told))


def run(site: Site, *words: str, code: int = 0) -> str:
    assert site.policyd(*words) == code, site.out
    assert "Traceback" not in site.out
    return site.out


def hold(site: Site, reason: str = "fire drill", *, code: int = 0) -> str:
    return run(site, "gate", "hold", str(site.server), "main", "--reason", reason, code=code)


def test_a_hold_closes_and_its_release_opens(site):
    hold(site)
    assert source(site) == 1
    assert "closed by a hold of" in told(site)
    assert "fire drill" in told(site)
    assert source(site, as_="alice") == 1
    assert "policyd gate release" in told(site)
    run(site, "gate", "release", str(site.server), "main", "--reason", "drill is over")
    assert source(site) == 0, site.err
    verdicts = [entry.get("verdict") for entry in site.log()]
    assert verdicts.count("gate-held") == verdicts.count("gate-released") == 1


def test_a_branch_is_held_once_and_only_what_is_held_is_released(site):
    hold(site)
    assert "is held already, by" in hold(site, "again", code=2)
    assert "is not held; held is refs/heads/main" in run(
        site, "gate", "release", str(site.server), "release/1", "--reason", "x", code=2)
    assert "is no guarded branch" in run(
        site, "gate", "hold", str(site.server), "topic", "--reason", "x", code=2)
    assert [entry.get("verdict") for entry in site.log()].count("gate-held") == 1


def test_a_damaged_file_of_holds_holds(site):
    hold(site)
    file = next((site.state / "acts").glob("*.json"))
    file.write_text("{")
    assert source(site) == 1
    assert "is damaged" in told(site)


def waive(site: Site, row: str, days: int, *, code: int = 0) -> str:
    until = str((datetime.now(UTC) + days * DAY).date())
    return run(site, "gate", "waive", str(site.server), "main", row, "--until", until,
               "--reason", "the owner is on leave", code=code)


def test_a_waiver_lets_a_row_pass_for_days_and_once(site):
    site.pretend(8 * DAY)
    quarantine = "tests/test_rates.py::test_endpoint"
    assert source(site) == 1
    waive(site, "app.rates", 10)
    assert source(site) == 1
    assert "test_endpoint" in told(site)
    waive(site, quarantine, 9)
    assert source(site) == 0, site.err
    site.pretend(10 * DAY)
    assert source(site) == 1
    assert "had its waiver" in waive(site, quarantine, 12, code=2)
    site.pretend(11 * DAY)
    assert source(site) == 1
    assert "app.rates" in told(site)


def test_a_waiver_is_short_and_names_a_row(site):
    site.pretend(8 * DAY)
    assert "3 days at most" in waive(site, "app.rates", 12, code=2)
    assert "is over" in waive(site, "app.rates", 7, code=2)
    assert "no row app.rate; the branch's rows are" in waive(site, "app.rate", 9, code=2)
    assert not any(entry.get("verdict") == "row-waived" for entry in site.log())


def test_a_drifted_lease_can_be_waived(site):
    site.edit_policy("valid-records: {mode: enforce}", "valid-records: {mode: warn}")
    site.commit({"fixtures/data/prices.csv": "price\n3\n"})
    assert site.push(f"HEAD:{MAIN}") == 0
    assert source(site) == 1
    waive(site, "prices", 1)
    assert source(site) == 0, site.err


def test_a_pause_observes_says_so_and_ends(site):
    site.pretend(8 * DAY)
    assert source(site) == 1
    run(site, "pause", "--minutes", "30", "--reason", "the forge is on fire")
    assert source(site) == 0, site.err
    assert "policyd: paused until" in told(site)
    assert "the forge is on fire" in told(site)
    assert site.log()[-1]["paused"] is True
    assert any(f["rule"] == "gate-open" for f in site.log()[-1]["findings"])
    site.pretend(8 * DAY + timedelta(minutes=31), jumped=True)
    assert source(site) == 1


def test_a_pause_can_be_ended(site):
    site.pretend(8 * DAY)
    run(site, "pause", "--minutes", "30", "--reason", "x")
    run(site, "pause", "--end", "--reason", "the fire is out")
    assert source(site) == 1
    assert "nothing is paused" in run(site, "pause", "--end", "--reason", "x", code=2)
    run(site, "pause", "--reason", "x", code=2)
    run(site, "pause", "--minutes", "1441", "--reason", "x", code=2)


def test_the_clock_is_reset_by_its_operator_alone(site):
    site.pretend(8 * DAY)
    assert source(site) == 1
    site.pretend(0 * DAY, jumped=True)
    assert source(site) == 1
    run(site, "clock", "reset", "--reason", "the time server was wrong")
    assert source(site) == 0, site.err
    assert site.log()[-2]["verdict"] == "clock-reset"


def test_a_movement_is_listed_and_accepted(site):
    before = site.refs()[MAIN]
    site.commit({"docs/a.md": "merged on the server\n"})
    site.git("push", "-q", "origin", "HEAD:refs/heads/topic")
    site.git("update-ref", MAIN, site.tip(), before, cwd=site.server)
    assert source(site) == 1
    assert before in run(site, "movement", "list", str(site.server))
    assert "refs/heads/release/1 did not move" in run(
        site, "movement", "accept", str(site.server), "release/1", "--reason", "x", code=2)
    run(site, "movement", "accept", str(site.server), "main", "--reason", "a merge of the forge")
    assert "nothing moved past policyd" in run(site, "movement", "list", str(site.server))
    assert source(site) == 0, site.err
    entry = next(e for e in site.log() if e.get("verdict") == "movement-accepted")
    assert entry["movements"][0][:2] == [MAIN, before]


def test_all_movements_are_accepted_at_once(site):
    site.git("update-ref", "refs/heads/release/1", site.base_tip, cwd=site.server)
    site.git("update-ref", "-d", MAIN, cwd=site.server)
    run(site, "movement", "accept", str(site.server), "--reason", "x", code=2)
    out = run(site, "movement", "accept", str(site.server), "--all", "--reason", "moved house")
    assert "refs/heads/main" in out
    assert "refs/heads/release/1" in out
    assert "nothing moved past policyd" in run(
        site, "movement", "accept", str(site.server), "--all", "--reason", "x", code=2)


def test_status_tells_gates_reasons_and_what_ends_soon(site):
    hold(site)
    told = json.loads(run(site, "status", str(site.server), "--format", "json"))
    branch = told["repositories"][0]["branches"][0]
    assert (branch["branch"], branch["open"]) == ("main", False)
    assert branch["reasons"][0]["says"].endswith("fire drill")
    assert {row["row"] for row in branch["soon"]} == {
        "app.rates", "tests/test_rates.py::test_endpoint", "R1_order"}
    assert told["alive"] is False
    out = run(site, "status")
    assert "CLOSED" in out
    assert "the daemon does not run" in out
    assert "is in force, as the files say" in out


def test_status_says_what_is_edited_and_paused(site):
    file = site.home / "policies/default.yaml"
    file.write_text(file.read_text().replace("bulk: 3", "bulk: 4"))
    run(site, "pause", "--minutes", "5", "--reason", "testing")
    out = run(site, "status")
    assert "edited and not applied" in out
    assert "PAUSED until" in out
    file.write_text("x: [")
    assert "have faults" in run(site, "status")


def test_status_tells_of_a_repository_that_is_gone(site):
    site.server.rename(site.server.with_name("gone.git"))
    assert "it is no longer at" in run(site, "status")


@pytest.mark.parametrize("words", [
    ("gate", "hold", "/nowhere", "main", "--reason", "x"),
    ("movement", "list", "/nowhere"), ("status", "/nowhere"), ("lease", "warm", "/nowhere")])
def test_a_repository_that_is_none_gets_one_sentence(site, words):
    assert "it is not a bare repository" in run(site, *words, code=2)


def test_a_corpus_beyond_the_budget_is_warmed_first(site):
    from hashlib import sha256

    site.edit_policy("seconds: 5}", "seconds: 5, lease_bytes: 1000}")
    text = "price\n" + "1\n" * 2000
    lease = (f"id: long\npath: fixtures/data/long.csv\n"
             f"sha256: {sha256(text.encode()).hexdigest()}\n"
             f"expires: {datetime.now(UTC).date() + 90 * DAY}\nowner: alice\n"
             "allowed_relations: [R1_order]\n")
    site.commit({"fixtures/data/long.csv": text, "fixtures/leases/long.yaml": lease})
    assert site.push(f"HEAD:{MAIN}") == 1
    assert "lease warm" in told(site)
    assert site.push("HEAD:refs/heads/corpus") == 0, site.err
    assert "fixtures/data/long.csv" in run(site, "lease", "warm", str(site.server), "corpus")
    assert site.push(f"HEAD:{MAIN}") == 0, site.err


def test_a_pointer_of_git_lfs_stands_for_its_file(site):
    from hashlib import sha256

    digest = sha256(b"far away").hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 8\n"
    lease = (f"id: far\npath: fixtures/data/far.bin\nsha256: {digest}\n"
             f"expires: {datetime.now(UTC).date() + 90 * DAY}\nowner: alice\n"
             "allowed_relations: [R1_order]\n")
    site.commit({"fixtures/data/far.bin": pointer, "fixtures/leases/far.yaml": lease})
    assert site.push(f"HEAD:{MAIN}") == 0, site.err
