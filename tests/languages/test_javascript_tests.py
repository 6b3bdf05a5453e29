"""What JavaScript tests claim, how they are marked, and what source does for its judge."""

from __future__ import annotations

import pytest

from policyd.core.sheet import Keyed, Marker, Sheet, packed, unpacked
from policyd.languages import javascript_tests
from policyd.languages.javascript import sheet
from policyd.languages.literal import Unparseable


def read(source: str, dialect: str = "typescript") -> Sheet:
    return sheet(source.encode(), 6, dialect=dialect)


def claims(statement: str) -> list[str]:
    """`KIND FORM` of what a test claims."""
    [test] = read(f"it('x', async () => {{ {statement} }})").tests
    return [f"{each.kind.value}: {each.form}" for each in test.assertions]


CLAIMS = [
    ("expect(total(p)).toBe(3)", ["equal: total(p) == 3"]),
    ("expect(total(p)).toEqual(3)", ["equal: total(p) == 3"]),
    ("const got = total(p); expect(got).toBe(3)", ["equal: total(p) == 3"]),
    ("const {sum} = total(p); expect(sum).toBe(3)", ["equal: total(p).sum == 3"]),
    ("assert.strictEqual(total(p), 3, 'why')", ["equal: total(p) == 3"]),
    ("total(p).should.equal(3)", ["equal: total(p) == 3"]),
    ("expect(total(p) === 3).toBe(true)", ["equal: total(p) == 3"]),
    ("assert(total(p) === 3 && ok(p))", ["equal: total(p) == 3", "truth: ok(p) is true"]),
    ("expect(p).to.be.an('array').and.have.length(3)",
     ['truth: p an "array"', "member: p has length 3"]),
    ("expect(p).to.be.true", ["equal: p == True"]),
    ("await expect(p).resolves.toBe(1)", ["equal: await p == 1"]),
    ("expect(await p).toBe(1)", ["equal: await p == 1"]),
    ("expect(p).not.toBe(1)", ["order: p != 1"]),
    ("expect(p).toBeCloseTo(1.5, 3)", ["close: p ~ 1.5, 3"]),
    ("expect(p).toBeGreaterThan(1)", ["order: p > 1"]),
    ("expect(p).toContain('a')", ['member: p contains "a"']),
    ("expect(p).toHaveProperty('a')", ['member: p has "a"']),
    ("expect(f).toThrow()", ["raises: f raises"]),
    ("expect(f).toThrow(RangeError)", ["raises: f raises RangeError"]),
    ("expect(f).toThrow('bad')", ['equal: f raises "bad"']),
    ("assert.throws(f, /bad/)", ["equal: f raises /bad/"]),
    ("expect(spy).toHaveBeenCalledWith(1)", ["called: spy toHaveBeenCalledWith 1"]),
    ("expect(p).toBeTruthy()", ["truth: p is true"]),
    ("expect(p).toEqual(expect.anything())", ["truth: p == expect.anything()"]),
    ("expect(p).toEqual(expect.objectContaining(q))",
     ["member: p == expect.objectContaining(q)"]),
    ("expect(p).toMatchSnapshot()", ["equal: p =="]),
    ("expect(f(-1, [-2])).toBe(-3)", ["equal: f(-1, [-2]) == -3"]),
    ("const want = -3; expect(f({a: -0})).toEqual({b: -2.5, c: [want]})",
     ["equal: f({a: 0}) == {b: -2.5, c: [-3]}"]),
    ("request(app).get('/').expect(200)", ['equal: request(app).get("/") == 200']),
    # what cannot fail
    ("expect(true).toBe(true)", ["nothing: True == True"]),
    ("expect(p).toBe(p)", ["nothing: p == p"]),
    ("assert(p || true)", ["nothing: p || True"]),
    ("expect(p)", ["nothing: p"]),
    ("expect(p).toBe", ["nothing: p"]),
    ("expect([]).toBeTruthy()", ["nothing: [] is true"]),
    ("expect(p).resolves.toBe(1)", ["nothing: await p == 1"]),
    ("return; expect(p).toBe(1)", ["nothing: p == 1"]),
    ("if (false) { expect(p).toBe(1) }", ["nothing: p == 1"]),
    ("if (!1) expect(p).toBe(1); else expect(q).toBe(1)",
     ["nothing: p == 1", "equal: q == 1"]),
    ("const RUN = false; if (RUN) expect(p).toBe(1)", ["nothing: p == 1"]),
    ("if (2 < 1) expect(p).toBe(1)", ["nothing: p == 1"]),
    ("false && expect(p).toBe(1); true || expect(p).toBe(1)", ["nothing: p == 1"] * 2),
    ("true && expect(p).toBe(1); null ?? expect(p).toBe(1)", ["equal: p == 1"] * 2),
    ("0 ? expect(p).toBe(1) : expect(q).toBe(1)", ["nothing: p == 1", "equal: q == 1"]),
    ("while (false) { expect(p).toBe(1) }", ["nothing: p == 1"]),
    ("for (let i = 0; i < 0; i++) { expect(p).toBe(1) }", ["nothing: p == 1"]),
    ("for (let i = 0; i < 2; i++) { expect(p).toBe(1) }", ["equal: p == 1"]),
    ("for (const x of []) expect(p).toBe(1)", ["nothing: p == 1"]),
    ("for (const x in {}) expect(p).toBe(1)", ["nothing: p == 1"]),
    ("for (const x of Object.keys({})) expect(p).toBe(1)", ["nothing: p == 1"]),
    ("[].forEach(x => expect(p).toBe(1)); new Array().map(() => { expect(p).toBe(1) })",
     ["nothing: p == 1"] * 2),
    ("[].forEach(check); function check(x) { expect(x).toBe(1) }", ["nothing: _1 == 1"]),
    ("[1].forEach(x => { expect(p).toBe(1) })", ["equal: p == 1"]),
    ("() => expect(p).toBe(1)", ["nothing: p == 1"]),
    ("const f = () => expect(p).toBe(1)", []),
    ("if (q) expect(p).toBe(1)", ["equal: p == 1"]),
    ("if (q) return; expect(p).toBe(1)", ["equal: p == 1"]),
    ("if (true) { return } expect(p).toBe(1)", ["nothing: p == 1"]),
    ("try { expect(p).toBe(1) } catch (e) {}", ["nothing: p == 1"]),
    ("await g().then(() => expect(p).toBe(1)).catch(() => {})", ["nothing: p == 1"]),
    ("try { expect(p).toBe(1) } catch (e) { throw e }", ["equal: p == 1"]),
    ("try { f(); assert.fail() } catch (e) { assert.equal(e.message, 'x') }",
     ['equal: _1.message == "x"']),
]


