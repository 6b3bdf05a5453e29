"""Who was told of which row: once a step, whatever branch they push to."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from policyd.adapters import tolds
from policyd.core.rows import DatedRow, Kind

KEY, TODAY = "ab" * 16, date(2026, 9, 7)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def row(name: str, ends: int) -> DatedRow:
    last = TODAY + timedelta(days=ends)
    return DatedRow(Kind.FREEZE, "f.json", 3, name, name, "mei", first=last - timedelta(days=14),
                    last=last)


A, B = row("a", 3), row("b", 6)


def fresh(state: Path, *rows: DatedRow, who: str = "mei", days: int = 0) -> list[str]:
    return [r.id for r in tolds.fresh(state, KEY, who, rows, TODAY + timedelta(days=days))]


def test_everybody_is_told_once_a_step(state):
    assert fresh(state, A, B) == ["a", "b"]
    assert fresh(state, A, B) == []
    assert fresh(state, A, B, who="joe") == ["a", "b"]
    assert fresh(state, A, B, days=2) == ["a"]
    assert fresh(state, A, B, days=2) == []
    assert fresh(state, A, B, who="joe", days=2) == ["a"]


def test_who_pushes_to_two_branches_in_turn_is_told_of_each_row_once(state):
    assert fresh(state, A) == ["a"]
    assert fresh(state, B) == ["b"]
    assert fresh(state, A) == []
    assert fresh(state, B) == []


def test_a_row_that_is_dated_anew_is_told_anew_and_what_is_over_is_forgotten(state):
    fresh(state, A, B)
    assert fresh(state, row("a", 5), B) == ["a"]
    fresh(state, row("c", 12), days=6)
    kept = json.loads(next((state / tolds.FOLDER).iterdir()).read_bytes())
    assert [key.split(":")[1] for key in kept["mei"]] == ["b", "c"]


def test_a_row_that_stands_on_no_step_is_not_told(state):
    assert fresh(state, row("far", 40), row("over", -1)) == []
    assert not (state / tolds.FOLDER).exists()


@pytest.mark.parametrize("data", [
    b"", b"{", b"[]", b"7", b"null", b"\xff", b"[" * 100_000, b'{"mei": 7}', b'{"mei": {"x": "y"}}',
    b'{"mei": {"freeze:a:2026-09-10": null}}'])
def test_a_damaged_file_has_people_told_again(state, data):
    fresh(state, A)
    file = next((state / tolds.FOLDER).iterdir())
    file.write_bytes(data)
    assert fresh(state, A) == ["a"]
    assert fresh(state, A) == []


def test_what_cannot_be_kept_is_told_again(state):
    (state / tolds.FOLDER).write_text("no folder")
    assert fresh(state, A) == ["a"]
    assert fresh(state, A) == ["a"]
