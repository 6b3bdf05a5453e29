"""What counts as a literal of Python source, under which form, and what can not be read."""

from __future__ import annotations

import re
import sys
import warnings

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from policyd.languages.literal import Unparseable, number_form, telling_number, text_form
from policyd.languages.python import literals


def found(source: str | bytes, min_length: int = 6) -> list[str]:
    """`FORM use` of each literal; forms contain blanks, uses do not."""
    source = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    return [f"{each.value} {each.use}" for each in literals(source, min_length)]


def refused(source: bytes) -> Unparseable | None:
    try:
        literals(source, 1)
    except Unparseable as error:
        return error
    return None


# One row: what is written, and everything that is found in it.

TEXT = [
    ("x = 'secret-token'", ['"secret-token" assigned']),
    ("x = b'secret-token'", ['"secret-token" assigned']),
    ("x = r'secret-token'", ['"secret-token" assigned']),
    ("x = '\\x73ecret-token'", ['"secret-token" assigned']),
    ("x = '\\N{LATIN SMALL LETTER S}ecret-token'", ['"secret-token" assigned']),
    ("x = ('secret'\n     '-token')", ['"secret-token" assigned']),
    ("x = 'it\\'s \"so\" said'", ['"it\'s \\"so\\" said" assigned']),
    ('x = "it\'s said"', ['"it\'s said" assigned']),
    ("x = 'back\\\\slash'", ['"back\\\\slash" assigned']),
    ("x = '\\x1b[31mred'", ['"\\x1b[31mred" assigned']),
    ("x = '\\ud800abcdef'", ['"\\ud800abcdef" assigned']),
    ("x = 'äöüéèà'", ['"\\xe4\\xf6\\xfc\\xe9\\xe8\\xe0" assigned']),
    ("x = 'abcdef'", ['"abcdef" assigned']),
    ("x = 'abcde'", []),
    ("x = '      '", []),
    ("x = '------'", []),
    ("x = '\\n\\t, ;:'", []),
    ("x = '______'", []),
    ("if __name__ == '__main__': pass", []),
    ("x = '__init__', '__secret__'", []),
]

NUMBERS = [
    ("x = 19.25", ["19.25 assigned"]),
    ("x = -19.25", ["19.25 assigned"]),
    ("x = 1_000.50", ["1000.5 assigned"]),
    ("x = 1000.5", ["1000.5 assigned"]),
    ("x = 1000.50", ["1000.5 assigned"]),
    ("x = 1024", ["1024 assigned"]),
    ("x = 1024.0", ["1024 assigned"]),
    ("x = 0x400", ["1024 assigned"]),
    ("x = 1.234e-9", ["1.234e-09 assigned"]),
    ("x = 2026", ["2026 assigned"]),
    ("x = 3.14", []),
    ("x = 1000", []),
    ("x = 123000", []),
    ("x = 0.001", []),
    ("x = 1e300", []),
    ("x = 1e999", []),
    ("x = 1234.5j", []),
    ("x = True, None, ...", ["[True, None, Ellipsis] assigned"]),
]

DISPLAYS = [
    ("x = [1, 2, 3]", ["[1, 2, 3] assigned"]),
    ("x = (1, 2, 3)", ["[1, 2, 3] assigned"]),
    ("x = 1, 2, 3", ["[1, 2, 3] assigned"]),
    ("x = {3, 1, 2, 1}", ["{1, 2, 3} assigned"]),
    ("x = {'b': 2, 'a': 1}", ['{"a": 1, "b": 2} assigned']),
    ("x = {'a': 1, 'b': 2}", ['{"a": 1, "b": 2} assigned']),
    ("x = [[1, 2], (3, -4)]", ["[[1, 2], [3, 4]] assigned"]),
    ("x = ['a' + 'b', b'c', 1.0]", ['["ab", "c", 1] assigned']),
    ("x = [1, 2]", []),
    ("x = [0, 0, 0, 0]", []),
    ("x = [(None, None), (None, None)]", []),
    ("x = [1, 2, y]", []),
    ("x = {**y, 'a': 1, 'b': 2}", []),
    ("x = ['abcdef', 19.25, y]", ['"abcdef" element', "19.25 element"]),
    (
        "x = {'id': 'ORD-2291', 'net': 19.25}",
        ['"ORD-2291" element', "19.25 element", '{"id": "ORD-2291", "net": 19.25} assigned'],
    ),
]

