"""What counts as a literal of JavaScript and TypeScript, and what can not be read."""

from __future__ import annotations

import re

import pytest

from policyd.languages import language_of
from policyd.languages.javascript import sheet
from policyd.languages.literal import Unparseable


def found(source: str | bytes, min_length: int = 6, dialect: str = "tsx") -> list[str]:
    """`FORM use role` of each literal."""
    source = source.encode() if isinstance(source, str) else source
    return [f"{each.value} {each.use} {each.role.value}"
            for each in sheet(source, min_length, dialect=dialect).literals]


# One row: what is written, and everything that is found in it.

TEXT = [
    ("x = 'secret-token'", ['"secret-token" assigned plain']),
    ("x = `secret-token`", ['"secret-token" assigned plain']),
    ("x = '\\x73ecret-token'", ['"secret-token" assigned plain']),
    ("x = '\\u{73}ecret\\u002dtoken'", ['"secret-token" assigned plain']),
    ("x = '\\ud83d\\ude00abcdef'", ['"\\U0001f600abcdef" assigned plain']),
    ("x = 'sec\\\nret'", ['"secret" assigned plain']),
    ("x = 'it\\'s said'", ['"it\'s said" assigned plain']),
    ("x = 'abcde'", []),
    ("x = '------'", []),
    ("'use strict'", []),
]

NUMBERS = [
    ("x = 19.25", ["19.25 assigned plain"]),
    ("x = -19.25", ["19.25 assigned plain"]),
    ("x = 1_024n", ["1024 assigned plain"]),
    ("x = 0x400", ["1024 assigned plain"]),
    ("x = 3.14", []),
    ("x = 1e999", []),
]

DISPLAYS = [
    ("x = [1, 2, 3]", ["[1, 2, 3] assigned plain"]),
    ("x = [0, 0, 0]", []),
    ("x = [1, 2, y]", []),
    ("x = {id: 'ORD-2291', net: 19.25}",
     ['"ORD-2291" element plain', "19.25 element plain",
      '{"id": "ORD-2291", "net": 19.25} assigned plain']),
]

FOLDED = [
    ("x = 'sec' + 'ret-' + 'token'", ['"secret-token" assigned plain']),
    ("x = 'sec' + ('ret-' + 9)", ['"secret-9" assigned plain']),
    ("x = `sec${'ret'}-token`", ['"secret-token" assigned plain']),
    ("x = ['sec', 'ret'].join('-to-')", ['"sec-to-ret" assigned plain']),
    ("x = 'sec'.concat('ret')", ['"secret" assigned plain']),
    ("x = 'sec'.repeat(2)", ['"secsec" assigned plain']),
    ("x = 'sec'.repeat(1e9)", []),
    ("x = 60 * 60 * 24 - 1", ["86399 assigned plain"]),
    ("x = y + 'sec' + 'ret'", ['"secret" assigned plain']),
    ("x = `EUR ${y} and more`", ['" and more" assigned plain']),
    ("x = (y as string) + ('secret' satisfies string)!", ['"secret" assigned plain']),
]

USES = [
    ("if (x === 'secret') f()", ['"secret" compared answer']),
    ("switch (x) { case 'secret': f() }", ['"secret" compared answer']),
    ("const f = () => 'secret'", ['"secret" returned plain']),
    ("function f() { return x ? 'secret' : y }", ['"secret" returned plain']),
    ("f('secret')", ['"secret" argument plain']),
    ("function f(a = 'secret', {b = 'tokens'}) {}",
     ['"secret" default plain', '"tokens" default plain']),
    ("x['secret'] = y", ['"secret" used name']),
    ("x = {'secret': y}", ['"secret" element name']),
    ("console.log('some text')", ['"some text" argument name']),
    ("throw new Error('must be positive')", ['"must be positive" raised plain']),
    ("Promise.reject(new RangeError('must be'))", ['"must be" raised plain']),
    ("x = <b className='some-class' title='hello there'>Some text</b>",
     ['"Some text" used plain', '"hello there" argument plain', '"some-class" argument name']),
    ("enum A { B = 'secret' }", ['"secret" assigned plain']),
]

