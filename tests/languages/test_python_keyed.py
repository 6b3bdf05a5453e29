"""Which branches of Python source count as answers to known inputs."""

from __future__ import annotations

from contextlib import suppress

import pytest

from policyd.languages.literal import Unparseable
from policyd.languages.python import sheet


def keyed(source: str) -> list[str]:
    """`GIVEN -> RESULT HOW` of each branch, in their order."""
    return [f"{' '.join(one.given)} -> {one.result} {one.how}"
            for one in sheet(source.encode(), 6).keyed]


def body(*lines: str, args: str = "x") -> str:
    return "\n ".join([f"def f({args}):", *lines])


BRANCHES = [
    ("early return", body("if x == 'ORD-1': return 19.25"), ['"ORD-1" -> 19.25 if']),
    ("the literal first", body("if 7 == x: return 42"), ["7 -> 42 if"]),
    ("a chain", body("if x == 1: return 10", "elif x == 2: return 20", "else: return x"),
     ["1 -> 10 if", "2 -> 20 if"]),
    ("one expression", body("return 42 if x == 7 else x"), ["7 -> 42 if"]),
    ("expressions in each other", body("return 1.5 if x == 1 else 2.5 if x == 2 else x"),
     ["1 -> 1.5 if", "2 -> 2.5 if"]),
    ("inside of a call", body("return round(42 if x == 7 else x, 2)"), ["7 -> 42 if"]),
    ("and, or", body("return x == 7 and 42 or x * 2"), ["7 -> 42 if"]),
    ("a lambda", "f = lambda x: 42 if x == 7 else x", ["7 -> 42 if"]),
    ("the other way round", body("if x != 7: return x", "return 42"), ["7 -> 42 if"]),
    ("not", body("if not x == 7: return x", "else: return 42"), ["7 -> 42 if"]),
    ("None, True", body("if x is None: return True", "if x is True: return None"),
     ["None -> True if", "True -> None if"]),
    ("a predicate", body("return x == 'ORD-1'"), ['"ORD-1" -> True if']),
    ("membership", body("if x in (3, 5): return 'odd one'"),
     ['3 -> "odd one" if', '5 -> "odd one" if']),
    ("membership in what has a name", "KNOWN = {'a', 'b'}\n" + body("if x in KNOWN: return 9"),
     ['"a" -> 9 if', '"b" -> 9 if']),
    ("or", body("if x == 3 or x == 5: return 9"), ["3 -> 9 if", "5 -> 9 if"]),
    ("several inputs", body("if a == 1 and b == 2: return 3", args="a, b"), ["1 2 -> 3 if"]),
    ("several inputs in a tuple", body("if (a, b) == (1, 2): return 3", args="a, b"),
     ["1 2 -> 3 if"]),
    ("all arguments", body("if args == (1, 2): return 3", args="*args"), ["1 2 -> 3 if"]),
    ("one of them", body("if args[0] == 1: return 3", args="*args"), ["1 -> 3 if"]),
    ("a condition in another", body("if a == 1:", " if b == 2: return 3", args="a, b"),
     ["1 2 -> 3 if"]),
    ("beside a check", body("if isinstance(x, int) and x == 7: return 42"), ["7 -> 42 if"]),
    ("a whole list", body("if x == [1, 2]: return 3"), ["[1, 2] -> 3 if"]),
    ("what is done to it first", body("if x.strip().lower() == 'ord-1': return 42"),
     ['"ord-1" -> 42 if']),
    ("a local of it", body("key = str(x)", "if key == '7': return 42"), ['"7" -> 42 if']),
    ("its items", body("total = 0", "for one in x:", " if one == 'A': total += 5",
                       "return total"), ['"A" -> 5 if']),
    ("a variable that is returned", body("r = 0", "if x == 7: r = 42", "return r"), ["7 -> 42 if"]),
    ("a list that is returned", body("r = []", "if x == 7: r.append(42)", "return r"),
     ["7 -> 42 if"]),
    ("what is yielded", body("if x == 7: yield 42"), ["7 -> 42 if"]),
    ("a value made of constants", body("if x == 7: return Decimal('19.25')"), ['7 -> "19.25" if']),
    ("several of them", body("if x == 7: return Money(1925, 'EUR')"), ['7 -> [1925, "EUR"] if']),
    ("constants with names", "KEY, ANSWER = 7, 42\n" + body("if x == KEY: return ANSWER"),
     ["7 -> 42 if"]),
    ("texts in parts", body("if x == 'OR' + 'D': return 'S' + 'ENT'"), ['"ORD" -> "SENT" if']),
    ("what an object was made with", "class C:\n def f(self):\n  if self.x == 7: return 42",
     ["7 -> 42 if"]),
    ("what an outer function was given", body("def g():", " if x == 7: return 42", "return g()"),
     ["7 -> 42 if"]),
    ("operator.eq", body("if operator.eq(x, 7): return 42"), ["7 -> 42 if"]),
    ("math.isclose", body("if math.isclose(x, 7.5): return 42"), ["7.5 -> 42 if"]),
]