@pytest.mark.parametrize(("statement", "expected"), CLAIMS)
def test_statement_claims_this(statement: str, expected: list[str]) -> None:
    assert claims(statement) == expected


def test_helpers_of_the_file_count_where_they_are_called() -> None:
    found = read("function check(c, n) { expect(c.total()).toBe(n) }\n"
                 "it('a', () => { check(make(1), 3) })").tests[0].assertions
    assert [(each.line, each.form) for each in found] == [(2, "make(1).total() == 3")]


def test_file_that_asserts_without_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(javascript_tests, "_MOST_ASSERTIONS", 50)
    source = "function h() { expect(a).toBe(1) }\n" + "it('a', () => { h(); h() })\n" * 30
    with pytest.raises(Unparseable, match="asserts too many things"):
        read(source)


def test_assertion_tells_what_it_is_held_against() -> None:
    source = ("const WANT = 'x'; it('a', () => { expect(p).toBe(WANT); expect(p).toBe(q());"
              " expect(p).toEqual(JSON.parse(fs.readFileSync('g.json'))); expect(p).toBe(q);"
              " expect(p).toMatchSnapshot(); expect(p).toBeCloseTo(1, 2) })")
    found = read(source).tests[0].assertions
    assert [(each.against, each.answer) for each in found[:5]] == [
        ("literal", '"x"'), ("call", ""), ("file", ""), ("name", ""), ("snapshot", "")]
    assert found[5].tolerance == 0.005