ASSERTED = [
    ("expect(f('abcdef')).toBe('SHIPPED')", ['"SHIPPED" compared answer',
                                            '"abcdef" argument plain']),
    ("expect(f).not.toEqual({a: 'SHIPPED'})", ['"SHIPPED" element answer']),
    ("expect(f).toThrow('must be positive')", ['"must be positive" matched answer']),
    ("expect(f).rejects.toThrow(new Error('must be'))", ['"must be" matched answer']),
    ("assert.throws(f, /^must be$/)", ['"must be" matched answer']),
    ("assert.throws(f, {message: 'must be'})", ['"must be" matched answer']),
    ("assert.equal(x, 'SHIPPED', 'a message')",
     ['"SHIPPED" compared answer', '"a message" argument name']),
    ("x.should.equal('SHIPPED')", ['"SHIPPED" compared answer']),
    ("request(app).get(u).expect(200, 'SHIPPED')", ['"SHIPPED" compared answer']),
    ("it('adds prices', () => {})", ['"adds prices" argument name']),
    ("it.each([['in-2291', 'out-2291']])('x', f)",
     ['"in-2291" element plain', '"out-2291" element answer']),
    ("expect(x).toMatchInlineSnapshot(`\"SHIPPED\"`)",
     ['"SHIPPED" compared answer', '"\\"SHIPPED\\"" compared answer']),
]

WANTED = [
    ("const want = 'SHIP' + 'PED'; it('a', () => expect(f(x)).toBe(want))",
     ['"SHIPPED" assigned answer']),
    ("const want = 'SHIPPED'; f(want); expect(g(want.length)).toBe(1)",
     ['"SHIPPED" assigned plain']),
    ("it('a', () => { const s = 'in-2291'; expect(f(s)).toBe(1) });"
     "it('b', () => { const s = 'out-2291'; expect(f(1)).toBe(s) })",
     ['"in-2291" assigned plain', '"out-2291" assigned answer']),
    ("const a = 'SHIPPED'; const b = new Text([a, 'at home']); assert.equal(f(), b)",
     ['"SHIPPED" assigned answer', '"at home" element answer']),
    ("const {want} = {text: x, want: 'out-2291'}; expect(f()).toEqual({want})",
     ['"out-2291" element answer']),
    ("for (const [a, b] of [['in-2291', 'out-2291']]) expect(f(a)).toBe(b)",
     ['"in-2291" element plain', '"out-2291" element answer']),
    ("const T = [{a: x, b: 'out-2291'}]; T.forEach(({a, b}) => expect(f(a)).toBe(b))",
     ['"out-2291" element answer']),
    ("const T = [['out-2291', 'in-2291']]; it.each(T)('x', (b, a) => expect(f(a)).toBe(b))",
     ['"in-2291" element answer', '"out-2291" element answer']),
    ("if (id === KEY) f(); const KEY = 'ORD-2291'", ['"ORD-2291" assigned answer']),
]

LEFT_OUT = [
    "import a from 'module-name'; export * from 'module-name'",
    "require('module-name'); import('module-name'); jest.mock('module-name')",
    "type Mode = 'append' | 'overwrite'; let x: 'append'",
    "interface A { mode: 'append' }",
    "declare module 'module-name' { const x: 'append' }",
    "// 'secret-token'\n/* 'secret-token' */",
    "x = atob('YWI=') + String.fromCharCode(115)",
    "",
]

TABLE = [*TEXT, *NUMBERS, *DISPLAYS, *FOLDED, *USES, *ASSERTED, *WANTED,
         *((each, list[str]()) for each in LEFT_OUT)]


@pytest.mark.parametrize(("source", "expected"), TABLE)
def test_source_holds_these_literals_and_no_others(source: str, expected: list[str]) -> None:
    assert sorted(found(source)) == sorted(expected)


@pytest.mark.parametrize(("source", "line"), [
    ("x = 1\n\ny = 'secret'\n", 3),
    ("\ufeffx = 1\ny = 'secret'\n", 2),
    ("#!/usr/bin/env node\ny = 'secret'", 2),
    ("x = 1\r\ny = 'secret'\r\n", 2),
])
def test_literal_stands_on_the_line_where_it_starts(source: str, line: int) -> None:
    assert [each.line for each in sheet(source.encode(), 6).literals] == [line]


@pytest.mark.parametrize(("path", "language"), [
    ("src/a.js", "javascript"), ("a.mjs", "javascript"), ("a.cjs", "javascript"),
    ("a.jsx", "javascript"), ("src/a.ts", "typescript"), ("a.mts", "typescript"),
    ("a.cts", "typescript"), ("a.tsx", "tsx"), ("a.vue", None), ("ts", None),
])
def test_reader_is_known_by_the_name_of_the_file(path: str, language: str | None) -> None:
    assert language_of(path) == language


