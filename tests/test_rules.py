"""What holds for every rule: its examples, its prose, and what a pusher reads of it."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
import shipped

from policyd.core.evaluate import Violation
from policyd.core.facts import Gained, Literals, Occurrence
from policyd.core.frozen import from_json, put_together, to_json
from policyd.core.policy import Clause, Mode, Settings
from policyd.core.render import WIDTH, Told, rejection
from policyd.core.repair import Block
from policyd.core.rule import Example, Finding, Next, Rule
from policyd.core.sheet import Role
from policyd.rules import ALL, BY_ID, OPTIONS

POLICY, = shipped.active().policies
FILES = Path(__file__).parent.parent / "policyd/rules"

RULES = [pytest.param(rule, id=rule.id) for rule in ALL]
ACCEPTS = [pytest.param(rule, example, id=f"{rule.id}: {example.title}")
           for rule in ALL for example in rule.accepts()]
REJECTS = [pytest.param(rule, example, id=f"{rule.id}: {example.title}")
           for rule in ALL for example in rule.rejects()]

HOSTILE = ["\x1b[2J", "\r", "\npolicyd: accepted", "\u202e", "\u009b31m", "\udcff", "b" * 300]


def findings(rule: Rule, example: Example) -> tuple[Finding, ...]:
    return tuple(rule.check(example.given, example.options))


def told(rule: Rule, example: Example, found: tuple[Finding, ...]) -> str:
    """The rejection, with a block of the finding's own words."""
    violations = [Violation(rule, one, Mode.ENFORCE, "default") for one in found]
    blocks = {n: Block("mend it:", one.repair.words, one.repair.next)
              for n, one in enumerate(found)}
    return rejection(Told("4e1c07", example.given.pusher, violations, blocks))


@pytest.mark.parametrize(("rule", "example"), ACCEPTS)
def test_what_a_rule_accepts_gives_no_finding(rule, example):
    assert findings(rule, example) == ()


@pytest.mark.parametrize(("rule", "example"), REJECTS)
def test_what_a_rule_rejects_gives_a_finding(rule, example):
    assert findings(rule, example) != ()


@pytest.mark.parametrize(("rule", "example"), REJECTS)
def test_a_finding_reads_well(rule, example):
    text = told(rule, example, findings(rule, example))
    assert all(char == "\n" or " " <= char <= "~" for char in text)
    lines = text.splitlines()
    assert lines[0].startswith(f"policyd: {rule.id}: ")
    assert len(lines) <= 12
    assert [line for line in lines if len(line) > WIDTH and not line.startswith("  ")] == []
    assert json.loads(lines[-1].removeprefix("policyd "))["rule"] == rule.id


@pytest.mark.parametrize(("rule", "example"), REJECTS)
def test_the_first_line_alone_names_rule_and_place(rule, example):
    found = findings(rule, example)[0]
    first = told(rule, example, (found,)).splitlines()[0]
    names = {found.ref.removeprefix("refs/").removeprefix("heads/"),
             *(place.path for place in found.places if place.path)}
    starts = {name[:4] for name in names}
    assert len(first) <= WIDTH
    assert any(start in first for start in starts)


@pytest.mark.parametrize(("rule", "example"), REJECTS)
def test_a_finding_says_what_is_wrong_whole_where_the_names_are_short(rule, example):
    """Only a path may be shortened: a fact that lost its end is none."""
    found = findings(rule, example)[0]
    if len(found.ref) > 30:
        return
    text = told(rule, example, (found,))
    assert any(found.says in line.replace("  0000000 ", "", 1) for line in text.splitlines())


