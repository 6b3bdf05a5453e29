"""Which words of a policy can be varied, how, and where they stand."""

from __future__ import annotations

from datetime import date

from policyd.core.authored import compile_policy
from policyd.core.coverage import rules_of, with_clause, words_of
from policyd.core.documents import parse
from policyd.core.policy import Mode, Reach
from policyd.rules import BY_ID

POLICY = """\
version: 1
repositories: ["**"]
guarded: [main]
zones: {source: ["src/**"], tests: ["tests/**"], oracle: ["oracle/**"]}
groups: {maintainers: [alice], bots: [b]}
rules:
  separate-authorship: {keep_apart: {source: [oracle, tests]}}
  literal-overlap:
    mode: warn
    enforce_from: 2026-05-01
    on: all
    warn_for: [bots]
    except: [maintainers]
    min_length: 6
    allow: [a]
    source: source
  write-set: {mode: off, of: bots}
"""
NODE = parse(POLICY.encode(), "p")
COMPILED = compile_policy(NODE, "p", BY_ID)
APRIL, MAY = date(2026, 4, 30), date(2026, 5, 1)


def words(rule: str, today: date = MAY) -> dict[str, str]:
    """What is said of a rule, with the line and column of each word."""
    clause = COMPILED.clause(rule)
    assert clause is not None
    return {word.says: f"{word.place.line}:{word.place.column}"
            for word in words_of(clause, NODE, today)}


def test_every_rule_that_is_not_off_is_a_word():
    found = list(rules_of(COMPILED, NODE))
    assert [(word.says, word.place.line) for word in found] == [
        ("separate-authorship", 7), ("literal-overlap", 8), ("ordinary-refs", 7),
        ("ordinary-tree", 7)]
    assert all(variant.mode is Mode.OFF for word in found for variant in word.variants)


def test_each_entry_of_a_list_is_a_word():
    assert words("separate-authorship") == {
        "separate-authorship: keep_apart: source: oracle": "7:47",
        "separate-authorship: keep_apart: source: tests": "7:55"}


def test_what_only_matters_to_a_rule_that_enforces_is_no_word_before():
    softer = {"literal-overlap: on": "11:5", "literal-overlap: enforce_from": "10:5",
              "literal-overlap: warn_for: bots": "12:16"}
    always = {"literal-overlap: except: maintainers": "13:14",
              "literal-overlap: min_length": "14:5", "literal-overlap: allow: a": "15:13",
              "literal-overlap: source": "16:5"}
    assert words("literal-overlap", APRIL) == always
    assert words("literal-overlap", MAY) == softer | always


def test_a_variant_differs_in_its_word_alone():
    clause = COMPILED.clause("literal-overlap")
    assert clause is not None
    varied = {word.path: word.variants for word in words_of(clause, NODE, MAY)}
    assert [v.on for v in varied[("on",)]] == [Reach.GUARDED]
    assert [v.enforce_from for v in varied[("enforce_from",)]] == [None]
    assert [v.options.allow for v in varied[("allow", "a")]] == [()]
    assert [v.options.min_length for v in varied[("min_length",)]] == [7000, 1, 0]
    assert all(clause not in variants for variants in varied.values())


def test_a_variant_takes_the_place_of_its_rule():
    clause = COMPILED.clauses[0]
    off, = next(rules_of(COMPILED, NODE)).variants
    assert with_clause(COMPILED, off).clauses == (off, *COMPILED.clauses[1:])
    assert with_clause(with_clause(COMPILED, off), clause) == COMPILED
