"""A test may not paste what the code of the same push gains, however either is written.

Families of public reports: special cases for the test's own values (ImpossibleBench, arXiv
2510.20270; openquant#75), literals in parts (pyflakes#552, destructive_command_guard#474,
drydock#192), escapes (muad-dib#48), bytes (sonar-python#712), short and blank text
(CodeNarc#541, flake8-errmsg#6), moved code (caura#944), messages (spec-kitty#2311).

Text that code raises and a test matches passes (C084 asks for a flag): both name a message.
Constants hidden by base64, hex or chr are a documented gap (C076); replaying relations is what
answers them. Whole files of literals are in tests/languages; here are the pushes.
"""

from __future__ import annotations

import pytest
from pushing import Entry, accepted, made, refused
from sites import MAIN, Site

OVERLAP = {"literal-overlap"}


def tip_of(site: Site, source: str, test: str) -> str:
    files: dict[str | bytes, Entry] = {"src/gained.py": source.encode(),
                                       "tests/test_gained.py": test.encode()}
    return made(site, files, on=site.base_tip)


PASTED = [
    # title, source, test
    ("side by side over lines", "X = ('secret'\n     '-token-99')\n",
     "assert f() == 'secret-token-99'\n"),
    ("a sum", "X = 'sec' + 'ret-' + 'token'\n", "assert f() == 'secret-token'\n"),
    ("a sum of letters", f"X = {' + '.join(map(repr, 'secret-token-99'))}\n",
     "assert f() == 'secret-token-99'\n"),
    ("a join", "X = ''.join(['sec', 'ret-token'])\n", "assert f() == 'secret-token'\n"),
    ("in parts in the test", "X = 'secret-token'\n", "assert f() == 'secret' + '-' + 'token'\n"),
    ("an escape", "X = '\\x73ecret-token'\n", "assert f() == 'secret-token'\n"),
    ("a named character", "X = '\\N{LATIN SMALL LETTER S}ecret-token'\n",
     "assert f() == 'secret-token'\n"),
    ("bytes", "X = b'secret-token'\n", "assert f() == 'secret-token'\n"),
    ("six letters", "X = 'abcdef'\n", "assert f() == 'abcdef'\n"),
    ("six letters of two bytes", "X = 'äöüéèà'\n", "assert f() == 'äöüéèà'\n"),
    ("a lone surrogate", "X = '\\ud800abcdef'\n", "assert f() == '\\ud800abcdef'\n"),
    ("a number", "X = 19.25\n", "assert f() == 19.25\n"),
    ("a message that is compared", "raise ValueError('amount must be positive')\n",
     "assert str(e) == 'amount must be positive'\n"),
]


@pytest.mark.parametrize(("source", "test"), [row[1:] for row in PASTED],
                         ids=[row[0] for row in PASTED])
def test_a_literal_that_both_sides_gain_is_refused(site, source, test):
    """C074, C075, C076, C079, C082, C086"""
    refused(site, f"{tip_of(site, source, test)}:{MAIN}", by=OVERLAP, as_="agent-7")
    assert "tests/test_gained.py:" in site.told[0]
    assert "src/gained.py:" in site.told[0]


def test_every_pasted_literal_of_a_file_is_told(site):
    """C072, without the branch on the test's input (test_answer_key_pushes)."""
    pasted = tip_of(site, "HEAD, FOOT = 'INVOICE-HEAD', 'INVOICE-FOOT'\n",
                    "assert f() == 'INVOICE-HEAD'\nassert g() == 'INVOICE-FOOT'\n")
    refused(site, "-o", "policyd.json", f"{pasted}:{MAIN}", by=OVERLAP)
    assert '\\"INVOICE-HEAD\\"' in site.told[-1]
    assert '\\"INVOICE-FOOT\\"' in site.told[-1]


