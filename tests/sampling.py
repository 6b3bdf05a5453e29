"""Large tables of pushes and histories: an ordinary run tries a part, POLICYD_LONG=1 all."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest

LONG = bool(os.environ.get("POLICYD_LONG"))
_LASTS = pytest.mark.skipif(not LONG, reason="takes seconds of processor; POLICYD_LONG=1 runs it")
_WAITS = pytest.mark.skipif(not LONG, reason="what an ordinary run leaves out; POLICYD_LONG=1 "
                                             "runs it")

THINNED = frozenset({
    "test_answer_key_pushes", "test_asking", "test_ast_parse", "test_breakglass_pushes",
    "test_cli_adopt", "test_cli_check", "test_cli_enroll", "test_cli_enrol_options",
    "test_cli_enrol_servers", "test_cli_record_lease", "test_cli_record_receipt",
    "test_cli_record_rows", "test_compare", "test_contradictions", "test_forgery",
    "test_cli_gates", "test_gate_attacks", "test_gate_pushes", "test_gate_repairs",
    "test_golden_pushes", "test_hookfiles", "test_logrotate",
    "test_harvest", "test_honest_histories", "test_hook_env", "test_hostile", "test_identities",
    "test_literal_overlap_pushes", "test_look_bulk", "test_merge_history",
    "test_merges_against_git", "test_messages", "test_pairs", "test_path_bypass",
    "test_path_encoding", "test_properties", "test_proposal_pushes", "test_push_ref",
    "test_record_cases", "test_repairs"})
"""Files whose tests of many parameters push, make a history or run a sandbox for each of them."""
_STEPS = ((6, 2), (12, 3), (24, 4), (10_000, 6))
"""Up to so many parameter sets: one of so many is run."""
SLOW = frozenset({
    "test_the_cases_that_are_shipped_try_every_word_of_the_policy",
    "test_two_thousand_sources_and_tests_are_judged_or_too_large",
    "test_a_large_file_of_plain_rows_is_accepted",
    "test_processes_killed_at_random_lose_nothing_that_they_reported",
    "test_a_hook_for_many_repositories_goes_too",
    "test_the_program_stays_while_a_hook_names_it",
    "test_an_upgrade_swaps_the_program_below_the_hooks",
    "test_the_digest_is_one_for_any_judge",
    "test_a_run_of_relations_in_workers_tried_at_least_one",
    "test_of_two_pushes_at_once_one_waits_for_the_other",
    "test_what_wastes_time_in_one_process_alone_is_ended_too",
    "test_what_a_closed_gate_tells_a_maintainer_to_run_opens_it",
    "test_a_branch_is_replayed_before_it_is_pushed_to_main",
    "test_without_a_pinned_seed_each_tree_has_its_own",
    "test_a_git_user_of_its_own_replays_pushes_and_what_was_queued"})
"""Tests that take seconds of processor or more, beside shorter ones of the same mechanism."""
HALVED = frozenset({
    "test_answer_key_pushes", "test_asking", "test_ast_parse", "test_breakglass_pushes",
    "test_cli_adopt", "test_cli_enrol_servers", "test_cli_enroll", "test_cli_gates",
    "test_cli_log_rejudge", "test_cli_record_lease", "test_cli_record_receipt",
    "test_cli_record_rows", "test_compare", "test_contradictions", "test_decisionlog",
    "test_fail_mode", "test_gate_attacks", "test_gate_pushes", "test_golden_pushes",
    "test_hook_env", "test_hookfiles", "test_identities", "test_job", "test_kept_tests_pushes",
    "test_literal_overlap_pushes", "test_logrotate", "test_merge_history", "test_pairs",
    "test_path_bypass", "test_path_encoding", "test_properties", "test_proposal_pushes",
    "test_push_ref", "test_record_cases", "test_relation_pushes", "test_replay_worker",
    "test_unmarked_pushes"})
"""Files of which an ordinary run takes the first test and every other one."""
CHEAP = frozenset({"test_a_message_has_its_form"})
"""Tests in these files that only read."""


def thin_out(items: Iterable[pytest.Item]) -> None:
    """Leave out every other test of some files; of a test with more than three parameter sets in
    others, all but the first and every second to sixth one from there, by how many there are.

    What is left out is skipped, and counted as such.
    """
    families: dict[str, list[pytest.Item]] = {}
    for item in items:
        name, _, parameters = item.nodeid.partition("[")
        if name.rpartition("::")[2] in SLOW:
            item.add_marker(_LASTS)
        if parameters and item.path.stem in THINNED and name.rpartition("::")[2] not in CHEAP:
            families.setdefault(name, []).append(item)
    for tests in _by_file(items).values():
        for item in (one for name in list(tests)[1::2] for one in tests[name]):
            item.add_marker(_WAITS)
    for family in families.values():
        if len(family) > 3:
            step = next(step for most, step in _STEPS if len(family) <= most)
            for number, item in enumerate(family):
                if number % step:
                    item.add_marker(_WAITS)


def _by_file(items: Iterable[pytest.Item]) -> dict[str, dict[str, list[pytest.Item]]]:
    """The tests of the files that are halved, by file and name, in their order."""
    found: dict[str, dict[str, list[pytest.Item]]] = {}
    for item in items:
        if item.path.stem in HALVED:
            name = item.nodeid.partition("[")[0]
            found.setdefault(item.path.stem, {}).setdefault(name, []).append(item)
    return found
