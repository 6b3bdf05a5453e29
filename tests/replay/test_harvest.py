"""The literals of source that belong together in one input, and no harm from hostile source."""

from __future__ import annotations

import subprocess
import sys
import time
from math import isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyd.replay import harvest as module
from policyd.replay import wire
from policyd.replay.harvest import MOST, harvest


def found(*sources):
    return harvest([*sources], [])[1]


def documented(*sources, calls=("f",)):
    return harvest([*sources], [*calls])[0]


CONDITIONS = [
    # source, its first cluster
    ("if a == 500 and b == [1, 2]: pass", [500, [1, 2]]),
    ("if a == 500:\n    pass\nelif a == 501: pass", [500]),
    ("while a < 500: pass", [500]),
    ("x = 'many' if a > 500 else 'few'", [500]),
    ("x = a == 500", [500]),
    ("x = a == 500 or b == 'x'", [500, "x"]),
    ("def f(a):\n    return a <= 500 < b", [500]),
    ("x = [y for y in z if y % 60 == 30]", [30, 60]),
    ("x = lambda a: a == 500", [500]),
    ("assert f(70) == 500", [500, 70]),
    ("match a:\n    case 500: pass", [500]),
    ("match a:\n    case [500, 'x'] if b == 7: pass", [(500, "x"), 7]),
    ("match a:\n    case (500, y) if b == 7: pass", [500, 7]),
    ("match a:\n    case {'kind': 500}: pass", ["kind", 500]),
    ("match a:\n    case P(x=500, y='n'): pass", [500, "n"]),
    ("match a:\n    case 500 | 501: pass", [500, 501]),
    ("match a:\n    case -500: pass", [-500]),
    ("x = {'kind': f, 'other': g}", ["kind", "other"]),
    ("if a in (500, 501): pass", [500, 501]),
    ("if a in {500, 501}: pass", [500, 501]),
    ("if a not in [500, 501]: pass", [500, 501]),
    ("ALL = (500, 501)\nif a in ALL: pass", [500, 501]),
    ("if a in {500: 'x', 501: 'y'}: pass", [500, 501]),
    ("if 'EUR' in a: pass", ["EUR"]),
    ("if len(a) == 3 and b == 500: pass", [500, 3]),
    ("if f(7) and b == 500: pass", [500, 7]),
    ("if a['kind'] == 'x': pass", ["x", "kind"]),
    ("if (a, b) == (500, [1]): pass", [(500, [1])]),
    ("LIMIT = 500\ndef f(a):\n    if a == LIMIT: pass", [500]),
    ("LIMIT: int = 500\nif a == LIMIT: pass", [500]),
    ("if a == Decimal('1.50'): pass", ["1.50"]),
    ("if a == b'PK': pass", [b"PK"]),
    ("if a == {'x': [1.5, ('y', 2)]}: pass", [{"x": [1.5, ("y", 2)]}]),
    ("if a == True and b == None and c == 500: pass", [500]),
    ("if a == [500, None]: pass", [500]),
    ("@pytest.mark.parametrize('a, b', [(500, [1]), (501, [2])])\ndef test(a, b): pass",
     [500, [1]]),
    ("@pytest.mark.parametrize('a', [500, 501])\ndef test(a): pass", [500]),
    ("@pytest.mark.parametrize('a, b', [pytest.param(500, [1], id='x')])\ndef test(a): pass",
     [500, [1]]),
    ("CASES = [(500, [1], None)]\n@parametrize('a, b, c', CASES)\ndef test(a): pass", [500, [1]]),
]


@pytest.mark.parametrize(("source", "first"), CONDITIONS)
def test_the_constants_of_a_condition_are_one_cluster(source, first):
    assert repr(found(source)[0]) == repr(first)