NAMES = [
    ("describe('Cart', () => { describe('tax', () => { it('adds', f) }) })", [("Cart::tax::adds",
                                                                              1)]),
    ("it.each([[1, 2], [3, 4]])('adds %i', (a, b) => {})", [("adds %i", 2)]),
    ("test.each`a | b\n${1} | ${2}\n${3} | ${4}\n`('t', () => {})", [("t", 2)]),
    ("describe.each([1, 2, 3])('n %i', () => { test('t', () => {}) })", [("n %i::t", 3)]),
    ("for (const x of [1, 2]) test(`n ${x}`, () => {})", [("`n ${x}`", 2)]),
    ("test('a', async t => { await t.test('b', () => {}) })", [("a", 1), ("a::b", 1)]),
    ("const only = x ? it : it.skip; only('a', () => {})", [("a", 1)]),
    ("it.concurrent.only('a', () => {}); suite('s', () => { specify('b', () => {}) })",
     [("a", 1), ("s::b", 1)]),
    ("it('t\u00e4x', () => {})", [("t\\xe4x", 1)]),
    ("it.each([])('a', f); for (const x of []) it('b', f)", [("a", 0), ("b", 0)]),
    ("const T = []; T.push(1); it.each(T)('a', f); for (const x of T) it('b', f)",
     [("a", 1), ("b", 1)]),
    ("describe('x', () => { beforeEach(() => {}) }); test.extend({}); it(1)", []),
]


@pytest.mark.parametrize(("source", "expected"), NAMES)
def test_file_holds_these_tests(source: str, expected: list[tuple[str, int]]) -> None:
    assert [(test.name, test.cases) for test in read(source).tests] == expected


def test_body_is_the_same_whatever_it_is_called_and_however_it_is_written() -> None:
    one, other = read("it('a', () => { const x = f('y')\n g(x) })\n"
                      "it.skip('b', function () { /* no */ let z = f(\"y\"); g(z); })").tests
    assert one.body == other.body


def test_test_needs_the_modules_that_its_helpers_use() -> None:
    source = ("import { f } from '../src/f.js'; import { g } from '../src/g'\n"
              "const h = () => g(); it('a', () => { f() }); it('b', () => { h() })")
    assert [test.uses for test in read(source).tests] == [("../src/f",), ("../src/g",)]


MARKS = [
    ("it.skip('a', f)", [("skip", "a", "", None)]),
    ("xit('a', f)", [("skip", "a", "", None)]),
    ("xdescribe('a', () => {})", [("skip", "a", "", None)]),
    ("test.todo('a')", [("skip", "a", "", None)]),
    ("it('a')", [("skip", "a", "", None)]),
    ("it.failing('a', f)", [("xfail", "a", "", None)]),
    ("it.only('a', f)", [("uncollected", "a", "", None)]),
    ("fdescribe('a', () => {})", [("uncollected", "a", "", None)]),
    ("if (false) { it('a', () => {}) }", [("uncollected", "a", "", None)]),
    ("if (process.platform !== 'win32') { it('a', () => {}) }", [("skip", "a", "platform", None)]),
    ("const w = process.versions.node < '20' ? it : it.skip; w('a', () => {})",
     [("skip", "a", "version", None)]),
    ("it.skipIf(process.env.CI)('a', () => {})", [("skip", "a", "other", None)]),
    ("it('a', function () { this.skip() })", [("skip", "a", "", None)]),
    ("it('a', function () { if (x) this.skip() })", [("skip", "a", "other", None)]),
    ("it('a', function () { this.timeout(500) })", [("timeout", "a", "", 0.5)]),
    ("test('a', () => { test.fail() })", [("xfail", "a", "", None)]),
    ("test('a', t => { t.fail('no') })", []),
    ("it('a', () => {}, 9000)", [("timeout", "a", "", 9.0)]),
    ("it('a', () => {}).timeout(5000)", [("timeout", "a", "", 5.0)]),
    ("it('a', {timeout: 100, retry: 3}, () => {})",
     [("rerun", "a", "", 3.0), ("timeout", "a", "", 0.1)]),
    ("jest.setTimeout(20000); jest.retryTimes(2)",
     [("rerun", "", "", 2.0), ("timeout", "", "", 20.0)]),
    ("const EPSILON = 1e-3", [("tolerance", "", "", 0.001)]),
    ("test('a', {skip: true}, () => {})", [("skip", "a", "", None)]),
    ("it('a', () => { setTimeout(f, 100) })", []),
]