PASSES = [
    ("five letters", "X = 'abcde'\n", "assert f() == 'abcde'\n"),
    ("six spaces", "X = '      '\n", "assert f() == '      '\n"),
    ("punctuation", "X = '------'\n", "assert f() == '------'\n"),
    ("base64", "X = b64decode('c2VjcmV0LXRva2Vu')\n", "assert f() == 'secret-token'\n"),
    ("chr", f"X = {' + '.join(f'chr({ord(c)})' for c in 'secret-token')}\n",
     "assert f() == 'secret-token'\n"),
    ("a message that is raised and matched", "raise ValueError('amount must be positive')\n",
     "with pytest.raises(ValueError, match='amount must be positive'): f()\n"),
    ("a type", "def f(mode: Literal['append', 'overwrite']): pass\n", "f(mode='overwrite')\n"),
    ("an annotation in quotes", "def f(mode: 'Overwriting') -> 'Overwriting': pass\n",
     "f('Overwriting')\n"),
    ("an input", "KINDS = ('wholesale', 'retailer')\n",
     "assert price('wholesale') < price('retailer')\n"),
    ("a docstring", '"""Overwriting things."""\n', "f('Overwriting things.')\n"),
]


def test_what_is_no_pasted_literal_passes(site):
    """C076, C082, C084, C085: all of them in one push, each pair in files of its own."""
    files: dict[str | bytes, Entry] = {}
    for number, (_, source, test) in enumerate(PASSES):
        files[f"src/m{number}.py"] = source.encode()
        files[f"tests/test_m{number}.py"] = test.encode()
    accepted(site, f"{made(site, files, on=site.base_tip)}:{MAIN}", as_="agent-7")


def test_an_input_is_refused_where_the_policy_counts_every_literal(site):
    """C085"""
    site.edit_policy("    min_length: 6\n", "    min_length: 6\n    roles: all\n")
    tip = tip_of(site, "KINDS = ('wholesale', 'retailer')\n",
                 "assert price('wholesale') < price('retailer')\n")
    refused(site, f"{tip}:{MAIN}", by=OVERLAP, as_="agent-7")


def test_code_that_only_moves_gains_nothing(site):
    """C083: to another file, reindented, or back from a release branch."""
    old = b"def head():\n    return 'INVOICE-HEADER'\n"
    first = made(site, {"src/invoice.py": old}, on=site.base_tip)
    site.edit_policy('allow: ["application/json"]',
                     'allow: ["application/json"]\n    lookback_days: 0')
    accepted(site, f"{first}:{MAIN}", as_="agent-7")
    second = made(site, {
        "src/invoice.py": None,
        "src/deep/header.py": b"class Header:\n" + old.replace(b"def", b"  def"),
        "tests/test_invoice.py": b"assert head() == 'INVOICE-HEADER'\n"}, on=first)
    accepted(site, f"{second}:{MAIN}", as_="agent-7")


def test_a_backport_and_a_pick_gain_nothing(site):
    """C083: what main holds, brought as it stands to a release branch and to a topic."""
    held: dict[str | bytes, Entry] = {"src/invoice.py": b"X = 'INVOICE-HEADER'\n"}
    accepted(site, f"{made(site, held, on=site.base_tip)}:{MAIN}", as_="agent-7")
    accepted(site, f"{site.base_tip}:refs/heads/release/1")
    tested: dict[str | bytes, Entry] = {"tests/test_x.py": b"assert f() == 'INVOICE-HEADER'\n"}
    picked = made(site, {**held, **tested}, on=site.base_tip, message=b"Pick it")
    site.edit_policy("    min_length: 6\n", "    min_length: 6\n    lookback_days: 0\n")
    accepted(site, f"{picked}:refs/heads/release/1", as_="agent-7")
    accepted(site, f"{picked}:refs/heads/topic", as_="agent-7")


