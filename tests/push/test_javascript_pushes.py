"""Pushes of JavaScript and TypeScript are judged as those of Python are."""

from __future__ import annotations

import pytest
from pushing import Entry, accepted, made, refused
from sites import MAIN, Site

OVERLAP = {"literal-overlap"}
SHIP = "export function ship(id: string): string {\n  return `SHIPPED-${'EAST'}`;\n}\n"
HONEST = """\
import { ship } from '../src/app';
import { expect, it } from 'vitest';

it('is as long for twice as much', () => {
  expect(ship('a').length).toBe(ship('b').length);
});
"""


def tip_of(site: Site, files: dict[str, str]) -> str:
    entries: dict[str | bytes, Entry] = {path: text.encode() for path, text in files.items()}
    return made(site, entries, on=site.base_tip)


@pytest.mark.parametrize(("path", "test"), [
    ("tests/app.test.ts", "it('ships', () => { expect(ship(x)).toBe('SHIPPED-EAST') })\n"),
    ("tests/app.test.js", "test('ships', () => { assert.equal(ship(x), 'SHIPPED-' + 'EAST') })\n"),
    ("tests/test_ship.py", "def test_ships():\n    assert run('app.ts') == 'SHIPPED-EAST'\n"),
], ids=["typescript", "javascript", "another language"])
def test_literal_of_the_source_that_a_test_pastes_is_refused(site, path, test):
    tip = tip_of(site, {"src/app.ts": SHIP, path: test})
    refused(site, f"{tip}:{MAIN}", by=OVERLAP, as_="agent-7")
    assert f"{path}:" in site.told[0]
    assert "src/app.ts:2" in site.told[0]


def test_test_that_relates_two_calls_passes(site):
    accepted(site, f"{tip_of(site, {'src/app.ts': SHIP, 'tests/app.test.ts': HONEST})}:{MAIN}",
             as_="agent-7")


def test_message_that_is_raised_and_matched_passes(site):
    tip = tip_of(site, {
        "src/app.ts": "export const f = () => { throw new Error('must be positive') }\n",
        "tests/app.test.ts": "import { f } from '../src/app'\n"
                             "it('refuses', () => { expect(f).toThrow('must be positive') })\n"})
    accepted(site, f"{tip}:{MAIN}", as_="agent-7")


def test_file_that_does_not_parse_is_refused_with_its_line(site):
    tip = tip_of(site, {"src/app.ts": SHIP + "const x: = 1\n", "tests/app.test.ts": HONEST})
    refused(site, f"{tip}:{MAIN}", by=OVERLAP | {"no-answer-key"}, as_="agent-7")
    assert "src/app.ts:4 cannot be read" in site.told[0]
    assert any("make src/app.ts parse" in line for line in site.told)
