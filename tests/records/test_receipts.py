"""Receipts: one table of a document and what is wrong in it."""

from __future__ import annotations

import pytest
from reading import changed, faults, read

from policyd.core.rows import Receipt, Record

COMMIT = "0123456789abcdef0123456789abcdef01234567"
RECEIPT = f"""\
{{
 "input": {{"prices": [1, 2.5, null]}},
 "baseline": "{COMMIT}",
 "constraints": {{"currency": "EUR"}},
 "entry_point": "shop.app:total",
 "owner": "alice", "recorded": "2026-11-20", "notes": "by hand"
}}
"""
NO_COMMIT = "is no commit: 40 lower-case hexadecimal digits"


def test_a_receipt_is_read_whole():
    parsed = read(Record.RECEIPTS, RECEIPT)
    assert parsed.faults == ()
    assert parsed.receipts == (Receipt("f", 1, COMMIT, 3, "shop.app:total", "alice"),)


@pytest.mark.parametrize("value", ["null", "3", '"x"', "[]", "{}"])
def test_an_input_is_whatever_json_can_say(value):
    assert faults(Record.RECEIPTS, changed(RECEIPT, '{"prices": [1, 2.5, null]}', value)) == []


@pytest.mark.parametrize(("old", "new", "fault"), [
    (f'"{COMMIT}"', f'"{COMMIT.upper()}"', f"3:14: '{COMMIT.upper()}' {NO_COMMIT}"),
    (f'"{COMMIT}"', '"HEAD"', f"3:14: 'HEAD' {NO_COMMIT}"),
    (f'"{COMMIT}"', '"0123456"', f"3:14: '0123456' {NO_COMMIT}"),
    (f'"{COMMIT}"', "1234567", "3:14: expected text, found 1234567; quote it"),
    (f'"{COMMIT}"', f'"{"0" * 40}"',
     "3:14: all zeros are no commit; name the one that this was recorded from"),
    (f' "baseline": "{COMMIT}",\n', "", "1:1: missing key 'baseline'"),
    (' "input": {"prices": [1, 2.5, null]},\n', "", "1:1: missing key 'input'"),
    ('{"prices": [1, 2.5, null]}', "[1, NaN]",
     "2:15: the number 'NaN' is not finite or too long"),
    ('{"currency": "EUR"}', "{}", "4:17: constraints are a mapping that says what must hold"),
    ('{"currency": "EUR"}', "[1]", "4:17: constraints are a mapping that says what must hold"),
    ('{"currency": "EUR"}', "null", "4:17: constraints are a mapping that says what must hold"),
    (' "constraints": {"currency": "EUR"},\n', "", "1:1: missing key 'constraints'"),
    ("shop.app:total", "shop.app",
     "5:17: 'shop.app' is no entry point, such as package.module:function"),
    ("shop.app:total", "shop/app.py:total",
     "5:17: 'shop/app.py:total' is no entry point, such as package.module:function"),
    ("shop.app:total", "shop..app:total",
     "5:17: 'shop..app:total' is no entry point, such as package.module:function"),
    ("shop.app:total", "app:Shop.total",
     "5:17: 'app:Shop.total' is no entry point, such as package.module:function"),
    ("shop.app:total", "app:lambda",
     "5:17: 'app:lambda' is no entry point, such as package.module:function"),
    ("shop.app:total", "app:total\\n",
     "5:17: 'app:total\\n' is no entry point, such as package.module:function"),
    ('"alice"', '""', "6:11: '' says nothing"),
    ("2026-11-20", "2026-11-31",
     "6:32: expected a date written YYYY-MM-DD, found '2026-11-31'"),
    ('"notes"', '"output"', "6:46: unknown key 'output'; known: baseline, input, constraints, "
                            "entry_point, owner, recorded, notes"),
])
def test_a_fault_stands_where_it_is_mended(old, new, fault):
    assert faults(Record.RECEIPTS, changed(RECEIPT, old, new)) == [fault]


def test_a_receipt_with_a_fault_is_none():
    assert read(Record.RECEIPTS, changed(RECEIPT, '{"currency": "EUR"}', "{}")).receipts == ()