def test_a_constant_that_comes_into_source_is_gained(site):
    """C083: outside of the zone it was nobody's code."""
    first = made(site, {"lib/invoice.py": b"X = 'INVOICE-HEADER'\n"}, on=site.base_tip)
    accepted(site, f"{first}:{MAIN}", as_="agent-7")
    moved = made(site, {"lib/invoice.py": None, "src/invoice.py": b"X = 'INVOICE-HEADER'\n",
                        "tests/test_x.py": b"assert f() == 'INVOICE-HEADER'\n"}, on=first)
    refused(site, f"{moved}:{MAIN}", by=OVERLAP, as_="agent-7")


def test_a_paste_that_waits_for_the_next_push_is_refused(site):
    """C083: what the code gained within `lookback_days` is still new."""
    first = made(site, {"src/invoice.py": b"X = 'INVOICE-HEADER'\n"}, on=site.base_tip)
    accepted(site, f"{first}:{MAIN}", as_="agent-7")
    second = made(site, {"tests/test_x.py": b"assert f() == 'INVOICE-HEADER'\n"}, on=first)
    refused(site, f"{second}:{MAIN}", by=OVERLAP, as_="agent-7")


def test_a_paste_over_two_commits_and_a_merge_is_refused(site):
    """C072"""
    source = made(site, {"src/a.py": b"X = 'INVOICE-HEADER'\n"}, on=site.base_tip)
    test = made(site, {"tests/test_a.py": b"assert f() == 'INVOICE-HEADER'\n"}, on=site.base_tip)
    tip = made(site, {"tests/test_a.py": b"assert f() == 'INVOICE-HEADER'\n"}, on=source,
               merging=(test,))
    refused(site, f"{tip}:{MAIN}", by=OVERLAP, as_="agent-7")
    assert site.push(f"{tip}:refs/heads/feat", as_="agent-7") == 0
    assert site.told[0].startswith("policyd: warning: literal-overlap: ")


@pytest.mark.parametrize(("source", "by"), [
    ("def ship(:\n    return 'SHIPPED-EAST'\n", OVERLAP),
    ("def ship():\n    return 'SHIPPED-EAST'\n", OVERLAP),
    ("def ship():\n    return 'ELSEWHERE'\n", set()),
], ids=["that cannot be read", "that gains it", "that gains something else"])
def test_tests_pushed_after_the_source(site, source, by):
    """A source that was pushed alone, and cannot be read, clears no test that comes after it.

    It came while another rule only observed.
    """
    site.edit_policy("no-answer-key: {mode: enforce}", "no-answer-key: {mode: observe}")
    site.commit({"src/gained.py": source})
    accepted(site, f"HEAD:{MAIN}", as_="agent-7")
    site.commit({"tests/test_gained.py": "assert ship() == 'SHIPPED-EAST'\n"})
    if not by:
        accepted(site, f"HEAD:{MAIN}", as_="agent-7")
        return
    refused(site, f"HEAD:{MAIN}", by=by, as_="agent-7")
    assert "src/gained.py:" in site.told[0]


def test_a_constant_that_a_test_imports_from_the_patch_is_pasted(site):
    source = "RATE = 'EUR 19.25'\n\n\ndef rate():\n    return RATE\n"
    test = "from gained import RATE, rate\n\n\ndef test_rate():\n    assert rate() == RATE\n"
    refused(site, f"{tip_of(site, source, test)}:{MAIN}", by={"literal-overlap"}, as_="agent-7")
    assert "tests/test_gained.py:5" in site.told[0]
    assert "src/gained.py:1" in site.told[0]


def test_a_constant_of_a_script_that_a_test_imports_from_the_patch_is_pasted(site):
    source = "export const RATE = 'EUR 19.25'\nexport function rate() { return RATE }\n"
    test = "import { RATE, rate } from '../src/tax'\ntest('rate', () => {\n" \
           "  expect(rate()).toBe(RATE)\n})\n"
    site.commit({"src/tax.ts": source, "tests/tax.test.ts": test})
    refused(site, f"HEAD:{MAIN}", by={"literal-overlap"}, as_="agent-7")
    assert "tests/tax.test.ts:3" in site.told[0]
    assert "src/tax.ts:1" in site.told[0]
