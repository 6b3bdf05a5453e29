"""Cases run by the real judgement: what is reported when a row does not hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
import shipped
from records_made import RECEIPT, receipt

from policyd import caserun
from policyd.core.cases import MAIN, Case
from policyd.core.globs import repository_pattern
from policyd.core.policy import Active, Bounds

BEFORE = {"src/a.py": "", "oracle/r.json": "{}"}
MIXED = {"src/a.py": "1", "oracle/r.json": "[]"}


@pytest.fixture(name="shipped")
def _shipped() -> Active:
    return shipped.active()


def case(*rules: str, who: str | None = "alice", after: dict[str, str] = MIXED) -> Case:
    return Case("a case", who, BEFORE, (after,), MAIN, rules)


def test_a_row_that_holds(shipped):
    result, = caserun.run([case("separate-authorship")], shipped)
    assert result.holds
    assert result.refused_by == ("separate-authorship",)
    assert result.says == ("separate-authorship: oracle/r.json + src/a.py",)


@pytest.mark.parametrize("rules", [(), ("protected-writers",),
                                   ("protected-writers", "separate-authorship")])
def test_a_row_that_expects_other_rules_does_not_hold(shipped, rules):
    result, = caserun.run([case(*rules)], shipped)
    assert not result.holds


def test_a_row_is_judged_by_its_credential_and_its_signature():
    active = shipped.active("maintainers: [alice, bob]", "maintainers: ['alice#web', bob]")
    oracle = {**BEFORE, "oracle/r.json": "[]"}
    rows = [replace(case(*rules, after=oracle), credential=credential) for credential, rules in (
        ("web", ()), ("ssh", ("protected-writers",)), (None, ("protected-writers",)))]
    assert [result.holds for result in caserun.run(rows, active)] == [True] * 3
    writers = "  protected-writers:\n"
    signing = shipped.active(writers, f"{writers}    signed: [oracle]\n")
    rows = [replace(case(*rules, after=oracle), signed=signed) for signed, rules in (
        (True, ()), (False, ("protected-writers",)))]
    assert [result.holds for result in caserun.run(rows, signing)] == [True] * 2


def test_results_come_in_the_order_of_the_cases(shipped):
    rows = [case("separate-authorship"), case(after=BEFORE),
            case("protected-writers", "separate-authorship", who="agent-7")]
    results = caserun.run(rows, shipped)
    assert [result.case for result in results] == rows
    assert all(result.holds for result in results)


def test_a_row_that_cannot_be_judged_holds_no_expectation(shipped):
    hurried = with_policy(shipped, bounds=Bounds(max_files=1))
    for rules in ((), ("separate-authorship",)):
        result, = caserun.run([case(*rules)], hurried)
        assert "max_files" in (result.unjudged or "")
        assert not result.holds


def test_a_policy_is_tried_whatever_repositories_it_names(shipped):
    elsewhere = with_policy(shipped, repositories=(repository_pattern("team/**"),))
    assert caserun.run([case("separate-authorship")], elsewhere)[0].holds


def test_all_policies_hold_together(shipped):
    lenient = with_policy(shipped, clauses=())
    both = replace(shipped, policies=(*lenient.policies, *shipped.policies))
    assert caserun.run([case("separate-authorship")], both)[0].holds


def test_a_row_is_judged_at_the_moment_that_is_given(shipped):
    clauses = tuple(replace(clause, mode=clause.mode.WARN, enforce_from=date(2026, 5, 1))
                    for clause in shipped.policies[0].clauses)
    later = with_policy(shipped, clauses=clauses)
    april, may = (datetime(2026, 4, 30, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC))
    assert caserun.run([case()], later, at=april)[0].holds
    assert caserun.run([case("separate-authorship")], later, at=may)[0].holds


def test_a_row_that_names_its_day_is_judged_on_it_whenever_the_table_is_run(shipped):
    clauses = tuple(replace(clause, mode=clause.mode.WARN, enforce_from=date(2026, 5, 1))
                    for clause in shipped.policies[0].clauses)
    for zone, day in (("UTC", 1), ("Pacific/Pago_Pago", 1), ("Pacific/Kiritimati", 0)):
        later = with_policy(shipped, clauses=clauses, timezone=zone)
        first = date(2026, 4, 30) + timedelta(days=day)
        before, on = (replace(case(*rules), today=today) for rules, today in (
            ((), first - timedelta(days=1)), (("separate-authorship",), first)))
        for at in (datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)):
            assert [r.holds for r in caserun.run([before, on], later, at=at)] == [True, True], zone


def test_a_row_may_name_the_commit_that_holds_what_was_there_before(shipped):
    def with_receipt(baseline: str, *rules: str) -> Case:
        return case(*rules, after={**BEFORE, RECEIPT: receipt(baseline)})

    rows = [with_receipt("${BEFORE}"), with_receipt("1" * 40, "recorded-receipts")]
    assert [result.holds for result in caserun.run(rows, shipped)] == [True, True]


def test_the_operators_git_settings_change_nothing(shipped, monkeypatch, tmp_path):
    (tmp_path / "config").write_text("[core]\n\tbare = nonsense\n")
    for name in ("GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG_GLOBAL", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "config"))
    assert caserun.run([case("separate-authorship")], shipped)[0].holds


def test_nothing_is_left_behind(shipped, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    caserun.run([case()], shipped)
    assert list(tmp_path.iterdir()) == []


def test_a_case_that_pushes_nothing_is_a_mistake_of_the_caller(shipped):
    with pytest.raises(ValueError, match="pushes nothing"):
        caserun.run([Case("t", None, None, (), MAIN, ())], shipped)


def with_policy(active: Active, **changed: object) -> Active:
    return replace(active, policies=(replace(active.policies[0], **changed),))
