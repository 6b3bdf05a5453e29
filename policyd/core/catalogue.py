"""The catalogue of the rules as Markdown, made from the rules themselves."""

from __future__ import annotations

import typing
from collections import abc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from enum import Enum
from typing import Any, get_args, get_origin

from policyd.core.policy import Reach
from policyd.core.rule import Example, Rule

_LEAVES = {str: "text", int: "whole number", float: "number", bool: "true or false"}

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
        f"- Why: {rule.why}", f"- Instead: {rule.fix}", f"- Enforces on {_refs(rule)}",
        f"- For some groups: {_softer(rule)}", f"- Reads {_needs(rule)}", "",
        *_options(rule.options),
        "Accepted:", "", *_titles(rule.accepts), "", "Rejected:", "", *_titles(rule.rejects), ""])


def _contents(rules: Iterable[Rule]) -> Iterator[str]:
    for rule in rules:
        yield f"- [{rule.id}](#{rule.id}): {rule.why}"


def _refs(rule: Rule) -> str:
    if rule.on is Reach.GUARDED:
        return "guarded refs, and warns elsewhere, unless the policy says `on: all`."
    return "all refs, unless the policy says `on: guarded`."


def _softer(rule: Rule) -> str:
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
    yield from ("Options:", "", (options.__doc__ or "").replace("\n    ", "\n").strip(), "",
                "| option | type | default |", "|---|---|---|")
    hints = typing.get_type_hints(options)
    for one in listed:
        yield f"| `{one.name}` | {_type(hints[one.name])} | {_default(one)} |"
    yield ""


def _type(hint: Any, *, many: bool = False) -> str:
    """A type in the words of somebody who writes YAML."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is tuple:
        return f"{'lists' if many else 'list'} of {_type(args[0], many=True)}"
    if origin in (dict, abc.Mapping):
        return f"mapping of {_type(args[0], many=True)} to {_type(args[1], many=True)}"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return " or ".join(f"`{member.value}`" for member in hint)
    word = _LEAVES[hint]
    return f"{word}s" if many and word.endswith("number") else word


def _default(one: Field[Any]) -> str:
    if one.default_factory is not MISSING:
        return f"`{_yaml(one.default_factory())}`"
    return "none: it must be given" if one.default is MISSING else f"`{_yaml(one.default)}`"


def _yaml(value: Any) -> str:
    """A default as it would be written in a policy."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_yaml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if isinstance(value, Enum):
        return str(value.value)
    return str(value).lower() if isinstance(value, bool) else str(value)
