"""The decision table of the shipped policy, row by row."""

from __future__ import annotations

from functools import cache

import pytest
import shipped

from policyd import caserun
from policyd.core import cases
from policyd.rules import BY_ID

CASES = cases.parse((shipped.POLICIES / "default.cases.yaml").read_bytes(), "default.cases.yaml",
                    known=BY_ID)
POLICY, = shipped.active().policies


@cache
def results() -> dict[str, caserun.Result]:
    """All rows are run at once: that is how an operator runs them, and faster."""
    return {result.case.title: result for result in caserun.run(CASES, shipped.active())}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_shipped_policy(case):
    result = results()[case.title]
    assert result.unjudged is None
    assert result.refused_by == case.rules, result.says


@pytest.mark.parametrize("rule", [clause.rule for clause in POLICY.clauses])
def test_a_rule_that_the_policy_names_refuses_by_itself_in_the_table(rule):
    assert any(case.rules == (rule,) for case in CASES)
