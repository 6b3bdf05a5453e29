"""`policyd policy backtest` on small histories whose answers are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pastrepos import Past, git
from policyhome import PolicyHome
from sites import listing

from policyd import backtest
from policyd.core.backtesting import Tally

MIXED, SPLIT, PASTED, LATE = "Mix code and oracle", "Merge topic", "Paste", "After the last day"
EXTENDS = 'extends: default.yaml\nrepositories: ["**"]\n'


def shop() -> Past:
    """An honest step and one of each kind that is refused."""
    past = Past()
    past.commit({"src/app.py": "x = 1\n", "oracle/r.json": "{}\n"}, day="2026-01-05")
    past.commit({"src/app.py": "x = 2\n"}, day="2026-01-06", message="Honest")
    base = past.commit({"src/app.py": "x = 3\n", "oracle/r.json": "{ }\n"}, day="2026-01-07",
                       message=MIXED)
    past.commit({"oracle/r.json": "{  }\n"}, day="2026-01-08", ref="topic", parents=(base,))
    side = past.commit({"src/app.py": "x = 4\n"}, day="2026-01-08", ref="topic")
    past.commit({"oracle/r.json": "{  }\n", "src/app.py": "x = 4\n"}, day="2026-01-09",
                parents=(base, side), message=SPLIT)
    past.commit({"src/tax.py": 'RATE = "eur-19.25"\n'}, day="2026-01-12", message="Add a rate")
    past.commit({"tests/test_tax.py": 'def test_rate():\n    assert rate() == "eur-19.25"\n'},
                day="2026-01-16", message=PASTED)
    past.commit({"tests/test_more.py": 'def test_rate():\n    assert rate() == "eur-19.25"\n'},
                day="2026-03-16", message="Paste long after")
    return past


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> PolicyHome:
    return PolicyHome.made(tmp_path_factory.mktemp("home") / "home")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("srv") / "shop.git"
    shop().write(folder)
    return folder


def told(home: PolicyHome, repository: Path, *options: str) -> dict[str, object]:
    """What JSON says, with the subjects of the steps that each rule found something in."""
    code = home.run("policy", "backtest", str(repository), "--format", "json", "--jobs", "1",
                    *options)
    assert code == 0, home.err
    found = home.json()
    found["by_rule"] = {}
    for step in found["steps"]:
        for rule in dict.fromkeys(one["rule"] for one in step["findings"]):
            found["by_rule"].setdefault(rule, []).append(step["subject"])
    return found


def row(found: dict[str, object], rule: str) -> dict[str, object]:
    return next(one for one in found["rules"] if one["rule"] == rule)


def test_each_step_is_judged_as_a_push_of_all_that_it_brings(home, repository):
    found = told(home, repository)
    assert found["by_rule"] == {
        "separate-authorship": [SPLIT, MIXED], "protected-writers": [SPLIT, MIXED],
        "literal-overlap": [PASTED]}
    assert (found["tried"], found["judged"], found["refused"]) == (6, 6, 3)
    assert (found["first"], found["last"]) == ("2026-01-06", "2026-03-16")
    mixed = row(found, "separate-authorship")
    assert (mixed["mode"], mixed["refused"], mixed["share"]) == ("enforce", 2, 2 / 6)
    assert (found["repository"], found["branch"]) == ("shop", "refs/heads/main")


def test_a_finding_says_where(home, repository):
    step = next(one for one in told(home, repository)["steps"] if one["subject"] == PASTED)
    finding, = step["findings"]
    assert finding["spots"][0]["path"] == "tests/test_tax.py"
    assert finding["spots"][0]["line"] == 2
    assert step["time"] == "2026-01-16T12:00:00+00:00"


def test_the_table_has_each_rule_and_its_latest_steps(home, repository):
    assert home.run("policy", "backtest", str(repository), "--jobs", "1") == 0
    lines = home.out.splitlines()
    assert lines[0] == ("shop, main: 6 steps, 2026-01-06 to 2026-03-16, as pushed by nobody "
                        "known, under default (enforce)")
    assert "note: the first commit of the branch is taken as it is" in lines
    assert "refused: 3 (50.0%); warned: 0 (0.0%); only observed: 0 (0.0%); could not be judged: " \
        "0" in lines
    row = next(line for line in lines if line.split()[:1] == ["separate-authorship"])
    assert row.split()[:6] == ["separate-authorship", "enforce", "2", "0", "0", "33.3%"]
    assert any(MIXED in line and "oracle/r.json + src/app.py" in line for line in lines)
    assert any("tests/test_tax.py:2" in line for line in lines)


def test_by_a_maintainer_only_what_nobody_may_do_is_left(home, repository):
    found = told(home, repository, "--as", "alice")
    assert set(found["by_rule"]) == {"separate-authorship", "literal-overlap"}
    assert home.run("policy", "backtest", str(repository), "--as", "a*") == 2
    assert "--as" in home.err


def test_only_the_steps_that_are_asked_for_are_judged(home, repository):
    assert told(home, repository, "--since", "2026-01-09")["tried"] == 4
    assert told(home, repository, "--limit", "2")["by_rule"] == {"literal-overlap": [PASTED]}
    assert told(home, repository, "--since", "2027-01-01")["tried"] == 0
    only = told(home, repository, "--rule", "protected-writers")
    assert [one["rule"] for one in only["rules"]] == ["protected-writers"]


def test_rules_in_observe_say_what_they_would_refuse(home, repository, tmp_path):
    (tmp_path / "shy.yaml").write_text(EXTENDS + "mode: observe\n")
    shy = told(home, repository, "--against", str(tmp_path / "shy.yaml"))
    assert (shy["refused"], shy["would_refuse"]) == (0, 3)
    assert row(shy, "protected-writers")["would_refuse"] == 2
    every = told(home, repository, "--against", str(tmp_path / "shy.yaml"), "--all-rules")
    assert (every["refused"], every["would_refuse"]) == (3, 0)


def test_a_rule_that_is_off_is_tried_where_it_is_named(home, repository, tmp_path):
    file = tmp_path / "off.yaml"
    file.write_text(EXTENDS + "rules: {separate-authorship: {mode: off}}\n")
    assert "separate-authorship" not in told(home, repository, "--against", str(file))["by_rule"]
    tried = told(home, repository, "--against", str(file), "--rule", "separate-authorship")
    assert row(tried, "separate-authorship")["would_refuse"] == 2
    assert home.run("policy", "backtest", str(repository), "--rule", "write-set") == 2
    assert "default does not name write-set" in home.err


def test_dates_in_records_count_on_the_committers_day(home, tmp_path):
    ledger = {"schema": "flake_ledger.v1", "entries": [{
        "id": "app.x", "nodeid": "tests/test_a.py::test_a", "reason": "clock skew",
        "first_seen": "2026-01-05", "expires_on": "2026-01-20", "owner": "alice", "max_runs": 3}]}
    past = Past()
    past.commit({"src/app.py": "x = 1\n", "tests/ledger/flake_ledger.json": json.dumps(ledger)},
                day="2026-01-05")
    past.commit({"src/app.py": "x = 2\n"}, day="2026-01-20", message="On the last day")
    past.commit({"src/app.py": "x = 3\n"}, day="2026-01-22", message=LATE)
    past.write(tmp_path / "shop.git")
    assert told(home, tmp_path / "shop.git")["by_rule"] == {"gate-open": [LATE]}


def test_several_processes_say_what_one_says(home, repository, monkeypatch):
    def steps(jobs: str) -> object:
        assert home.run("policy", "backtest", str(repository), "--format", "json",
                        "--jobs", jobs) == 0
        return [{**step, "milliseconds": 0} for step in home.json()["steps"]]

    monkeypatch.setattr(backtest, "CHUNK", 1)
    assert steps("3") == steps("1")


def test_a_step_that_cannot_be_read_is_told_and_the_others_are_judged(home, tmp_path):
    ids = shop().write(tmp_path / "shop.git")
    tree = git("rev-parse", f"{ids[2]}:oracle", cwd=tmp_path / "shop.git")
    (tmp_path / "shop.git/objects" / tree[:2] / tree[2:]).unlink()
    found = told(home, tmp_path / "shop.git")
    assert found["judged"] == 4
    assert [step["subject"] for step in found["steps"] if step["unjudged"]] == [SPLIT, MIXED]
    assert "the object ... is not in the repository" in found["unjudged"][0]["says"]
    assert home.run("policy", "backtest", str(tmp_path / "shop.git"), "--jobs", "1") == 0
    assert "could not be judged: 2" in home.out


def test_where_no_step_can_be_judged_the_exit_code_says_so(home, tmp_path):
    ids = shop().write(tmp_path / "shop.git")
    tree = git("rev-parse", f"{ids[2]}^{{tree}}", cwd=tmp_path / "shop.git")
    (tmp_path / "shop.git/objects" / tree[:2] / tree[2:]).unlink()
    assert home.run("policy", "backtest", str(tmp_path / "shop.git"), "--since", "2026-01-07",
                    "--jobs", "1") == 0
    git("update-ref", "refs/heads/main", ids[2], cwd=tmp_path / "shop.git")
    assert home.run("policy", "backtest", str(tmp_path / "shop.git"), "--since", "2026-01-07",
                    "--jobs", "1") == 2
    assert "could not be judged: 1" in home.out


def test_history_that_is_lost_further_back_is_told(home, tmp_path):
    ids = shop().write(tmp_path / "shop.git")
    (tmp_path / "shop.git/objects" / ids[1][:2] / ids[1][2:]).unlink()
    found = told(home, tmp_path / "shop.git")
    assert found["tried"] == 4
    assert any(f"the object {ids[1][:12]} is missing" in note for note in found["notes"])


def test_sha256_objects_are_refused_in_a_sentence(home, tmp_path):
    git("init", "--quiet", "--bare", "--object-format=sha256", str(tmp_path / "new.git"))
    assert home.run("policy", "backtest", str(tmp_path / "new.git")) == 2
    assert "uses SHA-256 object ids, which libgit2 cannot read" in home.err


def test_what_is_no_repository_or_has_no_branch_is_refused(home, tmp_path):
    assert home.run("policy", "backtest", str(tmp_path)) == 2
    assert "is no repository" in home.err
    git("init", "--quiet", "--bare", str(tmp_path / "empty.git"))
    assert home.run("policy", "backtest", str(tmp_path / "empty.git")) == 2
    assert "name one with --branch" in home.err
    assert home.run("policy", "backtest", str(tmp_path / "empty.git"), "--branch", "x") == 2
    assert "has no branch x" in home.err


def test_nothing_is_written_into_the_repository(home, repository):
    before = listing(repository)
    told(home, repository)
    assert home.run("policy", "backtest", str(repository), "--jobs", "2") == 0
    assert listing(repository) == before


def test_a_clone_and_a_linked_work_tree_are_taken(home, repository, tmp_path):
    git("clone", "--quiet", str(repository), str(tmp_path / "clone"))
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"), cwd=tmp_path / "clone")
    whole = told(home, repository)["by_rule"]
    for folder in ("clone", "linked"):
        found = told(home, tmp_path / folder, "--branch", "main")
        assert (found["repository"], found["by_rule"]) == ("clone", whole)


def test_a_policy_that_holds_elsewhere_and_guards_another_branch_is_tried_all_the_same(
        home, repository, tmp_path):
    (tmp_path / "other.yaml").write_text(
        "extends: default.yaml\nrepositories: [other]\nguarded: [trunk]\n")
    found = told(home, repository, "--against", str(tmp_path / "other.yaml"))
    assert found["refused"] == 3
    assert "other does not guard refs/heads/main; judged as if it did" in found["notes"]


def test_the_home_may_hold_for_no_such_repository(repository, tmp_path):
    home = PolicyHome.made(tmp_path / "home")
    home.edit('repositories: ["**"]', "repositories: [other]")
    assert "no policy holds for shop; judged under default, as if it did" in told(
        home, repository)["notes"]
    assert home.run("policy", "backtest", str(repository), "--against", "nothing") == 2
    assert "no file and no policy nothing; the home has default" in home.err


def test_a_file_is_tried_without_any_home(home, repository, tmp_path):
    file = tmp_path / "alone.yaml"
    file.write_bytes((home.path / "policies/default.yaml").read_bytes())
    nowhere = PolicyHome(tmp_path / "nowhere")
    assert told(nowhere, repository, "--against", str(file))["refused"] == 3
    file.write_text("version: 1\nguardd: [main]\n")
    assert nowhere.run("policy", "backtest", str(repository), "--against", str(file)) == 1
    assert "policies/alone.yaml:2:1: " in nowhere.out
    file.write_text("version: 1\n")
    assert home.run("policy", "backtest", str(repository), "--against", str(file)) == 2
    assert "alone is a base, without `repositories`" in home.err


def test_pushed_text_steers_no_terminal(home, tmp_path):
    past = Past()
    past.commit({"oracle/a": "1"}, day="2026-01-05")
    past.commit({"oracle/a": "2"}, day="2026-01-06", message="\x1b[2J\udcff \u202egnp")
    past.write(tmp_path / "shop.git")
    assert home.run("policy", "backtest", str(tmp_path / "shop.git"), "--jobs", "1") == 0
    assert r"\x1b[2J\xff \u202egnp" in home.out
    assert told(home, tmp_path / "shop.git")["refused"] == 1
    assert home.out.isascii()


@pytest.mark.parametrize("form", ["text", "json"])
def test_ctrl_c_tells_what_was_judged(home, repository, monkeypatch, form):
    fed = Tally.feed

    def feed(self: Tally, step: object) -> None:
        fed(self, step)
        if self.summary().steps == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Tally, "feed", feed)
    assert home.run("policy", "backtest", str(repository), "--format", form) == 2
    assert home.err.strip().endswith("stopped")
    if form == "json":
        assert home.json()["stopped"] is True
        assert home.json()["tried"] == 2
    else:
        assert "stopped: what follows is about the newest steps only" in home.out