FOLDED = [
    ("x = 'sec' + 'ret-' + 'token'", ['"secret-token" assigned']),
    (f"x = {' + '.join(map(repr, 'secret-token-15'))}", ['"secret-token-15" assigned']),
    ("x = b'sec' + b'ret-token'", ['"secret-token" assigned']),
    ("x = ('sec' + 'ret') + ('-to' + 'ken')", ['"secret-token" assigned']),
    ("x = ''.join(['sec', 'ret-token'])", ['"secret-token" assigned']),
    ("x = '-'.join(('secret', 'token'))", ['"secret-token" assigned']),
    ("x = ''.join(['s', 'e', 'c', 'r', 'e', 't'])", ['"secret" assigned']),
    ("x = 'abc' * 2", ['"abcabc" assigned']),
    ("x = 2 * 'abc'", ['"abcabc" assigned']),
    ("x = 'sec%s-%03d' % ('ret', 7)", ['"secret-007" assigned']),
    ("x = 'sec%s' % 'ret'", ['"secret" assigned']),
    ("x = b'sec%s' % b'ret'", ['"secret" assigned']),
    ("x = '{}-{}'.format('secret', 7)", ['"secret-7" assigned']),
    ("x = '{1}-{0}'.format('token', 'secret')", ['"secret-token" assigned']),
    ("x = '{a}{b!r:>4}'.format(a='secret', b=7)", ['"secret   7" assigned']),
    ("x = '{{}}{}'.format('secret')", ['"{}secret" assigned']),
    ("x = f'sec{\"ret\"}-{19.25:.1f}'", ['"secret-19.2" assigned']),
    ("x = 10.25 + 9", ["19.25 assigned"]),
    ("x = 60 * 60 * 24 - 1", ["86399 assigned"]),
    ("x = -(-19.25)", ["19.25 assigned"]),
]

IN_PARTS = [
    ("x = 'prefix-' + y", ['"prefix-" assigned']),
    ("x = y + 'sec' + 'ret'", ['"secret" assigned']),
    ("x = y + 'sec' + ('ret' + z)", ['"secret" assigned']),
    ("x = f'{y}sec' + 'ret'", ['"secret" assigned']),
    ("x = f'EUR {y} and more'", ['" and more" assigned']),
    ("x = ''.join([y, 'sec', 'ret'])", ['"secret" assigned']),
    ("x = '-'.join([y, 'secret', 'tokens'])", ['"secret" element', '"tokens" element']),
    ("x = 'total %s' % y", ['"total %s" assigned']),
    ("x = 'total {}'.format(y)", ['"total {}" assigned']),
    ("x = y + 19.25", ["19.25 assigned"]),
    ("x = 'secret' + b'tokens'", ['"secret" assigned', '"tokens" assigned']),
    ("x = '%(a)s secret' % {'a': 'b'}", ['"%(a)s secret" assigned']),
    ("x = '%*d secret' % (5, 1)", ['"%*d secret" assigned']),
    ("x = '{0.real} secret'.format(5)", ['"{0.real} secret" assigned']),
    ("x = '{0[0]} secret'.format('a')", ['"{0[0]} secret" assigned']),
    ("x = '{:{}} secret'.format('a', 5)", ['"{:{}} secret" assigned']),
    ("x = '{}{0} secret'.format('a')", ['"{}{0} secret" assigned']),
    ("x = '{} {} secret'.format('a')", ['"{} {} secret" assigned']),
    ("x = '%d secret' % 'a'", ['"%d secret" assigned']),
    ("x = '%s secret' % ()", ['"%s secret" assigned']),
]

