"""Policy files as written: what they compile to, and all that can be wrong in one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import pytest

from policyd.core.authored import compile_policy, warnings_of
from policyd.core.compiled import compile_home
from policyd.core.documents import parse
from policyd.core.errors import FileInvalid
from policyd.core.policy import Mode
from policyd.core.rule import Rule

DEFAULT = Path(__file__).parents[2] / "policies" / "default.yaml"


@dataclass(frozen=True, slots=True)
class NoOptions:
    pass


@dataclass(frozen=True, slots=True)
class Apart:
    keep_apart: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def faults(self, zones: frozenset[str],
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:
        assert isinstance(groups, frozenset)
        for zone, others in self.keep_apart.items():
            if zone not in zones:
                yield ("keep_apart", zone), f"no zone {zone}"
            for other in others:
                if other not in zones:
                    yield ("keep_apart", zone, other), f"no zone {other}"


def rule(id_: str, options: type = NoOptions) -> Rule:
    return Rule(id_, "Why.", "Fix.", options, lambda *_: iter(()))


RULES = {r.id: r for r in (rule("apart", Apart), rule("ordinary-refs"), rule("ordinary-tree"))}

WHOLE = """\
version: 1
repositories: ["**", "!sandbox/**"]
guarded: [main, "tags/v*"]
zones:
  source: ["src/**"]
  oracle: ["Oracle/**"]
groups:
  maintainers: [alice, "bot-*"]
rules:
  apart: {keep_apart: {source: [oracle]}}
