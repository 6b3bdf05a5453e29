"""What a relation is begun with: names that functions can have, and suggestions that are code."""

from __future__ import annotations

import ast
import re
from datetime import date

import pytest

from policyd.records.fields import function
from policyd.records.skeletons import CLASSES, FILL_IN, Skeleton, made

SUGGESTED = re.compile(r"    # such as\n((?:    #     .*\n)+)    raise .*\n")


def begun(kind: str, name: str = "MR07") -> Skeleton:
    return made(name, "app:total", kind, owner="mei", last=date(2027, 1, 31), says=None,
                beside="oracle/relations/app.py")


@pytest.mark.parametrize("kind", CLASSES)
def test_what_is_suggested_is_code_that_gives_something(kind):
    def uncommented(match: re.Match[str]) -> str:
        return match[1].replace("    #     ", "    ")

    text, found = SUGGESTED.subn(uncommented, begun(kind).text)
    bodies = [one.body for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)]
    assert len(bodies) == found == len(begun(kind).functions)
    assert all(isinstance(body[-1], ast.Return) for body in bodies)


@pytest.mark.parametrize("kind", CLASSES)
def test_it_says_that_it_is_not_filled_in(kind):
    found = begun(kind)
    assert str(found.row["relation"]).startswith(FILL_IN)
    assert found.text.count(FILL_IN) == len(found.functions)
    assert found.above[0].startswith(FILL_IN)


@pytest.mark.parametrize("name", ["MR07", "7", "R1-order", "größe", "a.b c", "class", "☂"])
def test_every_id_makes_names_of_functions(name):
    assert [function(one) for one in begun("order", name).functions] == [
        *begun("order", name).functions]