USES = [
    ("if x == 'secret': pass", ['"secret" compared']),
    ("if 'secret' in x: pass", ['"secret" compared']),
    ("match x:\n case 'secret': pass", ['"secret" compared']),
    ("match x:\n case {'secret': 1}: pass", ['"secret" compared']),
    ("match x:\n case C(a='secret' | 'tokens'): pass", ['"secret" compared', '"tokens" compared']),
    ("def f(): return 'secret' if x else y", ['"secret" returned']),
    ("def f(): yield x or 'secret'", ['"secret" returned']),
    ("f = lambda: 'secret'", ['"secret" returned']),
    ("f('secret')", ['"secret" argument']),
    ("f(x='secret')", ['"secret" argument']),
    ("f(*['secret'])", ['"secret" element']),
    ("@f('secret')\nclass C(x='tokens'): pass", ['"secret" argument', '"tokens" argument']),
    ("x += 'secret'", ['"secret" assigned']),
    ("f(x := 'secret')", ['"secret" assigned']),
    ("def f(a='secret', *, b='tokens'): pass", ['"secret" default', '"tokens" default']),
    ("x = ['secret']", ['"secret" element']),
    ("x = {'secret': y}", ['"secret" element']),
    ("x = {y: 'secret' for y in z}", ['"secret" element']),
    ("x['secret'] = y", ['"secret" used']),
    ("return_('secret %s' % y)", ['"secret %s" argument']),
    ("raise E('amount must be positive')", ['"amount must be positive" raised']),
    ("raise E(code='secret') from F('tokens')", ['"secret" raised', '"tokens" raised']),
    ("raise E(f'amount {x} is bad')", ['" is bad" raised', '"amount " raised']),
    ("raise E('amount {} bad'.format(x))", ['"amount {} bad" raised']),
    ("raise E(f('secret'))", ['"secret" argument']),
    ("raise E(['secret'])", ['"secret" element']),
    ("raise E(x == 'secret')", ['"secret" compared']),
    ("assert x, 'secret'", ['"secret" raised']),
    ("raises(E, match='must be positive')", ['"must be positive" matched']),
    ("raises(E, match=re.escape('must be'))", ['"must be" matched']),
    ("raises(E, match=compute('must be'))", ['"must be" argument']),
]

LEFT_OUT = [
    "'''A docstring of the module.'''",
    "class C:\n '''A docstring of the class.'''",
    "def f():\n '''A docstring of the function.'''",
    "async def f():\n '''A docstring of the function.'''",
    "x = 1\n'''What is said about an attribute.'''",
    "def f(mode: Literal['append', 'overwrite', 'truncate']): pass",
    "def f(*a: 'SomeClass', **b: 'OtherClass') -> 'ThirdClass': pass",
    "x: 'SomeClass'",
    "Mode = typing.Literal['append', 'overwrite', 'truncate']",
    "__all__ = ['public_name', 'other_name', 'third_name']",
    "__all__ += ['public_name', 'other_name', 'third_name']",
    "__all__: list[str] = ['public_name', 'other_name', 'third_name']",
    "__all__.extend(['public_name', 'other_name', 'third_name'])",
    "import secret_token.of.a.module as tokens",
    "secret_token = tokens",
    "# 'secret-token'",
    "x = base64.b64decode('YWI=') + chr(115)",
    "",
]

TABLE = TEXT + NUMBERS + DISPLAYS + FOLDED + IN_PARTS + USES + [(each, []) for each in LEFT_OUT]


@pytest.mark.parametrize(("source", "expected"), TABLE)
def test_source_holds_these_literals_and_no_others(source: str, expected: list[str]) -> None:
    assert sorted(found(source)) == sorted(expected)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = 1\n\ny = 'secret'\n", [3]),
        ("x = ('sec'\n 'ret')\ny = 'secret'\n", [1, 3]),
        ("x = (y +\n 'sec' +\n 'ret')\n", [2]),
        ("x = 'secret'; y = 'secret'\n", [1]),
        ("x = 'secret'\r\ny = 'secret'\r\n", [1, 2]),
        ("x = 'secret'\ry = 'secret'\r", [1, 2]),
    ],
)
def test_literal_stands_on_the_line_where_it_starts(source: str, lines: list[int]) -> None:
    assert [each.line for each in literals(source.encode(), 6)] == lines


SAME_FILE = {
    "utf-8": "x = 'größer'\n".encode(),
    "utf-8 with a byte order mark": b"\xef\xbb\xbf" + "x = 'größer'\n".encode(),
    "latin-1 by a cookie": "# coding: latin-1\nx = 'größer'\n".encode("latin-1"),
    "utf-7 by a cookie, behind a comment": b"# coding: utf-7\n#+AAo-x = 'gr+APYA3w-er'\n",
    "CRLF": "x = 'größer'\r\n".encode(),
    "no last line end": "x = 'größer'".encode(),
}


@pytest.mark.parametrize("source", SAME_FILE.values(), ids=SAME_FILE)
def test_encoding_of_the_file_does_not_hide_a_literal(source: bytes) -> None:
    assert found(source) == ['"gr\\xf6\\xdfer" assigned']


