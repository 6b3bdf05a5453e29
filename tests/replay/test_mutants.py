"""Mutants of a function: each one small change, all of them other programs than the first."""

from __future__ import annotations

import ast

import pytest

from policyd.replay.mutants import MOST, mutants

SPLIT = '''\
"""Splits."""

RATE = 7


def split(total, weights):
    """Parts, as 1 + 1."""
    if total < 0 or not weights:
        raise ValueError("nothing")
    whole = sum(weights)
    parts = [share(total, weight, whole) for weight in weights]
    for at in range(total - sum(parts)):
        parts[at] += 1
    return parts


def share(total, weight, whole):
    return total * weight // whole if whole else -1


def unrelated(x):
    return x + RATE
'''


def made(source: str, function: str = "f") -> set[str]:
    return {one.text for one in mutants(source, function)}


def body(*lines: str) -> str:
    return ast.unparse(ast.parse("def f(a, b):\n" + "".join(f"    {line}\n" for line in lines)))


@pytest.mark.parametrize(("line", "changed"), [
    ("return a + b", {"return a - b", "return None"}),
    ("return a < b", {"return a <= b", "return a > b", "return None"}),
    ("return a and b", {"return a or b", "return None"}),
    ("return a is b", {"return a is not b", "return None"}),
    ("return 3", {"return 4", "return 2", "return None"}),
    ("return True", {"return False", "return None"}),
    ("return 'text'", {"return None"}),
    ("return -a", {"return +a", "return None"}),
    ("return not a", {"return not not a", "return None"}),
    ("return a if b else 0", {"return a if False else 0", "return a if True else 0",
                              "return a if b else 1", "return a if b else -1", "return None"}),
    ("a.sort()", {"pass"}),
    ("a += b", {"a -= b", "pass"}),
    ("raise ValueError", {"pass"}),
])
def test_one_small_change_each(line, changed):
    assert made(body(line)) == {body(one) for one in changed}


def test_what_the_function_calls_in_its_module_is_changed_too():
    lines = {one.line for one in mutants(SPLIT, "split")}
    assert {8, 12, 13, 14, 18} <= lines
    assert 22 not in lines
    assert all("return x + RATE" in one.text for one in mutants(SPLIT, "split"))


def test_each_mutant_is_a_program_of_its_own_and_no_remark_changes():
    found = mutants(SPLIT, "split")
    assert len({one.text for one in found}) == len(found)
    for one in found:
        compile(one.text, "mutant", "exec")
        assert ast.get_docstring(ast.parse(one.text).body[2]) == "Parts, as 1 + 1."


def test_a_method_is_found_by_its_last_name():
    source = "class Split:\n    def f(self, a):\n        return a + 1\n"
    assert any("return a - 1" in text for text in made(source, "Split.f"))


def test_of_many_the_same_ones_are_taken_evenly():
    source = body(*[f"a += {number}" for number in range(100)], "return a")
    found = mutants(source, "f")
    assert len(found) == MOST
    assert found == mutants(source, "f")
    assert max(one.line for one in found) > 95


@pytest.mark.parametrize("source", ["x = 1\n", "def g(): pass\n", "def f(:\n"])
def test_a_source_without_the_function_is_an_error(source):
    with pytest.raises(SyntaxError):
        mutants(source, "f")