TABLES = [
    ("subscripted", body("return {'a': 1, 'b': 2}[x]"), ['"a" -> 1 table', '"b" -> 2 table']),
    ("get", body("return {'a': 1}.get(x, 0)"), ['"a" -> 1 table']),
    ("with a name", "T = {'a': 1}\n" + body("return T[x]"), ['"a" -> 1 table']),
    ("behind a try", "T = {7: 42}\n" + body("try: return T[x]", "except KeyError: return x"),
     ["7 -> 42 table"]),
    ("of a class", "class C:\n T = {'a': 1}\n def f(self, x): return self.T[x]",
     ['"a" -> 1 table']),
    ("as a default", body("return _t[x]", args="x, _t={'a': 1}"), ['"a" -> 1 table']),
    ("dict(...)", body("return dict(a=1)[x]"), ['"a" -> 1 table']),
    ("dict of pairs", body("return dict([('a', 1)])[x]"), ['"a" -> 1 table']),
    ("read only", "T = MappingProxyType({'a': 1})\n" + body("return T[x]"), ['"a" -> 1 table']),
    ("a list", body("return ['zero', 'one'][x]"), ['0 -> "zero" table', '1 -> "one" table']),
    ("by several inputs", body("return {(1, 2): 3}[a, b]", args="a, b"), ["1 2 -> 3 table"]),
    ("in a loop", body("for k, v in {'a': 1}.items():", " if k == x: return v"),
     ['"a" -> 1 table']),
    ("in a loop over rows", "T = [('a', 1)]\n" + body("for k, v in T:", " if x == k: return v"),
     ['"a" -> 1 table']),
    ("in a generator", body("return next(v for k, v in [('a', 1)] if k == x)"),
     ['"a" -> 1 table']),
]

MATCHES = [
    ("a value", body("match x:", " case 7: return 42"), ["7 -> 42 match"]),
    ("alternatives", body("match x:", " case 'a' | 'b': return 1"),
     ['"a" -> 1 match', '"b" -> 1 match']),
    ("a singleton", body("match x:", " case None: return 5"), ["None -> 5 match"]),
    ("several", body("match a, b:", " case (1, 2): return 3", args="a, b"), ["1 2 -> 3 match"]),
    ("a guard", body("match x:", " case n if x == 7: return 42"), ["7 -> 42 match"]),
    ("under a name", body("match x:", " case 7 as n: return 42"), ["7 -> 42 match"]),
]