UNREADABLE = [
    ("x = 1\nx = (]\n", 2, "invalid syntax"),
    ("x = 'no end\n", 1, "invalid syntax"),
    ("print 'secret'\n", 1, "Python 2?"),
    ("try:\n  pass\nexcept E, e:\n  pass\n", 3, "newer or older syntax?"),
    (b"x = 'secret'\0\n", 1, "NUL"),
    (b"x = '\xff\xfe secret'\n", 1, "encoding"),
    (b"# coding: no-such\nx = 1\n", 1, "encoding"),
    (b"# coding: rot13\nx = 1\n", 1, "encoding"),
    (b"# coding: undefined\nx = 1\n", 1, "encoding"),
    ("x = '\\ud800'\n".replace("\\ud800", "\ud800"), 1, "encoding"),
    (f"x = {'(' * 300}1{')' * 300}\n", 1, "nested too deeply"),
    (f"x = {'[' * 100_000}{']' * 100_000}\n", 1, "nested too deeply"),
    (f"x = {'{' * 100_000}\n", 1, "nested too deeply"),
    (f"x = {'9' * 5_000}\n", 1, "integer too long"),
    ("x = 'a' * 65536\n" * 300, 257, "too much text"),
]


@pytest.mark.parametrize(("source", "line", "reason"), UNREADABLE, ids=lambda each: str(each)[:20])
def test_what_cannot_be_read_says_where_and_why(
    source: str | bytes, line: int, reason: str
) -> None:
    with pytest.raises(Unparseable, match=re.escape(reason)) as refused:
        found(source)
    assert refused.value.line == line
    assert refused.value.reason[0].islower() or refused.value.reason.startswith("not ")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="is good syntax from 3.12 on")
@pytest.mark.parametrize(
    "source",
    ['x = f"{d["secret"]}"\n', "type Alias = int\n", "def f[T](x): pass\n", "class C[T]: pass\n"],
)
def test_newer_syntax_is_unreadable_with_a_hint_at_the_version(source: str) -> None:
    with pytest.raises(Unparseable, match=r"not Python 3\.11 \(newer"):
        literals(source.encode(), 6, python="Python 3.11")


DEEP = {
    "5,000 terms": f"x = {' + '.join(['1'] * 5_000)}\n",
    "5,000 terms of text": f"x = {' + '.join(['s'.join(chr(39) * 2)] * 5_000)}\n",
    "5,000 minus signs": f"x = {'-' * 5_000}1\n",
    "5,000 attributes": f"x = a{'.b' * 5_000}\n",
    "5,000 calls": f"x = a{'()' * 5_000}\n",
    "5,000 elifs": "if a: pass\n" + "elif a: pass\n" * 5_000,
    "100,000 nots": f"x = {'not ' * 100_000}1\n",
    "100,000 lambdas": f"x = {'lambda: ' * 100_000}1\n",
    "20,000 for clauses": f"x = [a {'for a in b ' * 20_000}]\n",
    "95 lists": f"x = {'[' * 95}{']' * 95}\n",
    "1,000 terms": f"x = {' + '.join(['1'] * 1_000)}\n",
    "900 minus signs": f"x = {'-' * 900}1\n",
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP)
def test_depth_is_read_or_refused_but_never_ends_the_process(source: str) -> None:
    refusal = refused(source.encode())
    assert refusal is None or "nested too deeply" in refusal.reason


BOMBS = [
    "x = 'a' * 10**9",
    "x = 'a' * 1000000000",
    "x = 1000000000 * b'a'",
    "x = ('a' * 60000) * 60000",
    "x = '%1000000000d' % 1",
    "x = '%99999999999d' % 1",
    "x = '%.1000000000f' % 1.0",
    "x = '{:>1000000000}'.format(1)",
    "x = '{:.1000000000f}'.format(1.0)",
    "x = f'{1:>1000000000}'",
    f"x = '{'{0}' * 10_000}'.format('a' * 60000)",
    "x = ('a' * 60000).join(['a' * 60000, 'b'])",
    f"x = {' * '.join(['9999999999'] * 800)}",
    f"x = {' * '.join(['0x' + 'f' * 1000] * 100)}",
    "x = 10**10**10",
    "x = 1 << 10**9",
    "x = 1e308 * 10 + 0xff * " + "0x" + "f" * 2000,
]


