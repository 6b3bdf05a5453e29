"""The decision table of the shipped policy, row by row."""

from __future__ import annotations

from functools import cache

import pytest
import shipped

from policyd import caserun
from policyd.core import cases
from policyd.core.policy import Mode
from policyd.rules import BY_ID

CASES = cases.parse((shipped.POLICIES / "default.cases.yaml").read_bytes(), "default.cases.yaml",
                    known=BY_ID)
POLICY, = shipped.active().policies


BEHIND = {"kept-rows": "who may change a record is a maintainer, and those take rows out"}
"""Rules that refuse nothing alone under the shipped policy, and why."""

UNCASED = {"relations-hold": "a case runs nobody's code; tests/push tries it by real pushes"}
"""Rules that no case can try, and why."""


@cache
def results() -> dict[str, caserun.Result]:
    """All rows are run at once: that is how an operator runs them, and faster."""
    return {result.case.title: result for result in caserun.run(CASES, shipped.active())}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_shipped_policy(case):
    result = results()[case.title]
    assert result.unjudged is None
    assert result.refused_by == case.rules, result.says


@pytest.mark.parametrize("rule", [clause.rule for clause in POLICY.clauses
                                  if clause.mode is Mode.ENFORCE])
def test_a_rule_that_the_policy_names_refuses_by_itself_in_the_table(rule):
    if rule in UNCASED:
        assert not any(rule in case.rules for case in CASES)
        return
    alone = any(case.rules == (rule,) for case in CASES)
    assert alone is (rule not in BEHIND)
    assert any(rule in case.rules for case in CASES)


@pytest.mark.parametrize("rule", [clause.rule for clause in POLICY.clauses
                                  if clause.mode is Mode.WARN])
def test_a_rule_that_only_warns_is_all_that_some_row_finds(rule):
    assert any({(found[0], found[1]) for found in result.found} == {(rule, Mode.WARN)}
               for result in results().values())


def test_kept_rows_refuses_alone_where_others_write_the_ledger():
    looser = shipped.active("ledger: [maintainers]", "ledger: [maintainers, agents]")
    result, = caserun.run([case for case in CASES
                           if case.title == "an expired row deleted by an agent"], looser)
    assert result.refused_by == ("kept-rows",)
