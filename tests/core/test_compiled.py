"""All files of a home together: bases, group files, cases, and where each fault is told."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from policyd.core.compiled import Compiled, compile_home, name_of
from policyd.core.errors import FileInvalid
from policyd.core.policy import Mode
from policyd.rules import BY_ID

BASE = """\
version: 1
guarded: [main]
mode: warn
bounds: {seconds: 9, max_files: 7}
namespaces: {"refs/pull/**": judge, "**": refuse}
zones:
  source: ["src/**"]
  oracle: ["oracle/**"]
groups:
  maintainers: [alice]
rules:
  separate-authorship: {keep_apart: {source: [oracle]}}
  literal-overlap:
    mode: warn
    allow: [one]
    tests: oracle
"""
CHILD = """\
extends: base.yaml
repositories: ["**"]
"""


def home(**files: str) -> dict[str, bytes]:
    """A home with these policies, by name; the other files have a folder in theirs."""
    paths = {name if "/" in name else f"policies/{name}.yaml": text.encode()
             for name, text in files.items()}
    return {"policyd.yaml": b"state: /s\n", **paths}


def compiled(files: Mapping[str, bytes]) -> Compiled:
    return compile_home(files, BY_ID)


def faults(files: Mapping[str, bytes]) -> list[str]:
    with pytest.raises(FileInvalid) as caught:
        compiled(files)
    return [str(fault) for fault in caught.value.faults]


def warnings(files: Mapping[str, bytes]) -> list[str]:
    return [str(warning) for warning in compiled(files).warnings
            if "is not named" not in warning.message]


def test_a_policy_takes_its_base_over_and_the_base_is_not_in_force():
    made = compiled(home(base=BASE, team=CHILD))
    policy, = made.policies
    assert (policy.name, policy.mode, policy.timezone) == ("team", Mode.WARN, "UTC")
    assert [p.glob for p in policy.guarded] == ["main"]
    assert {rule for rule in BY_ID if policy.clause(rule)} == {
        "separate-authorship", "literal-overlap"}


def test_mappings_merge_by_key_and_lists_and_scalars_replace():
    policy, = compiled(home(base=BASE, team=CHILD + """\