@pytest.mark.parametrize("source", BOMBS, ids=lambda each: each[:30])
def test_result_that_would_be_huge_is_left_in_its_parts(source: str) -> None:
    assert all(len(each) < 300 for each in found(source))


def test_long_values_keep_short_forms_that_meet_only_when_equal() -> None:
    [whole] = found(f"x = '{'abcdef' * 1000}'")
    assert found("x = 'abcdef' * 1000") == [whole]
    assert found(f"x = '{'abcdef' * 999}abcdeg'") != [whole]
    assert len(whole) < 300


def test_dubious_escape_in_source_warns_nobody() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found("x = 'sec\\dret' is 'tokens'") == [
            '"sec\\\\dret" compared',
            '"tokens" compared',
        ]


SNIPPETS = st.sampled_from(
    [
        *("x", " = ", "'a'", "f'{", "}'", "(", ")", "[", "]", "{", "}", " + ", " % ", "*", "-"),
        *("def f():\n ", "return ", "'%s'", ".join(", ".format(", "19.25", "9" * 50, "b'", "\\"),
        *("# coding: utf-7\n", "\0", "\ufeff", "lambda: ", "match x:\n case ", "class C: ", ":"),
        *(",", "\n", "\t"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.binary() | st.lists(SNIPPETS, max_size=30).map(lambda parts: "".join(parts).encode()))
@example(b"# coding: punycode\n")
@example(b"\xff\xfe")
@example(b"x = f'{1!r:{2}}'")
def test_any_bytes_give_literals_or_a_reason(source: bytes) -> None:
    refusal = refused(source)
    each = () if refusal else literals(source, 1)
    assert refusal is None or refusal.line >= 1
    assert all(one.value.isascii() and one.value.isprintable() for one in each)


CHARACTERS = st.characters(codec="utf-8", exclude_characters="{}%")
WORDS = st.text(CHARACTERS, max_size=4).map(repr)
FORMATS = {"'%s'": 1, "'%-5s|%r'": 2, "'%%%a'": 1}
BRACES = {"'{}'": 1, "'{0}{0!r:>4}'": 1, "'{}-{:^7}'": 2, "'{1}{{{0}'": 2}


def _wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def filled(template: str, count: int, sign: str) -> st.SearchStrategy[str]:
        return st.lists(inner, min_size=count, max_size=count).map(
            lambda values: f"{template}{sign}({', '.join(values)},)"
        )

    return st.one_of(
        st.lists(inner, min_size=2, max_size=4).map(lambda each: f"({' + '.join(each)})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} + ({pair[1]} + 'z'))"),
        st.tuples(inner, st.integers(-1, 3)).map(lambda pair: f"({pair[0]} * {pair[1]})"),
        st.tuples(inner, st.lists(inner, max_size=3)).map(
            lambda pair: f"{pair[0]}.join([{', '.join(pair[1])}])"
        ),
        *(filled(template, count, " % ").map("({})".format) for template, count in FORMATS.items()),
        *(filled(template, count, ".format") for template, count in BRACES.items()),
        st.tuples(st.integers(), st.integers(0, 9)).map(
            lambda pair: f"f'a{{{pair[0]}:>{{{pair[1]}}}}}b'"
        ),
    )


@settings(max_examples=300, deadline=None)
@given(st.recursive(WORDS, _wider, max_leaves=12))
def test_folded_text_is_what_python_makes_of_it(expression: str) -> None:
    worth = eval(expression)
    expected = [f"{text_form(worth)} assigned"] if re.search(r"[^\W_]", worth) else []
    assume(len(worth) < 60_000 and not re.fullmatch(r"__\w+__", worth))
    assert found(f"x = {expression}\n", 1) == expected


NUMERALS = st.integers(0, 10**6).map(str) | st.floats(0, 1e6).map(repr)


def _computed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    chains = st.lists(inner, min_size=2, max_size=4)
    return st.one_of(
        *(
            chains.map(lambda each, sign=sign: f"({sign.join(each)})")
            for sign in [" + ", " - ", " * "]
        ),
        inner.map("(-{})".format),
    )


@settings(max_examples=300, deadline=None)
@given(st.recursive(NUMERALS, _computed, max_leaves=12))
def test_folded_number_is_what_python_makes_of_it(expression: str) -> None:
    worth = eval(expression)
    expected = [f"{number_form(worth)} assigned"] if telling_number(worth) else []
    assert found(f"x = {expression}\n") == expected
