"""The catalogue of the rules as Markdown, made from the rules themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from policyd.core import fieldwords
from policyd.core.policy import Reach
from policyd.core.rule import Example, Rule

_HEAD = """\
# Rules

What a policy can name under `rules:`. Made by `policyd policy catalogue`; edit the rules instead.
default.yaml names them all; default.cases.yaml shows what that policy says of a push.
"""


def catalogue(rules: Sequence[Rule]) -> str:
    """One page for all rules, in their order."""
    return "\n".join([_HEAD, *_contents(rules), "", *(page(rule) for rule in rules)])


def page(rule: Rule) -> str:
    """What there is to say of one rule; ends in a newline."""
    return "\n".join([
        f"## {rule.id}", "", (rule.doc or "").strip(), "",
        f"- Why: {rule.why}", f"- Instead: {rule.fix}", f"- Enforces on {enforces(rule)}",
        f"- For some groups: {softened(rule)}", f"- Reads {_needs(rule)}", "",
        *_options(rule.options),
        "Accepted:", "", *_titles(rule.accepts()), "",
        "Rejected:", "", *_titles(rule.rejects()), ""])


def _contents(rules: Iterable[Rule]) -> Iterator[str]:
    for rule in rules:
        yield f"- [{rule.id}](#{rule.id}): {rule.why}"


def enforces(rule: Rule) -> str:
    if rule.on is Reach.GUARDED:
        return "guarded refs, and warns elsewhere, unless the policy says `on: all`."
    return "all refs, unless the policy says `on: guarded`."


def softened(rule: Rule) -> str:
    if rule.lenient:
        return "a policy may soften it with `warn_for` and `except`."
    return "the same; everything else rests on this rule."


def _needs(rule: Rule) -> str:
    named = sorted(need.value for need in rule.needs)
    return f"paths, and what costs more: {', '.join(named)}." if named else "paths only."


def _titles(examples: Iterable[Example]) -> Iterator[str]:
    return (f"- {example.title}" for example in examples)


def _options(options: type[Any]) -> Iterator[str]:
    listed = fields(options)
    if not listed:
        yield from ("Options: none of its own.", "")
        return
    yield from ("Options:", "", *fieldwords.table(options, "option"), "")
