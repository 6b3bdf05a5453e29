"""`policyd policy test`: cases of policies as they are edited, and what no case tries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import shipped
from policyhome import ROWS, PolicyHome

from policyd.rules import BY_ID

CASES = "policies/default.cases.yaml"


@pytest.fixture
def home(tmp_path: Path) -> PolicyHome:
    home = PolicyHome.made(tmp_path / "home")
    home.write(CASES, ROWS)
    return home


def untried(home: PolicyHome) -> set[str]:
    marker = ": no case tries "
    return {line.partition(marker)[2] for line in home.out.splitlines() if marker in line}


def test_cases_that_hold_are_a_number(home):
    assert home.run("policy", "test") == 0
    assert home.out.splitlines()[-1] == f"{CASES}: 2 of 2 cases hold"


def test_a_case_that_does_not_hold_is_told_with_what_was_found(home):
    home.edit("who: alice", "who: agent-7", CASES)
    assert home.run("policy", "test") == 1
    assert home.out.splitlines()[:5] == [
        f"{CASES}:6: code with a receipt",
        "  expected: refused by separate-authorship",
        "  found: refused by protected-writers, separate-authorship",
        "    separate-authorship: oracle/r.json + src/a.py",
        "    protected-writers: oracle/r.json by agent-7"]
    assert home.run("policy", "test", "--format", "json") == 1
    row, = home.json()[0]["failing"]
    assert (row["line"], row["title"], row["expected"], row["found"]) == (
        6, "code with a receipt", ["separate-authorship"],
        ["protected-writers", "separate-authorship"])


def test_the_files_are_tried_and_not_what_is_in_force(home):
    assert home.run("policy", "apply") == 0
    before = home.active()
    home.edit("source: [oracle, ledger, manifest]", "source: [ledger, manifest]")
    assert home.run("policy", "test") == 1
    assert home.active() == before


def test_a_case_that_cannot_be_judged_is_told(home):
    home.edit("max_files: 50000", "max_files: 1")
    assert home.run("policy", "test") == 1
    assert "  could not be judged: " in home.out


def line_of(home, start: str) -> int:
    lines = (home.path / "policies/default.yaml").read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.lstrip().startswith(start))


def test_what_no_case_tries_is_told_where_it_stands(home):
    assert home.run("policy", "test") == 0
    assert untried(home) == {
        "separate-authorship: keep_apart: source: ledger",
        "separate-authorship: keep_apart: source: manifest", "protected-writers",
        "ordinary-refs", "ordinary-tree", "literal-overlap", "gate-open", "valid-records",
        "bounded-renewals", "kept-rows", "bare-seeds", "recorded-receipts", "owned-rows",
        "fair-proposals", "no-answer-key", "no-golden-output", "no-recorded-value",
        "receipts-only", "unmarked-tests", "kept-tests"}
    assert f"policies/default.yaml:{line_of(home, 'keep_apart:')}:35: no case tries " \
        "separate-authorship: keep_apart: source: ledger" in home.out
    assert home.run("policy", "test", "--format", "json") == 0
    assert {"file": "policies/default.yaml", "line": line_of(home, "literal-overlap:"), "column": 3,
            "rule": "literal-overlap", "path": []} in home.json()[0]["untried"]


SOFT = """\
  literal-overlap:
    mode: enforce
    on: guarded
    warn_for: [agents]
    except: [maintainers]
"""
PASTE = """\
- title: a paste by WHO on REF
  who: WHO
  before: {src/a.py: ""}
  commits: [{src/a.py: "A = 'EUR 19.25'\\n", tests/test_a.py: "assert A == 'EUR 19.25'\\n"}]
  ref: REF
  expect: accept
"""


def paste(who: str, ref: str, answer: str = "accept") -> str:
    return PASTE.replace("WHO", who).replace("REF", ref).replace("accept\n", f"{answer}\n")


REFUSED = "refuse\n  rules: [literal-overlap]"


def test_softenings_are_tried_by_who_and_where(home):
    home.edit("  literal-overlap:\n    mode: enforce\n", SOFT)
    words = {f"literal-overlap: {word}" for word in (
        "on", "warn_for: agents", "except: maintainers", "min_length", "allow: application/json")}
    home.write(CASES, paste("dora", "main", REFUSED))
    assert home.run("policy", "test") == 0, home.out
    assert words & untried(home) == words - {"literal-overlap: min_length"}
    home.write(CASES, paste("agent-7", "main") + paste("alice", "main") + paste("dora", "topic"))
    assert home.run("policy", "test") == 0, home.out
    assert words & untried(home) == {"literal-overlap: allow: application/json"}


def test_a_variant_that_cannot_be_judged_tries_nothing(home, monkeypatch):
    rule = BY_ID["literal-overlap"]

    def check(given, options):
        assert options.min_length == 6
        yield from rule.check(given, options)

    monkeypatch.setattr("policyd.judge.BY_ID", {**BY_ID, rule.id: replace(rule, check=check)})
    home.write(CASES, paste("agent-7", "main", REFUSED))
    assert home.run("policy", "test") == 0, home.out
    assert "literal-overlap: min_length" in untried(home)


def test_a_day_can_be_tried_before_it_comes(home):
    home.edit("  literal-overlap:\n    mode: enforce\n",
              "  literal-overlap:\n    mode: warn\n    enforce_from: 2100-01-15\n")
    home.write(CASES, paste("agent-7", "main", REFUSED))
    for day, code in (("2100-01-14", 1), ("2100-01-15", 0)):
        assert home.run("policy", "test", "--on", day) == code
    assert "literal-overlap: enforce_from" not in untried(home)
    assert home.run("policy", "test", "--on", "2100-02-30") == 2


def test_the_cases_that_are_shipped_try_every_word_of_the_policy(home):
    home.write(CASES, (shipped.POLICIES / "default.cases.yaml").read_text())
    assert home.run("policy", "test") == 0, home.out
    assert untried(home) == set()


def test_files_are_tried_wherever_they_lie(home, tmp_path):
    other = tmp_path / "default.cases.yaml"
    other.write_text(ROWS.replace("expect: accept", "expect: refuse\n  rules: [write-set]"))
    assert home.run("policy", "test", str(other)) == 1
    assert home.out.startswith(f"{other}:1: code alone\n")
    assert home.run("policy", "test", str(other), str(home.path / CASES), "--format", "json") == 1
    assert [len(one["failing"]) for one in home.json()] == [1, 0]


@pytest.mark.parametrize(("name", "text", "code"), [
    ("other.cases.yaml", ROWS, 2), ("default.yaml", ROWS, 2), ("default.cases.yaml", "x", 1),
    ("absent/default.cases.yaml", None, 2)])
def test_what_are_no_cases_of_a_policy_is_a_sentence(home, tmp_path, name, text, code):
    if text is not None:
        (tmp_path / name).write_text(text)
    assert home.run("policy", "test", str(tmp_path / name)) == code
    assert (home.out + home.err).count("\n") == 1
    assert name in home.out + home.err


def test_there_may_be_no_cases(home):
    (home.path / CASES).unlink()
    assert home.run("policy", "test") == 0
    assert home.out == "no cases stand beside the policies\n"
    assert home.run("policy", "test", "--format", "json") == 0
    assert home.json() == []


def test_nothing_is_written(home):
    before = sorted(home.path.rglob("*"))
    assert home.run("policy", "test") == 0
    assert sorted(home.path.rglob("*")) == before