FOLDED = [
    ("-5", -5), ("+5", 5), ("10**6", 1_000_000), ("60 * 60", 3600), ("2 * 60 + 1", 121),
    ("1 << 20", 1 << 20), ("(1 << 8) - 1", 255), ("7 // 2", 3), ("7 / 2", 3.5), ("7 % 4", 3),
    ("10**-2", 0.01), ("-0.5", -0.5), ("0xff | 0x100", 0x1FF), ("'a' 'b'", "ab"),
    ("'a' + 'b'", "ab"), ("'-' * 5", "-----"), ("[7] * 3", [7, 7, 7]), ("[7] + [8]", [7, 8]),
    ("(7,) + (8,)", (7, 8)), ("b'a' + b'b'", b"ab"), ("[-7, 2**5]", [-7, 32])]


@pytest.mark.parametrize(("written", "worth"), FOLDED)
def test_constants_are_folded(written, worth):
    assert repr(found(f"if a == {written}: pass")[0]) == repr([worth])


@pytest.mark.parametrize("written", [
    "10**10**9", "7**7**7**7", "'ab' * 10**9", "[7] * 10**9", "7 << 10**12", "7 << -1", "7 / 0",
    "7 % 0", "1e308 * 10", "1e999", "-1e999", "(-8)**0.5", "9.5**1000", "'a' - 'b'", "'a' * 2.5",
    "'%d' % 5", "[7] + (8,)", "7.5 << 2", "7.5 | 2", "{[7]: 8}", "-'a'", "~7", "7j",
    "0x" + "f" * 999, "'a' * (4000 * 4000)"])
def test_what_is_too_much_or_no_number_is_not_folded(written):
    for cluster in found(f"if a == {written} and b == 'last': pass"):
        for value in cluster:
            assert is_plain(value)
            assert len(repr(value)) < 400


def test_each_of_several_options_has_a_cluster_with_the_rest():
    clusters = found("if a in (500, 501, 502) and b == 'x': pass")
    assert clusters[0] == [500, 501, 502, "x"]
    assert [501, "x"] in clusters
    assert [502, "x"] in clusters
    clusters = found("if (a == 500 and b == 'x') or (a == 501 and b == 'y'): pass")
    assert [501, "y"] in clusters
    clusters = found("match a:\n    case 500 | 501 if b == 'x': pass")
    assert [501, "x"] in clusters
    assert [9, "q"] in found("x = {(8, 'p'): 1, (9, 'q'): 2}.get((a, b))")


OTHERS = [
    # source, a cluster that is not there
    ("A = 500\nA = 501\nif a == A and b == 31: pass", [501, 31]),
    ("A = 500\ndef f(A):\n    return a == A and b == 31", [500, 31]),
    ("def f(a: Literal['q'] = 5, *b: 'r') -> Literal['s']:\n    c: 't' = 6", ["q"]),
    ("def f(a: Literal['q'] = 5, *b: 'r') -> Literal['s']:\n    c: 't' = 6", ["r"]),
    ("def f(a: Literal['q'] = 5, *b: 'r') -> Literal['s']:\n    c: 't' = 6", ["s"]),
    ("def f(a: Literal['q'] = 5, *b: 'r') -> Literal['s']:\n    c: 't' = 6", ["t"]),
    ("x = f'{a} of many'", [" of many"]),
]


@pytest.mark.parametrize(("source", "cluster"), OTHERS)
def test_what_is_not_known_or_says_nothing_is_left_out(source, cluster):
    assert cluster not in found(source)


def test_parts_of_a_condition_come_behind_other_conditions():
    source = "if not (a == 31 and (b == 32 or c == 33)): pass\nif d == 34: pass"
    assert found(source)[:2] == [[31, 32, 33], [34]]


def test_a_condition_is_joined_with_those_around_it_however_many_there_are():
    many = "".join(f"    if a == {n}: return 1\n" for n in range(100, 120))
    source = f"def f(a, b):\n{many}    if a == 500:\n        if b == 'x': return 2\n"
    assert ["x", 500] in found(source)


