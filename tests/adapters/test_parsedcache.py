"""Parsed records on disk: read back, forgotten, damaged, and never taken for another file's."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from policyd.adapters import parsedcache
from policyd.adapters.parsedcache import FOLDER, MOST, ParsedCache
from policyd.core import parsedjson
from policyd.core.rows import DatedRow, Kind, Parsed, Record

KEY, PATH, OID = "ab" * 16, "oracle/quarantine.yaml", bytes(range(20))
ROW = DatedRow(Kind.QUARANTINE, PATH, 3, "x", "t.py::t", "mei", last=date(2026, 2, 28))
SAID = Parsed(rows=(ROW,))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def file(state: Path) -> Path:
    return state / FOLDER / f"{KEY}.json"


def kept(state: Path | None, *, key: str = KEY, record: Record = Record.QUARANTINE,
         path: str = PATH, oid: bytes = OID) -> Parsed | None:
    return ParsedCache(state, key).get(record, path, oid)


def keep(state: Path | None, count: int = 1, *, parsed: Parsed = SAID, first: int = 0) -> None:
    cache = ParsedCache(state, KEY)
    for n in range(first, first + count):
        path = PATH if n == 0 else f"{PATH}{n}"
        cache.get(Record.QUARANTINE, path, OID)  # nobody parses what was not asked for
        cache.put(Record.QUARANTINE, path, OID, parsed)
    cache.save()


def test_what_was_parsed_is_read_back(state):
    assert kept(state) is None
    keep(state)
    assert kept(state) == SAID


@pytest.mark.parametrize("other", [
    {"key": "cd" * 16}, {"record": Record.FLAKES}, {"path": "oracle/quarantine.yml"},
    {"path": f" {PATH}"}, {"oid": bytes(20)}])
def test_it_is_not_read_for_anything_else(state, other):
    keep(state)
    assert kept(state, **other) is None


def test_a_path_of_any_bytes_is_read_back(state):
    cache, path = ParsedCache(state, KEY), "leases/caf\udce9 \n.yaml"
    cache.put(Record.LEASES, path, OID, replace(SAID, rows=(replace(ROW, path=path),)))
    cache.save()
    found = kept(state, record=Record.LEASES, path=path)
    assert found is not None
    assert found.rows[0].path == path


DAMAGES = [b"", b"{", b"[]", b"null", b"7", b"\xff", b"[" * 100_000, b'{"format": 1}',
           b'{"format": 1, "files": 7}', b'{"format": 1, "files": [1]}', b'{"files": {}}',
           b'{"format": 0, "files": {}}']


@pytest.mark.parametrize("data", DAMAGES)
def test_a_damaged_file_is_as_good_as_none_and_is_written_anew(state, data):
    keep(state)
    file(state).write_bytes(data)
    assert kept(state) is None
    keep(state)
    assert kept(state) == SAID


@pytest.mark.parametrize("value", [None, 7, [], "x", {}, {"rows": [[]]}, {"rows": [["flak"] * 10]}])
def test_a_damaged_entry_is_as_good_as_none_and_leaves_the_others(state, value):
    keep(state, 2)
    raw = json.loads(file(state).read_bytes())
    first = next(iter(raw["files"]))
    raw["files"][first] = value
    file(state).write_text(json.dumps(raw))
    assert kept(state) is None
    assert kept(state, path=f"{PATH}1") == SAID
    keep(state)
    assert kept(state) == SAID


def test_every_entry_that_is_cut_short_is_parsed_again(state):
    keep(state)
    whole = file(state).read_bytes()
    for length in range(0, len(whole), 7):
        file(state).write_bytes(whole[:length])
        assert kept(state) is None


def test_another_format_is_not_read(state):
    keep(state)
    text = file(state).read_text()
    assert f'"format":{parsedjson.FORMAT},' in text
    file(state).write_text(text.replace(f'"format":{parsedjson.FORMAT},', '"format":0,'))
    assert kept(state) is None


def test_what_others_parsed_stays(state):
    keep(state)
    keep(state, first=5)
    assert kept(state) == kept(state, path=f"{PATH}5") == SAID


def test_what_was_asked_for_last_is_kept(state):
    keep(state, 10)
    cache = ParsedCache(state, KEY)
    assert cache.get(Record.QUARANTINE, PATH, OID) == SAID
    for n in range(100, 100 + MOST - 1):
        cache.put(Record.QUARANTINE, f"{PATH}{n}", OID, SAID)
    cache.save()
    assert kept(state) == SAID
    assert kept(state, path=f"{PATH}9") is None
    assert len(json.loads(file(state).read_bytes())["files"]) == MOST


def test_what_is_too_large_goes_but_for_what_was_just_asked_for(state, monkeypatch):
    monkeypatch.setattr(parsedcache, "LARGEST", 2000)
    keep(state, 10)
    assert not file(state).exists()
    keep(state, 6)
    keep(state, 6, first=20)
    assert kept(state, path=f"{PATH}20") == SAID
    assert kept(state) is None


def test_nothing_is_written_where_nothing_was_parsed_anew(state):
    keep(state)
    before = file(state).stat()
    cache = ParsedCache(state, KEY)
    cache.get(Record.QUARANTINE, PATH, OID)
    cache.save()
    assert file(state).stat() == before


def test_without_a_place_it_is_kept_for_one_judgement(tmp_path):
    for where, key in ((None, KEY), (tmp_path, "")):
        cache = ParsedCache(where, key)
        cache.put(Record.QUARANTINE, PATH, OID, SAID)
        cache.save()
        assert cache.get(Record.QUARANTINE, PATH, OID) is SAID
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written_stops_nobody(state):
    (state / FOLDER).write_text("no folder")
    keep(state)
    assert kept(state) is None