UNREADABLE = [
    ("x = 1\nx = (]\n", "javascript", 2, "invalid syntax for JavaScript"),
    ("const x: = 1\n", "typescript", 1, "invalid syntax for TypeScript"),
    ("x = [" * 1000, "javascript", 1, "invalid syntax"),
    (b"x = 1\n\0", "javascript", 2, "NUL"),
    (b"x = 1\nx = '\xff'\n", "javascript", 2, "not in UTF-8"),
    ("x = 'aaaa'.repeat(16384)\n" * 300, "javascript", 45, "too much text"),
    ("describe('a', () => {" * 40 + "})" * 40, "javascript", 1, "nested too deeply"),
]


@pytest.mark.parametrize(("source", "dialect", "line", "reason"), UNREADABLE,
                         ids=lambda each: str(each)[:20])
def test_what_cannot_be_read_says_where_and_why(
    source: str | bytes, dialect: str, line: int, reason: str
) -> None:
    with pytest.raises(Unparseable, match=re.escape(reason)) as refused:
        found(source, dialect=dialect)
    assert refused.value.line == line


READ_ALL_THE_SAME = [
    ("javascript", "// @flow\nfunction f(a: ?string, b: {|x: number|}): void {}"),
    ("javascript", "type A = {a: string}; export const f = (a: A): string => a.a"),
    ("javascript", "x = <a href='a?b=1&region=2'>Talks & more</a>"),
    ("typescript", "export type * from './a'\nexport type * as B from './b'"),
    ("typescript", "f<typeof import('./a')>(g, h)"),
    ("typescript", "interface A {\n  (a: B): C<D>\n  <T = any>(a: T): C<T>\n}"),
    ("typescript", "abstract class A<T> extends B<T> { constructor(private a = 1) { super() } }"),
    ("typescript", "const f = <const T,>(x: T) => x!; let y = <any>x; using z = f()"),
]


@pytest.mark.parametrize(("dialect", "source"), READ_ALL_THE_SAME)
def test_good_syntax_that_a_grammar_lacks_is_read(dialect: str, source: str) -> None:
    assert sheet(source.encode() + b"\nx = 'secret'", 6, dialect=dialect).literals[-1].value \
        == '"secret"'


DEEP = {
    "brackets": "x = " + "[" * 5_000 + "]" * 5_000,
    "brackets of calls": "f(" * 5_000 + ")" * 5_000,
    "terms": "x = " + "'a' + " * 5_000 + "'b'",
    "calls": "a" + ".b()" * 5_000,
    "nots": "x = " + "!" * 5_000 + "1",
    "functions": "a(() => " * 5_000 + "1" + ")" * 5_000,
    "conditions": "if (" + "a === 'x' && " * 3_000 + "b) { return 1 }",
    "templates": "x = " + "`${" * 5_000 + "1" + "}`" * 5_000,
    "names for names": "".join(f"const a{n} = a{n + 1} + a{n + 1};" for n in range(1_000))
    + "it('a', () => { expect(a0).toBe(1) })",
    "settings of settings": "".join(f"const s{n} = [{f's{n + 1}, ' * 90}];" for n in range(5))
    + "module.exports = {roots: s0}",
    "tables of tables": "const t = [" + "[1, 2]," * 900 + "];"
    + "for (const [a, b] of t) expect(a).toBe(b);" * 300,
    "runners for runners": "const a = b.skip; const b = a.skip; a('x', () => {})",
    "functions that call themselves": "function f(a) { f(a); g(a) } function g(a) { f(a); "
    "expect(a).toBe(1) } it('a', () => { f(1) })",
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP)
def test_depth_is_read_and_never_ends_the_process(source: str) -> None:
    read = sheet(source.encode(), 6, dialect="typescript")
    assert all(len(each.value) < 300 for each in read.literals)
    assert all(len(each.form) < 300 for test in read.tests for each in test.assertions)


def test_a_constant_of_a_file_is_known_by_its_name():
    told = sheet(b"""
        export const RATE = 'EUR 19.25'
        const LIMIT = 86401, BOTH = f('SHIPPED-NORTH')
        let { a } = 'SHIPPED-EAST'
        function ship() { const INNER = 'SHIPPED-SOUTH' }
        """, 6)
    assert {(one.value.strip('"'), one.name) for one in told.literals} == {
        ("EUR 19.25", "RATE"), ("86401", "LIMIT"), ("SHIPPED-NORTH", ""), ("SHIPPED-EAST", ""),
        ("SHIPPED-SOUTH", "")}