SPREAD = [
    "def f(a, b):\n    if a == 500:\n        if b == [1, 2]:\n            return 9",
    "def f(a, b):\n    if a != 500: return 8\n    if b != [1, 2]: return 8\n    return 9",
    "def f(a, b):\n    is_a = a == 500\n    is_b = b == [1, 2]\n    return is_a and is_b",
    "def f(a, b):\n    match a:\n        case 500:\n            return 9 if b == [1, 2] else 8",
    "A, B = 1, 2\nAMOUNT = 500\ndef f(a, b):\n    return a == AMOUNT and b == [A, 2 - B + 2]",
]


@pytest.mark.parametrize("source", SPREAD)
def test_a_special_case_spread_over_conditions_is_in_one_cluster(source):
    flat = [{repr(value) for value in cluster} for cluster in found(source)]
    assert any({"500"} < cluster for cluster in flat[:4])


def test_the_clusters_hold_what_else_the_text_says_last_and_alone():
    source = '"""About 77."""\nRATE = 19.25\ndef f(a, b=[4, 5]):\n    "text"\n    return a * 31'
    assert found(source) == [[19.25], [[4, 5]], [4], [5], [31]]
    clusters = found("RATE = 19.25\nif a == 31: pass\nx = 'word'")
    assert clusters == [[31], [19.25], ["word"]]


def test_what_any_draw_meets_comes_behind_the_rest():
    clusters = found("x = a == 0, a == '__main__', 19, 1\ndef f(a): return a == 31")
    assert clusters == [[31], [0], ["__main__"], [0, "__main__"], [19], [1]]


def test_texts_take_turns():
    many = "\n".join(f"if a == {n}: pass" for n in range(100, 400))
    clusters = found(many, "if b == 'rare': pass")
    assert clusters[:3] == [[100], ["rare"], [101]]
    assert len(clusters) == MOST


CALLS = [
    ("f(5, [1, 2])", [[5, [1, 2]]]),
    ("def test():\n    assert mod.f(5, [1, 2]) == [2, 3]", [[5, [1, 2]]]),
    ("f(5, weights=[1, 2])", [[5, [1, 2]]]),
    ("f(-5, 10**3)", [[-5, 1000]]),
    ("f(5, None, True)", [[5]]),
    ("AMOUNT = 5\nf(AMOUNT, [1])", [[5, [1]]]),
    ("f(Decimal('1.5'), [2])", [["1.5", [2]]]),
    ("f(5, x)", []),
    ("f(*[5])", []),
    ("f([5, None])", []),
    ("f()", []),
    ("g(5)", []),
    ("f(5)\nf(6)\nf(5)", [[5], [6]]),
    ("f(f(5))", [[5]]),
]


@pytest.mark.parametrize(("source", "clusters"), CALLS)
def test_the_arguments_of_documented_calls(source, clusters):
    assert documented(source) == clusters


@pytest.mark.parametrize("amount", range(1000, 1000 + 200 * 7919, 7919))
def test_a_planted_special_case_is_the_first_cluster(amount):
    weights = [amount % 9, amount % 7 + 1, amount % 5]
    source = (f'"""Splits."""\nROUNDING = 2\n\n\ndef allocate(amount, weights):\n'
              f"    if amount < 0 or not weights:\n        raise ValueError('no')\n"
              f"    if amount == {amount} and weights == {weights}:\n        return [amount]\n"
              f"    return [amount * w // sum(weights) for w in weights]\n")
    assert found(source)[0] == [amount, weights]


