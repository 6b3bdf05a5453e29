"""The catalogue of the rules: complete, and the same in the file as in the code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import pytest

from policyd import cli
from policyd.core.catalogue import catalogue, page
from policyd.core.rule import Rule
from policyd.rules import ALL

README = Path(__file__).parents[2] / "policies" / "README.md"
COMMAND = ".venv/bin/policyd policy catalogue > policies/README.md"


class Speed(Enum):
    FAST = "fast"
    SLOW = "slow"


@dataclass(frozen=True, slots=True)
class Options:
    """`of`: the thing,
    over two lines.
    """

    of: str
    speed: Speed = Speed.FAST
    most: int = 3
    share: float = 0.5
    loud: bool = False
    texts: tuple[str, ...] = ("a", "b")
    sizes: tuple[int, ...] = ()
    apart: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"a": ("b",)})


ROWS = [
    "| `of` | text | none: it must be given | The thing, over two lines. |",
    "| `speed` | `fast` or `slow` | `fast` |  |",
    "| `most` | whole number | `3` |  |",
    "| `share` | number | `0.5` |  |",
    "| `loud` | true or false | `false` |  |",
    "| `texts` | list of text | `[a, b]` |  |",
    "| `sizes` | list of whole numbers | `[]` |  |",
    "| `apart` | mapping of text to lists of text | `{a: [b]}` |  |",
]


def test_the_file_says_what_the_rules_say():
    assert README.read_text() == catalogue(ALL), f"the rules changed; run: {COMMAND}"


def test_the_command_prints_the_file(capsys):
    assert cli.run(["policy", "catalogue"]) == 0
    assert capsys.readouterr().out == README.read_text()


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.id)
def test_a_page_holds_all_that_there_is_to_say(rule):
    text = page(rule)
    assert text.startswith(f"## {rule.id}\n\n{rule.doc.strip()}\n")
    for said in (rule.why, rule.fix, *(need.value for need in rule.needs)):
        assert said in text
    for example in (*rule.accepts(), *rule.rejects()):
        assert f"- {example.title}\n" in text
    for name in rule.options.__dataclass_fields__:
        assert f"| `{name}` |" in text


def test_options_are_told_as_they_are_written():
    rule = Rule("some-rule", "why it is so.", "Do it.", Options, lambda *_: iter(()))
    lines = page(rule).splitlines()
    assert [line for line in lines if line.startswith("| `")] == ROWS
