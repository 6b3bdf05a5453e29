"""Large tables of pushes and histories: an ordinary run tries a third, POLICYD_LONG=1 all."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest

LONG = bool(os.environ.get("POLICYD_LONG"))
_WAITS = pytest.mark.skipif(not LONG, reason="what lies between in a large table; POLICYD_LONG=1 "
                                             "runs it")

THINNED = frozenset({
    "test_answer_key_pushes", "test_ast_parse", "test_breakglass_pushes", "test_cli_check",
    "test_cli_enroll", "test_cli_enrol_options", "test_cli_enrol_servers", "test_compare",
    "test_contradictions", "test_forgery", "test_gate_attacks", "test_gate_pushes",
    "test_gate_repairs", "test_golden_pushes", "test_harvest", "test_honest_histories",
    "test_hook_env", "test_hostile", "test_identities",
    "test_literal_overlap_pushes", "test_look_bulk", "test_merge_history",
    "test_merges_against_git", "test_messages", "test_path_bypass", "test_path_encoding",
    "test_push_ref", "test_record_cases", "test_repairs"})
"""Files whose tests of many parameters push, make a history or run a sandbox for each of them."""
CHEAP = frozenset({"test_a_message_has_its_form"})
"""Tests in these files that only read."""


def thin_out(items: Iterable[pytest.Item]) -> None:
    """Of each test of these files with more than three parameter sets the first and every third
    one from there, or every other one where they are six at most.

    What is left out is skipped, and counted as such.
    """
    families: dict[str, list[pytest.Item]] = {}
    for item in items:
        name, _, parameters = item.nodeid.partition("[")
        if parameters and item.path.stem in THINNED and name.rpartition("::")[2] not in CHEAP:
            families.setdefault(name, []).append(item)
    for family in families.values():
        if len(family) > 3:
            step = 3 if len(family) > 6 else 2
            for number, item in enumerate(family):
                if number % step:
                    item.add_marker(_WAITS)
