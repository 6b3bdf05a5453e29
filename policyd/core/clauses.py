"""What a policy file says under `rules:`, compiled to clauses; options are typed by the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from datetime import date
from functools import partial
from typing import Any

from policyd.core import decoding, nodes
from policyd.core.errors import Fault
from policyd.core.globs import zone_pattern
from policyd.core.nodes import Node
from policyd.core.policy import Clause, Mode, Reach, Zone
from policyd.core.rule import Rule
from policyd.core.values import dataclass

ALWAYS = ("ordinary-refs", "ordinary-tree")
"""Without these two no other rule holds: they enforce as soon as any rule does."""

NEVER_OVERRIDDEN = frozenset({"separate-authorship", "protected-writers", *ALWAYS})
"""What keeps a patch from its own exam is not given up by who pushes, whatever the reason."""


@dataclass(frozen=True, slots=True)
class ClauseAuthored:
    """What every rule of a policy may say besides its own options."""

    mode: Mode = Mode.ENFORCE
    on: Reach | None = None
    warn_for: tuple[str, ...] = ()
    excepted: tuple[str, ...] = field(default=(), metadata={"key": "except"})
    enforce_from: date | None = None


_COMMON = frozenset({"mode", "on", "warn_for", "except", "enforce_from"})


def clauses(node: Node, rules: Mapping[str, Rule], faults: list[Fault]) -> Iterator[Clause]:
    """The clauses of a policy file as written, before its own `mode` lowers any of them."""
    names = (nodes.keys(node, "zones"), nodes.keys(node, "groups"))
    for rule, body in _named(node, rules, faults):
        clause = _clause(rule, body, faults)
        if clause is not None:
            yield clause
            faults.extend(_faults_of_options(clause, body, *names))
            faults.extend(_faults_of_softening(clause, rule, body, names[1]))


def form(node: Node, rules: Mapping[str, Rule]) -> Iterator[Fault]:
    """What is wrong with the rules of a file that need not be whole, such as a base."""
    faults: list[Fault] = []
    for rule, body in _named(node, rules, faults):
        if isinstance(body, nodes.Mapping):
            yield from decoding.form(_only(body, inside=True), ClauseAuthored)
            yield from decoding.form(_only(body, inside=False), rule.options)
    yield from faults


def under(ceiling: Mode, listed: tuple[Clause, ...]) -> tuple[Clause, ...]:
    """No clause counts for more than the policy, not on a later day either."""
    strictness = partial(min, key=lambda mode: mode.strictness)
    return tuple(replace(
        c, mode=strictness((c.mode, ceiling)),
        enforce_from=c.enforce_from if ceiling is Mode.ENFORCE else None) for c in listed)


def with_always(listed: tuple[Clause, ...], rules: Mapping[str, Rule]) -> tuple[Clause, ...]:
    """The clauses, and those rules that hold as soon as any of them enforces."""
    if not any(c.mode is Mode.ENFORCE or c.enforce_from is not None for c in listed):
        return listed
    named = {c.rule for c in listed}
    return listed + tuple(Clause(rule, Mode.ENFORCE, rules[rule].options())
                          for rule in ALWAYS if rule in rules and rule not in named)


def zones_of_rules(node: Node, listed: tuple[Clause, ...], known: frozenset[str],
                   faults: list[Fault]) -> Iterator[Zone]:
    """The globs that rules name in their options, each as a zone of its own name."""
    made = set(known)
    for clause in listed:
        globs: Callable[[], tuple[str, ...]] = getattr(clause.options, "globs", tuple)
        for glob in globs():
            try:
                pattern = zone_pattern(glob)
            except ValueError as error:
                faults.append(nodes.find(node, ("rules", clause.rule)).fault(str(error)))
                continue
            if glob not in made:
                made.add(glob)
                yield Zone(glob, (pattern,))


def faults_of_override(node: Node, rules: Mapping[str, Rule]) -> Iterator[Fault]:
    """Rules under `override:` that are none, or that nobody overrides."""
    listed = nodes.get(nodes.get(node, "override"), "rules")
    for item in listed.items if isinstance(listed, nodes.Sequence) else ():
        if not isinstance(item, nodes.Scalar):
            continue
        if item.text not in rules:
            yield item.fault(decoding.unknown("rule", item.text, list(rules)))
        elif item.text in NEVER_OVERRIDDEN:
            yield item.fault(f"nobody overrides {item.text}; an operator lets one push through "
                             "with `policyd permit`")


def _named(node: Node, rules: Mapping[str, Rule],
           faults: list[Fault]) -> Iterator[tuple[Rule, Node]]:
    written = nodes.get(node, "rules")
    for key, body in written.entries if isinstance(written, nodes.Mapping) else ():
        if key.text not in rules:
            faults.append(key.fault(decoding.unknown("rule", key.text, list(rules))))
            continue
        if not isinstance(body, nodes.Mapping):
            faults.append(body.fault("a rule is a mapping of its mode and options, such as {}"))
        yield rules[key.text], body


def _clause(rule: Rule, body: Node, faults: list[Fault]) -> Clause | None:
    """`{mode: ..., options...}`: what every rule may say, and the options of the rule."""
    if not isinstance(body, nodes.Mapping):
        return None
    common = decoding.attempt(_only(body, inside=True), ClauseAuthored, faults)
    options: Any = decoding.attempt(_only(body, inside=False), rule.options, faults)
    if common is None or options is None:
        return None
    return Clause(rule.id, common.mode, options, common.on or rule.on, common.warn_for,
                  common.excepted, common.enforce_from)


def _only(body: nodes.Mapping, *, inside: bool) -> nodes.Mapping:
    """The part of a rule's mapping whose keys all rules know, or the rest."""
    part = tuple(entry for entry in body.entries if (entry[0].text in _COMMON) is inside)
    return nodes.Mapping(body.source, body.line, body.column, part)


def _faults_of_softening(clause: Clause, rule: Rule, body: Node,
                         groups: frozenset[str]) -> Iterator[Fault]:
    """`warn_for`, `except` and `enforce_from` where they cannot mean anything."""
    for key, listed in (("warn_for", clause.warn_for), ("except", clause.excepted)):
        if listed and not rule.lenient:
            yield nodes.find(body, (key,)).fault(
                f"{rule.id} holds for everybody; it knows no {key}")
        for group in listed:
            if group not in groups:
                yield nodes.find(body, (key, group)).fault(
                    decoding.unknown("group", group, sorted(groups)))
    if clause.enforce_from is not None and clause.mode is not Mode.WARN:
        yield nodes.find(body, ("enforce_from",)).fault(
            "enforce_from turns warn into enforce on a day; write `mode: warn` beside it")


def _faults_of_options(clause: Clause, body: Node, zones: frozenset[str],
                       groups: frozenset[str]) -> Iterator[Fault]:
    """What the options themselves find wrong with the zones and groups that they name."""
    check = getattr(clause.options, "faults", None)
    if check is not None:
        for path, message in check(zones, groups):
            yield nodes.find(body, tuple(path)).fault(message)