@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize(("rule", "example"), REJECTS)
def test_a_finding_about_hostile_names_stays_in_its_lines(rule, example, what):
    given = replace(example.given, updates=tuple(
        replace(update, ref=update.ref + what) for update in example.given.updates))
    found = tuple(replace(one, says=one.says + what, scene=one.scene + what, places=tuple(
        replace(place, path=f"{place.path}{what}", note=place.note + what)
        for place in one.places)) for one in findings(rule, replace(example, given=given)))
    text = told(rule, replace(example, given=given), found)
    lines = text.removesuffix("\n").split("\n")
    assert all(" " <= char <= "~" for line in lines for char in line)
    assert len(lines[0]) <= WIDTH
    assert [n for n, line in enumerate(lines) if line.startswith("policyd")] == [0, len(lines) - 1]


@pytest.mark.parametrize(("rule", "example"), REJECTS)
def test_a_finding_that_gives_its_own_reason_gives_a_sentence(rule, example):
    for found in findings(rule, example):
        assert found.why == "" or is_sentence(found.why)
        assert isinstance(found.repair.next, Next)


@pytest.mark.parametrize(("rule", "example"), REJECTS)
def test_what_pushes_no_commit_is_not_mended_by_pushing_one(rule, example):
    gone = {update.ref for update in example.given.updates if update.new is None}
    for found in findings(rule, example):
        assert found.ref not in gone or found.repair.kind in ("stop", "retry")


def test_a_rewrite_without_new_commits_counts_none():
    rule = BY_ID["separate-authorship"]
    brings = next(e for e in rule.rejects() if e.title.startswith("a rewrite"))
    assert findings(rule, brings)[0].scene == "no new commit, what arrives"


def test_the_lines_to_change_are_those_of_the_file_that_is_named():
    rule = BY_ID["literal-overlap"]
    given = next(e for e in rule.rejects() if e.title == "the patch's own constant").given
    pasted = tuple(Occurrence(path, line, "compared", Role.ANSWER) for path, line in (
        ("tests/a.py", 3), ("tests/a.py", 7), ("tests/b.py", 5)))
    gained = {zone: Gained(dict.fromkeys(held.values, pasted) if zone == "tests" else held.values)
              for zone, held in given.updates[0].literals.gained.items()}
    update = replace(given.updates[0], literals=Literals(gained))
    found = findings(rule, Example("", replace(given, updates=(update,)), rule.options()))
    assert found[0].repair.words[0].startswith("change line 3, 7 of tests/a.py ")


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_complete(rule):
    file = FILES / f"{rule.id.replace('-', '_')}.py"
    assert file.is_file()
    assert rule.id == rule.id.lower()
    assert is_sentence(rule.why)
    assert is_sentence(rule.fix)
    assert rule.fix[0].isupper()
    assert rule.accepts()
    assert rule.rejects()
    titles = [example.title for example in (*rule.accepts(), *rule.rejects())]
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize("rule", RULES)
def test_a_rules_manual_page_is_the_docstring_of_its_file(rule):
    file = FILES / f"{rule.id.replace('-', '_')}.py"
    assert rule.doc
    assert file.read_text().startswith(f'"""{rule.doc}"""')
    assert rule.options.__doc__
    assert "Options(" not in rule.options.__doc__, "the options have no docstring"


@pytest.mark.parametrize("rule", RULES)
def test_a_rules_options_are_frozen(rule):
    assert is_dataclass(rule.options)
    for one in fields(rule.options):
        with pytest.raises(AttributeError):
            setattr(rule.rejects()[0].options, one.name, None)


@pytest.mark.parametrize("rule", RULES)
def test_a_rules_options_come_back_from_what_is_in_force(rule):
    """Those of the shipped policy and those of the examples."""
    shipped = POLICY.clause(rule.id)
    kept = [shipped.options] if shipped else []
    kept += [example.options for example in (*rule.accepts(), *rule.rejects())]
    for options in kept:
        policy = replace(POLICY, clauses=(Clause(rule.id, Mode.WARN, options),))
        back = from_json(to_json(put_together(Settings("/state"), (policy,))), OPTIONS)
        assert back.policies == (policy,)


def is_sentence(text: str) -> bool:
    return text.endswith(".") and not text.endswith("..") and len(text.split()) > 3 \
        and "\n" not in text and text.isascii()