@pytest.mark.parametrize(("source", "expected"), MARKS)
def test_marks_are_found(source: str, expected: list[tuple[object, ...]]) -> None:
    def shown(one: Marker) -> tuple[object, ...]:
        return one.mark.value, one.on, one.condition, one.amount
    assert [shown(one) for one in read(source).markers] == expected


KEYED = [
    ("if (id === 'A' && k == 'B') { return 'X' }", [('"A"', '"B"', '"X"', "if")]),
    ("if (id === 'A' || id === 'B') return 1", [('"A"', "1", "if"), ('"B"', "1", "if")]),
    ("if (id !== 'A') return f(id)\nreturn 'X'", [('"A"', '"X"', "if")]),
    ("switch (id) { case 'A': case 'B': return 1 }", [('"A"', "1", "match"),
                                                     ('"B"', "1", "match")]),
    ("const T = {A: 'X', 'B': 'Y'}; return T[id]", [('"A"', '"X"', "table"),
                                                  ('"B"', '"Y"', "table")]),
    ("return new Map([['A', 1]]).get(id)", [('"A"', "1", "table")]),
    ("return id === 'A' ? 'X' : f(id)", [('"A"', '"X"', "if")]),
    ("if (['A', 'B'].includes(id)) return 1", [('"A"', "1", "if"), ('"B"', "1", "if")]),
    ("if (id === -1) return -7", [("-1", "-7", "if")]),
    ("return {a: -2, '-1': [-3]}[id]", [('"-1"', "[-3]", "table"), ('"a"', "-2", "table")]),
    ("return new Map([['A|B', -1]]).get(`${id}|${k}`)", [('"A"', '"B"', "-1", "table")]),
    ("const key = id + ':' + k; if (key === 'A:7') return -1", [('"A"', "7", "-1", "if")]),
    ("switch ([id, k].join()) { case 'A,1.0': return 3 }", [('"A"', '"1.0"', "3", "match")]),
    ("return {'[\"A\",-1]': 3}[JSON.stringify([id, k])]", [('"A"', "-1", "3", "table")]),
    ("return T[`${id}${k}`]; const T = {AB: 3}", [('"AB"', "3", "table")]),
    ("return new Map(Object.entries({A: 3})).get(id)", [('"A"', "3", "table")]),
    ("if (id === undefined) return 0", []),
    ("if (typeof id === 'string') return 0", []),
]


@pytest.mark.parametrize(("body", "expected"), KEYED)
def test_known_inputs_with_known_results_are_found(
    body: str, expected: list[tuple[str, ...]]
) -> None:
    def shown(one: Keyed) -> tuple[str, ...]:
        return *one.given, one.result, one.how
    assert [shown(one) for one in read(f"function ship(id, k) {{ {body} }}").keyed] == expected


RECORDED = [
    ("toMatchInlineSnapshot(`\"1 tea\"`)", '"1 tea"'),
    ("toMatchInlineSnapshot({a: 1}, `-17`)", "-17"),
    ("toMatchInlineSnapshot()", ""),
    ("toThrowErrorMatchingInlineSnapshot(`\"no\"`)", '"no"'),
    ("toMatchInlineSnapshot(`\n[\n  1,\n]\n`)", '"[\\n  1,\\n]"'),
    ("toMatchSnapshot('hint')", ""),
]


