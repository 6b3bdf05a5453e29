"""Every rule, listed by hand: a rule that is not here does not exist."""

from __future__ import annotations

from policyd.core.rule import Rule
from policyd.rules import (
    bare_seeds,
    bounded_renewals,
    fair_proposals,
    gate_open,
    kept_rows,
    kept_tests,
    literal_overlap,
    no_answer_key,
    no_golden_output,
    no_recorded_value,
    ordinary_refs,
    ordinary_tree,
    owned_rows,
    protected_writers,
    receipts_only,
    recorded_receipts,
    relations_hold,
    separate_authorship,
    unmarked_tests,
    valid_records,
    write_set,
)

ALL: tuple[Rule, ...] = (
    ordinary_refs.RULE,
    ordinary_tree.RULE,
    separate_authorship.RULE,
    protected_writers.RULE,
    write_set.RULE,
    literal_overlap.RULE,
    unmarked_tests.RULE,
    kept_tests.RULE,
    no_answer_key.RULE,
    no_golden_output.RULE,
    no_recorded_value.RULE,
    receipts_only.RULE,
    gate_open.RULE,
    valid_records.RULE,
    bounded_renewals.RULE,
    kept_rows.RULE,
    bare_seeds.RULE,
    recorded_receipts.RULE,
    owned_rows.RULE,
    fair_proposals.RULE,
    relations_hold.RULE,
)
"""In the order in which findings are told."""

BY_ID = {rule.id: rule for rule in ALL}
OPTIONS = {rule.id: rule.options for rule in ALL}