"""


def compiled(text: str = WHOLE, **given):
    return compile_policy(parse(text.encode(), "p.yaml"), "p", RULES, **given)


def faults(text: str, **given) -> list[str]:
    try:
        compiled(text, **given)
    except FileInvalid as error:
        return [str(f).removeprefix("p.yaml:") for f in error.faults]
    return []


def warnings(text: str) -> list[str]:
    node = parse(text.encode(), "p.yaml")
    return [str(f) for f in warnings_of(node, compile_policy(node, "p", RULES), RULES)]


def test_a_policy_is_compiled_with_its_defaults():
    policy = compiled()
    assert policy.holds_for("a/b")
    assert not policy.holds_for("sandbox/x")
    assert policy.guards("refs/heads/main")
    assert policy.guards("refs/tags/v1")
    assert policy.creators == ("maintainers",)
    assert policy.rewriters == ()
    assert [(p.glob, what) for p, what in policy.namespaces] == [
        ("refs/pull/**", "judge"), ("**", "refuse")]
    assert policy.groups_of("bot-1") == {"maintainers"}
    assert policy.zones[1].patterns[0].literal == ("oracle",)
    assert policy.timezone == "UTC"


def test_a_rule_enforces_unless_it_says_otherwise_and_so_do_the_ordinary_ones():
    assert [(c.rule, c.mode) for c in compiled().clauses] == [
        ("apart", Mode.ENFORCE), ("ordinary-refs", Mode.ENFORCE), ("ordinary-tree", Mode.ENFORCE)]


def test_options_are_those_of_the_rule():
    assert compiled().clause("apart").options == Apart({"source": ("oracle",)})


def test_the_mode_of_a_policy_is_a_ceiling_and_then_nothing_is_added():
    policy = compiled(WHOLE + "mode: observe\n")
    assert [(c.rule, c.mode) for c in policy.clauses] == [("apart", Mode.OBSERVE)]


def test_a_ceiling_raises_nothing():
    policy = compiled(WHOLE.replace("  apart: {", "  apart: {mode: observe, ") + "mode: warn\n")
    assert policy.clause("apart").mode is Mode.OBSERVE


def test_a_day_that_enforces_brings_the_ordinary_rules_and_never_breaks_the_ceiling():
    later = WHOLE.replace("  apart: {", "  apart: {mode: warn, enforce_from: 2027-01-15, ")
    assert {c.rule for c in compiled(later).clauses} == {"apart", "ordinary-refs", "ordinary-tree"}
    assert compiled(later).clause("apart").enforce_from == date(2027, 1, 15)
    capped = compiled(later + "mode: warn\n").clause("apart")
    assert (capped.mode, capped.enforce_from) == (Mode.WARN, None)


def test_an_ordinary_rule_that_is_named_stays_as_named_and_is_warned_of():
    text = WHOLE + "  ordinary-refs: {mode: warn}\n"
    assert compiled(text).clause("ordinary-refs").mode is Mode.WARN
    assert warnings(text) == [
        "p.yaml:11:3: ordinary-refs does not enforce while other rules do: without it a "
        "protected path can change without a listed writer"]


def test_rules_that_are_not_named_are_listed_as_off():
    assert warnings(WHOLE + "mode: warn\n") == [
        "p.yaml:9:1: ordinary-refs is not named, so it is off",
        "p.yaml:9:1: ordinary-tree is not named, so it is off"]


def test_nobody_in_maintainers_is_warned_of():
    assert "p.yaml:8:3: nobody is in maintainers: protected paths cannot change at all" \
        in warnings(WHOLE.replace('[alice, "bot-*"]', "[]"))


def test_what_no_namespace_pattern_matches_is_refused():
    policy = compiled(WHOLE + "namespaces: {refs/x/**: judge}\n")
    assert [(p.glob, what) for p, what in policy.namespaces] == [
        ("refs/x/**", "judge"), ("**", "refuse")]


@pytest.mark.parametrize(("old", "new", "fault"), [
    ("version: 1", "version: 2", "1:10: expected one of 1; found 2"),
    ("version: 1", "version: true", "1:10: expected one of 1; found true"),
    ("guarded: [main,", "guardd: [main,", None),
    ('"src/**"', '"src//x"', "5:12: 'src//x' can match nothing: one of its names is empty, "
                             "dots or spaces"),
    ('["src/**"]', "[]", "5:11: zone source is empty"),
    ('["src/**"]', '["!src/**"]', "5:11: zone source is empty"),
    ('[main, "tags/v*"]', "[]", "3:10: nothing is guarded"),
    ('["**", "!sandbox/**"]', "[]", "2:15: no repository is taken in"),
    ("maintainers:", "people:", None),
    ("  apart: {", "  aprt: {", "10:3: unknown rule 'aprt'; did you mean 'apart'?"),
    ("  apart: {", "  apart: {onn: guarded, ", None),
    ("  apart: {", "  apart: {on: heads, ", "10:15: expected one of all, guarded; found 'heads'"),
    ("  apart: {", "  apart: {warn_for: [maintainers], ",
     "10:11: apart holds for everybody; it knows no warn_for"),
    ("  apart: {", "  apart: {except: [maintainers], ",
     "10:11: apart holds for everybody; it knows no except"),
    ("  apart: {", "  apart: {enforce_from: 2027-01-15, ",
     "10:11: enforce_from turns warn into enforce on a day; write `mode: warn` beside it"),
    ("  apart: {", "  apart: {mode: warn, enforce_from: 2027-02-30, ", None),
    ("  apart: {", "  apart: {mode: on, ",
     "10:17: expected one of off, observe, warn, enforce; found 'on'"),
    ("[oracle]", "[orcle]", "10:33: no zone orcle"),
    ("{source: [", "{sauce: [", "10:24: no zone sauce"),
    ("{keep_apart: {source: [oracle]}}", "[]",
     "10:10: a rule is a mapping of its mode and options, such as {}"),
    ("oracle: [", "a/b: [", None),
])
def test_a_fault_stands_where_it_is_mended(old, new, fault):
    found = faults(WHOLE.replace(old, new))
    assert found
    assert fault is None or found == [fault]


@pytest.mark.parametrize(("line", "fault"), [
    ("creators: [maintainrs]",
     "11:12: unknown group 'maintainrs'; did you mean 'maintainers'?"),
    ("rewriters: [x]", "11:13: unknown group 'x'; known: maintainers"),
    ("bounds: {seconds: 0}", "11:19: a bound is more than 0"),
    ("bounds: {lookback_file: 1}", None),
    ("timezone: Mars/Base", "11:11: this machine knows no time zone 'Mars/Base'"),
    ("timezone: ../etc", "11:11: '../etc' is no time zone, such as Europe/Madrid"),
    ("namespaces: {heads: judge}", None),
    ("namespaces: {refs/x: allow}", "11:22: expected one of judge, refuse; found 'allow'"),
    ("together: commit", "11:11: expected one of push, ref; found 'commit'"),
    ("queues: [bots]", "11:10: unknown group 'bots'; known: maintainers"),
    ("override: {groups: [bots], rules: [apart]}",
     "11:21: unknown group 'bots'; known: maintainers"),
    ("override: {groups: [maintainers], rules: [apar]}",
     "11:43: unknown rule 'apar'; did you mean 'apart'?"),
    ("override: {rules: [ordinary-tree]}",
     "11:20: nobody overrides ordinary-tree; an operator lets one push through with `policyd "
     "permit`"),
    ("override: {rules: [ordinary-refs]}", None),
    ("override: [maintainers]", None),
    ("records_from: {\"release/*\": next}", "11:29: 'next' is not guarded, so that its records "
     "prove nothing; add it to `guarded`"),
    ("records_from: {\"release/*\": \"rel*\"}", "11:29: 'rel*' is no branch, such as main"),
    ("records: {seeds: ../x}", "11:18: '../x' is no path inside a repository, such as "
     "oracle/receipts; no *, and no / at its ends"),
    ("records: {seed: x}", None),
    ("mirror: yes", None), ("reads: {}", None), ("extends: x", None),
])
def test_a_further_key_can_be_wrong(line, fault):
    found = faults(WHOLE + line + "\n", knows_timezone=lambda name: name == "UTC")
    assert len(found) == 1
    assert fault in (None, found[0])


def test_every_fault_is_told_at_once():
    text = (WHOLE.replace("version: 1", "version: 2").replace('"src/**"', '"["')
            .replace("[oracle]", "[orcle]") + "creators: [x]\nwhat: 1\n")
    assert [f.split(": ")[0] for f in faults(text)] == [
        "1:10", "5:12", "10:33", "11:12", "12:1"]


def test_a_policy_that_is_no_mapping_is_one_fault():
    assert faults("[]") == ["1:1: expected a mapping, found a list"]


def test_a_home_is_compiled_whole_or_not_at_all():
    good = {"policyd.yaml": b"state: /s", "policies/p.yaml": WHOLE.encode()}
    assert [p.name for p in compile_home(good, RULES).policies] == ["p"]
    with pytest.raises(FileInvalid) as caught:
        compile_home({"policyd.yaml": b"state: s", "policies/a.yaml": b"", "policies/b.yaml":
                      WHOLE.replace("version: 1", "version: 3").encode()}, RULES)
    assert [f.source for f in caught.value.faults] == [
        "policies/a.yaml", "policies/b.yaml", "policyd.yaml"]
    with pytest.raises(FileInvalid) as caught:
        compile_home({}, RULES)
    assert [f.source for f in caught.value.faults] == ["policies", "policyd.yaml"]


def test_the_shipped_policy_names_only_what_is_known():
    node = parse(DEFAULT.read_bytes(), "default.yaml")
    with pytest.raises(FileInvalid) as caught:
        compile_policy(node, "default", {"none": rule("none")})
    assert all("unknown rule" in f.message for f in caught.value.faults)