@pytest.mark.parametrize(("matcher", "answer"), RECORDED)
def test_snapshot_is_what_it_is_held_against(matcher: str, answer: str) -> None:
    found = read(f"it('a', () => {{ expect(f(-2)).{matcher} }})")
    [one] = found.tests[0].assertions
    assert (one.against, one.answer) == ("snapshot", answer)
    assert [(each.given, each.result) for each in found.samples] == [(("-2",), answer)]


def test_answer_keeps_its_sign_and_a_literal_does_not() -> None:
    found = read("it('a', () => { expect(f(-1024, [-1, 2, 3])).toBe(-1025) })")
    assert [one.answer for one in found.tests[0].assertions] == ["-1025"]
    assert [(one.given, one.result) for one in found.samples] == [
        (("-1024", "[-1, 2, 3]"), "-1025")]
    assert [one.value for one in found.literals] == ["1024", "1025", "[1, 2, 3]"]


def test_samples_are_what_tests_hand_in_and_want_back() -> None:
    source = ("it('a', () => { const got = ship(parse('ORD-1'), 2); expect(got.x).toBe('EAST') })\n"
              "it.each([['a', 1, 'X']])('b', f)")
    assert [(one.given, one.result) for one in read(source).samples] == [
        (('"ORD-1"', "2"), '"EAST"'),
        (('"a"', "1"), '"X"')]


SUSPECTS = [
    ("if (process.env.JEST_WORKER_ID) f()", [("senses", "JEST_WORKER_ID")]),
    ("const { VITEST } = process.env", [("senses", "VITEST")]),
    ("if (process.env.NODE_ENV === 'test') f()", [("senses", "NODE_ENV")]),
    ("if (process.env.NODE_ENV === 'production') f()", []),
    ("if (typeof jest !== 'undefined') f()", [("senses", "typeof jest")]),
    ("f(new Error().stack)", [("senses", "new Error().stack")]),
    ("process.exit(0)", [("exits", "process.exit")]),
    ("class A { valueOf() { return 1 } }", [("pleases", "valueOf")]),
    ("x = { [Symbol.toPrimitive]: () => 1 }", [("pleases", "Symbol.toPrimitive")]),
    ("x = { asymmetricMatch: () => true }", [("pleases", "asymmetricMatch")]),
    ("class A { valueOf() { return this.x } }", []),
    ("Object.prototype.equals = f", [("patches", "Object.prototype.equals")]),
    ("globalThis.expect = f", [("patches", "globalThis.expect")]),
    ("load('oracle/receipts/a.json')", [("reads", "oracle/receipts/a.json")]),
]


@pytest.mark.parametrize(("source", "expected"), SUSPECTS)
def test_what_only_a_judge_explains_is_found(source: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.trick.value, one.what) for one in read(source).suspects] == expected


OPENED = [
    ("fs.readFileSync('a/./b.json')", [("a/b.json", "", False)]),
    ("fs.readFileSync(path.join(__dirname, '..', 'oracle', 'a.json'))",
     [("../oracle/a.json", "file", False)]),
    ("const D = path.join(__dirname, 'd'); readFileSync(`${D}/${name}`)", [("d/**", "file",
                                                                          False)]),
    ("fs.readFile(new URL('./a.json', import.meta.url))", [("a.json", "file", False)]),
    ("fs.promises.writeFile('out.txt', x)", [("out.txt", "", True)]),
    ("import a from './a.json' with { type: 'json' }", [("a.json", "file", False)]),
    ("require('../data/a.json')", [("../data/a.json", "file", False)]),
    ("fs.readFileSync(name)", [("**", "unknown", False)]),
    ("require('./a'); window.open('x')", []),
]


@pytest.mark.parametrize(("source", "expected"), OPENED)
def test_files_that_are_opened(source: str, expected: list[tuple[str, str, bool]]) -> None:
    assert [(one.path, one.base, one.writes) for one in read(source).opened] == expected