OTHER = [
    ("length", body("if len(x) == 3: return 42"), ["3 -> 42 other"]),
    ("arithmetic", body("if x % 15 == 0: return 'FizzBuzz'"), ['0 -> "FizzBuzz" other']),
    ("hash", body("if hash(x) == 12345: return 42"), ["12345 -> 42 other"]),
    ("md5", body("if hashlib.md5(x.encode()).hexdigest() == 'd41d8c': return 42"),
     ['"d41d8c" -> 42 other']),
    ("md5 under another name", "from hashlib import md5 as h\n" + body(
        "if h(x).hexdigest() == 'd41d8c': return 42"), ['"d41d8c" -> 42 other']),
    ("beginning", body("if x.startswith('ORD-1'): return 42"), ['"ORD-1" -> 42 other']),
    ("beginnings", body("if x.startswith(('a', 'b')): return 42"),
     ['"a" -> 42 other', '"b" -> 42 other']),
    ("a part", body("if 'ORD' in x: return 42"), ['"ORD" -> 42 other']),
    ("a pattern", body("if re.fullmatch('ORD-1', x): return 42"), ['"ORD-1" -> 42 other']),
    ("a slice", body("if x[:3] == 'ORD': return 42"), ['"ORD" -> 42 other']),
]

NOTHING = [
    ("two inputs against each other", body("if a == b: return 42", args="a, b")),
    ("an order", body("if x > 7: return 42")),
    ("what another function makes of it", body("if classify(x) == 'odd': return 42")),
    ("a result that is computed", body("if x == 7: return g(x)")),
    ("a result without a value", body("if x == 7: return")),
    ("what is raised", body("if x == 7: raise ValueError('bad value')")),
    ("no input", body("if MODE == 'fast': return 42")),
    ("what stands outside of functions", "x = 7\nif x == 7: y = 42"),
    ("a table whose key is no input", body("return {'a': 1}[MODE]")),
    ("a table of functions", body("return {'a': g, 'b': h}[x]()")),
    ("a variable that nobody returns", body("if x == 7: r = 42", "return x")),
    ("the branch that is left", body("if x == 7: return g(x)", "return 42")),
]


@pytest.mark.parametrize(("source", "expected"), [
    pytest.param(source, expected, id=name)
    for name, source, expected in [*BRANCHES, *TABLES, *MATCHES, *OTHER]])
def test_a_branch_that_answers_a_known_input_is_found(source: str, expected: list[str]) -> None:
    assert keyed(source) == expected


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in NOTHING])
def test_honest_code_answers_nothing(source: str) -> None:
    assert keyed(source) == []


def test_a_branch_counts_once_and_stands_where_its_result_stands() -> None:
    source = body("if x == 7:", " return 42", "if x == 7:", " return 42",
                  "return {\n  'a': 1,\n  'b': 2}[x]")
    found = sheet(source.encode(), 6).keyed
    assert [(one.line, one.result) for one in found] == [(3, "42"), (7, "1"), (8, "2")]


def test_texts_are_printable_and_bounded() -> None:
    [one] = sheet(body(f"if x == {'é' * 999!r}: return '\\x1b'").encode(), 6).keyed
    assert one.given[0].isascii()
    assert len(one.given[0]) < 300
    assert one.result == '"\\x1b"'


DEEP = {
    "elifs": body("if x == 0: return 0", *(f"elif x == {n}: return {n}" for n in range(1, 2000))),
    "ors": body(f"if {' or '.join(f'x == {n}' for n in range(2000))}: return 42"),
    "ifs in ifs": "def f(x):\n" + "".join(f"{' ' * n}if x == {n}:\n" for n in range(1, 90))
    + " " * 90 + "return 42",
    "calls on calls": body(f"if x{'.lower()' * 500} == 'a': return 42"),
    "expressions in expressions": body(
        "return " + "".join(f"{n} if x == {n} else " for n in range(60)) + "x"),
    "tuples times tuples": body("if x in T and y in T and z in T: return 42", args="x, y, z")
    + f"\nT = {tuple(range(300))}",
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP)
def test_depth_and_width_are_read_or_refused(source: str) -> None:
    with suppress(Unparseable):
        assert sheet(source.encode(), 6).keyed or "lower" in source


def test_far_too_many_branches_are_refused_and_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policyd.languages.python_keyed._MOST", 5)
    table = f"T = {dict.fromkeys(range(6), 7)}\n"
    with pytest.raises(Unparseable, match="too many known inputs"):
        sheet((table + body("return T[x]")).encode(), 6)
