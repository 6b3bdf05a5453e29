"""What data of tests wants, and on which line."""

from __future__ import annotations

import json
import time

import pytest

from policyd.languages import DATA, language_of
from policyd.languages.data import sheet


def wanted(text: str | bytes) -> list[str]:
    source = text if isinstance(text, bytes) else text.encode()
    return [f"{one.line} {', '.join(one.given)} -> {one.result}" for one in
            sheet(source, 6).samples]


@pytest.mark.parametrize(("text", "expected"), [
    pytest.param('{"patch": ["a"],\n "expected": {"b": 1.0}}', ['2 ["a"], "a" -> {"b": 1}'],
                 id="a case"),
    pytest.param('[{"in": 1, "want": true},\n\n {"in": 2, "want": null}]',
                 ["1 1 -> True", "3 2 -> None"], id="a list of cases"),
    pytest.param('{"add": {"args": [1, 2], "result": 3}}', ["1 [1, 2], 1, 2 -> 3"],
                 id="a result beside arguments"),
    pytest.param('{"given": "\\u00e9", "expectedOutput": "e"}', ['1 "\\xe9" -> "e"'],
                 id="in one word"),
    pytest.param('{"result": {"id": 7}, "error": null}', [], id="what a server answers"),
    pytest.param('{"order": 7, "expectedDelivery": "2026-01-01"}', [], id="something expected"),
    pytest.param('{"output": "dist", "mode": "fast"}', [], id="settings"),
    pytest.param('{"case": 1, "expected": ', [], id="no JSON"),
    pytest.param(b'\xff{"expected": 1}', [], id="no text"),
    pytest.param('{"expected": ' * 3000, [], id="too deep"),
    pytest.param('{"expected": 1e999}', ["1  -> inf"], id="no number"),
])
def test_what_is_wanted(text: str | bytes, expected: list[str]) -> None:
    assert wanted(text) == expected


def test_data_is_json_that_is_no_settings_file() -> None:
    assert language_of("tests/data/order.json") == DATA
    assert language_of("package.json") == "json"


def test_a_page_of_quotes_takes_no_time() -> None:
    begin = time.process_time()
    for text in ('"expected' * 100_000, '"expected"' + " " * 900_000,
                 json.dumps([{"expected": n} for n in range(50_000)])):
        wanted(text)
    assert time.process_time() - begin < 2