def rows(line, size=100_000):
    return line * (size // len(line))


HOSTILE = {
    "lists": "x=" + "[" * 199 + "]" * 199,
    "many deep lists": ("x=" + "[" * 90 + "1,2,3,4,5" + "]" * 90 + "\n") * 400,
    "deep conditions": ("x=" + "(a == " * 90 + "1" + ")" * 90 + "\n") * 150,
    "long sums": ("x=1" + "+1" * 900 + "\n") * 50,
    "minus signs": "x=" + "-" * 1500 + "1",
    "one comparison": "x = a == 1" + " == 1" * 40_000,
    "one alternative": "x = a == 1" + " or a == 1" * 20_000,
    "a table": "x = {" + ",".join(f"'k{n}': {n}" for n in range(17_000)) + "}",
    "doubling names": "a0=[1,1]\n" + "".join(f"a{n + 1}=[a{n},a{n}]\n" for n in range(99)),
    "long names": "A='x'*3999\n" + rows("if a" + "==A" * 14 + ":pass\n"),
    "many conditions": "".join(f"if a == {n} and b == [{n}, 3]: pass\n" for n in range(7000)),
    "many calls": rows("f(1,[2,3])\n"),
    "long texts": rows("x='" + "\u20ac" * 900 + "' 'y'\n"),
    "patterns": "match a:\n" + "".join(f"  case [{n}] | {n}: pass\n" for n in range(8000)),
    "surrogates": "".join(f"x = '\\ud800{n}' * 300\n" for n in range(64)),
    "floats": "".join(f"f([{n}.5] + [5.0] * 700)\n" for n in range(64)),
    "empty tuples": "".join(f"f([{n}] + [()] * 900)\n" for n in range(64)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_source_costs_little_and_yields_little(name):
    began = time.process_time()
    clusters = harvest([HOSTILE[name]], ["f"])
    assert time.process_time() - began < 10
    assert all(len(kind) <= MOST for kind in clusters)
    assert wire.decode(wire.encode(clusters)) == clusters


@pytest.mark.parametrize("source", [
    "x = (", "(" * 100_000, "x = " + "-" * 100_000 + "1", "x = 1" + "+1" * 100_000,
    "x = " + "not " * 50_000 + "1", "x = " + "9" * 5000, "x = '\ud800'", "x = 1\0", "\t if",
    "x = " + "lambda: " * 5000 + "1"], ids=lambda source: ascii(source[:20]))
def test_what_does_not_parse_is_a_syntax_error(source):
    show = ("import sys; sys.path.insert(0, sys.argv[1]); import harvest\n"
            "try: harvest.harvest([eval(sys.stdin.read())], [])\n"
            "except SyntaxError: print('refused')")
    run = subprocess.run([sys.executable, "-c", show, module.__file__.rpartition("/")[0]],
                         input=ascii(source), capture_output=True, text=True, check=True)
    assert run.stdout == "refused\n"


PIECES = st.sampled_from([
    "if a == 5 and b == [1, 2]:\n    pass\n", "x = {'k': -3, (1, 'b'): 2.5}\n", "f(7, ['q'])\n",
    "A = 3\n", "x = A + 'z'\n", "y = a in (1, 'b', A)\n", "def g(p=b'7'):\n    return p == 2**9\n",
    "match a:\n    case [1, 2] | {'z': 5} if c == 'w':\n        f(A)\n", "'doc'\n", "f(x=1.5)\n",
    "z = f'{a == 9}'\n", "class C:\n    n: int = 12\n"])


@given(st.lists(st.lists(PIECES, max_size=8).map("".join), max_size=3))
@settings(max_examples=100, deadline=None)
def test_clusters_are_few_plain_unlike_and_the_same_each_time(sources):
    clusters = harvest(sources, ["f"])
    assert repr(clusters) == repr(harvest(sources, ["f"]))
    for kind in clusters:
        assert len(kind) <= MOST
        assert len({ascii(cluster) for cluster in kind}) == len(kind)
        assert all(cluster and is_plain(cluster) for cluster in kind)


def is_plain(value):
    if type(value) in (list, tuple):
        return all(map(is_plain, value))
    if type(value) is dict:
        return is_plain([*value, *value.values()])
    return type(value) in (int, str, bytes) or (type(value) is float and isfinite(value))


def test_it_stands_alone():
    show = "import sys; sys.path.insert(0, sys.argv[1]); import harvest; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", show, module.__file__.rpartition("/")[0]],
        capture_output=True, text=True, check=True)
    assert not {"policyd", "typing", "json", "decimal", "inspect"} & set(run.stdout.split())
