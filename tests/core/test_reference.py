"""The reference of policies and policyd.yaml: complete, true, and the same on disk."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from policyd import cli
from policyd.core import manual, reference
from policyd.rules import ALL, BY_ID

PAGE = Path(__file__).parents[2] / "docs/policy.md"
COMMAND = ".venv/bin/policyd policy reference > docs/policy.md"
TYPES = [*manual.OF, *(rule.options for rule in ALL)]
SAMPLES = [(file, key, one) for file, of in (("policy", manual.POLICY), ("settings",
                                                                     manual.SETTINGS))
           for key, one in of.items()]


def told(file: str, sample: str) -> tuple[str, ...]:
    if file == "settings":
        return reference._of_settings(sample)
    return reference._of_policy(sample, BY_ID)


def test_the_file_says_what_the_types_say(capsys):
    assert cli.run(["policy", "reference"]) == 0
    assert capsys.readouterr().out == PAGE.read_text(), f"the types changed; run: {COMMAND}"


@pytest.mark.parametrize("type_", TYPES, ids=lambda type_: f"{type_.__module__}.{type_.__name__}")
def test_each_key_has_a_meaning(type_):
    keys = [one.metadata.get("key", one.name) for one in fields(type_)]
    for key in keys:
        assert re.search(r"\w.*\.$", manual.meanings(type_).get(key, "")), (
            f"say in policyd/core/manual.py, or in the docstring of a rule's options, what "
            f"`{key}` is for")
    shared = type_ in manual.OF and manual.OF[type_] is manual.IDENTITY
    assert shared or set(manual.meanings(type_)) == set(keys)


@pytest.mark.parametrize(("file", "key", "one"), SAMPLES, ids=lambda given: str(given)[:20])
def test_what_is_said_to_be_taken_is_taken_and_the_other_is_refused(file, key, one):
    for sample in (one.good, one.bad):
        assert sample.startswith(f"{key}: "), sample
    assert told(file, one.good) == ()
    assert told(file, one.bad)


def test_what_a_rule_may_say_is_tried_too():
    for key, one in manual.CLAUSE.items():
        for sample, taken in ((one.good, True), (one.bad, False)):
            assert f"{key}: " in sample
            body = reference._braced(sample)
            faults = reference._of_policy(f"rules: {{literal-overlap: {body}}}", BY_ID)
            assert (faults == ()) is taken, (sample, faults)


def test_the_docstring_of_options_is_read_option_by_option():
    class Options:
        """Words about all of it.

        `of`: the group
        of all.
        `may_touch`: zones, `a`
        and globs.

        More words.
        """

    assert manual.meanings(Options) == {
        "of": "The group of all.", "may_touch": "Zones, `a` and globs."}


def test_a_line_of_the_page_is_what_the_compiler_says():
    page = reference.reference(ALL)
    assert "- Refused: `state: state`: 'state' is no absolute path" in page
    assert "- Refused: `guarded: main`: expected a list, found 'main'" in page
    assert "| `seconds` | number | `5` | Time to judge it in. |" in page