mode: enforce
bounds: {seconds: 3}
zones: {oracle: [answers/**], more: [more/**]}
rules:
  literal-overlap: {allow: [two], min_length: 9}
""")).policies
    assert policy.mode is Mode.ENFORCE
    assert (policy.bounds.seconds, policy.bounds.max_files) == (3.0, 7)
    assert {zone.name: [p.glob for p in zone.patterns] for zone in policy.zones} == {
        "source": ["src/**"], "oracle": ["answers/**"], "more": ["more/**"]}
    clause = policy.clause("literal-overlap")
    assert clause is not None
    assert (clause.mode, clause.options.allow, clause.options.min_length,
            clause.options.tests) == (Mode.WARN, ("two",), 9, "oracle")
    assert policy.clause("separate-authorship") is not None


def test_what_only_the_policy_says_of_a_namespace_decides_before_its_base():
    policy, = compiled(home(base=BASE, team=CHILD + """\
namespaces: {"refs/notes/**": judge, "refs/pull/**": refuse}
""")).policies
    assert [(p.glob, what) for p, what in policy.namespaces] == [
        ("refs/notes/**", "judge"), ("refs/pull/**", "refuse"), ("**", "refuse")]


def test_bases_stand_on_bases():
    policy, = compiled(home(
        base=BASE, middle="extends: base.yaml\nmode: enforce\ngroups: {bots: [b-*]}\n",
        team="extends: middle.yaml\nrepositories: [a]\ntimezone: Europe/Madrid\n")).policies
    assert (policy.name, policy.mode, policy.timezone) == ("team", Mode.ENFORCE, "Europe/Madrid")
    assert policy.groups == {"bots": ("b-*",), "maintainers": ("alice",)}


def test_a_policy_in_force_may_be_extended_and_names_its_repositories_for_itself():
    made = compiled(home(a=BASE + "repositories: [a]\n", b="extends: a.yaml\nrepositories: [b]\n",
                         c="extends: a.yaml\nmode: observe\n"))
    assert {p.name: [r.glob for r in p.repositories] for p in made.policies} == {
        "a": ["a"], "b": ["b"]}


def test_a_fault_stands_in_the_file_that_is_wrong_and_is_told_once():
    files = home(base=BASE.replace("[oracle]", "[orcle]").replace("seconds: 9", "seconds: x"),
                 team=CHILD + "creators: [nobody]\n", other=CHILD)
    assert faults(files) == [
        "policies/base.yaml:4:19: expected a number, found 'x'",
        "policies/base.yaml:12:38: no zone named 'orcle'; the policy has oracle, source",
        "policies/team.yaml:3:12: unknown group 'nobody'; known: maintainers"]


def test_what_a_policy_replaces_in_its_base_must_still_be_well_formed():
    assert faults(home(base=BASE.replace("mode: warn\nbounds", "mode: wran\nbounds"),
                       team=CHILD + "mode: enforce\n")) == [
        "policies/base.yaml:3:7: expected one of off, observe, warn, enforce; found 'wran'; "
        "did you mean 'warn'?"]


def test_a_key_that_no_file_of_the_chain_has_is_missing_in_the_policy():
    assert faults(home(base=BASE.replace("guarded: [main]\n", ""), team=CHILD)) == [
        "policies/team.yaml:1:1: missing key 'guarded'"]


def test_a_base_that_nobody_extends_is_checked_and_warned_of():
    whole = BASE + "repositories: ['**']\n"
    assert warnings(home(base="guarded: [main]\n", team=whole)) == [
        "policies/base.yaml:1:1: without `repositories` this is a base, and no policy extends "
        "it: nothing of it is in force"]
    assert faults(home(base="guard: [main]\nrules: {x: {}, ordinary-refs: {mode: of}}\n",
                       team=whole)) == [
        "policies/base.yaml:1:1: unknown key 'guard'; did you mean 'guarded'?",
        "policies/base.yaml:2:9: unknown rule 'x'; known: " + ", ".join(BY_ID),
        "policies/base.yaml:2:38: expected one of off, observe, warn, enforce; found 'of'; "
        "did you mean 'off'?"]


@pytest.mark.parametrize(("line", "told"), [
    ("extends: bas.yaml", "3:10: unknown file 'bas.yaml'; did you mean 'base.yaml'?"),
    ("extends: ../base.yaml",
     "3:10: '../base.yaml' is no policy file beside this one, such as base.yaml"),
    ("extends: a.cases.yaml",
     "3:10: 'a.cases.yaml' is no policy file beside this one, such as base.yaml"),
    ("extends: [base.yaml]", "3:10: expected text, found a list"),
    ("extends: 1", "3:10: expected text, found 1; quote it"),
])
def test_what_cannot_be_extended_is_told_where_it_is_named(line, told):
    whole = BASE + "repositories: ['**']\n"
    found = faults(home(base=BASE, ok=whole, team=f"version: 1\nrepositories: [a]\n{line}\n"))
    assert found == [f"policies/team.yaml:{told}"]


def test_files_that_extend_one_another_are_each_told_and_who_stands_on_them_is_not():
    whole = BASE + "repositories: ['**']\n"
    assert faults(home(
        a="extends: b.yaml\n", b="version: 1\nextends: a.yaml\n", me="extends: me.yaml\n",
        team="extends: a.yaml\nrepositories: [x]\n", ok=whole)) == [
        "policies/a.yaml:1:10: it extends itself: a.yaml -> b.yaml -> a.yaml",
        "policies/b.yaml:2:10: it extends itself: b.yaml -> a.yaml -> b.yaml",
        "policies/me.yaml:1:10: it extends itself: me.yaml -> me.yaml"]


def test_what_stands_on_a_file_that_is_no_yaml_is_not_told_again():
    found = faults(home(base="a: [", team=CHILD))
    assert [fault.partition(":")[0] for fault in found] == ["policies/base.yaml"]


def test_bases_alone_are_no_policy():
    assert faults(home(base=BASE)) == [
        "policies:1:1: no policy is in force by itself: each is a base, without `repositories`"]
    assert faults(home()) == ["policies:1:1: no policy; a policy is a file policies/NAME.yaml"]


MEMBERS = "groups/maintainers.txt"
TEAM = BASE.replace("[alice]", f"{{file: {MEMBERS}}}") + "repositories: ['**']\n"


def test_a_group_may_stand_in_a_file():
    files = home(team=TEAM) | {MEMBERS: b"# who may\nalice\n\n  bot-*   # all bots\r\na#b\n"}
    assert compiled(files).policies[0].groups == {"maintainers": ("alice", "bot-*", "a#b")}


def test_a_group_in_a_file_and_one_in_a_list_replace_one_another():
    files = home(base=TEAM, team="extends: base.yaml\nrepositories: [t]\n"
                                 "groups: {maintainers: [carol]}\n",
                 other="extends: team.yaml\nrepositories: [o]\n"
                       "groups: {maintainers: {file: groups/o.txt}}\n")
    made = compiled(files | {MEMBERS: b"alice\n", "groups/o.txt": b"olga\n"})
    assert {p.name: p.groups["maintainers"] for p in made.policies} == {
        "base": ("alice",), "team": ("carol",), "other": ("olga",)}


@pytest.mark.parametrize(("data", "told"), [
    (b"alice\nbob\nalice\n", "3:1: 'alice' stands in line 1 already"),
    (b"alice\n  b\x1bb\n", "2:3: 'b\\x1bb' holds what cannot be printed"),
    (b"alice\n\xff\n", "2:1: not valid UTF-8"),
    (b"a\n" * 600_000, "1:1: larger than 1048576 bytes"),
])
def test_what_is_wrong_in_a_group_file_stands_at_its_line(data, told):
    assert f"{MEMBERS}:{told}" in faults(home(team=TEAM) | {MEMBERS: data})


@pytest.mark.parametrize(("value", "told"), [
    ("{file: groups/maintainer.txt}", "10:23: unknown file 'groups/maintainer.txt'; did you mean "
                                      "'groups/maintainers.txt'?"),
    ("{file: /etc/group}", "10:23: '/etc/group' is no file of a group, such as "
                           "groups/maintainers.txt in HOME"),
    ("{file: groups/../policyd.yaml}", "10:23: 'groups/../policyd.yaml' is no file of a group, "
                                       "such as groups/maintainers.txt in HOME"),
    ("{files: x}", "10:17: unknown key 'files'; did you mean 'file'?"),
    ("{file: [x]}", "10:23: expected text, found a list"),
])
def test_what_is_no_file_of_a_group_is_told_where_it_is_named(value, told):
    text = TEAM.replace(f"{{file: {MEMBERS}}}", value)
    assert f"policies/team.yaml:{told}" in faults(home(team=text) | {MEMBERS: b"alice\n"})


def test_a_group_file_without_names_is_warned_of_as_an_empty_list_is():
    assert any("nobody is in maintainers" in warning
               for warning in warnings(home(team=TEAM) | {MEMBERS: b"# nobody\n"}))


def test_a_group_file_that_no_policy_names_is_warned_of():
    files = home(team=TEAM) | {MEMBERS: b"alice\n", "groups/bots.txt": b"b-*\n"}
    assert warnings(files) == ["groups/bots.txt:1:1: no policy names this file"]


CASE = b"- {title: t, who: alice, before: {}, commits: [{a: b}], expect: accept}\n"


def test_cases_belong_to_the_policy_beside_them():
    made = compiled(home(base=BASE, team=CHILD) | {"policies/team.cases.yaml": b"\n" + CASE})
    table, = made.tables
    assert (table.policy, table.source) == ("team", "policies/team.cases.yaml")
    assert [(case.title, case.line) for case in table.cases] == [("t", 2)]


def test_cases_try_a_policy_without_its_ceiling():
    made = compiled(home(base=BASE, team=CHILD))
    limited, free = made.policies[0], made.unlimited["team"]
    assert [c.mode for c in limited.clauses if c.rule == "separate-authorship"] == [Mode.WARN]
    assert {c.rule: c.mode for c in free.clauses} == {
        "separate-authorship": Mode.ENFORCE, "literal-overlap": Mode.WARN,
        "ordinary-refs": Mode.ENFORCE, "ordinary-tree": Mode.ENFORCE}


@pytest.mark.parametrize(("name", "data", "told"), [
    ("tem", CASE, "1:1: no policy tem.yaml stands beside these cases"),
    ("base", CASE, "1:1: base.yaml is a base and says nothing by itself; put its cases beside a "
                   "policy that extends it"),
    ("team", b"{}", "1:1: cases are a list, each of a title, a push and an answer"),
])
def test_cases_that_nobody_would_run_are_a_fault(name, data, told):
    source = f"policies/{name}.cases.yaml"
    assert faults(home(base=BASE, team=CHILD) | {source: data}) == [f"{source}:{told}"]


def test_policies_are_named_by_their_files():
    assert name_of("policies/a.b.yaml") == "a.b"
    assert name_of("policies/a.cases.yaml") == "a"