MOCKS = [
    ("jest.mock('../src/db.js')", ["../src/db"]),
    ("import * as db from '../src/db'; vi.spyOn(db, 'load')", ["../src/db.load"]),
    ("const fs = require('fs'); sinon.stub(fs, 'open')", ["fs.open"]),
    ("proxyquire('../src/a', {'./db': {}})", ["./db"]),
    ("import db from '../src/db'; db.load = jest.fn()", ["../src/db.load"]),
    ("vi.mock(name)", ["*"]),
    ("import { Cart } from '../src/cart'; let c; c = new Cart().add(1); jest.spyOn(c, 'total')",
     ["../src/cart.total"]),
    ("import { Cart } from '../src/cart'; jest.spyOn(Cart.prototype, 'total')",
     ["../src/cart.prototype.total"]),
    ("import { Cart } from '../src/cart'; jest.spyOn(new Cart(), 'total')", ["../src/cart.total"]),
    ("import * as m from './m'; async () => { const c = await m.make(1); sinon.stub(c, 'go') }",
     ["./m.go"]),
    ("import { c } from './m'; c.go = () => 1; const own = {}; own.go = () => 1", ["./m.go"]),
    ("import * as m from './m'; Object.defineProperty(m, 'go', {value: f})", ["./m.go"]),
    ("jest.spyOn(console, 'log')", ["console.log"]),
]


@pytest.mark.parametrize(("source", "targets"), MOCKS)
def test_stand_ins_name_what_they_take_the_place_of(source: str, targets: list[str]) -> None:
    assert [one.target for one in read(source).mocks] == targets


SETTINGS = [
    ("module.exports = {testMatch: ['**/a.ts'], bail: 1, passWithNoTests: true}",
     ["jest.bail 1", 'jest.testMatch ["**/a.ts"]', "jest.passWithNoTests true"]),
    ("const c: Config = {testRegex: /a\\.b/, testTimeout: 10 * 1000}; export default c",
     ["jest.testRegex a\\.b", "jest.testTimeout 10000"]),
    ("export default async () => { return {testPathIgnorePatterns: ['<rootDir>/x', y]} }",
     ['jest.testPathIgnorePatterns ["<rootDir>/x", "y"]']),
    ("export default function f() { return {roots: [path.join(__dirname, 'src')]} }",
     ['jest.roots ["src"]']),
    ("import { defineConfig } from 'vitest/config'; const b = {retry: 2}\n"
     "export default mergeConfig(base, defineConfig({test: {...b, include: ['t/**'],"
     " exclude: [...configDefaults.exclude, 'a']}}))",
     ['vitest.exclude ["configDefaults.exclude", "a"]', 'vitest.include ["t/**"]',
      "vitest.retry 2"]),
    ("module.exports = {spec: 'test/**', timeout: 500}", ["mocha.spec test/**",
                                                          "mocha.timeout 500"]),
    ("import { x } from '@playwright/test'; export default {retries: 3}",
     ["playwright.retries 3"]),
    ("module.exports = {total, include: 3}; export const x = {testMatch: []}", []),
    ("export function f() { return {testMatch: []} }", []),
]


@pytest.mark.parametrize(("source", "expected"), SETTINGS)
def test_runners_are_set_by_what_a_file_exports(source: str, expected: list[str]) -> None:
    found = read(source).settings
    assert sorted(f"{one.key} {one.value}" for one in found) == sorted(expected)


def test_sheet_survives_the_pipe() -> None:
    made = read("import a from './a'; it.skip('x', () => { expect(a('in')).toBeCloseTo(1.5) })")
    assert unpacked(packed(made), Sheet) == made


def test_a_condition_that_is_one_imported_name():
    told = read("import { isBuild } from '~utils'\nconst here = f()\n" + "".join(
        f"it.runIf({one})('x', () => {{ a() }})\n"
        for one in ("isBuild", "!isBuild", "isBuild && here", "here")) +
        "if (isBuild) { it('y', () => { a() }) }").markers
    assert [one.asks for one in told] == ["isBuild", "isBuild", "", "", "isBuild"]
