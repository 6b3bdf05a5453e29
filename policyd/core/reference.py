"""The reference of policy files and policyd.yaml as Markdown, made from their types.

What is refused, and in which words, is what the compiler says of the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from policyd.core import fieldwords, manual
from policyd.core.authored import PolicyAuthored, compile_policy
from policyd.core.catalogue import enforces, softened
from policyd.core.clauses import ClauseAuthored
from policyd.core.documents import parse
from policyd.core.errors import FileInvalid
from policyd.core.rule import Rule
from policyd.core.settings import IDENTITIES, SettingsAuthored, compile_settings

Told = Callable[[str], tuple[str, ...]]
"""What the compiler says of a sample; nothing where it is taken."""

_HEAD = """\
# Policy files and policyd.yaml

Every key, made from the types by `policyd policy reference > docs/policy.md`. `policyd policy lint`
checks the files, `policyd policy schema` (and `--settings`) is for editors, policies/default.yaml
is a whole policy with comments, and policies/README.md says what each rule looks at. Files are
YAML 1.2 without anchors and tags: `on` and `no` are text, an unknown or doubled key is a fault, and
all faults of all files are told at once as FILE:LINE:COLUMN.
"""

_POLICY = """\
## A policy

HOME/policies/NAME.yaml. Nothing of it counts before `policyd policy apply`.
"""

_RULES = """\
## Rules

`rules: {NAME: {...}}`. Each rule takes these keys, and its own options as listed below.
"""

_SETTINGS = """\
## policyd.yaml

HOME/policyd.yaml. `policyd policy apply` puts it in force together with the policies.
"""

BASE = {
    "version": "version: 1", "repositories": 'repositories: ["**"]', "guarded": "guarded: [main]",
    "zones": 'zones: {source: ["src/**"], tests: ["tests/**"], oracle: ["oracle/**"]}',
    "groups": 'groups: {maintainers: [mei], agents: ["bot-*"], mergers: [merge-bot]}',
    "rules": "rules: {}"}
"""What samples of a policy stand in."""


def reference(rules: Sequence[Rule]) -> str:
    """The whole page."""
    known = {rule.id: rule for rule in rules}

    def policy(sample: str) -> tuple[str, ...]:
        return _of_policy(sample, known)

    def clause(sample: str) -> tuple[str, ...]:
        return _of_policy(f"rules: {{literal-overlap: {_braced(sample)}}}", known)

    return "\n".join([
        _HEAD, _POLICY, *_keys(PolicyAuthored, policy),
        _RULES, *_keys(ClauseAuthored, clause), *(line for rule in rules for line in _rule(rule)),
        _SETTINGS, *_keys(SettingsAuthored, _of_settings), *_identities()])


def _keys(type_: type[Any], told: Told) -> Iterator[str]:
    samples = manual.OF[type_]
    for word in fieldwords.words(type_):
        sample = samples.get(word.key, manual.Key(""))
        yield from (f"### `{word.key}`", "", sample.says, "",
                    "- Mapping of:" if word.below is not None else
                    f"- {_capital(word.kind)}. {_default(word)}")
        if word.below is not None:
            yield from ("", *fieldwords.table(word.below), "")
        if sample.good:
            yield from (f"- Taken: `{sample.good}`",
                        f"- Refused: `{sample.bad}`: {'; '.join(told(sample.bad))}")
        yield ""


def _default(word: fieldwords.Word) -> str:
    if word.default == fieldwords.REQUIRED:
        return "It must be given."
    return f"Default: {word.default}." if word.default else "No default."


def _rule(rule: Rule) -> Iterator[str]:
    yield from (f"### {rule.id}", "", f"[{_capital(rule.why)}](../policies/README.md#{rule.id})",
                f"Enforces on {enforces(rule)} For some groups: {softened(rule)}", "")
    if fields(rule.options):
        yield from (*fieldwords.table(rule.options, "option"), "")


def _identities() -> Iterator[str]:
    yield from ("## `identity` of policyd.yaml", "")
    for name, type_ in IDENTITIES.items():
        own = [word.key for word in fieldwords.words(type_) if word.key != "from"]
        yield from (f"### `from: {name}`", "")
        yield from (*fieldwords.table(type_), "") if own else ("No other key.", "")


def _of_policy(sample: str, rules: Mapping[str, Rule]) -> tuple[str, ...]:
    lines = [line for key, line in BASE.items() if not sample.startswith(f"{key}:")]
    text = "\n".join([*lines, sample])
    return _faults(lambda: compile_policy(parse(text.encode(), "p"), "p", rules))


def _of_settings(sample: str) -> tuple[str, ...]:
    base = "" if sample.startswith("state:") else "state: /var/lib/policyd\n"
    return _faults(lambda: compile_settings(parse(f"{base}{sample}".encode(), "p")))


def _faults(compiled: Callable[[], object]) -> tuple[str, ...]:
    try:
        compiled()
    except FileInvalid as invalid:
        return tuple(fault.message for fault in invalid.faults)
    return ()


def _braced(sample: str) -> str:
    return sample if sample.startswith("{") else f"{{{sample}}}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
